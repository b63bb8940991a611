// SPDX-License-Identifier: Apache-2.0
#include "monitor/oversubscription.hpp"

#include "monitor/suspend_word.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <new>
#include <utility>

namespace weft::inline v0 {
namespace rt {
namespace {

constexpr std::uint64_t k_longest_window_ns =
    4 * k_slice_ns; // in a longer one threads may have come and gone
constexpr std::uint64_t k_least_fraction =
    8;                    // a thread computes if it runs for an eighth of the time or more
constexpr std::uint64_t k_shortest_rest_ns = 2 * k_slice_ns, k_longest_rest_ns = 1'000'000'000;

} // namespace

/// Returns how many external threads take part; lists the others.
std::size_t oversubscription_policy::sort() {
  std::size_t inside = 0;
  m_outside.clear();
  m_suspended.clear();
  m_world.external_threads().visit([&](layer::external_thread &thread) {
    if (thread.tid.load(std::memory_order_relaxed) == 0)
      return;
    const std::uint32_t seq = thread.participation_seq.load(std::memory_order_relaxed); // a hint
    const bool takes_part = seq % 2 != 0 || seq != thread.seen_participation_seq;
    thread.seen_participation_seq = seq;
    inside += takes_part;
    if (takes_part)
      thread.seen_cpu_ns = 0; // unknown
    else if (suspend_word<>::is_suspended(thread.suspend_request))
      m_suspended.push_back(&thread);
    else
      m_outside.push_back(&thread);
  });
  return inside;
}

/// Keeps in m_outside the threads that have computed since the last look.
void oversubscription_policy::find_computing(std::uint64_t since) {
  std::erase_if(m_outside, [&](layer::external_thread *thread) {
    int tid = thread->tid.load(std::memory_order_relaxed);
    const std::uint64_t now = m_world.cpu_ns(tid), before = thread->seen_cpu_ns;
    thread->seen_cpu_ns = now;
    if (now == 0) // the thread has ended without notice; another one may have begun with its record
      thread->tid.compare_exchange_strong(tid, 0, std::memory_order_relaxed);
    return now == 0 || before == 0 || (now - before) * k_least_fraction < since;
  });
}

/// Asks `surplus` threads to suspend themselves, but none that sleeps in the kernel, because the
/// signal would wake it. Returns false if no thread was asked.
bool oversubscription_policy::ask(std::size_t surplus) {
  bool asked = false;
  for (layer::external_thread *g : m_outside) {
    const int tid = g->tid.load(std::memory_order_relaxed);
    if (surplus == 0)
      break;
    if (tid == 0 || m_world.sleeps(tid))
      continue;
    suspend_word<>::ask(g->suspend_request);
    if (!m_world.ask(tid)) {
      suspend_word<>::withdraw(g->suspend_request);
      continue;
    }
    asked = true;
    --surplus;
  }
  return asked;
}

void oversubscription_policy::recall(std::size_t most) {
  for (layer::external_thread *g : m_suspended) {
    if (most-- == 0)
      return;
    suspend_word<>::recall(g->suspend_request);
  }
}

/// Adds up the time of cpus that this process has left idle; begins anew when the process used all
/// cpus but for half of one: regions are short, and a gap follows each. If threads of the process
/// had to leave their cpu, other processes have used the rest, and it does not count.
void oversubscription_policy::note_idle_time(std::uint64_t since) {
  const std::uint64_t before = std::exchange(m_process_ns, m_world.process_cpu_ns());
  const std::uint64_t used = m_process_ns - before, had = m_world.cpus() * since,
                      idle = used < had ? had - used : 0;
  const std::uint64_t preemptions = m_world.preemptions();
  const bool shares = std::exchange(m_preemptions, preemptions) != preemptions;
  m_idle_ns = 2 * idle < since || shares ? 0 : m_idle_ns + idle;
}

oversubscription_policy::assessment oversubscription_policy::assess_all(std::uint64_t now) {
  const std::uint64_t since = now - std::exchange(m_at, now);
  const std::size_t inside = sort();
  if (inside == 0 || (m_outside.empty() && m_suspended.empty())) {
    recall(m_suspended.size());
    for (layer::external_thread *g : m_outside) {
      suspend_word<>::withdraw(g->suspend_request); // the signal may come late
      g->seen_cpu_ns = 0;
    }
    m_rest_ns = 0;
    return {};
  }
  note_idle_time(since);
  find_computing(since);
  if (since > k_longest_window_ns) {
    m_idle_ns = 0;
    return {false, true, k_shortest_rest_ns};
  }
  const std::size_t at_work = m_outside.size() + inside + m_world.busy();
  const auto idle_slices =
      static_cast<std::size_t>(std::exchange(m_idle_ns, m_idle_ns % k_slice_ns) / k_slice_ns);
  recall(idle_slices);
  const bool asked = idle_slices == 0 && at_work > m_world.cpus() && ask(at_work - m_world.cpus());
  const bool presses = asked || !m_suspended.empty();
  m_rest_ns =
      presses || m_rest_ns == 0 ? k_shortest_rest_ns : std::min(2 * m_rest_ns, k_longest_rest_ns);
  return {presses, false, m_rest_ns};
}

oversubscription_policy::assessment oversubscription_policy::look(std::uint64_t now) {
  try {
    return m_world.can_ask() ? assess_all(now) : assessment{};
  } catch (const std::bad_alloc &) { // the next look tries again
    return {};
  }
}

} // namespace rt
} // namespace weft::inline v0
