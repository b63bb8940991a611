// SPDX-License-Identifier: Apache-2.0
#include "amr.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

const app::description app::about{
    .name = "amr",
    .title = "Adaptive mesh refinement, in the spirit of miniAMR",
    .size = {"size", 2, 1024, 24, "cells along an edge of the cube, were it not refined"},
    .tile = {"tile", 2, 1024, 8, "cells along an edge of a block; even, a divisor of the size"},
    .own = {{"steps", 2, 10000, 8, "time steps"},
            {"interval", 1, 10000, 2, "time steps from one change of the mesh to the next"},
            {"variables", 1, 100, 2, "numbers in a cell"},
            {"levels", 4, 8, 4, "levels of the mesh"}},
    .sweep = {2, 4, 6, 8, 12, 24},
    .small = {4, 2},
    .tolerance = 1e-12, // of masses; cells have every bit
    .defect_bound = 1e-12,
};

std::unique_ptr<app::application> app::make(const settings &chosen) {
  const long size = chosen["size"], tile = chosen["tile"];
  if (tile % 2 != 0)
    throw bad_option("--tile " + std::to_string(tile) +
                     " is odd: a coarse cell covers two fine ones");
  if (size % tile != 0)
    throw bad_option("--tile " + std::to_string(tile) + " does not divide --size " +
                     std::to_string(size));
  return std::make_unique<amr>(amr::shape{size, tile, chosen["steps"], chosen["interval"],
                                          chosen["variables"], chosen["levels"]});
}

amr::amr(const shape &chosen)
    : m_shape(chosen),
      m_initial(static_cast<int>(chosen.size / chosen.tile), static_cast<int>(chosen.levels - 1)),
      m_mesh(m_initial), m_field(static_cast<int>(chosen.tile), static_cast<int>(chosen.variables),
                                 static_cast<int>(chosen.levels - 1)),
      m_masses(static_cast<std::size_t>((chosen.steps + chosen.interval - 1) / chosen.interval) +
               1) {
  static_cast<void>(m_initial.follow(object_at(0)));
}

/// Moves the sphere from one corner towards the opposite one.
octree::object amr::object_at(long time) const {
  const double gone = static_cast<double>(time) / static_cast<double>(m_shape.steps);
  return {{0.3 + 0.4 * gone, 0.3 + 0.4 * gone, 0.35 + 0.3 * gone}, 0.2};
}

const octree::picture &amr::take_picture() {
  const octree::picture &now = m_pictures.emplace_back(m_mesh.describe());
  m_levels |= now.levels;
  m_field.reserve_faces(now.faces.size());
  return now;
}

octree::picture &amr::adapt(long time) {
  octree::picture &last = m_pictures.back();
  last.changes = m_mesh.follow(object_at(time));
  for (const octree::change &c : last.changes)
    ++(c.split ? m_splits : m_merges);
  m_field.reserve_blocks(m_mesh.slots());
  return last;
}

void amr::reset() {
  m_mesh = m_initial;
  m_field.reserve_blocks(m_mesh.slots());
  m_pictures.clear();
  m_turn = 0;
  m_sum = 0;
  m_levels = 0;
  m_splits = m_merges = 0;
  std::fill(m_masses.begin(), m_masses.end(), 0.0);
  const octree::picture start = m_mesh.describe();
  for (const octree::leaf &l : start.leaves) {
    m_field.fill(l,
                 static_cast<double>(m_shape.tile) / static_cast<double>(m_shape.size << l.level));
    m_masses.front() += m_field.mass_of(l, 0);
  }
}

struct amr::serial {
  field &f;
  void exchange(const octree::face &face, int turn) { f.exchange(face, turn); }
  void relax(const octree::picture &p, const octree::leaf &l, int turn) { f.relax(p, l, turn); }
  void split(const octree::change &c, int turn) { f.split(c, turn); }
  void merge(const octree::change &c, int turn) { f.merge(c, turn); }
  void weigh(const octree::leaf &l, int turn) { f.mass(l.slot) = f.weigh(l, turn); }
  void total(const octree::picture &p, double &mass) { field::record(mass, f.sum_of_masses(p)); }
};

void amr::run_serial() { visit(serial{m_field}); }

std::vector<double> amr::result() const {
  std::vector<double> r = m_masses;
  for (const octree::leaf &l : m_mesh.describe().leaves) {
    const double *cells = m_field.cells(l.slot, m_turn);
    r.insert(r.end(), cells, cells + m_field.count());
  }
  return r;
}

/// Checks that no mass is lost, and that the mesh was adaptive: it had leaves of four levels, and
/// was refined and coarsened.
void amr::remember() {
  m_kept = result();
  m_defect = 0;
  for (const double mass : m_masses)
    if (const double lost = std::fabs(mass / m_masses.front() - 1); !(lost <= m_defect))
      m_defect = lost;
  const bool still = m_shape.steps <= m_shape.interval;
  const int levels =
      m_shape.size / m_shape.tile > 2 ? 4 : 3; // the sphere touches all of so few roots
  if (std::popcount(m_levels) < levels || !(m_levels >> (m_shape.levels - 1)) ||
      (!still && (m_splits == 0 || m_merges == 0)))
    m_defect = 1;
}

double amr::difference() const {
  const std::vector<double> now = result();
  if (now.size() != m_kept.size())
    return 1;
  double most = 0;
  for (std::size_t i = 0; i < now.size(); ++i)
    if (const double d = std::fabs(now[i] / m_kept[i] - 1); i >= m_masses.size() && d != 0)
      return 1;
    else if (!(d <= most)) // NaN counts
      most = std::isnan(d) ? 1 : d;
  return most;
}
