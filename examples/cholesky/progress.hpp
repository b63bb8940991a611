// SPDX-License-Identifier: Apache-2.0
// How far the program has come, on a terminal only.
#pragma once

#include <weft/service.hpp>

#include <atomic>
#include <chrono>
#include <optional>

namespace demo {

/// Makes the runtime's timer show `what` and how much of `total` is done on standard error, while
/// the object lives.
class progress {
 public:
  progress(const char *what, int total);
  ~progress();
  progress(const progress &) = delete;
  progress &operator=(const progress &) = delete;

  void advance() { ++m_done; }

 private:
  static bool show(void *self);

  const char *m_what;
  int m_total;
  std::atomic<int> m_done = 0;
  std::chrono::steady_clock::time_point m_next; // of the timer
  std::optional<weft::service> m_timer;
};

} // namespace demo
