// SPDX-License-Identifier: Apache-2.0
#include "worker/step_back.hpp"

#include "os/thread_state.hpp"
#include "topo/machine.hpp"
#include "worker/needed.hpp"
#include "worker/runtime.hpp"

#include <algorithm>

namespace weft::inline v0 {
namespace rt {
namespace {

constinit external_list<layer::pool_thread>
    g_pool_threads; // of the process: some exist before the runtime does

worker *started_worker(const runtime &rt, unsigned id) noexcept {
  return rt.slots[id].load(std::memory_order_acquire); // O1: pairs with make_worker
}

/// Says whether a worker must not be away: no other worker can do what it does, because it manages,
/// or because only it and some others may run a task.
bool is_needed(const runtime &rt, const worker &w) {
  const auto &managing = rt.manage.chosen();
  return rt.confined.is_in_any(w.id) ||
         std::find(managing.begin(), managing.end(), w.id) != managing.end();
}

/// Calls f(worker) for the workers that have stepped back, or are about to, and are needed or not,
/// until it returns true. Returns whether it has.
template <class F>
bool any_away(const runtime &rt, bool needed, F f) {
  for (unsigned id = 1; id < rt.room.all_workers(); ++id)
    if (worker *w = started_worker(rt, id)) {
      const auto state = w->seat.is();
      if ((state == spare_seat<>::leaving || state == spare_seat<>::parked) &&
          is_needed(rt, *w) == needed && f(*w))
        return true;
    }
  return false;
}

bool needed_is_away(const runtime &rt) {
  return any_away(rt, true, [](worker &) { return true; });
}

/// Returns false if the worker is about to park.
bool recall(worker &w) {
  if (w.seat.is() != spare_seat<>::leaving || !w.own_frame.take())
    return w.seat.wake();
  w.seat.recall(); // the worker has not left yet, and goes on
  return true;
}

} // namespace

external_list<layer::pool_thread> &known_pool_threads() noexcept { return g_pool_threads; }

unsigned worker_room::shared_cpus() const {
  return static_cast<unsigned>(this_machine().effective_cpus());
}
std::uint64_t worker_room::cpu_ns_of(int tid) const { return thread_cpu_ns(tid); }
bool worker_room::sleeps(int tid) const { return thread_sleeps(tid); }

bool worker_room::has_worker(int tid) const {
  for (unsigned id = 0; id < m_runtime.workers; ++id)
    if (const worker *w = started_worker(m_runtime, id);
        w && w->tid.load(std::memory_order_relaxed) == tid)
      return true;
  return false;
}

unsigned worker_room::all_workers() const {
  return m_runtime.started_workers.load(std::memory_order_relaxed);
}
unsigned worker_room::most_workers() const {
  const unsigned most = m_most.load(std::memory_order_relaxed), all = all_workers();
  return most == 0 ? all : std::min(most, all);
}
unsigned worker_room::in_pools() const {
  const unsigned away = stepped_back(), beyond = all_workers() - most_workers();
  return away > beyond ? away - beyond : 0;
}
void worker_room::take(const settings &chosen) noexcept {
  m_least.store(static_cast<unsigned>(chosen.pools_least_workers), std::memory_order_relaxed);
  m_most.store(static_cast<unsigned>(chosen.sched_workers), std::memory_order_relaxed);
}

bool worker_room::may_step_back(const worker &w) const { return !is_needed(m_runtime, w); }

bool worker_room::step_back() {
  for (unsigned id = all_workers(); id-- > 1;) {
    worker *w = started_worker(m_runtime, id);
    if (!w || !may_step_back(*w) || !w->seat.retire())
      continue;
    m_away.fetch_add(1, std::memory_order_relaxed);
    make_ready(*w->thread_frame);
    return true;
  }
  return false;
}

/// Calls back a worker that is needed, or else any.
bool worker_room::call_back() {
  const bool called = any_away(m_runtime, true, recall) ||
                      (!needed_is_away(m_runtime) && any_away(m_runtime, false, recall));
  if (called)
    m_away.fetch_sub(1, std::memory_order_relaxed);
  return called;
}

void call_needed_back(runtime &rt) {
  while (needed_is_away(rt))
    if (!rt.room.call_back())
      return rt.watch.examine_soon();
}

bool worker_room::park(worker &w) noexcept {
  w.memory->flush_remote();
  w.memory->flush_accounting();
  if (m_runtime.stopping.load(std::memory_order_acquire)) // O3 of runtime.cpp
    return false;
  w.seat.park();
  if (m_runtime.cfg.watch_hang != hang_kind::off)
    m_runtime.watch.examine_soon(); // other workers may have asked while this one was active
  // O3 of spare_seat.hpp
  return !m_runtime.stopping.load(std::memory_order_seq_cst) && w.seat.wait(0) &&
         !m_runtime.stopping.load(std::memory_order_acquire); // O1: stored before the wake-up
}

void worker_room::stop() noexcept {
  for (unsigned id = 1; id < m_runtime.workers; ++id)
    if (worker *w = started_worker(m_runtime, id))
      static_cast<void>(w->seat.wake());
}

} // namespace rt
} // namespace weft::inline v0
