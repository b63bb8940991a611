// SPDX-License-Identifier: Apache-2.0
// Adaptive mesh refinement in the spirit of Mantevo's miniAMR: a sphere moves through the domain,
// the blocks at its surface are refined, those that it has left are coarsened. The mesh follows the
// sphere while the creator spawns tasks; the accesses of the tasks are known only then. Splitting
// and merging of blocks are tasks as well.
#pragma once

#include "../support/application.hpp"
#include "field.hpp"
#include "mesh.hpp"

#include <deque>

class amr final : public app::application {
 public:
  struct shape {
    long size, tile, steps, interval, variables, levels;
  };
  explicit amr(const shape &chosen);
  void reset() override;
  void run_serial() override;
  void run_tasks() override;
  void remember() override;
  [[nodiscard]] double difference() const override;
  [[nodiscard]] double defect() const override { return m_defect; }
  [[nodiscard]] double checksum() const override { return m_masses.back(); }

 private:
  /// Calls v.exchange, v.relax, v.split, v.merge, v.weigh and v.total for each task, in an order that the
  /// accesses allow.
  template <class Visitor>
  void visit(Visitor &&v);
  [[nodiscard]] octree::object object_at(long time) const;
  /// Returns the current mesh; it lives until the next reset, because tasks use it.
  const octree::picture &take_picture();
  octree::picture &adapt(long time);
  [[nodiscard]] std::vector<double> result() const;

  struct serial;
  struct tasks;

  shape m_shape;
  octree::mesh m_initial, m_mesh;
  field m_field;
  std::deque<octree::picture> m_pictures;
  std::vector<double> m_masses; // at the start, and after each interval
  double m_sum = 0; // the mass, as gathered by a back end with task reductions
  int m_turn = 0;
  unsigned m_levels = 0; // bits of the levels that the mesh had
  long m_splits = 0, m_merges = 0;
  std::vector<double> m_kept;
  double m_defect = 0;
};

template <class Visitor>
void amr::visit(Visitor &&v) {
  double *mass = m_masses.data();
  for (long time = 0; time < m_shape.steps; time += m_shape.interval) {
    const octree::picture &now = take_picture();
    for (long s = time; s < std::min(time + m_shape.interval, m_shape.steps); ++s) {
      for (const octree::face &f : now.faces)
        v.exchange(f, m_turn);
      for (const octree::leaf &l : now.leaves)
        v.relax(now, l, m_turn);
      m_turn = 1 - m_turn;
    }
    for (const octree::leaf &l : now.leaves)
      v.weigh(l, m_turn);
    v.total(now, *++mass);
    if (time + m_shape.interval >= m_shape.steps)
      break;
    for (const octree::change &c : adapt(time + m_shape.interval).changes)
      if (c.split)
        v.split(c, m_turn);
      else
        v.merge(c, m_turn);
  }
}
