// SPDX-License-Identifier: Apache-2.0
// Where a worker finds work.
#pragma once

#include "services/dispatcher.hpp"
#include "worker/runtime.hpp"

namespace weft::inline v0 {
namespace rt {

/// Limits the own tasks in a row before shared work is preferred; as in Go and tokio.
inline constexpr std::uint32_t k_own_in_a_row = 61;

/// Returns what only this thread can go on with: its own stack.
inline runnable *own_frame(worker &w) noexcept {
  if (!w.own_frame.full()) [[likely]]
    return nullptr;
  return w.own_frame.take();
}

/// Means no work in worker::handoff: the worker is about to sleep with the frame that it leaves.
[[gnu::visibility("hidden")]] extern runnable g_nothing;

/// Returns what the policy, or a set that the worker belongs to, has for the worker; or null.
[[nodiscard]] runnable *take_ready(worker &w);

/// Takes the oldest branch of a join of another worker.
runnable *steal_join(worker &w);

/// Takes shared work, for which other workers may wait, before the worker's own.
runnable *take_shared_first(worker &w);

/// Looks everywhere, then waits. Returns null when the thread must continue its own stack: the
/// runtime stops, a spare is not needed, or the thread parks.
runnable *find_work(worker &w);

/// Wakes a worker of a set, for work that only the set may run.
void wake_one_of(unsigned set) noexcept;

/// Counts the ended children at their parent where the worker must not change.
void flush_child_count_now(worker &w);

/// Polls services between two tasks; services may take long.
WEFT_INLINE void poll_services_between_tasks(worker &w) {
  if (!has_services_at(poll_point::scheduling_point)) [[likely]]
    return;
  flush_child_count(w);
  poll_services(poll_point::scheduling_point);
}

} // namespace rt
} // namespace weft::inline v0
