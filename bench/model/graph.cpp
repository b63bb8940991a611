// SPDX-License-Identifier: Apache-2.0
#include "graph.hpp"

#include <algorithm>
#include <stdexcept>

namespace manager_model {

double task_graph::total_body_ns() const noexcept {
  double sum = 0;
  for (const task_node &t : m_tasks)
    sum += t.body_ns;
  return sum;
}

/// Computes backwards: ids grow along edges and from parents to children, so each task comes after
/// all tasks that its value depends on.
double task_graph::critical_path_ns() const {
  std::vector<double> below(m_tasks.size(), 0), length(m_tasks.size(), 0);
  for (std::size_t i = m_tasks.size(); i-- > 0;) {
    const auto t = static_cast<task_id>(i);
    double after = 0;
    for (task_id s : successors(t))
      after = std::max(after, length[s]);
    length[t] = m_tasks[t].body_ns + below[t] + after;
    if (t != 0)
      below[m_tasks[t].parent] = std::max(below[m_tasks[t].parent], length[t]);
  }
  return length.empty() ? 0 : length[0];
}

graph_builder::graph_builder() : m_tasks(1), m_successors(1) {}

void graph_builder::follow(task_id before, task_id after) {
  if (before == 0 || before == after)
    return;
  std::vector<task_id> &s = m_successors[before];
  if (std::find(s.begin(), s.end(), after) != s.end())
    return;
  s.push_back(after);
  ++m_tasks[after].predecessors;
}

task_id graph_builder::add(task_id parent, double body_ns, std::span<const data_access> accesses) {
  const auto id = static_cast<task_id>(m_tasks.size());
  task_node &p = m_tasks[parent];
  if (p.children != 0 && p.first_child + p.children != id)
    throw std::logic_error("the children of a task have to be made in one go");
  if (p.children++ == 0)
    p.first_child = id;
  if (parent != m_parent || p.children == 1)
    m_data.clear();
  m_parent = parent;
  m_tasks.push_back({parent, 0, 0, 0, static_cast<std::uint32_t>(accesses.size()), body_ns});
  m_successors.emplace_back();
  for (const data_access &a : accesses) {
    history &h = m_data[a.datum];
    follow(h.writer, id);
    if (a.mode == mode_of::in) {
      h.readers.push_back(id);
      continue;
    }
    for (task_id r : h.readers)
      follow(r, id);
    h.readers.clear();
    h.writer = id;
  }
  return id;
}

task_graph graph_builder::build() {
  task_graph g;
  g.m_tasks = std::move(m_tasks);
  g.m_first_edge.push_back(0);
  for (const auto &s : m_successors) {
    g.m_edges.insert(g.m_edges.end(), s.begin(), s.end());
    g.m_first_edge.push_back(g.m_edges.size());
  }
  return g;
}

} // namespace manager_model
