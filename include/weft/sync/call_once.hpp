// SPDX-License-Identifier: Apache-2.0
// Calling a function once.
#pragma once

#include <weft/detail/sync_words.hpp>

#include <functional>
#include <utility>

namespace weft::inline v0 {

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
  /// Returns whether the caller is to call its function.
  [[nodiscard]] bool begin();
  void end(bool called) noexcept;

  detail::semaphore_state<> m_turn{1};
  std::atomic<bool> m_called{false};
};

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
