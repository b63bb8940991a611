// SPDX-License-Identifier: Apache-2.0
// Calling a function once.
#pragma once

#include <weft/detail/async.hpp>

#include <functional>
#include <utility>

namespace weft::inline v0 {

namespace detail {
class awaited_turn;
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
  friend void call_once(once_flag &, F &&, Args &&...);
  friend class detail::awaited_turn;
  /// Returns whether the caller is to call its function.
  [[nodiscard]] bool begin();
  void end(bool called) noexcept;

  detail::semaphore_state<> m_turn{1};
  std::atomic<bool> m_called{false};
};

namespace detail {

/// Lets a coroutine wait until it is to call the function of a flag (true), or another call has
/// returned (false).
class [[nodiscard]] awaited_turn : public coro_awaiter_around {
 public:
  explicit awaited_turn(once_flag &flag) : m_flag(flag), m_turn(flag.m_turn, {}) {}
  [[nodiscard]] bool await_ready() noexcept { return was_called() || m_turn.await_ready(); }
  template <class Handle>
  bool await_suspend(Handle handle) {
    return m_turn.await_suspend(handle);
  }
  [[nodiscard]] bool await_resume() {
    if (m_was_called)
      return false;
    if (!was_called())
      return true;
    m_flag.end(false);
    return false;
  }
  /// Lets the next one call its function, unless this one has returned.
  static void end(once_flag &flag, bool called) noexcept { flag.end(called); }

 private:
  bool was_called() noexcept {
    return m_was_called = m_flag.m_called.load(std::memory_order_acquire);
  }
  once_flag &m_flag;
  async_take<semaphore_state<>, async_kind::once, false> m_turn;
  bool m_was_called = false;
};

} // namespace detail

/// Calls f(args...) unless a call with the same flag has returned. A call that finds another one
/// running waits for it, and the worker goes on. If that one throws, the next one calls its function.
///
/// Threads. Any. f may suspend.
/// Errors. Those of f; of a wait: no_block in a service or an onready function; out_of_resources;
/// shut_down.
/// Source. ISO C++11, [thread.once.callonce].
template <class F, class... Args>
void call_once(once_flag &flag, F &&f, Args &&...args) {
  if (!flag.begin())
    return;
  struct ends {
    once_flag &flag;
    bool called = false;
    ~ends() { flag.end(called); }
  } call{flag};
  std::invoke(std::forward<F>(f), std::forward<Args>(args)...);
  call.called = true;
}

} // namespace weft::inline v0
