// SPDX-License-Identifier: Apache-2.0
// What the synchronization objects of weft/sync.hpp share: the list of those that wait for an object. The protocol is in
// src/sync/wait_list.hpp. Not for users: it changes with the version.
#pragma once

#include <weft/detail/core.hpp>
#include <weft/detail/lock_word.hpp>
#include <weft/detail/nanoseconds.hpp>

#include <chrono>
#include <cstdint>
#include <stop_token>

namespace weft::inline v0 {
namespace detail {

/// Says how a wait has ended.
enum class wait_end : std::uint8_t { granted, timed_out, stopped, closed };

/// Is one wait. It lives in the waiter: on the stack of a suspended call, or in what goes on instead.
template <class P = std_atomics>
struct wait_node {
  typename P::template var<wait_node *> next{}, previous{}; // in a list or in a chain
  typename P::template var<bool> listed{};
  typename P::template var<wait_end> end{};
  typename P::template var<wait_end>
      overdue{}; // of a node that a canceller did not find in its list
  bool shared = false; // of a shared_mutex
  void *value = nullptr; // of a channel: the place to move from or to
  task *waiter = nullptr; // null: not a task
  void (*resume)(wait_node &) = nullptr; // what goes on with the grant; null: a frame in `signal`
  typename P::template atomic<void *> signal{nullptr};
};

/// Holds those that wait for one object, the oldest first: a circle.
template <class P = std_atomics>
struct wait_list {
  typename P::template atomic<wait_node<P> *> oldest{nullptr};
};

/// Says when a wait ends without a grant.
struct wait_limit {
  std::uint64_t deadline_ns = UINT64_MAX; // of the monotonic clock; UINT64_MAX: never
  const std::stop_token *stop = nullptr;
};

/// Returns the limit of a wait of this duration.
[[nodiscard]] WEFT_API wait_limit limit_of_ns(std::int64_t ns);
template <class Rep, class Period>
[[nodiscard]] wait_limit limit_of(std::chrono::duration<Rep, Period> most) {
  return limit_of_ns(whole_nanoseconds(most));
}

/// Calls `wait(limit)` until it succeeds or the time of `Clock` has come.
template <class Clock, class Duration, class Wait>
bool wait_until_time(const std::chrono::time_point<Clock, Duration> &time, Wait wait) {
  for (;;) {
    const auto now = Clock::now();
    if (wait(limit_of(time - now)))
      return true;
    if (now >= time || Clock::now() >= time) // a clock that was set back: wait for the rest
      return false;
  }
}

} // namespace detail
} // namespace weft::inline v0
