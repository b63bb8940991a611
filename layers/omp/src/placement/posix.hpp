// SPDX-License-Identifier: Apache-2.0
// What a program asks of an OpenMP thread as if it were a kernel thread: cpus, scheduling, signals
// (posix.cpp).
#pragma once

#include "thread/thread.hpp"

#include <vector>

namespace weft_omp {

/// Gives the kernel thread the scheduling and the signal mask of `me`, which has come to it, and
/// delivers the signals that other threads have sent to `me`.
/// Called with the kernel thread's block. `me` may be on another kernel thread afterwards.
[[gnu::noinline]] void follow_requests(thread &me) noexcept;
/// Delivers the signals that other threads have sent to `me`. Called in a signal handler of a
/// program's thread, outside of Weft.
void take_signals(thread &me) noexcept;
/// Gives a thread that `creator` makes the requests with which it begins.
void inherit_requests(thread &t, const thread &creator) noexcept;
/// Notes the cpus that a thread of the program has before it uses OpenMP.
void note_usual_cpus(thread &t);
/// Returns the cpus on which the thread must run; null: any.
[[nodiscard]] inline const std::vector<int> *cpus_of(const thread &t) noexcept {
  for (const std::vector<int> *const cpus :
       {static_cast<const std::vector<int> *>(t.asks.cpus),
        static_cast<const std::vector<int> *>(t.placement.cpus)})
    if (cpus)
      return cpus;
  return t.asks.usual_cpus;
}

} // namespace weft_omp
