// SPDX-License-Identifier: Apache-2.0
// One run of a program, watched to its end.
#pragma once

#include "tools/weft/commands.hpp"

#include <chrono>
#include <csignal>

namespace weft_tool {

enum class ending { exited, signalled, out_of_time, too_talkative, not_started };

struct outcome {
  ending how = ending::not_started;
  int number = 0; ///< exit code, signal or errno
  std::string output, complaints;

  friend bool operator==(const outcome &a, const outcome &b) {
    // Complaints may hold addresses, so they do not count.
    return a.how == b.how && a.number == b.number && a.output == b.output;
  }
};

/// Returns "exit code 1", "signal 6 (Aborted)" or "no end within 60 s".
std::string text_of(const outcome &result, std::chrono::milliseconds limit);

/// Runs programs in process groups of their own; a signal that ends the tool ends the program with it.
class watcher {
 public:
  explicit watcher(std::chrono::milliseconds limit);
  ~watcher();
  watcher(const watcher &) = delete;
  watcher &operator=(const watcher &) = delete;

  /// Runs `program` with this process's environment. Its standard input is that of this process
  /// where that is a file, which each run reads from the same offset; else it is empty.
  outcome run(const words &program) const;

 private:
  void wait(int child, outcome &result, int out, int err) const;
  [[noreturn]] void leave(int child, int signal) const;

  std::chrono::milliseconds m_limit;
  sigset_t m_before, m_ours;
  long m_input; // offset of standard input, -1 where there is none
};

} // namespace weft_tool
