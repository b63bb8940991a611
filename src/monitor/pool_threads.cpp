// SPDX-License-Identifier: Apache-2.0
#include "monitor/pool_threads.hpp"

#include <algorithm>
#include <utility>

namespace weft::inline v0 {
namespace rt {
namespace {

constexpr std::uint64_t k_used_fraction = 8;
constexpr std::uint64_t k_spin_ns = 100'000; // a thread that yields this often spins

} // namespace

bool pool_thread_policy::computes(layer::pool_thread &other, std::uint64_t since) {
  int tid = other.tid.load(std::memory_order_relaxed);
  const std::uint64_t cpu = m_world.cpu_ns_of(tid);
  if (cpu == 0) { // it has ended without notice; another one may have begun with its record
    other.tid.compare_exchange_strong(tid, 0, std::memory_order_relaxed);
    return false;
  }
  const std::uint64_t before = std::exchange(other.seen_cpu_ns, cpu);
  const std::uint32_t yields = other.yields.load(std::memory_order_relaxed);
  const std::uint32_t yielded = yields - std::exchange(other.seen_yields, yields);
  if (m_world.has_worker(tid))
    return false;
  if (before == 0)
    return true;
  const std::uint64_t used = cpu - before;
  if (yielded != 0 && yielded * k_spin_ns >= used)
    return false;
  const bool sleeps = m_world.sleeps(tid), much = used * k_used_fraction >= since;
  m_doubt |= sleeps && much;
  return much || !sleeps;
}

pool_thread_policy::assessment pool_thread_policy::look(std::uint64_t now) {
  const std::uint64_t since = now - std::exchange(m_at, now);
  unsigned computing = 0;
  bool may_compute = false;
  const bool doubted = std::exchange(m_doubt, false);
  m_world.pool_threads().visit([&](layer::pool_thread &other) {
    if (other.tid.load(std::memory_order_relaxed) == 0)
      return;
    if (other.waits.load(std::memory_order_relaxed) != 0) { // a hint: the pool thread notifies
      other.seen_cpu_ns = 0;
      return;
    }
    may_compute = true;
    computing += computes(other, since);
  });
  const unsigned workers = m_world.all_workers(), cpus = m_world.shared_cpus();
  const unsigned room = cpus > computing ? cpus - computing : 0;
  const unsigned least = std::min(m_world.least_workers(), workers);
  // Without pool threads all workers work that sched.workers allows, however many these are.
  const unsigned most = std::clamp(m_world.most_workers(), 1u, std::max(workers, 1u));
  const unsigned beyond = workers - std::min(most, workers);
  const unsigned absent =
      computing == 0 ? beyond : std::max(beyond, workers - std::clamp(room, least, workers));
  unsigned away = m_world.stepped_back();
  while (away < absent && m_world.step_back())
    ++away;
  while (away > absent && m_world.call_back())
    --away;
  m_doubt &= !doubted && away > beyond; // not twice in a row: threads may sleep often
  m_tries = away == absent || std::exchange(m_wanted, absent) != absent ? 0 : m_tries + 1;
  const bool moves = away != absent && m_tries < k_most_tries;
  return {may_compute || away > beyond || moves, m_doubt, computing};
}

} // namespace rt
} // namespace weft::inline v0
