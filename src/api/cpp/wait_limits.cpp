// SPDX-License-Identifier: Apache-2.0
#include "api/cpp/wait_limits.hpp"

#include "base/clock.hpp"
#include "diagnose/hang.hpp"
#include "task/poll_hook.hpp"
#include "worker/runtime.hpp"

namespace weft::inline v0 {
namespace rt {

wait_limits::wait_limits(const wait_limit &limit, end_function give_up, void *wait)
    : m_give_up(give_up), m_wait(wait), m_limit(limit) {
  if (m_limit.deadline_ns == UINT64_MAX)
    return;
  the_runtime().clock.prepare(m_call);
  m_call.f = [](void *of) {
    auto &self = *static_cast<wait_limits *>(of);
    self.m_give_up(self.m_wait, wait_end::timed_out);
  };
  m_call.context = this;
}

void wait_limits::request::operator()() const noexcept {
  const gate_guard here;
  of->m_give_up(of->m_wait, wait_end::stopped);
}

void wait_limits::arm() noexcept {
  if (m_limit.deadline_ns != UINT64_MAX)
    the_runtime().clock.at(m_limit.deadline_ns, m_call);
  if (may_stop())
    m_callback.emplace(*m_limit.stop, request{this});
  m_armed.store(true, std::memory_order_release); // O5 of block_word.hpp
}

void wait_limits::disarm() noexcept {
  real_atomics::await(
      m_armed, [](bool armed) { return armed; }, std::memory_order_acquire); // O5 of block_word.hpp
  if (m_limit.deadline_ns != UINT64_MAX)
    the_runtime().clock.cancel(m_call);
  m_callback.reset();
}

wait_end over_at_once(const wait_limit &limit) noexcept {
  if (limit.stop && limit.stop->stop_requested())
    return wait_end::stopped;
  return limit.deadline_ns <= now_ns() ? wait_end::timed_out : wait_end::granted;
}

namespace {

/// Waits on a stack for the tasks of a scope. The waiter goes on when the last of them, or a limit,
/// has taken it.
class limited_wait {
 public:
  limited_wait(const task_scope &scope, const wait_limit &limit)
      : m_scope(scope), m_limits(limit, &give_up, this) {}
  wait_end wait() {
    wait_reason why = m_scope.reason();
    why.may_be_stopped = m_limits.may_stop();
    suspend(&publish, this, why);
    m_limits.disarm();
    return m_result;
  }

 private:
  static void publish(thread_context &, frame &suspended, void *p) {
    auto &self = *static_cast<limited_wait *>(p);
    self.m_waiting = &suspended;
    if (!enter_waiter(self.m_scope, suspended))
      make_ready(suspended);
    self.m_limits.arm(); // the waiter goes on after that
  }
  static void give_up(void *p, wait_end why) noexcept {
    auto &self = *static_cast<limited_wait *>(p);
    frame &waiting = *self.m_waiting;
    if (!withdraw_waiter(self.m_scope))
      return;
    self.m_result = why;
    make_ready(waiting);
  }

  const task_scope &m_scope;
  frame *m_waiting = nullptr;
  wait_end m_result = wait_end::granted; // written by the thread that takes the waiter
  wait_limits m_limits;
};

} // namespace

bool wait_within(const task_scope &scope, const wait_limit &limit) {
  if (scope.is_over())
    return true;
  traced_wait traced(scope);
  if ((services_at(poll_point::taskwait) & ~k_has_wait_policy) != 0) [[unlikely]] {
    poll_services_now(poll_point::taskwait);
    if (scope.is_over())
      return true;
  }
  if (over_at_once(limit) == wait_end::granted &&
      limited_wait(scope, limit).wait() == wait_end::granted)
    return true;
  traced.forget();
  return false;
}

} // namespace rt
} // namespace weft::inline v0
