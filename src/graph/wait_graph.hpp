// SPDX-License-Identifier: Apache-2.0
// Who waits for what. Plain data: made from a runtime by worker/census, shown by reports and tools.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace weft::inline v0 {
namespace rt {

enum class node_kind { task, thread, group, mutex, outside };

/// Nodes wait along edges that are certain, for all of them: whoever stands in a cycle of these waits for ever.
class wait_graph {
public:
  enum certainty { certain, guess };
  struct node {
    node_kind kind;
    const void *id;
    std::string name;
  };
  struct edge {
    std::size_t from, to;
    std::string reason; // "task 'a' REASON task 'b'"
    certainty how;
  };

  /// The node of `id`; made if there is none yet. Linear in the nodes: it is for reports.
  std::size_t add(node_kind kind, const void *id, std::string name);
  /// As many nodes as there are; a node of an id that nobody has added.
  [[nodiscard]] std::size_t find(const void *id) const noexcept;
  /// The same edge is kept once.
  void wait(std::size_t from, std::size_t to, std::string reason, certainty how = certain);

  [[nodiscard]] const std::vector<node> &nodes() const noexcept { return m_nodes; }
  [[nodiscard]] const std::vector<edge> &edges() const noexcept { return m_edges; }
  /// Whether somebody waits for something that only a thread outside of Weft could do.
  [[nodiscard]] bool needs_outside() const noexcept;

  /// Certain edges of a shortest cycle through the first node that stands in one, in order; empty when there is none.
  [[nodiscard]] std::vector<std::size_t> cycle() const;

  /// "task 'a'"
  [[nodiscard]] static std::string text(const node &n);
  /// "task 'a' REASON task 'b'"
  [[nodiscard]] std::string text(const edge &e) const;

private:
  std::vector<node> m_nodes;
  std::vector<edge> m_edges;
};

} // namespace rt
} // namespace weft::inline v0
