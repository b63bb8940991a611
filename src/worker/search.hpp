// SPDX-License-Identifier: Apache-2.0
// Where a worker finds work.
#pragma once

#include "services/dispatcher.hpp"
#include "worker/runtime.hpp"

namespace weft::inline v0 {
namespace rt {

/// Own work gives way to shared work after so many tasks in a row; as in Go and tokio.
inline constexpr std::uint32_t k_own_in_a_row = 61;

/// What only this thread can go on with: its own stack.
inline runnable *own_frame(worker &w) noexcept {
  if (!w.own_frame.full()) [[likely]]
    return nullptr;
  return w.own_frame.take();
}

/// The oldest branch of a join of another worker.
runnable *steal_join(worker &w);

/// What others may wait for, before the worker's own.
runnable *take_shared_first(worker &w);

/// Looks everywhere, then waits. Null when the thread is to go on with its own stack: the runtime stops, or a spare is not needed.
runnable *find_work(worker &w);

/// Wakes a worker of a set, for work that only they may run.
void wake_one_of(unsigned set) noexcept;

/// Tells a parent of its children's end where the worker must not change.
void flush_child_count_now(worker &w);

/// Between tasks: services may take long.
WEFT_INLINE void poll_services_between_tasks(worker &w) {
  if (!has_services_at(poll_point::scheduling_point)) [[likely]]
    return;
  flush_child_count(w);
  poll_services(poll_point::scheduling_point);
}

} // namespace rt
} // namespace weft::inline v0
