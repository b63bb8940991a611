// SPDX-License-Identifier: Apache-2.0
#include "mesh.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <stdexcept>

namespace octree {

mesh::mesh(int roots, int finest) : m_roots(roots), m_finest(finest) {
  for (int z = 0; z < roots; ++z)
    for (int y = 0; y < roots; ++y)
      for (int x = 0; x < roots; ++x)
        m_nodes.push_back({-1, take_slot(), 0, {x, y, z}});
}

int mesh::take_slot() {
  if (m_next_free_slot == m_free_slots.size())
    return m_slots++;
  return m_free_slots[m_next_free_slot++];
}

int mesh::take_children(int n) {
  int first = static_cast<int>(m_nodes.size());
  if (m_free_children.empty()) {
    m_nodes.resize(m_nodes.size() + 8);
  } else {
    first = m_free_children.back();
    m_free_children.pop_back();
  }
  const node parent = m_nodes[n];
  for (int c = 0; c < 8; ++c)
    m_nodes[first + c] = {-1,
                          take_slot(),
                          parent.level + 1,
                          {2 * parent.origin[0] + (c & 1), 2 * parent.origin[1] + (c >> 1 & 1),
                           2 * parent.origin[2] + (c >> 2)}};
  return first;
}

bool mesh::touches(const node &n, const object &o) const {
  const double edge = 1.0 / (m_roots << n.level);
  double nearest = 0, farthest = 0; // squares of distances to the centre
  for (int a = 0; a < 3; ++a) {
    const double begin = n.origin[a] * edge - o.centre[a], end = begin + edge;
    const double far = std::max(std::fabs(begin), std::fabs(end));
    const double near = begin > 0 ? begin : end < 0 ? -end : 0;
    nearest += near * near;
    farthest += far * far;
  }
  return nearest <= o.radius * o.radius && o.radius * o.radius <= farthest;
}

int mesh::find(int level, const int (&origin)[3]) const {
  for (const int at : origin)
    if (at < 0 || at >= m_roots << level)
      return -1;
  int n = ((origin[2] >> level) * m_roots + (origin[1] >> level)) * m_roots + (origin[0] >> level);
  while (level > 0 && m_nodes[n].first >= 0) {
    --level;
    n = m_nodes[n].first + (origin[0] >> level & 1) + 2 * (origin[1] >> level & 1) +
        4 * (origin[2] >> level & 1);
  }
  return n;
}

int mesh::beside(int n, int axis, int direction) const {
  int origin[3];
  std::copy_n(m_nodes[n].origin, 3, origin);
  origin[axis] += direction;
  return find(m_nodes[n].level, origin);
}

void mesh::refine(int n, std::vector<change> &changes) {
  for (int axis = 0; axis < 3; ++axis)
    for (const int direction : {-1, 1}) {
      const int other = beside(n, axis, direction);
      if (other >= 0 && m_nodes[other].level < m_nodes[n].level)
        refine(other, changes); // else the two would differ by two levels
    }
  change &made = changes.emplace_back(change{true, m_nodes[n].slot, {}});
  const int first = take_children(n);
  for (int c = 0; c < 8; ++c)
    made.children[c] = m_nodes[first + c].slot;
  m_free_slots.push_back(made.parent);
  m_nodes[n].first = first;
  m_nodes[n].slot = -1;
}

void mesh::refine_all(int n, const object &o, std::vector<change> &changes) {
  if (m_nodes[n].level == m_finest || !touches(m_nodes[n], o))
    return;
  if (m_nodes[n].first < 0)
    refine(n, changes);
  for (int c = 0; c < 8; ++c)
    refine_all(m_nodes[n].first + c, o, changes);
}

/// Returns whether the node's children are leaves, away from the object, without finer ones beside
/// them.
bool mesh::may_coarsen(const node &n, const object &o) const {
  if (touches(n, o))
    return false;
  for (int c = n.first; c < n.first + 8; ++c) {
    if (m_nodes[c].first >= 0)
      return false;
    for (int axis = 0; axis < 3; ++axis) {
      const int other = beside(c, axis, m_nodes[c].origin[axis] & 1 ? 1 : -1);
      if (other >= 0 && m_nodes[other].first >= 0)
        return false;
    }
  }
  return true;
}

void mesh::coarsen(int n, std::vector<change> &changes) {
  node &parent = m_nodes[n];
  change &made = changes.emplace_back(change{false, take_slot(), {}});
  for (int c = 0; c < 8; ++c)
    m_free_slots.push_back(made.children[c] = m_nodes[parent.first + c].slot);
  m_free_children.push_back(parent.first);
  parent.first = -1;
  parent.slot = made.parent;
}

void mesh::coarsen_all(int n, const object &o, std::vector<change> &changes) {
  if (m_nodes[n].first < 0)
    return;
  if (may_coarsen(m_nodes[n], o))
    return coarsen(n, changes);
  for (int c = 0; c < 8; ++c)
    coarsen_all(m_nodes[n].first + c, o, changes);
}

std::vector<change> mesh::follow(const object &o) {
  std::vector<change> changes;
  const int roots = m_roots * m_roots * m_roots;
  for (int n = 0; n < roots; ++n)
    refine_all(n, o, changes);
  for (int n = 0; n < roots; ++n)
    coarsen_all(n, o, changes);
  m_free_slots.erase(m_free_slots.begin(),
                     m_free_slots.begin() + static_cast<std::ptrdiff_t>(m_next_free_slot));
  m_next_free_slot = 0;
  return changes;
}

void mesh::add_face(int low, int high, int axis, picture &p) const {
  const node &a = m_nodes[low], &b = m_nodes[high];
  if (b.first >= 0 || std::abs(a.level - b.level) > 1)
    throw std::logic_error("amr: blocks that touch differ by two levels");
  face f{};
  f.kind = a.level == b.level  ? face::kind::same
           : a.level < b.level ? face::kind::low_is_coarse
                               : face::kind::high_is_coarse;
  f.axis = static_cast<unsigned char>(axis);
  const node &fine = a.level < b.level ? b : a;
  f.quarter[0] = fine.origin[axis == 0 ? 1 : 0] & 1;
  f.quarter[1] = fine.origin[axis == 2 ? 1 : 2] & 1;
  f.low = a.slot;
  f.high = b.slot;
  f.level = fine.level;
  f.number = static_cast<int>(p.faces.size());
  p.faces.push_back(f);
}

/// Adds the faces at a leaf's upper ends; those at its lower ends are its neighbours' upper faces.
void mesh::add_faces(int n, picture &p) const {
  for (int axis = 0; axis < 3; ++axis) {
    const int other = beside(n, axis, 1);
    if (other < 0)
      continue;
    if (m_nodes[other].first < 0) {
      add_face(n, other, axis, p);
      continue;
    }
    for (int c = 0; c < 8; ++c)
      if (!(c >> axis & 1))
        add_face(n, m_nodes[other].first + c, axis, p);
  }
}

void mesh::collect(int n, picture &p) const {
  const node &at = m_nodes[n];
  if (at.first >= 0) {
    for (int c = 0; c < 8; ++c)
      collect(at.first + c, p);
    return;
  }
  p.leaves.push_back({at.slot, at.level, {at.origin[0], at.origin[1], at.origin[2]}, 0, 0});
  p.levels |= 1u << at.level;
  add_faces(n, p);
}

picture mesh::describe() const {
  picture p;
  for (int n = 0; n < m_roots * m_roots * m_roots; ++n)
    collect(n, p);
  std::vector<int> sides(static_cast<std::size_t>(m_slots)); // number, then next index
  for (const face &f : p.faces) {
    ++sides[f.low];
    ++sides[f.high];
  }
  int next = 0;
  for (leaf &l : p.leaves) {
    l.first_side = next;
    l.end_side = next += sides[l.slot];
    sides[l.slot] = l.first_side;
  }
  p.sides.resize(static_cast<std::size_t>(next));
  for (const face &f : p.faces) {
    p.sides[sides[f.low]++] = {f.number, true};
    p.sides[sides[f.high]++] = {f.number, false};
  }
  return p;
}

} // namespace octree
