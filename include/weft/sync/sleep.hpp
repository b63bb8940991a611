// SPDX-License-Identifier: Apache-2.0
// Sleeping until a time or a stop request.
#pragma once

#include <weft/detail/wait_list.hpp>

#include <chrono>
#include <stop_token>

namespace weft::inline v0 {
namespace detail {
/// Suspends the caller until the limit. Returns whether the time has come; false: a stop was requested.
[[nodiscard]] WEFT_API bool sleep_within(const wait_limit &limit);
} // namespace detail

namespace this_task {

/// @{ Suspends the caller for at least `time`, or until `end`, or until a stop is requested. Returns
/// whether the time is over; false: the stop was requested first.
///
/// Blocks. Yes: the worker runs other tasks meanwhile.
/// Errors. no_block in a service or an onready function; out_of_resources; shut_down.
template <class Rep, class Period>
[[nodiscard]] bool sleep_for(const std::chrono::duration<Rep, Period> &time,
                             const std::stop_token &stop) {
  detail::wait_limit limit = detail::limit_of(time);
  limit.stop = &stop;
  return detail::sleep_within(limit);
}
template <class Clock, class Duration>
[[nodiscard]] bool sleep_until(const std::chrono::time_point<Clock, Duration> &end,
                               const std::stop_token &stop) {
  for (auto now = Clock::now(); now < end; now = Clock::now())
    if (!sleep_for(end - now, stop))
      return false;
  return true;
}
/// @}

} // namespace this_task
} // namespace weft::inline v0
