// SPDX-License-Identifier: Apache-2.0
// What may end the wait of a frame or a coroutine for tasks before its time: the clock and a stop
// request.
//
// Roles       Waiter: makes the object, leaves its frame or coroutine, and disarms the object when it
//             goes on.
//             Publisher: the thread that has left the waiter and made it known to what it waits
//             for; it arms the limits then.
//             Canceller: the clock, or the thread of a stop request; it calls give_up.
// Words       m_armed: the publisher touches the object no more.
// Invariants  I1  No canceller is called before arm(), nor once disarm() has returned.
//             I2  give_up lets the waiter go on unless what it waits for does: it decides that by
//                 the word or the list in which the waiter was made known.
// Orders      O5 of task/wait/block_word.hpp: the publisher's accesses come before the waiter goes on.
// Progress    disarm() waits for a publisher that arms, and for a canceller that runs.
// Reclamation The object is the waiter's, which disarms it first.
// Checked by  tests/model/coroutine_models.cpp: coroutine_end_meets_deadline,
//             tests/model/completion_models.cpp: completion_withdrawn*
#pragma once

#include "api/cpp/sync.hpp"
#include "services/timer.hpp"
#include "task/wait/wait.hpp"

#include <weft/detail/wait_list.hpp>

#include <atomic>
#include <optional>
#include <stop_token>

namespace weft::inline v0 {
namespace rt {

using detail::wait_end;
using detail::wait_limit;

class wait_limits {
 public:
  using end_function = void (*)(void *wait, wait_end why) noexcept;

  /// Throws weft::error or std::bad_alloc. `limit` may be gone afterwards, but not its token.
  wait_limits(const wait_limit &limit, end_function give_up, void *wait);
  wait_limits(const wait_limits &) = delete;
  wait_limits &operator=(const wait_limits &) = delete;
  ~wait_limits() = default;
  /// Lets the limits end the wait from now on. It is the publisher's last touch.
  void arm() noexcept;
  void disarm() noexcept;
  [[nodiscard]] bool may_stop() const noexcept { return may_be_stopped(m_limit); }

 private:
  struct request {
    wait_limits *of;
    void operator()() const noexcept;
  };
  end_function m_give_up;
  void *m_wait;
  wait_limit m_limit;
  timer::call m_call;
  std::optional<std::stop_callback<request>> m_callback;
  std::atomic<bool> m_armed{false};
};

/// Returns how a wait that has not begun is over by its limit: granted, if it is not.
[[nodiscard]] wait_end over_at_once(const wait_limit &limit) noexcept;

/// Waits until the tasks are complete, no longer than the limit says. Runs nothing in place. Returns
/// whether they are; then the caller calls end_wait_for_...().
[[nodiscard]] bool wait_within(const task_scope &scope, const wait_limit &limit);

} // namespace rt
} // namespace weft::inline v0
