// SPDX-License-Identifier: Apache-2.0
// What a program asks of the kernel thread that an OpenMP thread would be: cpus, scheduling, signals (posix.cpp).
#pragma once

#include "thread/thread.hpp"

#include <vector>

namespace weft_omp {

/// With the kernel thread's block: scheduling and signal mask are those of the thread that has come; signals that others have sent it are delivered. It may be on another
/// kernel thread then.
[[gnu::noinline]] void follow_requests(thread &me) noexcept;
/// In a signal handler of a program's thread, outside of Weft: those that others have sent it are delivered.
void take_signals(thread &me) noexcept;
/// What a thread that `creator` makes begins with.
void inherit_requests(thread &t, const thread &creator) noexcept;
/// What a thread of the program has before it uses OpenMP.
void note_usual_cpus(thread &t);
/// Cpus that the thread is to be on; null: any.
[[nodiscard]] inline const std::vector<int> *cpus_of(const thread &t) noexcept {
  for (const std::vector<int> *const cpus :
       {static_cast<const std::vector<int> *>(t.asks.cpus), static_cast<const std::vector<int> *>(t.placement.cpus)})
    if (cpus)
      return cpus;
  return t.asks.usual_cpus;
}

} // namespace weft_omp
