// SPDX-License-Identifier: Apache-2.0
// Computes the edges of the graph, and what follows from them.
#include "tools/weft/trace/graph.hpp"

#include "tools/weft/support/progress.hpp"

#include <algorithm>
#include <utility>

namespace weft_tool {
namespace {

constexpr std::size_t k_enough = 30; // samples

} // namespace

/// Finds the tasks that must have ended before a successor on the task's access may begin: the task
/// itself, and those of its children that name the same data. A successor that reads does not wait
/// for children that read behind all that write.
void trace_graph::exits(std::uint32_t task, std::uint64_t low, std::uint64_t end, bool reading,
                        std::vector<std::uint32_t> &out) {
  m_to_visit.push_back({task, low, end, reading}); // tasks nest deeper than a stack allows
  while (!m_to_visit.empty()) {
    const visit at = m_to_visit.back();
    m_to_visit.pop_back();
    out.push_back(at.task);
    const std::size_t first = m_to_visit.size();
    add_last_children(at);
    // What no trace of a program holds, a task below itself, is visited once.
    if (m_to_visit.size() != first && !m_visited.insert(at).second)
      m_to_visit.resize(first);
    std::reverse(m_to_visit.begin() + static_cast<std::ptrdiff_t>(first), m_to_visit.end());
  }
  m_visited.clear();
}

/// Adds the children of a task that are the last to name its data to those that are to be visited.
void trace_graph::add_last_children(const visit &at) {
  if (const auto below = m_chains.find({at.task, at.low}); below != m_chains.end()) {
    const chain &c = below->second;
    const bool passes = at.reading && is_reading(c.last_group);
    const std::uint32_t stop = passes ? c.last_group : k_nobody;
    for (std::uint32_t e = passes ? c.group_before : c.last_group; e != k_nobody && e != stop;
         e = m_accesses[e].next)
      m_to_visit.push_back({m_accesses[e].task, at.low, at.end, at.reading});
  }
  const auto parts = m_segments.find(at.task);
  if (parts == m_segments.end())
    return;
  auto part = parts->second.upper_bound(at.low);
  if (part != parts->second.begin())
    --part;
  for (; part != parts->second.end() && part->first < at.end; ++part)
    if (part->second.end > at.low)
      for (const std::uint32_t child : part->second.groups.back().members)
        m_to_visit.push_back({child, std::max(at.low, part->first),
                              std::min(at.end, part->second.end), false});
}

void trace_graph::link_bytes(std::uint64_t low, const segment &area) {
  for (std::size_t i = 1; i < area.groups.size(); ++i) {
    m_before.clear();
    for (const std::uint32_t t : area.groups[i - 1].members)
      exits(t, low, area.end, false, m_before);
    link(m_before, area.groups[i].members);
  }
}

void trace_graph::link(const std::vector<std::uint32_t> &before,
                       const std::vector<std::uint32_t> &after) {
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

void trace_graph::link_chain(std::uint64_t address, const chain &listed) {
  m_before.clear();
  m_after.clear();
  m_beside.clear();
  bool is_first = true;
  const auto link_group = [&] { // m_after holds a whole one
    if (!is_first)
      link(m_before, m_after);
    is_first = false;
  };
  const auto close = [&](bool reads_next) {
    link_group();
    m_before.clear();
    for (const std::uint32_t t : m_after)
      exits(t, address, address + 1, reads_next, m_before);
    std::vector<std::uint32_t> all;
    if (reads_next)
      for (const std::uint32_t t : m_after)
        exits(t, address, address + 1, false, all);
    const bool waits_for_all = all.empty() || all == m_before;
    m_before.insert(m_before.end(), m_beside.begin(), m_beside.end());
    m_beside = waits_for_all ? std::vector<std::uint32_t>() : std::move(all);
    m_after.clear();
  };
  for (std::uint32_t e = listed.first; e != k_nobody; e = m_accesses[e].next) {
    if (m_accesses[e].begins_group)
      close(is_reading(e));
    m_after.push_back(m_accesses[e].task);
  }
  link_group(); // no task waits for the last one
}

void trace_graph::link_all() {
  begin_phase("linking tasks", m_chains.size());
  for (const auto &[where, c] : m_chains) {
    link_chain(where.address, c);
    weft_tool::advance(1);
  }
  for (const auto &[parent, parts] : m_segments)
    for (const auto &[low, part] : parts)
      link_bytes(low, part);
}

/// Stores the edges, each once, sorted by where they begin.
void trace_graph::store_edges() {
  std::vector<std::uint32_t> at(tasks.size() + 1);
  for (const auto &[from, to] : m_edges)
    ++at[from + 1];
  for (std::size_t t = 0; t < tasks.size(); ++t)
    at[t + 1] += at[t];
  edges.resize(m_edges.size());
  for (const auto &[from, to] : m_edges)
    edges[at[from]++] = to;
  std::vector<std::pair<std::uint32_t, std::uint32_t>>().swap(m_edges);
  std::uint32_t end = 0, kept = 0; // `at` of a task is now where its edges end
  for (std::size_t t = 0; t < tasks.size(); ++t) {
    const auto begin = edges.begin() + end;
    end = at[t];
    std::sort(begin, edges.begin() + end);
    const auto last = std::unique(begin, edges.begin() + end);
    tasks[t].first_edge = kept;
    tasks[t].edges = static_cast<std::uint32_t>(last - begin);
    for (auto e = begin; e != last; ++e) {
      ++tasks[*e].predecessors;
      edges[kept++] = *e;
    }
  }
  edges.resize(kept);
}

/// Lets all that waits for a task that ends with another one wait for that end.
void trace_graph::move_ends() {
  if (m_ends.empty())
    return;
  const auto end_of = [this](std::uint32_t task) {
    const auto found = m_ends.find(task);
    return found == m_ends.end() ? task : found->second;
  };
  for (auto &[from, to] : m_edges)
    from = end_of(from);
  for (logged &l : m_log)
    if (l.what.awaits_one())
      l.what.what = action::k_awaits | end_of(l.what.awaited());
  for (const auto &[task, end] : m_ends)
    m_edges.emplace_back(task, end);
}

void trace_graph::release_successors(const graph_task &from, std::int64_t when, unsigned slot) {
  for (std::uint32_t e = from.first_edge; e < from.first_edge + from.edges; ++e)
    if (graph_task &to = tasks[edges[e]]; !to.has_ready_event && to.ready < when) {
      to.ready = when;
      to.ready_slot = static_cast<std::uint16_t>(slot);
    }
}

/// Lets joins release what is behind them, each after the joins before it.
void trace_graph::infer_joins() {
  std::vector<std::uint32_t> joins_before(tasks.size()), next;
  for (const graph_task &t : tasks)
    for (std::uint32_t e = t.first_edge; t.is_join && e < t.first_edge + t.edges; ++e)
      ++joins_before[edges[e]];
  for (std::uint32_t t = 0; t < tasks.size(); ++t)
    if (tasks[t].is_join && joins_before[t] == 0)
      next.push_back(t);
  while (!next.empty()) {
    const graph_task &t = tasks[next.back()];
    next.pop_back();
    release_successors(t, t.ready, t.ready_slot);
    for (std::uint32_t e = t.first_edge; e < t.first_edge + t.edges; ++e)
      if (--joins_before[edges[e]] == 0 && tasks[edges[e]].is_join)
        next.push_back(edges[e]);
  }
}

/// Infers when tasks without a record of it became ready: at the end of their last predecessor, or
/// at their creation.
void trace_graph::infer_readiness() {
  for (const graph_task &t : tasks)
    if (!t.is_join)
      release_successors(t, t.ended, t.slot);
  infer_joins();
  for (graph_task &t : tasks)
    if (t.begun >= 0 && t.ready > t.begun) // its predecessor released it before ending
      t.ready = t.begun;
}

/// Measures how long workers without work took to begin a task that had become ready, and how long
/// thieves took; both are medians.
void trace_graph::measure_moves() {
  const auto median = [](std::vector<std::int64_t> &of) -> std::int64_t {
    if (of.size() < k_enough)
      return -1;
    std::nth_element(of.begin(), of.begin() + static_cast<std::ptrdiff_t>(of.size() / 2), of.end());
    return of[of.size() / 2];
  };
  std::vector<std::int64_t> waits;
  for (const auto &[t, since] : m_woken)
    if (const graph_task &x = tasks[t]; x.ready_slot != x.slot)
      waits.push_back(x.begun - std::max(x.ready, since));
  wake = median(waits);
}

} // namespace weft_tool
