// SPDX-License-Identifier: Apache-2.0
// The cells of blocks and the kernels on them: explicit diffusion of a few variables with a 7-point
// stencil, as fluxes through the faces of cells. Where a fine block touches a coarse one, the
// fluxes belong to the fine faces, and the coarse cell gets their sum: no mass is lost.
#pragma once

#include "../support/count.hpp"
#include "mesh.hpp"
#include "pool.hpp"

#include <memory>

class field {
 public:
  /// Creates a field with `edge` cells along the edge of a block, an even number.
  field(int edge, int variables, int finest)
      : m_edge(edge), m_variables(variables), m_finest(finest) {}

  /// Makes space for blocks, which the functions below use. Cells are not cleared.
  void reserve_blocks(int slots);
  void reserve_faces(std::size_t faces);
  void fill(const octree::leaf &l, double edge_of_block);

  /// Returns one of the two copies of a block's cells: kernels read copy `turn` and write the other
  /// one.
  [[nodiscard]] double *cells(int slot, int turn) const { return block_at(slot).cells[turn].get(); }
  [[nodiscard]] double *flux(int face) const {
    return m_fluxes[static_cast<std::size_t>(face)].get();
  }
  [[nodiscard]] double &mass(int slot) const { return block_at(slot).mass; }
  [[nodiscard]] std::size_t count() const;
  /// Returns the sum of the values that mass() holds.
  [[nodiscard]] double sum_of_masses(const octree::picture &p) const;
  [[nodiscard]] double mass_of(const octree::leaf &l, int turn) const;

  // The kernels.
  /// Computes the fluxes of the face between two blocks from the cells on both sides.
  void exchange(const octree::face &f, int turn) const;
  /// Computes the next values of a leaf's cells.
  void relax(const octree::picture &p, const octree::leaf &l, int turn) const;
  void split(const octree::change &c, int turn) const;
  void merge(const octree::change &c, int turn) const;
  [[nodiscard]] double weigh(const octree::leaf &l, int turn) const {
    app::count_task();
    return mass_of(l, turn);
  }
  static void record(double &mass, double sum) {
    app::count_task();
    mass = sum;
  }

 private:
  struct block {
    std::unique_ptr<double[]> cells[2];
    double mass = 0;
  };

  [[nodiscard]] block &block_at(int slot) const { return m_blocks[static_cast<std::size_t>(slot)]; }
  [[nodiscard]] double width(int level) const {
    return 1 << (m_finest - level);
  } // of a cell; the finest is 1
  [[nodiscard]] int stride(int axis) const {
    return axis == 0 ? 1 : axis == 1 ? m_edge : m_edge * m_edge;
  }
  [[nodiscard]] int per_variable() const { return m_edge * m_edge * m_edge; }
  template <class F>
  void for_face(const octree::face &f, F body) const;
  void relax_inside(const double *before, double *__restrict after, double coefficient) const;

  int m_edge, m_variables, m_finest;
  pool<block> m_blocks;
  pool<std::unique_ptr<double[]>> m_fluxes;
};
