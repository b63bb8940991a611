// SPDX-License-Identifier: Apache-2.0
#include "trace_graph.hpp"

#include "base/error.hpp"

#include <weft/access.hpp>
#include <weft/error.hpp>

#include <algorithm>
#include <utility>

namespace weft_tool {
namespace {

/// Accesses that are compatible may be at work at the same time.
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

constexpr std::int64_t k_longest_gap = 100'000; // between tasks; more is no overhead but a thread without a processor

} // namespace

std::uint32_t trace_graph::index_of(std::uint32_t id) {
  const auto [at, is_new] = m_index.try_emplace(id, static_cast<std::uint32_t>(tasks.size()));
  if (is_new) {
    tasks.emplace_back();
    tasks.back().id = id;
  }
  return at->second;
}

/// Time that the innermost body of the worker has used.
void trace_graph::advance(worker &w, std::int64_t now) {
  if (!w.stack.empty() && now > w.since) {
    w.stack.back().computed += now - w.since;
    tasks[w.stack.back().task].exec += now - w.since;
  }
  w.since = now;
}

void trace_graph::act(worker &w, action::kind what, std::uint32_t child) {
  if (w.stack.empty())
    return;
  running &r = w.stack.back();
  if (what == action::waits && r.before_others >= 0) { // between those it looked for more of them
    tasks[r.task].exec -= r.computed - r.before_others;
    r.computed = r.before_others;
  }
  r.before_others = -1;
  m_log.push_back({r.task, {std::exchange(r.computed, 0), child, what}});
}

void trace_graph::add_access(const access_entry &a) {
  chain &c = m_chains[{tasks[a.task].parent, a.address}];
  const std::uint8_t h = how_of(a.mode);
  if (c.empty() || c.back().how != h || h == writes)
    c.push_back({{}, h});
  c.back().members.push_back(a.task);
}

void trace_graph::take(trace_reader &r, const trace_item &i) {
  const trace_record &x = *i.record;
  const auto e = static_cast<trace_event>(x.event);
  if (e == trace_event::counted || e == trace_event::switched_in || e == trace_event::switched_out)
    return;
  const std::int64_t now = r.ns(x.time);
  last = std::max(last, now);
  if (m_workers.size() <= i.slot)
    m_workers.resize(i.slot + 1);
  advance(m_workers[i.slot], now);
  worker &w = m_workers[i.slot];
  switch (e) {
  case trace_event::root: {
    const std::uint32_t t = index_of(x.task);
    tasks[t].is_root = true;
    tasks[t].type = x.type;
    tasks[t].begun = tasks[t].created = now;
    w.stack.assign(1, {t});
    break;
  }
  case trace_event::create: {
    const std::uint32_t t = index_of(x.task), id = static_cast<std::uint32_t>(x.a);
    const std::uint32_t parent = id ? index_of(id) : k_nobody;
    tasks[t].type = x.type;
    tasks[t].created = now;
    tasks[t].parent = parent;
    act(w, action::creates, t);
    break;
  }
  case trace_event::access:
    add_access({index_of(x.task), static_cast<std::uint8_t>(x.b >> 32), x.a});
    break;
  case trace_event::ready:
    tasks[index_of(x.task)].ready = now;
    break;
  case trace_event::begin: {
    const std::uint32_t t = index_of(x.task);
    tasks[t].begun = now;
    tasks[t].slot = i.slot;
    tasks[t].type = x.type;
    if (const std::int64_t gap = now - w.free_since; w.free_since >= 0 && gap < k_longest_gap) {
      ++m_gaps;
      m_gap_ns += gap;
    }
    w.free_since = -1;
    if (!w.stack.empty() && w.stack.back().before_others < 0)
      w.stack.back().before_others = w.stack.back().computed;
    w.stack.push_back({t});
    break;
  }
  case trace_event::end:
    act(w, action::ends, k_nobody);
    if (!w.stack.empty()) {
      graph_task &t = tasks[w.stack.back().task];
      t.ended = now;
      w.stack.pop_back();
    }
    w.free_since = w.stack.empty() ? now : -1;
    break;
  case trace_event::waited:
    act(w, action::waits, k_nobody);
    break;
  case trace_event::suspend:
    m_suspended[x.task] = std::exchange(w.stack, {});
    break;
  case trace_event::resume:
    if (auto below = m_suspended.extract(x.task); !below.empty())
      w.stack = std::move(below.mapped());
    break;
  case trace_event::idle:
    w.free_since = -1;
    break;
  default:
    break;
  }
}

/// Whoever must be over before what follows the task's access may go on: itself, and those of its children that name the same data.
void trace_graph::exits(std::uint32_t task, std::uint64_t address, std::vector<std::uint32_t> &out) const {
  out.push_back(task);
  const auto below = m_chains.find({task, address});
  if (below == m_chains.end())
    return;
  for (const std::uint32_t child : below->second.back().members)
    exits(child, address, out);
}

void trace_graph::link(const std::vector<std::uint32_t> &before, const std::vector<std::uint32_t> &after) {
  if (before.size() > 1 && after.size() > 1) {
    const auto between = static_cast<std::uint32_t>(tasks.size());
    tasks.emplace_back();
    tasks.back().is_join = true;
    for (const std::uint32_t b : before)
      m_edges.emplace_back(b, between);
    for (const std::uint32_t a : after)
      m_edges.emplace_back(between, a);
    return;
  }
  for (const std::uint32_t b : before)
    for (const std::uint32_t a : after)
      if (a != b)
        m_edges.emplace_back(b, a);
}

void trace_graph::link_all() {
  std::vector<std::uint32_t> before;
  for (const auto &[where, groups] : m_chains)
    for (std::size_t i = 1; i < groups.size(); ++i) {
      before.clear();
      for (const std::uint32_t t : groups[i - 1].members)
        exits(t, where.address, before);
      link(before, groups[i].members);
    }
}

void trace_graph::store_edges() {
  std::sort(m_edges.begin(), m_edges.end());
  m_edges.erase(std::unique(m_edges.begin(), m_edges.end()), m_edges.end());
  edges.reserve(m_edges.size());
  for (const auto &[from, to] : m_edges) {
    graph_task &t = tasks[from];
    if (t.edges++ == 0)
      t.first_edge = static_cast<std::uint32_t>(edges.size());
    edges.push_back(to);
    ++tasks[to].predecessors;
  }
}

void trace_graph::store_actions() {
  for (worker &w : m_workers) // what goes on at the end of the trace ends there
    while (!w.stack.empty()) {
      act(w, action::ends, k_nobody);
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
  m_log.clear();
}

trace_graph::trace_graph(trace_reader &r) {
  if (r.about().level < trace_level::graph)
    throw_error(weft::errc::invalid_argument, "the trace is of a level that does not hold the graph of tasks; write one with trace.level=graph");
  r.rewind();
  trace_item i;
  while (r.next(i))
    take(r, i);
  link_all();
  store_actions();
  store_edges();
  first = last;
  for (const graph_task &t : tasks) {
    if (t.begun >= 0)
      first = std::min(first, t.is_root ? t.created : t.begun);
    if (!t.is_root && !t.is_join && t.ended >= 0) {
      ++executed;
      work += t.exec;
    }
  }
  overhead = m_gaps ? m_gap_ns / static_cast<std::int64_t>(m_gaps) : 0;
}

} // namespace weft_tool
