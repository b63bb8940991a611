// SPDX-License-Identifier: Apache-2.0
// Publishes levels: values that no worker counts, because they rise and fall. The watcher publishes
// them at each of its looks, and so does a thread that takes a snapshot.
#include "publish/publish.hpp"
#include "base/clock.hpp"
#include "diagnose/describe.hpp"
#include "diagnose/last_dump.hpp"
#include "observe/hardware.hpp"
#include "observe/power.hpp"
#include "observe/shares.hpp"
#include "observe/store.hpp"
#include "observe/user_counter.hpp"
#include "publish/reporting.hpp"
#include "publish/runtimes.hpp"
#include "trace/session.hpp"
#include "tune/decisions.hpp"
#include "tune/hooks.hpp"
#include "tune/knobs.hpp"
#include "worker/runtime.hpp"

#include <algorithm>
#include <new>

namespace weft::inline v0 {
namespace rt {
namespace {

// Held while a publisher reads and writes levels. A second publisher waits for it, because it may
// have changed a level since.
spin_lock<> g_levels;
// Held over functions of the user, which may wait or ask for counters themselves. A second
// publisher leaves these functions to the first.
spin_lock<> g_functions;

void publish_queues(runtime &rt) noexcept {
  const unsigned used = rt.used_slots.load(std::memory_order_acquire); // O1: pairs with make_worker
  for (unsigned id = 0; id < used; ++id)
    if (worker *w = rt.slots[id].load(std::memory_order_acquire)) // O1
      put(w->counts->queued, rt.ready->length(id));
  put(process_counters().shared_queue, rt.ready->length(k_outside) + rt.confined.length());
}

/// Estimates the energy since the start. Never less than before: a count only grows.
void publish_estimate(const runtime &rt, process_block &levels) noexcept {
  const std::uint64_t now = now_ns();
  double busy_ns = 0;
  const unsigned used = rt.used_slots.load(std::memory_order_acquire); // O1
  for (unsigned id = 0; id < used; ++id)
    if (const worker *w = rt.slots[id].load(std::memory_order_acquire)) { // O1
      const auto overall = elapsed(peek(w->counts->overall), now);
      busy_ns +=
          static_cast<double>(overall - std::min(elapsed(peek(w->counts->idle), now), overall));
    }
  const double sum = estimated_energy(
      busy_ns, static_cast<double>(now - std::min(store_header().started_ns, now)), rt.workers,
      rt.cfg.power_busy, rt.cfg.power_idle);
  put(levels.energy_estimate,
      std::max(peek(levels.energy_estimate), static_cast<std::uint64_t>(sum)));
}

void publish_process(const runtime &rt) noexcept {
  process_block &p = process_counters();
  publish_estimate(rt, p);
  const std::int64_t live = live_bytes();
  put(p.live_bytes, live > 0 ? static_cast<std::uint64_t>(live) : 0);
  put(p.messages_queued, rt.manage.queued());
  put(p.registrations_queued, rt.manage.registrations_queued());
  put(p.spares, rt.spare_threads.spares());
  put(p.stepped_back, rt.room.stepped_back());
  put(p.knob_changes, knob_changes());
  const tuner_totals tuned = totals_of_tuner();
  put(p.tuner_trials, tuned.trials);
  put(p.tuner_decisions, tuned.decisions);
  put(p.tuner_reverts, tuned.reverts);
  put(p.tuner_lost, tuned.lost_ns);
  put(p.tuner_calls, tuned.policy_calls);
  put(p.watcher_cpu, rt.watch.cpu_ns());
  put(p.watcher_looks, rt.watch.looks());
  const trace_totals traced = totals_of_trace();
  put(p.trace_records, traced.records);
  put(p.trace_discarded, traced.discarded);
  put(p.published, now_ns());
}

} // namespace

void publish_counters(runtime &rt, hardware_counts which) noexcept {
  g_levels.lock();
  publish_hardware(which == hardware_counts::read);
  publish_queues(rt);
  publish_process(rt);
  sample_clients(rt, now_ns());
  g_levels.unlock();
  if (!g_functions.try_lock())
    return;
  publish_user_counters();
  g_functions.unlock();
}

reading read_counters_now() {
  if (runtime *const rt = runtime_or_null())
    publish_counters(*rt);
  return read_segment(store_base(), program_state::running);
}

void forget_publisher_in_child() noexcept {
  ::new (&g_levels) spin_lock<>;
  ::new (&g_functions) spin_lock<>;
}

namespace {

slot_counts counts_of(unsigned id, const counter_block &block) noexcept {
  slot_counts s{id, {}};
  const auto put = [&s](counted_value v, std::uint64_t n) {
    s.values[static_cast<std::size_t>(v)] = n;
  };
  put(counted_value::executed, peek(block.executed));
  put(counted_value::created, created(block));
  put(counted_value::reruns, peek(block.reruns));
  put(counted_value::rounds, peek(block.rounds));
  put(counted_value::suspended, peek(block.suspended));
  return s;
}

/// Returns for which runtimes the workers have computed since the start.
std::vector<std::pair<std::string, std::uint64_t>> shares_of_run(runtime &rt) {
  g_levels.lock();
  sample_clients(rt, now_ns());
  g_levels.unlock();
  const reading all = read_segment(store_base(), program_state::running);
  std::vector<std::pair<std::string, std::uint64_t>> shares;
  for (const time_share &s : shares_of(all, all))
    shares.emplace_back(s.name, s.ns);
  return shares;
}

void end_tracing(runtime &rt, workers_are now) noexcept try {
  std::vector<slot_counts> counts;
  const unsigned used =
      now == workers_are::stopped ? rt.used_slots.load(std::memory_order_acquire) : 0; // O1
  for (unsigned id = 0; id < used; ++id)
    if (const worker *w = rt.slots[id].load(std::memory_order_acquire)) // O1
      counts.push_back(counts_of(id, *w->counts));
  end_trace(counts, describe_types(), shares_of_run(rt));
} catch (const std::bad_alloc &) {
  end_trace({}, {}, {});
}

} // namespace

void end_counting(runtime &rt, workers_are now) noexcept {
  end_tracing(rt, now);
  publish_counters(rt);
  end_reporting(rt);
  remove_dump_file();
  end_store();
}

} // namespace rt
} // namespace weft::inline v0
