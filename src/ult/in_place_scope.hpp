// SPDX-License-Identifier: Apache-2.0
// Whether the code that runs is part of work that runs in place: api/cpp/in_place.cpp.
#pragma once

#include <cstdint>

namespace weft::inline v0 {
namespace detail {
struct task;
struct work_timer;
} // namespace detail
namespace rt {

/// Names the innermost work in place of a thread. It holds as long as the thread runs the same task
/// and no frame has left the thread to wait: so the timer, on the stack of the work, is alive.
struct in_place_scope {
  const detail::task *task = nullptr;
  std::uint64_t suspended = 0; // frames that had left the thread when the work began
  detail::work_timer *timer = nullptr;
};

} // namespace rt
} // namespace weft::inline v0
