// SPDX-License-Identifier: Apache-2.0
// What weft-bench net makes of measured parameters, beside real runs of two ranks.
#pragma once

#include "../../net/model/loggp.hpp"
#include "net.hpp"

#include <map>
#include <ostream>
#include <string>
#include <vector>

namespace bench::net {

/// Reads lines "loggp of=NAME L=... o=... g=... G=...", in nanoseconds and, of a byte, picoseconds.
[[nodiscard]] std::map<std::string, net_bench::loggp::network>
read_networks(const std::string &output);

/// Holds what two ranks compute, without messages.
struct computation {
  std::vector<net_bench::loggp::stage> stages[2]; // of each rank
  double task_kernel = 0; // seconds of a rank over its kernels, as tasks; the slower rank's
  double loop_kernel = 0; // the same in a loop
  double task = 0, copied_byte = 0;
};
/// Reads what weft-net-alone has said of one application: medians of the runs.
///
/// Errors. std::runtime_error without a run, or if the ranks have stages of other numbers.
[[nodiscard]] computation read_computation(const std::string &output);

/// Returns what a version makes of a stage.
[[nodiscard]] net_bench::loggp::way way_of(const std::string &version);

struct prediction {
  double seconds = 0;
  double computing = 0; // if messages and their tasks took no time
};
[[nodiscard]] prediction predict(const std::string &version, const computation &c,
                                 const net_bench::loggp::network &n, int workers);

/// Holds runs, each beside the prediction from what the kernels took just before it.
struct comparison {
  std::vector<double> real; // seconds
  std::vector<prediction> model; // as many
};
/// Writes a row of the table: medians, the least real run, and the median of how far off each
/// prediction is from its run.
void write_model_row(std::ostream &to, const std::string &version, const std::string &over,
                     const comparison &runs);

/// @{ Measure and print. Return 1 when a job fails.
[[nodiscard]] int run_loggp(const options &o);
[[nodiscard]] int run_model(const options &o);
/// @}

} // namespace bench::net
