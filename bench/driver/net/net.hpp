// SPDX-License-Identifier: Apache-2.0
// weft-bench net: applications of ranks in several versions (bench/net), what one operation costs beside UCX and
// MPI, what idle ranks take, and larger machines by simulation.
#pragma once

#include <map>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

namespace bench::net {

struct options {
  enum class mode { apps, micro, idle, loggp, model, scale };
  mode what = mode::apps;
  std::vector<std::string> apps{
      "jacobi", "jacobi_rows",      "gauss_seidel", "gauss_seidel_priorities",
      "nbody",  "nbody_priorities", "matmul"};
  std::vector<std::string> versions; // empty: all
  std::vector<std::string> engines{"ucx", "inproc"}; // of versions that Weft's transport carries
  std::vector<int> workers{1, 2};
  int ranks = 2;
  int samples = 3; // processes, in turn with those of the other versions
  int reps = 3; // runs of each
  bool small = false;
  std::vector<std::string> rest; // of a mode that is a program of its own: its arguments
};

/// Reads the options. Ends the program after --help; throws std::runtime_error for unknown ones.
[[nodiscard]] options parse_options(const std::vector<std::string> &arguments);

/// Holds what the ranks of one run have said, together.
struct run_values {
  double seconds = 0; // of the slowest rank
  double kernels = 0, computing = 0, awaiting = 0, both = 0, processor = 0; // of all ranks together
  double messages = 0; // of all ranks together
  int ranks = 0;
};
/// Reads lines "net name=value ..." of one job, and returns the runs in their order.
///
/// Errors. std::runtime_error for a run of which a rank is missing, and for none at all.
[[nodiscard]] std::vector<run_values> read_runs(const std::string &output);

/// Is the program of a version, and how it is started.
struct version {
  std::string name; // "cached", "task_mpich"
  std::string program;
  std::vector<std::string> first; // arguments before the application
  std::string launcher; // empty: weft launch
  std::vector<std::string> settings;
  bool has_workers = true; // else one thread: there are more ranks instead
  std::string engine{}; // for weft launch; empty: its default
};
[[nodiscard]] const std::vector<version> &all_versions();

/// Writes a table of medians: the versions of one application. `runs` are by version, in order; the last argument
/// is the number of threads of all ranks together.
void write_table(std::ostream &to, const std::string &title,
                 const std::vector<std::pair<std::string, std::vector<run_values>>> &runs,
                 int threads);

/// @{
/// Reads what the ranks of `weft-net-idle`, or a process of `weft-net-micro`, have printed, and says
/// how it lies to the bounds. Returns how many are missed; a line that is not there misses.
[[nodiscard]] int missed_when_idle(std::ostream &to, const std::string &output, int ranks);
[[nodiscard]] int missed_above_ucx(std::ostream &to, const std::string &output);
/// @}

/// Measures and prints. Returns 1 when a version fails or a bound is missed.
[[nodiscard]] int run(const options &o);

} // namespace bench::net
