// SPDX-License-Identifier: Apache-2.0
// The command line of a program, and what it prints; weft-bench inncabs reads it.
#pragma once

#include "../models/launch.hpp"

#include <string>
#include <vector>

namespace inncabs {

struct request {
  std::string program;
  int workers = 2, samples = 1;
  launch policy = launch::async;
  long threads = 4000;
  bool tiny = false;
  std::vector<std::string> sizes; // name=value
};

/// Exit statuses beside 0.
enum { k_wrong_result = 1, k_wrong_usage = 2, k_thread_limit = 3 };

/// Reads the arguments behind the program's name. Throws std::runtime_error with a message that
/// names the argument.
[[nodiscard]] request parse(const std::vector<std::string> &arguments, const char *model);
[[nodiscard]] std::string usage(const char *model);

/// Prints a line that reaches the reader even if the program is killed afterwards.
void print(const char *name, double value);
void print(const char *name, const std::string &text);

/// Ends the program with a line that says so: the system, or the limit that the caller has set,
/// gives no further thread.
[[noreturn]] void end_at_limit(long threads);

[[nodiscard]] double elapsed_ns();
[[nodiscard]] double cpu_ns(); ///< of all threads of the process

} // namespace inncabs
