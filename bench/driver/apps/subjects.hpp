// SPDX-License-Identifier: Apache-2.0
// The subjects of the sweep: applications, as their programs describe themselves, and series, which
// are runtimes with settings.
#pragma once

#include <string>
#include <vector>

namespace bench::apps {

struct subject {
  std::string name, title;
  long size = 0;
  long coarse = 0; // the tile of the comparison at coarse size
  std::vector<long> sweep;
};

/// Is one curve: a back end's program under some settings.
struct series {
  std::string name;
  std::string backend;
  std::vector<std::string> settings; // NAME=value
  enum class kind {
    weft,
    ablation,
    peer,
    variant
  } what; // a variant: only some applications have it
};

[[nodiscard]] const std::vector<series> &all_series();
/// Returns the program of an application, which need not exist.
[[nodiscard]] std::string program(const std::string &app, const std::string &backend);
/// Throws std::runtime_error, which names the target that builds them, if a program is absent that
/// --pragmas compares: the two of each application, or those of the chosen series.
void require_pragma_programs(const std::vector<subject> &subjects,
                             const std::vector<std::string> &chosen);
/// Returns every application of the build, in alphabetical order. Throws std::runtime_error when
/// one cannot describe itself.
[[nodiscard]] std::vector<subject> find_subjects();
/// Reads the answer of --describe. Throws std::runtime_error.
[[nodiscard]] subject parse_description(const std::string &line);
/// Returns the value of `name` in a line of name=value; empty when the line lacks it.
[[nodiscard]] std::string field(const std::string &line, const std::string &name);

} // namespace bench::apps
