// SPDX-License-Identifier: Apache-2.0
// uts: counts the nodes of an unbalanced tree, a task per node.
#pragma once

#include "../../glto/uts.hpp"
#include "../support/future_list.hpp"
#include "../support/sizes.hpp"

#include <string>

namespace inncabs {

class unbalanced_tree {
 public:
  static constexpr const char *k_name = "uts";
  static constexpr parameter k_parameters[] = {
      {"tree", 1, 1, 1, 3, "1: geometric (T1); 3: binomial (T3)"},
      {"size", 8, 5, 1, 100'000, "depth of T1, or children of the root of T3"}};

  explicit unbalanced_tree(const sizes &s) : m_tree{s["tree"] == 3, s.integer("size")} {}
  void reset() { m_nodes = -1; }
  template <class M>
  void run() {
    m_nodes = count<M>(&m_tree, m_tree.root());
  }
  void remember() { m_expected = m_nodes; }
  [[nodiscard]] std::string check() const {
    const long known = m_tree.known_nodes();
    return m_nodes == (known ? known : m_expected)
               ? ""
               : "uts counted " + std::to_string(m_nodes) + " nodes";
  }

 private:
  template <class M>
  static long count(const uts::tree *tree, uts::node node) {
    const int children = tree->children_of(node);
    if (children == 0)
      return 1;
    typename M::scope here;
    future_list<M, long> parts(static_cast<std::size_t>(children));
    for (int i = 0; i < children; ++i)
      parts.async(here, count<M>, tree, uts::child_of(node, i));
    long nodes = 1;
    for (auto &part : parts)
      nodes += part.get();
    return nodes;
  }

  uts::tree m_tree;
  long m_nodes = -1, m_expected = 0;
};

} // namespace inncabs
