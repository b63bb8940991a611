// SPDX-License-Identifier: Apache-2.0
// How many workers have nothing to do. The watcher rests in the eventcount of the workers, but it takes no work.
#pragma once

#include <cstddef>

#include "worker/runtime.hpp"

namespace weft::inline v0 {
namespace rt {

/// Guesses the number of workers that sleep.
[[nodiscard]] inline std::size_t sleeping_workers(const runtime &rt) noexcept {
  return rt.idle.sleepers_beside(rt.slot_limit);
}
/// Guesses whether work that is added wakes a worker: one sleeps, and none searches.
[[nodiscard]] inline bool would_wake_a_worker(const runtime &rt) noexcept {
  return rt.idle.searching() == 0 && sleeping_workers(rt) != 0;
}
/// Guesses whether a worker sleeps or searches.
[[nodiscard]] inline bool any_worker_is_idle(const runtime &rt) noexcept {
  return rt.idle.searching() != 0 || sleeping_workers(rt) != 0;
}

} // namespace rt
} // namespace weft::inline v0
