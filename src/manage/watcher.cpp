// SPDX-License-Identifier: Apache-2.0
#include "manage/watcher.hpp"

#include "base/clock.hpp"
#include "base/mutant.hpp"
#include "manage/dispatcher.hpp"

#include <algorithm>
#include <ctime>

namespace weft::inline v0 {
namespace rt {
namespace {

// A look with its sleep and wake-up costs 5 us of CPU time: at 10 ms that is 0.05 %. 0.5 ms: the longest that a thread may
// sleep unnoticed once there is a doubt; starting a spare costs a tenth of it.
constexpr std::uint64_t k_shortest_nap_ns = 500'000, k_longest_nap_ns = 10'000'000;
constexpr std::uint64_t k_patience_ns = 100'000'000; // between looks, where looking turns out to be expensive
constexpr std::uint64_t k_share = 2000;              // 1/2000 of a CPU is what looking may cost while nobody is stuck
constexpr std::uint64_t k_allowance_ns = 1'000'000;  // and this much more, once
constexpr std::uint64_t k_longest_rest_ns = 1'000'000'000; // while there are services, whose calls may not return, or somebody may ask
constexpr std::size_t k_stack_bytes = 512 << 10;

constinit background_work g_work{"weft-watcher", place::timer};

std::uint64_t own_cpu_ns() noexcept {
  timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<std::uint64_t>(t.tv_sec) * 1'000'000'000u + static_cast<std::uint64_t>(t.tv_nsec);
}

} // namespace

int watcher::start() noexcept {
  g_work.announce();
  m_started = now_ns();
  return m_thread.start("weft-watcher", [](void *p) { static_cast<watcher *>(p)->run(); }, this, k_stack_bytes);
}

void watcher::stop() {
  m_stopping.store(1, std::memory_order_release); // O1: pairs with the loads in run
  os_futex_wake(m_stopping, 1);
  if (!mutant(bug::watcher_stopped_silently))
    m_idle.notify_worker(m_seat);
  if (m_thread.joinable())
    m_thread.join();
}

void watcher::examine_soon() noexcept {
  m_examine.store(true, std::memory_order_release); // O2: pairs with run
  if (!mutant(bug::watcher_asked_silently))
    m_idle.notify_worker(m_seat);
}

void watcher::look_soon() noexcept { m_idle.notify_worker(m_seat); }

/// Short while there is a doubt, then longer and longer; longer still where looking costs too much for nothing.
std::uint64_t watcher::next_nap(const judge::opinion &o, std::uint64_t now) {
  m_nap_ns = o.look_soon || m_nap_ns == 0 ? k_shortest_nap_ns : std::min(2 * m_nap_ns, o.slicing ? k_slice_ns / 2 : k_longest_nap_ns);
  const std::uint64_t spent = own_cpu_ns(), allowed = k_allowance_ns + (now - m_started) / k_share;
  m_cpu_ns.store(spent, std::memory_order_relaxed);
  if (o.blocked > 0 || o.suspects > 0 || o.slicing || spent <= allowed)
    return m_nap_ns;
  return std::clamp((spent - allowed) * k_share, m_nap_ns, k_patience_ns);
}

void watcher::nap(std::uint64_t ns) { os_futex_wait(m_stopping, 0, static_cast<std::int64_t>(now_ns() + ns)); }

/// When a rest ends by itself; 0 for never.
std::uint64_t watcher::end_of_rest() const noexcept {
  const std::uint64_t now = now_ns();
  std::uint64_t end = m_again_at;
  const auto not_after = [&](std::uint64_t at) { end = end == 0 ? at : std::min(end, at); };
  if (timer_has_services() || m_world.may_be_asked())
    not_after(now + k_longest_rest_ns);
  if (m_crowd_rest_ns != 0)
    not_after(now + m_crowd_rest_ns);
  return end;
}

/// Until somebody adds work for which no worker is there.
void watcher::rest() {
  m_idle.prepare(m_seat);
  if (m_world.work_waits() || m_world.chores_wait() || m_examine.load(std::memory_order_acquire) || // O2
      m_stopping.load(std::memory_order_acquire)) {                                               // O1
    m_idle.cancel(m_seat);
  } else {
    m_idle.commit(m_seat, static_cast<std::int64_t>(end_of_rest()));
  }
  m_idle.found(m_seat); // it takes no work: a worker that sleeps by now looks for it
}

/// Asked by a worker; or again, more and more rarely, where a thread that asks nobody may have ended.
void watcher::examine_if_asked() {
  const bool asked = m_examine.exchange(false, std::memory_order_acquire); // O2: pairs with examine_soon
  if (!asked && (m_again_at == 0 || now_ns() < m_again_at))
    return;
  m_again_ns = asked ? m_patience_ns : std::min(2 * m_again_ns, m_rarest_ns);
  m_again_at = m_world.examine() ? now_ns() + m_again_ns : 0;
}

judge::opinion watcher::look(std::uint64_t now) {
  judge::opinion o = m_judge.look(now);
  const crowd::opinion c = m_crowd.look(now);
  o.slicing |= c.presses;
  o.may_rest &= !c.presses && !c.unsure;
  m_crowd_rest_ns = c.rest_ns;
  return o;
}

void watcher::run() {
  std::uint64_t rested_until = 0;
  while (!m_stopping.load(std::memory_order_acquire)) { // O1: pairs with stop
    m_world.answer(); // may take half a second, for which nobody is to be blamed
    g_work.begins(now_ns());
    examine_if_asked();
    const std::uint64_t now = now_ns();
    report_overdue_calls(now);
    const judge::opinion o = look(now);
    m_looks.store(m_looks.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    m_world.publish();
    const std::uint64_t pause = next_nap(o, now);
    g_work.ends();
    if (!o.may_rest) {
      nap(pause);
    } else if (o.blocked == 0 && now - rested_until < k_longest_nap_ns) {
      nap(std::max(pause, k_longest_nap_ns)); // it was woken for nothing: not at every push
    } else {
      rest();
      rested_until = now_ns();
      m_nap_ns = 0;
    }
  }
}

} // namespace rt
} // namespace weft::inline v0
