// SPDX-License-Identifier: Apache-2.0
// What the sweep runs: applications, as their programs describe themselves, and series, as runtimes and
// settings.
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

/// One curve: a back end's program under some settings.
struct series {
  std::string name;
  std::string backend;
  std::vector<std::string> settings;                      // NAME=value
  enum class kind { weft, ablation, peer, variant } what; // a variant: only some applications have it
};

[[nodiscard]] const std::vector<series> &all_series();
/// The program of an application, which need not exist.
[[nodiscard]] std::string program(const std::string &app, const std::string &backend);
/// Every application of the build, in alphabetical order. Throws std::runtime_error when one cannot describe
/// itself.
[[nodiscard]] std::vector<subject> find_subjects();
/// The answer of --describe. Throws std::runtime_error.
[[nodiscard]] subject parse_description(const std::string &line);
/// The value of `name` in a line of name=value; empty when it is not there.
[[nodiscard]] std::string field(const std::string &line, const std::string &name);
/// "1,2,3"
[[nodiscard]] std::vector<std::string> split(const std::string &list, char separator = ',');

} // namespace bench::apps
