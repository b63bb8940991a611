// SPDX-License-Identifier: Apache-2.0
#include "services/timer.hpp"

#include "base/clock.hpp"
#include "base/error.hpp"
#include "base/mutant.hpp"
#include "services/dispatcher.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace weft::inline v0 {
namespace rt {
namespace {

// Once the timer has seen that idle workers poll, it takes that for granted for so many periods: a
// fruitless look costs 5 us.
constexpr std::uint64_t k_trust = 10;

struct lock_guard {
  explicit lock_guard(pthread_mutex_t &mutex) : m(mutex) { pthread_mutex_lock(&mutex); }
  ~lock_guard() { pthread_mutex_unlock(&m); }
  pthread_mutex_t &m;
};

} // namespace

timer::timer(thread_context *(*adopt)() noexcept) : m_adopt(adopt) { forget_after_fork(); }

void timer::forget_after_fork() {
  pthread_condattr_t monotonic;
  pthread_condattr_init(&monotonic);
  pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
  pthread_cond_init(&m_changed, &monotonic);
  pthread_condattr_destroy(&monotonic);
  pthread_mutex_init(&m_mutex, nullptr);
  m_thread.forget();
  m_calls.clear();
  m_polling = false;
}

void timer::ensure_thread() {
  if (m_thread.joinable() || m_stopping)
    return;
  if (int e = m_thread.start("weft-timer", [](void *p) { static_cast<timer *>(p)->run(); }, this))
    throw_error(errc::out_of_resources,
                "the timer thread cannot be started (%s); raise the limit of threads",
                std::strerror(e));
}

void timer::prepare(call &timed) {
  std::multimap<std::uint64_t, call *> one;
  timed.room = one.extract(one.emplace(0, &timed));
  lock_guard guard(m_mutex);
  ensure_thread();
}

void timer::at(std::uint64_t deadline_ns, call &timed) noexcept {
  lock_guard guard(m_mutex);
  timed.room.key() = deadline_ns;
  timed.at = m_calls.insert(std::move(timed.room));
  timed.pending = true;
  if (unless(bug::timer_earlier_unnotified, timed.at == m_calls.begin()))
    pthread_cond_signal(&m_changed);
}

void timer::cancel(call &timed) {
  lock_guard guard(m_mutex);
  if (!timed.pending)
    return;
  m_calls.erase(timed.at);
  timed.pending = false;
}

void timer::poll_services(std::uint64_t period_ns) {
  lock_guard guard(m_mutex);
  ensure_thread();
  m_period_ns = period_ns;
  unless(bug::timer_polls_unnotified, [&] { pthread_cond_signal(&m_changed); });
}

void timer::wait_until(std::uint64_t deadline_ns) {
  if (deadline_ns == UINT64_MAX) {
    pthread_cond_wait(&m_changed, &m_mutex);
    return;
  }
  timespec t{static_cast<time_t>(deadline_ns / 1'000'000'000u),
             static_cast<long>(deadline_ns % 1'000'000'000u)};
  pthread_cond_timedwait(&m_changed, &m_mutex, &t);
}

/// Calls the services that are this thread's to call; returns when it looks again. Does not hold
/// the lock over calls, because a service may use the timer.
std::uint64_t timer::poll_now() {
  const std::uint64_t period = m_period_ns;
  m_polling = true;
  pthread_mutex_unlock(&m_mutex);
  thread_context *const e = m_adopt();
  if (e && has_services_at(poll_point::timer))
    services(poll_point::timer).poll(*e);
  std::uint64_t next = now_ns() + period;
  service_list &idle = services(poll_point::idle);
  if (has_services_at(poll_point::idle) && now_ns() - idle.polled_ns() < period)
    next = has_services_at(poll_point::timer) ? next : next + (k_trust - 1) * period;
  else if (e && has_services_at(poll_point::idle))
    idle.poll(*e); // no worker idles
  pthread_mutex_lock(&m_mutex);
  m_polling = false;
  return next;
}

void timer::call_or_put_off(std::uint64_t now) {
  auto node = m_calls.extract(m_calls.begin());
  call &c = *node.mapped();
  if (c.is_deferred && c.is_deferred(c.context)) {
    node.key() = now + c.period_ns;
    c.at = m_calls.insert(std::move(node));
    return;
  }
  c.pending = false;
  c.f(c.context); // the last access: the caller may go on and free the call
}

void timer::run() {
  lock_guard guard(m_mutex);
  std::uint64_t next_poll = 0;
  while (!m_stopping) {
    const std::uint64_t now = now_ns();
    while (!m_calls.empty() && m_calls.begin()->first <= now)
      call_or_put_off(now);
    const bool polls = m_period_ns && timer_has_services();
    if (polls && next_poll <= now) {
      next_poll = poll_now();
      continue;
    }
    const std::uint64_t due = m_calls.empty() ? UINT64_MAX : m_calls.begin()->first;
    wait_until(polls ? std::min(due, next_poll) : due);
  }
}

bool timer::is_busy() {
  lock_guard guard(m_mutex);
  return m_polling || std::any_of(m_calls.begin(), m_calls.end(),
                                  [](const auto &entry) { return !entry.second->is_deferred; });
}

bool timer::has_thread() {
  lock_guard guard(m_mutex);
  return m_thread.joinable();
}

void timer::stop() {
  {
    lock_guard guard(m_mutex);
    m_stopping = true;
    unless(bug::timer_stopped_silently, [&] { pthread_cond_signal(&m_changed); });
  }
  if (m_thread.joinable())
    m_thread.join();
}

} // namespace rt
} // namespace weft::inline v0
