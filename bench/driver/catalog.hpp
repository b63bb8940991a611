// SPDX-License-Identifier: Apache-2.0
// The catalogue: the experiments, their runtimes, and the targets.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace bench {

/// Is a runtime, or one configuration of Weft, in an experiment.
struct contender {
  std::string runtime;               // the name in tables
  std::string program;               // its sample program, relative to the build folder
  std::vector<std::string> settings; // NAME=value
  std::string workload = {};         // its program's name for it, if not the experiment's
  /// Further settings: each run takes place with all of them in turn, and the fastest counts.
  std::vector<std::vector<std::string>> or_settings = {};
};

/// Is one workload at one size, measured on all contenders in turn.
struct experiment {
  std::string suite;
  std::string workload;         // the name in tables
  std::string program_workload; // as the sample programs call it
  int workers;
  long count;
  long body_ns;
  std::vector<contender> contenders;
};

/// Is a target of Weft: value <= bound (>= where at_least), relative to the best of `peers`, or
/// absolute when there are none.
struct target {
  std::string suite;
  std::string workload;
  int workers;
  std::vector<std::string> peers;
  double bound;
  bool at_least = false;
};

enum class size { full, quick };

/// Is the suite of algorithms at finer sizes, which is not in the catalogue.
inline const std::string k_break_even = "break-even";
/// Names TBB's own algorithms, and those of GCC on it.
extern const std::vector<std::string> k_all_tbb;

[[nodiscard]] std::vector<experiment> catalog(size s);
/// Returns suite "break-even": the algorithms of 1, 2 and 5 times a power of ten elements, from
/// 1000 (`sort`: 100) to 200,000.
[[nodiscard]] std::vector<experiment> break_even_experiments();
/// Returns whether a contender is not Weft, nor a part of it that an experiment is about.
[[nodiscard]] bool is_peer(const experiment &e, const contender &c);
/// Returns the target of a row. Rows of one size of an algorithm are named as in the catalogue.
[[nodiscard]] std::optional<target> find_target(const std::string &suite,
                                                const std::string &workload, int workers);

} // namespace bench
