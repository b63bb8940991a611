// SPDX-License-Identifier: Apache-2.0
#include "graph/wait_graph.hpp"

#include <algorithm>
#include <utility>

namespace weft::inline v0 {
namespace rt {

std::size_t wait_graph::find(const void *id) const noexcept {
  std::size_t i = 0;
  while (i < m_nodes.size() && m_nodes[i].id != id)
    ++i;
  return i;
}

std::size_t wait_graph::add(node_kind kind, const void *id, std::string name) {
  const std::size_t i = find(id);
  if (i == m_nodes.size())
    m_nodes.push_back({kind, id, std::move(name)});
  return i;
}

void wait_graph::wait(std::size_t from, std::size_t to, std::string reason, certainty how) {
  for (const edge &e : m_edges)
    if (e.from == from && e.to == to && e.reason == reason)
      return;
  m_edges.push_back({from, to, std::move(reason), how});
}

bool wait_graph::needs_outside() const noexcept {
  return std::any_of(m_edges.begin(), m_edges.end(),
                     [&](const edge &e) { return m_nodes[e.to].kind == node_kind::outside; });
}

std::vector<std::size_t> wait_graph::cycle() const {
  constexpr std::size_t k_none = static_cast<std::size_t>(-1);
  for (std::size_t start = 0; start < m_nodes.size(); ++start) {
    std::vector<std::size_t> reached_by(m_nodes.size(), k_none), queue{start};
    for (std::size_t next = 0; next < queue.size(); ++next)
      for (std::size_t e = 0; e < m_edges.size(); ++e) {
        if (m_edges[e].how != certain || m_edges[e].from != queue[next] || reached_by[m_edges[e].to] != k_none)
          continue;
        reached_by[m_edges[e].to] = e;
        queue.push_back(m_edges[e].to);
      }
    if (reached_by[start] == k_none)
      continue;
    std::vector<std::size_t> found;
    std::size_t at = start;
    do {
      found.push_back(reached_by[at]);
      at = m_edges[reached_by[at]].from;
    } while (at != start);
    std::reverse(found.begin(), found.end());
    return found;
  }
  return {};
}

std::string wait_graph::text(const node &n) {
  switch (n.kind) {
  case node_kind::task:
    return "task '" + n.name + "'";
  case node_kind::thread:
    return "thread '" + n.name + "'";
  case node_kind::group:
    return "group " + n.name;
  case node_kind::mutex:
    return "mutex " + n.name;
  case node_kind::outside:
    break;
  }
  return n.name;
}

std::string wait_graph::text(const edge &e) const {
  return text(m_nodes[e.from]) + " " + e.reason + " " + text(m_nodes[e.to]);
}

} // namespace rt
} // namespace weft::inline v0
