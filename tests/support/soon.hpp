// SPDX-License-Identifier: Apache-2.0
// Waits of threads that are not the runtime's, and must not keep it busy.
#pragma once

#include <chrono>
#include <thread>

namespace test {

/// Returns true as soon as `holds()` does, and false after a minute. The caller sleeps in the kernel between two looks:
/// eventually() (gate.hpp) is for tasks.
template <class Holds>
bool soon(Holds holds) {
  for (int i = 0; i != 30'000; ++i) {
    if (holds())
      return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  return false;
}

} // namespace test
