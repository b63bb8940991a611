// SPDX-License-Identifier: Apache-2.0
#include "monitor/watcher.hpp"

#include "base/clock.hpp"
#include "base/mutant.hpp"
#include "observe/hardware.hpp"
#include "services/dispatcher.hpp"

#include <algorithm>
#include <ctime>
#include <utility>

namespace weft::inline v0 {
namespace rt {
namespace {

constexpr std::uint64_t k_longest_sleep_ns =
    1'000'000'000; // while a call of a service may not return, or another process may ask
constexpr std::uint64_t k_sample_ns = 20'000'000; // while workers compute for other runtimes
constexpr std::uint64_t k_shortest_ns = 200'000; // between two looks because of pool threads
// Looks because of pool threads may cost this fraction of a cpu, saved up to an allowance: so the
// threads of a pool that wait one after the other do not make each other wait for a look.
constexpr std::int64_t k_nudge_fraction = 150, k_nudge_allowance_ns = 1'000'000;
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

bool watcher::is_nudged() const noexcept {
  return (m_asked.load(std::memory_order_relaxed) & k_nudged) != 0; // a hint
}

/// Returns the longest time to the next look at pool threads.
std::uint64_t watcher::pool_pause() const noexcept {
  return m_seen_pools.doubt ? pool_thread_policy::k_doubt_ns : pool_thread_policy::k_look_ns;
}

void watcher::pool_threads_have_changed() noexcept {
  if (m_asked.load(std::memory_order_relaxed) & k_nudged) // it has not looked since
    return;
  m_asked.fetch_or(k_nudged, std::memory_order_release); // O3: pairs with run and rest
  os_futex_wake(m_asked, 1);
  m_idle.notify_worker(m_seat);
}

std::uint64_t watcher::next_nap(const stall_detector::assessment &result, std::uint64_t now) {
  const std::uint64_t spent = own_cpu_ns();
  charge(now, spent);
  return m_pace.next(result, now, spent);
}

/// Naps, until the watcher is to stop at most.
void watcher::nap(std::uint64_t ns) {
  const std::uint32_t seen = m_asked.load(std::memory_order_relaxed);
  if (!(seen & k_stops))
    os_futex_wait(m_asked, seen, static_cast<std::int64_t>(now_ns() + ns));
}

/// Adds to what looks because of pool threads may cost, and takes off what looks have cost.
void watcher::charge(std::uint64_t now, std::uint64_t spent) {
  const std::uint64_t before = std::exchange(m_charged_at, now);
  const auto earned = static_cast<std::int64_t>(before ? now - before : 0) / k_nudge_fraction;
  const auto cost = static_cast<std::int64_t>(spent - m_cpu_ns.load(std::memory_order_relaxed));
  m_cpu_ns.store(spent, std::memory_order_relaxed);
  m_nudge_credit =
      std::clamp(m_nudge_credit + earned - cost,
                 -static_cast<std::int64_t>(pool_thread_policy::k_look_ns) / k_nudge_fraction,
                 k_nudge_allowance_ns);
}

/// Waits before a look that a nudge asks for, so that pool threads that wait and go on all the time
/// do not keep a cpu busy.
void watcher::keep_distance() {
  if (!is_nudged())
    return;
  const std::uint64_t debt =
      m_nudge_credit < 0 ? static_cast<std::uint64_t>(-m_nudge_credit * k_nudge_fraction) : 0;
  const std::uint64_t least = std::max(k_shortest_ns, debt), now = now_ns();
  if (now - m_looked_at < least)
    nap(least - (now - m_looked_at)); // further nudges do not end it
}

/// Looks at pool threads alone, as often as they change, until it is time for a whole look.
void watcher::look_at_pools_until(std::uint64_t due) {
  for (;;) {
    if (const std::uint64_t now = now_ns(); now < due && !is_nudged())
      nap(due - now);
    keep_distance();
    const std::uint64_t now = now_ns();
    if (now >= due || !m_pool_threads || !is_nudged() || is_stopping())
      return;
    m_asked.fetch_and(~k_nudged, std::memory_order_acquire); // O3
    m_seen_pools = m_pool_threads->look(now);
    m_looked_at = now;
    m_looks.store(m_looks.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    if (m_seen_pools.watches)
      due = std::min(due, now + pool_pause());
    charge(now, own_cpu_ns());
  }
}

/// Returns when a rest ends by itself; 0 for never.
std::uint64_t watcher::end_of_rest() const noexcept {
  const std::uint64_t now = now_ns();
  std::uint64_t end = m_again_at;
  const auto not_after = [&](std::uint64_t at) { end = end == 0 ? at : std::min(end, at); };
  if (timer_has_services() || m_world.may_be_asked())
    not_after(now + k_longest_sleep_ns);
  if (m_world.samples())
    not_after(now + k_sample_ns);
  if (m_oversubscription_rest_ns != 0)
    not_after(now + m_oversubscription_rest_ns);
  if (const std::uint64_t pause = longest_pause_of_hardware_ns())
    not_after(now + pause);
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
    const auto until = static_cast<std::int64_t>(end_of_rest());
    m_idle.commit_by(m_seat, [this, until](auto &word, std::uint32_t asleep) {
      return os_futex_wait_either(word, asleep, until, m_world.bell());
    });
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
    keep_distance();
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
      pause = std::min(pause, pool_pause());
    m_looked_at = now;
    if (!o.may_rest) {
      look_at_pools_until(now + pause);
    } else if (o.blocked == 0 && now - rested_until < pace::k_longest_ns) {
      // Woken for nothing: it does not rest, or every push would wake the watcher.
      look_at_pools_until(now + std::max(pause, pace::k_longest_ns));
    } else {
      rest();
      rested_until = now_ns();
      m_pace.begin_anew();
    }
  }
}

} // namespace rt
} // namespace weft::inline v0
