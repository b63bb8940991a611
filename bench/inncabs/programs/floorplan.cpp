// SPDX-License-Identifier: Apache-2.0
#include "floorplan.hpp"

#include "../support/random.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace inncabs {

floorplan::floorplan(const sizes &s) : m_cells(s.count("cells")), m_cap(s["cap"]) {
  random_stream random(31);
  std::vector<std::pair<int, bool>> edges; // cells with their free edges: the right, the lower one
  const auto add_edges = [&edges](std::size_t i) {
    edges.push_back({static_cast<int>(i), true});
    edges.push_back({static_cast<int>(i), false});
  };
  add_edges(0);
  for (std::size_t i = 0; i < m_cells.size(); ++i) {
    cell &c = m_cells[i];
    const int width = 2 + static_cast<int>(random.below(k_longest - 1)),
              height = 1 + static_cast<int>(random.below(4));
    c.shapes.push_back({width, height});
    if (width != height)
      c.shapes.push_back({height, width});
    if (i == 0)
      continue;
    // Each edge is touched by one later cell at most, so that there are plans.
    const auto edge = random.below(static_cast<std::uint32_t>(edges.size()));
    const auto [earlier, right] = edges[edge];
    edges.erase(edges.begin() + edge);
    (right ? c.left_of : c.below_of) = earlier;
    add_edges(i);
  }
}

void floorplan::reset() {
  m_area = std::numeric_limits<int>::max();
  m_best.reset();
  m_tasks = 0, m_refused = 0;
}

bool floorplan::plan::put(int x, int y, shape s) {
  if (x < 0 || y < 0 || x + s.width > k_side || y + s.height > k_side)
    return false;
  const std::uint64_t columns = ((std::uint64_t(1) << s.width) - 1) << x;
  for (int row = y; row < y + s.height; ++row)
    if (covered[static_cast<std::size_t>(row)] & columns)
      return false;
  for (int row = y; row < y + s.height; ++row)
    covered[static_cast<std::size_t>(row)] |= columns;
  const auto small = [](int v) { return static_cast<std::int8_t>(v); };
  at[static_cast<std::size_t>(cells++)] = {small(x), small(y), small(s.width), small(s.height)};
  width = std::max(width, x + s.width);
  height = std::max(height, y + s.height);
  return true;
}

std::size_t floorplan::most_extensions(const plan &p) const {
  const cell &next = m_cells[static_cast<std::size_t>(p.cells)];
  return next.shapes.size() * (2 * k_longest);
}

/// Says what is wrong with a whole plan, looking at each two cells; empty: nothing.
std::string floorplan::fault_of(const plan &p) const {
  int width = 0, height = 0;
  for (std::size_t i = 0; i < m_cells.size(); ++i) {
    const rectangle &r = p.at[i];
    const cell &c = m_cells[i];
    width = std::max(width, r.right()), height = std::max(height, r.bottom());
    bool known = false;
    for (const shape s : c.shapes)
      known |= s.width == r.width && s.height == r.height;
    if (!known)
      return "floorplan changed the shape of a cell";
    for (std::size_t j = 0; j < i; ++j) {
      const rectangle &q = p.at[j];
      if (r.x < q.right() && q.x < r.right() && r.y < q.bottom() && q.y < r.bottom())
        return "floorplan put two cells at one place";
    }
    if (c.left_of >= 0 && p.at[static_cast<std::size_t>(c.left_of)].right() != r.x)
      return "floorplan moved a cell away from its left one";
    if (c.below_of >= 0 && p.at[static_cast<std::size_t>(c.below_of)].bottom() != r.y)
      return "floorplan moved a cell away from its upper one";
  }
  return width * height == m_area.load() ? "" : "floorplan's area is not that of its plan";
}

std::string floorplan::check() const {
  const bool capped = m_refused.load() != 0;
  if (capped && explored() != m_cap)
    return "floorplan had " + std::to_string(explored()) + " tasks";
  if (!m_best) // a bounded search may find none
    return capped ? "" : "floorplan found no plan";
  if (!capped && m_area.load() != m_expected)
    return "floorplan found an area of " + std::to_string(m_area.load()) + ", not " +
           std::to_string(m_expected);
  return fault_of(*m_best);
}

} // namespace inncabs
