// SPDX-License-Identifier: Apache-2.0
#include "monitor/watcher.hpp"

#include "base/clock.hpp"
#include "base/mutant.hpp"
#include "services/dispatcher.hpp"

#include <algorithm>
#include <ctime>

namespace weft::inline v0 {
namespace rt {
namespace {

constexpr std::uint64_t k_longest_rest_ns =
    1'000'000'000; // while a call of a service may not return, or another process may ask
constexpr std::uint64_t k_shortest_ns = 500'000; // between two looks because of pool threads
constexpr std::size_t k_stack_bytes = 512 << 10;

std::uint64_t own_cpu_ns() noexcept {
  timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<std::uint64_t>(t.tv_sec) * 1'000'000'000u +
         static_cast<std::uint64_t>(t.tv_nsec);
}

} // namespace

int watcher::start() noexcept {
  const int e = m_thread.start(
      "weft-watcher", [](void *p) { static_cast<watcher *>(p)->run(); }, this, k_stack_bytes);
  m_has_thread.store(e == 0, std::memory_order_relaxed); // a number to compare
  return e;
}

void watcher::stop() {
  m_asked.fetch_or(k_stops, std::memory_order_release); // O1: pairs with is_stopping
  os_futex_wake(m_asked, 1);
  unless(bug::watcher_stopped_silently, [&] { m_idle.notify_worker(m_seat); });
  m_has_thread.store(false, std::memory_order_relaxed); // a number to compare
  if (m_thread.joinable())
    m_thread.join();
}

void watcher::examine_soon() noexcept {
  m_examine.store(true, std::memory_order_release); // O2: pairs with run
  unless(bug::watcher_asked_silently, [&] { m_idle.notify_worker(m_seat); });
}

void watcher::look_soon() noexcept { m_idle.notify_worker(m_seat); }

bool watcher::is_stopping() const noexcept {
  return (m_asked.load(std::memory_order_acquire) & k_stops) != 0; // O1
}

void watcher::pool_threads_have_changed() noexcept {
  if (m_asked.load(std::memory_order_relaxed) & k_nudged) // it has not looked since
    return;
  m_asked.fetch_or(k_nudged, std::memory_order_release); // O3: pairs with run and rest
  os_futex_wake(m_asked, 1);
  m_idle.notify_worker(m_seat);
}

std::uint64_t watcher::next_nap(const stall_detector::assessment &o, std::uint64_t now) {
  const std::uint64_t spent = own_cpu_ns();
  m_cpu_ns.store(spent, std::memory_order_relaxed);
  return m_pace.next(o, now, spent);
}

/// Naps, until the watcher is to stop at most.
void watcher::nap(std::uint64_t ns) {
  const std::uint32_t seen = m_asked.load(std::memory_order_relaxed);
  if (!(seen & k_stops))
    os_futex_wait(m_asked, seen, static_cast<std::int64_t>(now_ns() + ns));
}

/// Naps, but ends the nap early if a pool thread has changed. Between two looks is time for a hundred of
/// them, so that pool threads that wait and go on all the time do not keep a cpu busy.
void watcher::nap_after_look(std::uint64_t ns, std::uint64_t looked_at) {
  const std::uint64_t cost = now_ns() - looked_at;
  if (!(m_asked.load(std::memory_order_relaxed) & k_nudged))
    nap(ns);
  if (!(m_asked.load(std::memory_order_relaxed) & k_nudged))
    return;
  const std::uint64_t least = std::max(k_shortest_ns,
                                       std::min(100 * cost, pool_thread_policy::k_look_ns)),
                      now = now_ns();
  if (now - looked_at < least)
    nap(least - (now - looked_at));
}

/// Returns when a rest ends by itself; 0 for never.
std::uint64_t watcher::end_of_rest() const noexcept {
  const std::uint64_t now = now_ns();
  std::uint64_t end = m_again_at;
  const auto not_after = [&](std::uint64_t at) { end = end == 0 ? at : std::min(end, at); };
  if (timer_has_services() || m_world.may_be_asked())
    not_after(now + k_longest_rest_ns);
  if (m_oversubscription_rest_ns != 0)
    not_after(now + m_oversubscription_rest_ns);
  return end;
}

/// Rests until a thread adds work for which no worker is free.
void watcher::rest() {
  m_idle.prepare(m_seat);
  if (m_world.work_waits() || m_world.chores_wait() ||
      m_examine.load(std::memory_order_acquire) || // O2
      m_asked.load(std::memory_order_acquire) != 0) { // O1, O3
    m_idle.cancel(m_seat);
  } else {
    m_idle.commit(m_seat, static_cast<std::int64_t>(end_of_rest()));
  }
  m_idle.found(m_seat); // the watcher takes no work: a worker that sleeps by now looks for it
}

/// Examines if a worker asked for it; or again, more and more rarely, if a thread that never asks
/// may have ended.
void watcher::examine_if_asked() {
  const bool asked =
      m_examine.exchange(false, std::memory_order_acquire); // O2: pairs with examine_soon
  if (!asked && (m_again_at == 0 || now_ns() < m_again_at))
    return;
  m_again_ns = asked ? m_patience_ns : std::min(2 * m_again_ns, m_rarest_ns);
  m_again_at = m_world.examine() ? now_ns() + m_again_ns : 0;
}

stall_detector::assessment watcher::look(std::uint64_t now) {
  stall_detector::assessment o = m_stall_detector.look(now);
  const oversubscription_policy::assessment c = m_oversubscription.look(now);
  o.slicing |= c.presses;
  o.may_rest &= !c.presses && !c.unsure;
  m_oversubscription_rest_ns = c.rest_ns;
  if (m_pool_threads)
    m_seen_pools = m_pool_threads->look(now);
  o.may_rest &= !m_seen_pools.watches;
  return o;
}

void watcher::run() {
  std::uint64_t rested_until = 0;
  while (!is_stopping()) {
    m_asked.fetch_and(~k_nudged, std::memory_order_acquire); // O3
    m_world.answer();
    examine_if_asked();
    const std::uint64_t now = now_ns();
    report_overdue_calls(now);
    const stall_detector::assessment o = look(now);
    m_looks.store(m_looks.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    m_world.publish();
    std::uint64_t pause = next_nap(o, now);
    if (m_seen_pools.watches)
      pause = std::min(pause, pool_thread_policy::k_look_ns);
    if (!o.may_rest) {
      nap_after_look(pause, now);
    } else if (o.blocked == 0 && now - rested_until < pace::k_longest_ns) {
      nap(std::max(
          pause,
          pace::
              k_longest_ns)); // woken for nothing: do not rest, or every push would wake the watcher
    } else {
      rest();
      rested_until = now_ns();
      m_pace.begin_anew();
    }
  }
}

} // namespace rt
} // namespace weft::inline v0
