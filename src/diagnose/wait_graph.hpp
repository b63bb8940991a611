// SPDX-License-Identifier: Apache-2.0
// The graph of which task waits for what. Plain data: diagnose/task_dump makes it from a runtime;
// reports and tools print it.
#pragma once

#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace weft::inline v0 {
namespace rt {

enum class node_kind { task, thread, group, mutex, outside, state, cohort };

/// Holds nodes and the edges along which they wait. A node waits for all of its certain edges: so
/// every node of a cycle of certain edges waits for ever.
class wait_graph {
 public:
  enum certainty { certain, guess };
  struct node {
    node_kind kind;
    const void *id;
    std::string name;
    std::string spawned{};            // where it was spawned, in words
    std::string state{};              // if it waits for nothing: what it does, in words
    std::vector<std::string> stack{}; // the functions in which it is, innermost first
    std::vector<const void *> calls{},
        spawn_calls{}; // `stack` and `spawned` as return addresses, before they have names
  };
  struct edge {
    std::size_t from, to;
    std::string reason; // "task 'a' REASON task 'b'"
    certainty how;
  };

  /// Returns the node of `id`; adds it if there is none yet.
  std::size_t add(node_kind kind, const void *id, std::string name);
  /// Returns the node of `id`; if no caller has added it, the number of nodes.
  [[nodiscard]] std::size_t find(const void *id) const noexcept;
  [[nodiscard]] node &at(std::size_t index) noexcept { return m_nodes[index]; }
  /// Adds an edge, unless the same one is there.
  void wait(std::size_t from, std::size_t to, std::string reason, certainty how = certain);
  /// Makes the edges of a node guesses, but for those before the edge `first`.
  void doubt(std::size_t from, std::size_t first) noexcept;

  [[nodiscard]] const std::vector<node> &nodes() const noexcept { return m_nodes; }
  [[nodiscard]] const std::vector<edge> &edges() const noexcept { return m_edges; }
  /// Says whether a node waits for something that only a thread outside of Weft could do.
  [[nodiscard]] bool needs_outside() const noexcept;

  /// Returns the certain edges of a shortest cycle through some node that is in a cycle, in order;
  /// empty if there is no cycle. `without`: the ids of nodes that are left out.
  [[nodiscard]] std::vector<std::size_t> cycle(const std::set<const void *> &without = {}) const;

  /// Writes a node: "task 'a'".
  [[nodiscard]] static std::string text(const node &entry);
  /// Writes an edge: "task 'a' REASON task 'b'".
  [[nodiscard]] std::string text(const edge &link) const;

 private:
  using adjacency = std::vector<std::vector<std::size_t>>;
  [[nodiscard]] adjacency certain_edges(const std::set<const void *> &without) const;
  [[nodiscard]] std::size_t node_of_a_cycle(const adjacency &from) const;
  [[nodiscard]] std::vector<std::size_t> shortest_cycle(const adjacency &from,
                                                        std::size_t through) const;

  std::vector<node> m_nodes;
  std::vector<edge> m_edges;
  std::unordered_map<const void *, std::size_t> m_index;
  std::map<std::pair<std::size_t, std::size_t>, std::vector<std::size_t>>
      m_between; // the edges of two nodes
};

} // namespace rt
} // namespace weft::inline v0
