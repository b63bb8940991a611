// SPDX-License-Identifier: Apache-2.0
#include "tools/weft/trace/graph.hpp"

#include "tools/weft/support/progress.hpp"

#include "base/error.hpp"

#include <weft/access.hpp>
#include <weft/error.hpp>

#include <algorithm>
#include <utility>

namespace weft_tool {
namespace {

/// Lists how accesses relate: tasks with compatible accesses may run at the same time.
enum how : std::uint8_t { reads, writes, concurrent, commutes, reduces };
std::uint8_t how_of(std::uint8_t mode) noexcept {
  using enum weft::access_mode;
  switch (static_cast<weft::access_mode>(mode)) {
  case in:
  case weak_in:
    return reads;
  case weft::access_mode::concurrent:
  case weak_concurrent:
    return how::concurrent;
  case commutative:
  case weak_commutative:
    return commutes;
  case reduction:
  case weak_reduction:
    return reduces;
  default:
    return writes;
  }
}

constexpr std::int64_t k_longest_gap =
    100'000; // between tasks; more is no overhead but a thread without a processor

} // namespace

std::uint32_t trace_graph::index_of(std::uint32_t id) {
  std::uint32_t &at = m_index.at(id);
  if (at == 0) {
    tasks.emplace_back();
    tasks.back().id = id;
    at = static_cast<std::uint32_t>(tasks.size());
  }
  return at - 1;
}

/// Adds the time that the innermost body of the worker has used.
void trace_graph::advance(worker &w, std::int64_t now) {
  if (!w.stack.empty() && now > w.since) {
    w.stack.back().computed += now - w.since;
    tasks[w.stack.back().task].exec += now - w.since;
  }
  w.since = now;
}

void trace_graph::act(worker &w, std::uint32_t what) {
  if (w.stack.empty())
    return;
  running &r = w.stack.back();
  if (what == action::k_waits && r.before_others >= 0) { // between those it looked for more of them
    tasks[r.task].exec -= r.computed - r.before_others;
    r.computed = r.before_others;
  }
  r.before_others = -1;
  m_log.push_back({r.task, {static_cast<float>(std::exchange(r.computed, 0)), what}});
}

void trace_graph::add_access(std::uint32_t task, std::uint8_t mode, std::uint64_t address) {
  const auto entry = static_cast<std::uint32_t>(m_accesses.size());
  const auto [at, is_new] =
      m_chains.try_emplace({tasks[task].parent, address}, chain{entry, entry, entry});
  chain &c = at->second;
  const std::uint8_t h = how_of(mode);
  const bool begins = !is_new && (h == writes || m_accesses[c.last].how != h);
  m_accesses.push_back({task, k_nobody, h, begins});
  if (is_new)
    return;
  m_accesses[c.last].next = entry;
  c.last = entry;
  if (begins)
    c.last_group = entry;
}

/// Splits the segment that contains `at`. The second part needs only the newest group, and the one
/// before it if more tasks may join the newest: the first part links the older ones.
void trace_graph::cut(segments &all, std::uint64_t at) {
  auto before = all.upper_bound(at);
  if (before == all.begin() || (--before)->first == at || before->second.end <= at)
    return;
  const std::vector<group> &groups = before->second.groups;
  const std::size_t kept =
      groups.back().how == writes ? 1 : std::min<std::size_t>(groups.size(), 2);
  segment rest{before->second.end,
               {groups.end() - static_cast<std::ptrdiff_t>(kept), groups.end()}};
  before->second.end = at;
  all.emplace(at, std::move(rest));
}

/// Adds bytes in the order of regions: commutative and reducing accesses in the order of creation.
void trace_graph::add_bytes(std::uint32_t task, std::uint8_t mode, std::uint64_t low,
                            std::uint64_t bytes) {
  segments &all = m_segments[tasks[task].parent];
  const std::uint64_t end = low + std::max<std::uint64_t>(bytes, 1);
  std::uint8_t h = how_of(mode);
  h = h == commutes || h == reduces ? std::uint8_t{writes} : h;
  cut(all, low);
  cut(all, end);
  for (std::uint64_t at = low; at < end;) {
    auto here = all.lower_bound(at);
    if (here == all.end() || here->first > at) // no task has named these yet
      here =
          all.emplace(at, segment{here == all.end() ? end : std::min(end, here->first), {}}).first;
    std::vector<group> &groups = here->second.groups;
    if (groups.empty() || h == writes || groups.back().how != h)
      groups.push_back({{}, h});
    groups.back().members.push_back(task);
    at = here->second.end;
  }
}

void trace_graph::begin_root(worker &w, const trace_record &record, std::int64_t now,
                             unsigned slot) {
  const std::uint32_t t = index_of(record.task);
  tasks[t].is_root = true;
  tasks[t].slot = static_cast<std::uint16_t>(slot);
  tasks[t].type = record.type;
  tasks[t].begun = now;
  w.stack.assign(1, {t});
}

void trace_graph::create(worker &w, const trace_record &record, std::int64_t now, unsigned slot) {
  const std::uint32_t t = index_of(record.task), id = static_cast<std::uint32_t>(record.a);
  const std::uint32_t parent = id ? index_of(id) : k_nobody;
  tasks[t].type = record.type;
  tasks[t].parent = parent;
  if (!tasks[t].has_ready_event) { // until those before it are known
    tasks[t].ready = now;
    tasks[t].ready_slot = static_cast<std::uint16_t>(slot);
  }
  act(w, t);
}

void trace_graph::make_ready(graph_task &task, std::int64_t now, unsigned slot) {
  task.ready = now;
  task.ready_slot = static_cast<std::uint16_t>(slot);
  task.has_ready_event = true;
}

void trace_graph::begin_body(worker &w, const trace_record &record, std::int64_t now,
                             unsigned slot) {
  const std::uint32_t t = index_of(record.task);
  tasks[t].begun = now;
  tasks[t].slot = static_cast<std::uint16_t>(slot);
  tasks[t].type = record.type;
  if (const std::int64_t gap = now - w.free_since; w.free_since >= 0 && gap < k_longest_gap) {
    ++m_gaps;
    m_gap_ns += gap;
  }
  if (w.idle_since >= 0 && w.stack.empty())
    m_woken.emplace_back(t, w.idle_since);
  w.free_since = w.idle_since = -1;
  if (!w.stack.empty() && w.stack.back().before_others < 0)
    w.stack.back().before_others = w.stack.back().computed;
  w.stack.push_back({t});
}

void trace_graph::end_body(worker &w, std::int64_t now) {
  act(w, action::k_ends);
  if (!w.stack.empty()) {
    tasks[w.stack.back().task].ended = now;
    w.stack.pop_back();
  }
  w.free_since = w.stack.empty() ? now : -1;
}

void trace_graph::take(trace_reader &reader, const trace_item &item) {
  const trace_record &x = *item.record;
  const auto e = static_cast<trace_event>(x.event);
  if (e == trace_event::counted || e == trace_event::decided || is_of_kernel(e))
    return;
  const std::int64_t now = reader.ns(x.time);
  // Idle workers have these events after the last task, too.
  if (e != trace_event::idle && e != trace_event::busy && e != trace_event::sleep &&
      e != trace_event::wake)
    last = std::max(last, now);
  if (m_workers.size() <= item.slot)
    m_workers.resize(item.slot + 1);
  advance(m_workers[item.slot], now);
  worker &w = m_workers[item.slot];
  switch (e) {
  case trace_event::root:
    begin_root(w, x, now, item.slot);
    break;
  case trace_event::create:
    create(w, x, now, item.slot);
    break;
  case trace_event::access:
    if (x.b & k_by_bytes)
      add_bytes(index_of(x.task), static_cast<std::uint8_t>(x.b >> 32), x.a, x.b & UINT32_MAX);
    else
      add_access(index_of(x.task), static_cast<std::uint8_t>(x.b >> 32), x.a);
    break;
  case trace_event::ready:
    make_ready(tasks[index_of(x.task)], now, item.slot);
    break;
  case trace_event::begin:
    begin_body(w, x, now, item.slot);
    break;
  case trace_event::end:
    end_body(w, now);
    break;
  case trace_event::waited:
    act(w, action::k_waits);
    break;
  case trace_event::suspend:
    m_suspended[x.task] = std::exchange(w.stack, {});
    break;
  case trace_event::resume:
    if (auto below = m_suspended.extract(x.task); !below.empty())
      w.stack = std::move(below.mapped());
    w.idle_since = -1;
    break;
  case trace_event::idle:
    w.free_since = -1;
    w.idle_since = now;
    break;
  default:
    break;
  }
}

void trace_graph::store_actions() {
  for (worker &w : m_workers) // a body that runs at the end of the trace ends there
    while (!w.stack.empty()) {
      act(w, action::k_ends);
      w.stack.pop_back();
    }
  for (const logged &l : m_log)
    ++tasks[l.task].actions;
  std::uint32_t at = 0;
  for (graph_task &t : tasks) {
    t.first_action = at;
    at += std::exchange(t.actions, 0);
  }
  actions.resize(at);
  for (const logged &l : m_log) {
    graph_task &t = tasks[l.task];
    actions[t.first_action + t.actions++] = l.what;
  }
  std::vector<logged>().swap(m_log);
}

trace_graph::trace_graph(trace_reader &reader) {
  if (reader.about().level < trace_level::graph)
    throw_error(
        weft::errc::invalid_argument,
        "the trace is of a level that does not hold the graph of tasks; write one with trace.level=graph");
  reader.rewind("reading the graph");
  trace_item i;
  while (reader.next(i))
    take(reader, i);
  link_all();
  m_chains.clear();
  std::vector<access_entry>().swap(m_accesses);
  store_actions();
  store_edges();
  infer_readiness();
  measure_moves();
  first = last;
  for (const graph_task &t : tasks) {
    if (t.begun >= 0)
      first = std::min(first, t.begun);
    if (!t.is_root && !t.is_join && t.ended >= 0) {
      ++executed;
      work += t.exec;
    }
  }
  overhead = m_gaps ? m_gap_ns / static_cast<std::int64_t>(m_gaps) : 0;
}

} // namespace weft_tool
