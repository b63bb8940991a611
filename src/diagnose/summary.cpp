// SPDX-License-Identifier: Apache-2.0
// The summary at the end of a program that sets `stats`.
#include "diagnose/summary.hpp"
#include "base/log.hpp"
#include "mem/watermark.hpp"
#include "worker/runtime.hpp"

#include <weft/runtime.hpp>

namespace weft::inline v0 {
namespace rt {
namespace {

unsigned long long wide(std::uint64_t value) noexcept { return value; }

void print_worker(const worker &w) {
  const counter_block &c = *w.counts;
  note(
      "stats: worker %u (%s): %llu tasks spawned, %llu run; %llu suspensions, %llu join branches stolen, %llu sleeps, held back "
      "%llu times",
      w.id, w.root.label, wide(created(c)), wide(peek(c.executed) + peek(c.rounds)),
      wide(peek(c.suspended)), wide(peek(c.joins_stolen)), wide(peek(c.slept)),
      wide(peek(c.throttled)));
}

} // namespace

void print_summary(const runtime &rt) {
  report_watermarks();
  if (!rt.cfg.stats)
    return;
  const statistics s = stats();
  note(
      "stats: %llu tasks spawned, %llu run by %u workers; %llu suspensions, %llu stolen, %llu sleeps, "
      "producers held back %llu times",
      wide(s.spawned), wide(s.executed), rt.workers, wide(s.suspended), wide(s.stolen),
      wide(s.slept), wide(s.throttled));
  note("stats: at the end %llu tasks in the graph, %llu messages queued, %llu ready",
       wide(s.in_graph), wide(s.queued), wide(s.ready));
  if (s.cost)
    note("stats: the cost clauses of the tasks add up to %llu", wide(s.cost));
  const unsigned used = rt.used_slots.load(std::memory_order_acquire); // O1: pairs with make_worker
  for (unsigned id = 0; id < used; ++id)
    if (const worker *w = rt.slots[id].load(std::memory_order_acquire)) // O1
      print_worker(*w);
}

} // namespace rt
} // namespace weft::inline v0
