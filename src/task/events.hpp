// SPDX-License-Identifier: Apache-2.0
// External events: reasons outside of Weft for a task not to be over.
//
// Roles: the running task increases; any thread decreases; the worker that ends the body takes the body's hold away.
// Word: events, plus k_body while the body runs. Invariants: I1 the word is zero only when the body has ended and no event is
//   left; whoever brings it to zero ends the task. Orders: O1 every change is acq_rel: the last one sees what all others
//   wrote. Progress: lock-free (a bounded check inside a compare-exchange). Checked by: tests/unit/api.
#pragma once

#include "base/mutant.hpp"
#include "task/task.hpp"

namespace weft::inline v0 {
namespace rt {

inline constexpr std::int64_t k_body = std::int64_t{1} << 40;

inline void increase(task_extra &x, std::uint32_t n) noexcept {
  const std::int64_t hold = x.has_events ? 0 : k_body;
  x.has_events = true;
  x.events.fetch_add(hold + n, std::memory_order_acq_rel); // O1
}

/// True: no event is left, the caller ends the task.
[[nodiscard]] inline bool end_body_of_events(task_extra &x) noexcept {
  return x.events.fetch_sub(k_body, std::memory_order_acq_rel) == k_body || mutant(bug::events_end_early); // O1
}

enum class decreased { some_left, last, underflow };

[[nodiscard]] inline decreased decrease(task_extra &x, std::uint32_t n) noexcept {
  std::int64_t now = x.events.load(std::memory_order_relaxed);
  do {
    if ((now & (k_body - 1)) < static_cast<std::int64_t>(n))
      return decreased::underflow;
  } while (!x.events.compare_exchange_weak(now, now - n, std::memory_order_acq_rel, std::memory_order_relaxed)); // O1
  return now == static_cast<std::int64_t>(n) && !mutant(bug::events_last_missed) ? decreased::last : decreased::some_left;
}

} // namespace rt
} // namespace weft::inline v0
