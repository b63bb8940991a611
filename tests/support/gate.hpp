// SPDX-License-Identifier: Apache-2.0
// Points where tasks and threads of a test meet. They suspend the task, so they work with one worker.
#pragma once

#include <weft/task.hpp>

#include <atomic>
#include <chrono>

namespace test {

/// Sleeps (as a task) until `condition()`; false when that takes so long that the test has failed.
template <class Condition>
[[nodiscard]] bool eventually(Condition condition,
                              std::chrono::seconds limit = std::chrono::seconds(60)) {
  using clock = std::chrono::steady_clock;
  for (auto end = clock::now() + limit; !condition();) {
    if (clock::now() > end)
      return false;
    weft::this_task::sleep_for(std::chrono::microseconds(50));
  }
  return true;
}

/// Stays closed until a thread opens it.
class gate {
 public:
  void open() noexcept { m_open.store(true, std::memory_order_release); }
  [[nodiscard]] bool is_open() const noexcept { return m_open.load(std::memory_order_acquire); }
  /// Waits for the gate; returns false when no thread opens it: the test has failed.
  [[nodiscard]] bool pass() const {
    return eventually([this] { return is_open(); });
  }

 private:
  std::atomic<bool> m_open{false};
};

/// Gives all other threads a chance to run too early: the checks behind it must hold nevertheless.
inline void dawdle() {
  for (int i = 0; i != 3; ++i)
    weft::taskyield();
  weft::this_task::sleep_for(std::chrono::microseconds(300));
}

} // namespace test
