// SPDX-License-Identifier: Apache-2.0
// How many workers have nothing to do. The watcher rests in the eventcount of the workers, but it takes no work.
#pragma once

#include <cstddef>

#include "worker/runtime.hpp"

namespace weft::inline v0 {
namespace rt {

/// Guesses the number of threads that nap, and for which no spare runs: the watcher adds one when work waits.
[[nodiscard]] inline std::size_t naps_without_spare(const runtime &rt) noexcept {
  const unsigned naps = rt.naps.load(std::memory_order_relaxed), spares = rt.spare_threads.spares();
  return naps > spares ? naps - spares : 0;
}
/// Guesses the number of workers that sleep or would come for a thread that naps.
[[nodiscard]] inline std::size_t sleeping_workers(const runtime &rt) noexcept {
  return rt.idle.sleepers_beside(rt.slot_limit) + naps_without_spare(rt);
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
