// SPDX-License-Identifier: Apache-2.0
// Counts the tasks that have run, on all threads: a counter per thread, so that counting costs
// three instructions.
#pragma once

#include <cstdint>

namespace app {

namespace detail {
inline constinit thread_local std::uint64_t *tasks_of_thread = nullptr;
std::uint64_t *add_thread();
} // namespace detail

inline void count_task() {
  if (!detail::tasks_of_thread)
    detail::tasks_of_thread = detail::add_thread();
  ++*detail::tasks_of_thread;
}

/// Returns the sum over all threads. Call it when no task runs.
[[nodiscard]] std::uint64_t tasks_run();

} // namespace app
