// SPDX-License-Identifier: Apache-2.0
#include "diagnose/wait_graph.hpp"

#include <algorithm>
#include <utility>

namespace weft::inline v0 {
namespace rt {

std::size_t wait_graph::find(const void *id) const noexcept {
  auto it = m_index.find(id);
  return it == m_index.end() ? m_nodes.size() : it->second;
}

std::size_t wait_graph::add(node_kind kind, const void *id, std::string name) {
  const auto [it, fresh] = m_index.try_emplace(id, m_nodes.size());
  if (fresh)
    m_nodes.push_back({kind, id, std::move(name), {}, {}, {}, {}, {}});
  return it->second;
}

void wait_graph::wait(std::size_t from, std::size_t to, std::string reason, certainty how) {
  std::vector<std::size_t> &between = m_between[{from, to}];
  for (const std::size_t e : between)
    if (m_edges[e].reason == reason)
      return;
  between.push_back(m_edges.size());
  m_edges.push_back({from, to, std::move(reason), how});
}

void wait_graph::doubt(std::size_t from, std::size_t first) noexcept {
  for (std::size_t e = first; e < m_edges.size(); ++e)
    if (m_edges[e].from == from)
      m_edges[e].how = guess;
}

bool wait_graph::needs_outside() const noexcept {
  return std::any_of(m_edges.begin(), m_edges.end(),
                     [&](const edge &e) { return m_nodes[e.to].kind == node_kind::outside; });
}

wait_graph::adjacency wait_graph::certain_edges(const std::set<const void *> &without) const {
  adjacency from(m_nodes.size());
  for (std::size_t e = 0; e < m_edges.size(); ++e)
    if (m_edges[e].how == certain && !without.count(m_nodes[m_edges[e].from].id))
      from[m_edges[e].from].push_back(e);
  return from;
}

/// Returns a node of a cycle; the number of nodes if there is none. Takes away the nodes that wait
/// for no node, or only for nodes that were taken away. From each node that is left, every path
/// leads into a cycle.
std::size_t wait_graph::node_of_a_cycle(const adjacency &from) const {
  std::vector<std::size_t> left(m_nodes.size()), free;
  std::vector<std::vector<std::size_t>> waiters(m_nodes.size());
  for (std::size_t n = 0; n < m_nodes.size(); ++n) {
    left[n] = from[n].size();
    if (left[n] == 0)
      free.push_back(n);
    for (const std::size_t e : from[n])
      waiters[m_edges[e].to].push_back(n);
  }
  for (std::size_t next = 0; next < free.size(); ++next)
    for (const std::size_t n : waiters[free[next]])
      if (--left[n] == 0)
        free.push_back(n);
  std::size_t at = static_cast<std::size_t>(
      std::find_if(left.begin(), left.end(), [](std::size_t n) { return n != 0; }) - left.begin());
  for (std::vector<bool> seen(m_nodes.size()); at < m_nodes.size() && !seen[at];) {
    seen[at] = true;
    at = m_edges[*std::find_if(from[at].begin(), from[at].end(), [&](std::size_t e) {
           return left[m_edges[e].to] != 0;
         })].to;
  }
  return at;
}

std::vector<std::size_t> wait_graph::shortest_cycle(const adjacency &from,
                                                    std::size_t through) const {
  const std::size_t none = m_edges.size();
  std::vector<std::size_t> reached_by(m_nodes.size(), none), queue{through}, found;
  for (std::size_t next = 0; reached_by[through] == none; ++next)
    for (const std::size_t e : from[queue[next]])
      if (reached_by[m_edges[e].to] == none) {
        reached_by[m_edges[e].to] = e;
        queue.push_back(m_edges[e].to);
      }
  std::size_t at = through;
  do {
    found.push_back(reached_by[at]);
    at = m_edges[reached_by[at]].from;
  } while (at != through);
  std::reverse(found.begin(), found.end());
  return found;
}

std::vector<std::size_t> wait_graph::cycle(const std::set<const void *> &without) const {
  const adjacency from = certain_edges(without);
  const std::size_t through = node_of_a_cycle(from);
  return through == m_nodes.size() ? std::vector<std::size_t>{} : shortest_cycle(from, through);
}

std::string wait_graph::text(const node &entry) {
  switch (entry.kind) {
  case node_kind::task:
    return "task '" + entry.name + "'";
  case node_kind::thread:
    return "thread '" + entry.name + "'";
  case node_kind::group:
    return "group " + entry.name;
  case node_kind::mutex:
    return "mutex " + entry.name;
  case node_kind::outside:
  case node_kind::state:
  case node_kind::cohort:
    break;
  }
  return entry.name;
}

std::string wait_graph::text(const edge &link) const {
  return text(m_nodes[link.from]) + " " + link.reason + " " + text(m_nodes[link.to]);
}

} // namespace rt
} // namespace weft::inline v0
