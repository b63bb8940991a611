// SPDX-License-Identifier: Apache-2.0
// Who waits for what. Plain data: made from a runtime by diagnose/task_dump, shown by reports and tools.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace weft::inline v0 {
namespace rt {

enum class node_kind { task, thread, group, mutex, outside };

/// Nodes wait along edges that are certain, for all of them: whoever is in a cycle of these waits for ever.
class wait_graph {
 public:
  enum certainty { certain, guess };
  struct node {
    node_kind kind;
    const void *id;
    std::string name;
    std::string spawned{};            // where, in words
    std::string state{};              // of one that waits for nothing, in words
    std::vector<std::string> stack{}; // where it is: functions, innermost first
    std::vector<const void *> calls{}, spawn_calls{}; // the same as return addresses, before they have been given names
  };
  struct edge {
    std::size_t from, to;
    std::string reason; // "task 'a' REASON task 'b'"
    certainty how;
  };

  /// The node of `id`; made if there is none yet.
  std::size_t add(node_kind kind, const void *id, std::string name);
  /// As many nodes as there are; a node of an id that nobody has added.
  [[nodiscard]] std::size_t find(const void *id) const noexcept;
  [[nodiscard]] node &at(std::size_t index) noexcept { return m_nodes[index]; }
  /// The same edge is kept once.
  void wait(std::size_t from, std::size_t to, std::string reason, certainty how = certain);

  [[nodiscard]] const std::vector<node> &nodes() const noexcept { return m_nodes; }
  [[nodiscard]] const std::vector<edge> &edges() const noexcept { return m_edges; }
  /// Whether somebody waits for something that only a thread outside of Weft could do.
  [[nodiscard]] bool needs_outside() const noexcept;

  /// Certain edges of a shortest cycle through some node that is in one, in order; empty when there is none.
  [[nodiscard]] std::vector<std::size_t> cycle() const;

  /// "task 'a'"
  [[nodiscard]] static std::string text(const node &n);
  /// "task 'a' REASON task 'b'"
  [[nodiscard]] std::string text(const edge &e) const;

 private:
  using adjacency = std::vector<std::vector<std::size_t>>;
  [[nodiscard]] adjacency certain_edges() const;
  [[nodiscard]] std::size_t node_of_a_cycle(const adjacency &from) const;
  [[nodiscard]] std::vector<std::size_t> shortest_cycle(const adjacency &from, std::size_t through) const;

  std::vector<node> m_nodes;
  std::vector<edge> m_edges;
  std::unordered_map<const void *, std::size_t> m_index;
  std::map<std::pair<std::size_t, std::size_t>, std::vector<std::size_t>> m_between; // the edges of two nodes
};

} // namespace rt
} // namespace weft::inline v0
