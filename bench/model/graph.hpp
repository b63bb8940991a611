// SPDX-License-Identifier: Apache-2.0
// The tasks of a program in model form: the parent of each, the order of creation, the time of each
// body, and the successors of each.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <vector>

namespace manager_model {

using task_id = std::uint32_t;

struct task_node {
  task_id parent = 0;
  task_id first_child = 0; // children have consecutive ids, in order of creation
  std::uint32_t children = 0;
  std::uint32_t predecessors = 0;
  std::uint32_t accesses = 0;
  double body_ns = 0; // begins after its children, if it has any
};

/// Is a graph in which a task creates all of its children, waits for them, and then works. Task 0
/// is the main task.
class task_graph {
 public:
  [[nodiscard]] std::size_t size() const noexcept { return m_tasks.size(); }
  [[nodiscard]] const task_node &operator[](task_id t) const noexcept { return m_tasks[t]; }
  [[nodiscard]] std::span<const task_id> successors(task_id t) const noexcept {
    return {m_edges.data() + m_first_edge[t], m_edges.data() + m_first_edge[t + 1]};
  }
  [[nodiscard]] double total_body_ns() const noexcept;
  /// Returns the longest chain of bodies: no number of workers is faster.
  [[nodiscard]] double critical_path_ns() const;

 private:
  friend class graph_builder;
  std::vector<task_node> m_tasks;
  std::vector<std::size_t> m_first_edge;
  std::vector<task_id> m_edges;
};

enum class mode_of { in, out, inout };

struct data_access {
  std::uint64_t datum;
  mode_of mode;
};

/// Makes a graph as a runtime would: an access waits for the last writer of its datum among its siblings, a
/// writer for the readers as well.
class graph_builder {
 public:
  graph_builder();
  /// Adds a child; all children of one parent must be added together.
  task_id add(task_id parent, double body_ns, std::span<const data_access> accesses);
  task_id add(task_id parent, double body_ns, std::initializer_list<data_access> accesses) {
    return add(parent, body_ns, std::span(accesses.begin(), accesses.size()));
  }
  [[nodiscard]] task_graph build();

 private:
  struct history {
    task_id writer = 0; // 0: none; the main task has no sibling
    std::vector<task_id> readers;
  };
  void follow(task_id before, task_id after);

  std::vector<task_node> m_tasks;
  std::vector<std::vector<task_id>> m_successors;
  std::map<std::uint64_t, history> m_data; // of the parent whose children are being added
  task_id m_parent = 0;
};

} // namespace manager_model
