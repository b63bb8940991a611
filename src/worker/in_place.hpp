// SPDX-License-Identifier: Apache-2.0
// What the files share that run tasks: the loop of a worker, and waits that run in place what they wait for.
#pragma once

#include "observe/timekeeper.hpp"
#include "worker/runtime.hpp"

#include <cstddef>

namespace weft::inline v0 {
namespace rt {

inline constexpr std::size_t k_stack_reserve =
    24 << 10; // a task is run in place only with this much stack left

/// Measures the time of a task that `run` runs.
template <class F>
runnable *timed(worker &w, const task &body, F run) noexcept {
  const timed_task t =
      begin_timed(*w.counts, w.time, {body.label, body.ops ? body.ops->closure : nullptr});
  runnable *next = run();
  worker &now = *this_worker_or_null(); // the thread may have changed
  end_timed(t, *now.counts, now.time);
  return next;
}

} // namespace rt
} // namespace weft::inline v0
