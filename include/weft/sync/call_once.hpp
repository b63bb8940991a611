// SPDX-License-Identifier: Apache-2.0
// Calling a function once.
#pragma once

#include <weft/detail/async.hpp>

#include <chrono>
#include <cstdint>
#include <functional>
#include <stop_token>
#include <type_traits>
#include <utility>

namespace weft::inline v0 {

class once_flag;

namespace detail {

/// Says what a caller does with a flag: it calls its function, another call has returned, or its
/// limit came before either.
enum class once_turn : std::uint8_t { calls, was_called, gave_up };

class awaited_turn;
template <class F, class... Args>
bool call_once_within(once_flag &flag, const wait_limit &limit, F &&f, Args &&...args);

} // namespace detail

/// Says whether call_once() has called a function.
///
/// Cost. One load when it has. 16 bytes.
class WEFT_API once_flag {
 public:
  constexpr once_flag() noexcept = default;
  once_flag(const once_flag &) = delete;
  once_flag &operator=(const once_flag &) = delete;
  ~once_flag() = default;

 private:
  template <class F, class... Args>
    requires std::is_invocable_v<F, Args...>
  friend void call_once(once_flag &, F &&, Args &&...);
  template <class F, class... Args>
  friend bool detail::call_once_within(once_flag &, const detail::wait_limit &, F &&, Args &&...);
  friend class detail::awaited_turn;
  /// Returns whether the caller is to call its function.
  [[nodiscard]] bool begin();
  [[nodiscard]] detail::once_turn begin(const detail::wait_limit &limit);
  void end(bool called) noexcept;

  detail::semaphore_state<> m_turn{1};
  std::atomic<bool> m_called{false};
};

namespace detail {

/// Lets a coroutine wait until it is to call the function of a flag, or need not.
class [[nodiscard]] awaited_turn : public coro_awaiter_around {
 public:
  awaited_turn(once_flag &flag, const wait_limit &limit) : m_flag(flag), m_turn(flag.m_turn, limit) {}
  [[nodiscard]] bool await_ready() noexcept {
    m_was_called = is_over();
    return m_was_called || m_turn.await_ready();
  }
  template <class Handle>
  bool await_suspend(Handle handle) {
    return m_turn.await_suspend(handle);
  }
  [[nodiscard]] once_turn await_resume() {
    if (m_was_called)
      return once_turn::was_called;
    const bool has_turn = m_turn.await_resume();
    if (!is_over())
      return has_turn ? once_turn::calls : once_turn::gave_up;
    if (has_turn)
      m_flag.end(false);
    m_was_called = true;
    return once_turn::was_called;
  }
  [[nodiscard]] bool timed_out() const noexcept { return !m_was_called && m_turn.timed_out(); }
  /// Lets the next one call its function, unless this one has returned.
  static void end(once_flag &flag, bool called) noexcept { flag.end(called); }

 private:
  [[nodiscard]] bool is_over() const noexcept {
    return m_flag.m_called.load(std::memory_order_acquire);
  }
  once_flag &m_flag;
  async_take<semaphore_state<>, async_kind::once, true> m_turn;
  bool m_was_called = false;
};

/// Ends the turn of a caller, also by an exception. Reports of hangs look for the address of the flag on stacks, to
/// name the caller: so the object is there, also where the compiler knows the address.
struct ends_turn {
  once_flag &flag;
  bool called = false;
  explicit ends_turn(once_flag &of) noexcept : flag(of) { asm volatile("" : : "r"(this) : "memory"); }
  ends_turn(const ends_turn &) = delete;
  ends_turn &operator=(const ends_turn &) = delete;
  ~ends_turn() { awaited_turn::end(flag, called); }
};

/// Returns whether the function of the flag was called.
template <class F, class... Args>
bool call_once_within(once_flag &flag, const wait_limit &limit, F &&f, Args &&...args) {
  const once_turn turn = flag.begin(limit);
  if (turn != once_turn::calls)
    return turn == once_turn::was_called;
  ends_turn call(flag);
  std::invoke(std::forward<F>(f), std::forward<Args>(args)...);
  return call.called = true;
}

} // namespace detail

/// Calls f(args...) unless a call with the same flag has returned. A call that finds another one
/// running waits for it, and the worker goes on. If that one throws, the next one calls its function.
///
/// Threads. Any. f may suspend.
/// Errors. Those of f; of a wait: no_block in a service or an onready function; out_of_resources;
/// shut_down.
/// Source. ISO C++11, [thread.once.callonce].
template <class F, class... Args>
  requires std::is_invocable_v<F, Args...>
void call_once(once_flag &flag, F &&f, Args &&...args) {
  if (!flag.begin())
    return;
  detail::ends_turn call(flag);
  std::invoke(std::forward<F>(f), std::forward<Args>(args)...);
  call.called = true;
}
/// @{ Does the same, and gives up the wait for another call on a stop request, or when the time is
/// over. Returns whether a call has returned, this one or another; false: f was not called. A call
/// of f that has begun is never given up.
///
/// Errors. As above.
template <class F, class... Args>
  requires std::is_invocable_v<F, Args...>
[[nodiscard]] bool call_once(once_flag &flag, const std::stop_token &stop, F &&f, Args &&...args) {
  return detail::call_once_within(flag, {UINT64_MAX, &stop}, std::forward<F>(f),
                                  std::forward<Args>(args)...);
}
template <class Rep, class Period, class F, class... Args>
  requires std::is_invocable_v<F, Args...>
[[nodiscard]] bool call_once_for(once_flag &flag, const std::chrono::duration<Rep, Period> &most,
                                 F &&f, Args &&...args) {
  return detail::call_once_within(flag, detail::limit_of(most), std::forward<F>(f),
                                  std::forward<Args>(args)...);
}
template <class Clock, class Duration, class F, class... Args>
  requires std::is_invocable_v<F, Args...>
[[nodiscard]] bool call_once_until(once_flag &flag,
                                   const std::chrono::time_point<Clock, Duration> &time, F &&f,
                                   Args &&...args) {
  return detail::wait_until_time(time, [&](const detail::wait_limit &limit) {
    return detail::call_once_within(flag, limit, std::forward<F>(f), std::forward<Args>(args)...);
  });
}
/// @}

} // namespace weft::inline v0
