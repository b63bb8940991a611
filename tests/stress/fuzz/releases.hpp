// SPDX-License-Identifier: Apache-2.0
// Tasks that give data up before they end. Put into programs that are made, by draws of its own: a seed makes the program that it
// always made.
#pragma once

#include "stress/fuzz/rules.hpp"

#include <cstddef>
#include <random>
#include <set>

namespace fuzz {

class release_giver {
 public:
  explicit release_giver(program &p) : m_random(p.seed ^ 0x72656C65617365u) {
    for (auto &n : p.nodes)
      if (n->depth > 0)
        give(*n);
  }

 private:
  bool chance(unsigned percent) { return m_random() % 100 < percent; }

  void give(node &n) {
    std::set<int> cells;
    for (const use &u : n.uses)
      cells.insert(u.cell);
    for (int cell : cells)
      if (chance(20) && !is_held(n, cell))
        put(n, cell);
  }

  /// What an event writes when the body is over is not to be given up before.
  static bool is_held(const node &n, int cell) {
    return std::any_of(n.steps.begin(), n.steps.end(),
                       [&](const step &s) { return s.what == act::hold && s.cell == cell; });
  }

  static bool names(const step &s, int cell) {
    const auto in = [&](const std::vector<step> &list) {
      return std::any_of(list.begin(), list.end(),
                         [&](const step &inner) { return names(inner, cell); });
    };
    if (s.what == act::spawn)
      return std::any_of(s.child->uses.begin(), s.child->uses.end(),
                         [&](const use &u) { return u.cell == cell; });
    return s.cell == cell || in(s.first) || in(s.second);
  }

  /// Anywhere behind the last step that names the cell.
  void put(node &n, int cell) {
    std::size_t from = n.steps.size();
    while (from > 0 && !names(n.steps[from - 1], cell))
      --from;
    const std::size_t end = n.steps.size() - (n.fails ? 1 : 0);
    if (from > end)
      return;
    const std::size_t at = from + static_cast<std::size_t>(m_random() % (end - from + 1));
    n.steps.insert(n.steps.begin() + static_cast<std::ptrdiff_t>(at), {act::release, cell});
  }

  std::mt19937_64 m_random;
};

} // namespace fuzz
