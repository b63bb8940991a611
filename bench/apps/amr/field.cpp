// SPDX-License-Identifier: Apache-2.0
#include "field.hpp"

#include <algorithm>
#include <cmath>

namespace {

constexpr double k_diffusion =
    0.1; // times the time step, in the finest cells' widths; stable below 1/6

}

std::size_t field::count() const {
  return static_cast<std::size_t>(m_variables) * static_cast<std::size_t>(per_variable());
}

void field::reserve_blocks(int slots) {
  while (m_blocks.size() < static_cast<std::size_t>(slots)) {
    for (auto &cells : m_blocks.append().cells)
      cells.reset(new double[count()]);
  }
}

void field::reserve_faces(std::size_t faces) {
  while (m_fluxes.size() < faces)
    m_fluxes.append().reset(new double[static_cast<std::size_t>(m_variables * m_edge * m_edge)]);
}

void field::fill(const octree::leaf &l, double edge_of_block) {
  double *to = cells(l.slot, 0);
  const auto at = [&](int axis, int i) {
    return edge_of_block * (l.origin[axis] + (i + 0.5) / m_edge);
  };
  for (int v = 0; v < m_variables; ++v)
    for (int k = 0; k < m_edge; ++k)
      for (int j = 0; j < m_edge; ++j)
        for (int i = 0; i < m_edge; ++i)
          *to++ = 2 + std::sin((v + 3) * at(0, i)) * std::cos(4 * at(1, j)) + at(2, k) * at(2, k);
}

/// Calls body(low cell, high cell, flux) with the indices of each pair of cells that touch. Where
/// the blocks have different levels, it calls body four times for a cell of the coarse one.
template <class F>
void field::for_face(const octree::face &f, F body) const {
  const int p = f.axis == 0 ? 1 : 0, q = f.axis == 2 ? 1 : 2, half = m_edge / 2;
  const bool low_coarse = f.kind == octree::face::kind::low_is_coarse;
  const bool high_coarse = f.kind == octree::face::kind::high_is_coarse;
  const int end = (m_edge - 1) * stride(f.axis);
  int flux = 0;
  for (int v = 0; v < m_variables; ++v)
    for (int j = 0; j < m_edge; ++j)
      for (int i = 0; i < m_edge; ++i, ++flux) {
        const int fine = v * per_variable() + i * stride(p) + j * stride(q);
        const int coarse = v * per_variable() + (f.quarter[0] * half + i / 2) * stride(p) +
                           (f.quarter[1] * half + j / 2) * stride(q);
        body((low_coarse ? coarse : fine) + end, high_coarse ? coarse : fine, flux);
      }
}

void field::exchange(const octree::face &f, int turn) const {
  app::count_task();
  const double *low = cells(f.low, turn), *high = cells(f.high, turn);
  double *to = flux(f.number);
  const double distance = (f.kind == octree::face::kind::same ? 1 : 1.5) * width(f.level);
  for_face(f, [&](int a, int b, int n) { to[n] = (high[b] - low[a]) / distance; });
}

/// Adds the fluxes between cells of the same block. At the block's ends a cell is its own
/// neighbour, and nothing flows.
void field::relax_inside(const double *before, double *__restrict after, double coefficient) const {
  const int last = m_edge - 1;
  for (int v = 0; v < m_variables; ++v)
    for (int k = 0; k < m_edge; ++k)
      for (int j = 0; j < m_edge; ++j) {
        const double *row = before + v * per_variable() + k * stride(2) + j * stride(1);
        const double *below = k > 0 ? row - stride(2) : row,
                     *above = k < last ? row + stride(2) : row;
        const double *front = j > 0 ? row - stride(1) : row,
                     *back = j < last ? row + stride(1) : row;
        double *to = after + (row - before);
        const auto next = [&](int i, double left, double right) {
          to[i] = row[i] + coefficient * (left + right + front[i] + back[i] + below[i] + above[i] -
                                          6 * row[i]);
        };
        next(0, row[0], row[1]);
        for (int i = 1; i < last; ++i)
          next(i, row[i - 1], row[i + 1]);
        next(last, row[last - 1], row[last]);
      }
}

void field::relax(const octree::picture &p, const octree::leaf &l, int turn) const {
  app::count_task();
  double *after = cells(l.slot, 1 - turn);
  const double h = width(l.level);
  relax_inside(cells(l.slot, turn), after, k_diffusion / (h * h));
  for (int s = l.first_side; s < l.end_side; ++s) {
    const octree::side &side = p.sides[s];
    const octree::face &f = p.faces[side.face];
    const double *from = flux(f.number);
    // Area of the flux over the volume of the cell: a fine face is a quarter of a coarse cell's.
    const double share = k_diffusion / h * (f.level > l.level ? 0.25 : 1);
    if (side.is_low)
      for_face(f, [&](int a, int, int n) { after[a] += share * from[n]; });
    else
      for_face(f, [&](int, int b, int n) { after[b] -= share * from[n]; });
  }
}

void field::split(const octree::change &c, int turn) const {
  app::count_task();
  const double *from = cells(c.parent, turn);
  const int half = m_edge / 2;
  for (int child = 0; child < 8; ++child) {
    double *to = cells(c.children[child], turn);
    const int corner =
        (child & 1) * half + (child >> 1 & 1) * half * stride(1) + (child >> 2) * half * stride(2);
    for (int v = 0; v < m_variables; ++v)
      for (int k = 0; k < m_edge; ++k)
        for (int j = 0; j < m_edge; ++j)
          for (int i = 0; i < m_edge; ++i)
            *to++ =
                from[v * per_variable() + corner + k / 2 * stride(2) + j / 2 * stride(1) + i / 2];
  }
}

void field::merge(const octree::change &c, int turn) const {
  app::count_task();
  double *to = cells(c.parent, turn);
  const int half = m_edge / 2;
  for (int child = 0; child < 8; ++child) {
    const double *from = cells(c.children[child], turn);
    const int corner =
        (child & 1) * half + (child >> 1 & 1) * half * stride(1) + (child >> 2) * half * stride(2);
    for (int v = 0; v < m_variables; ++v)
      for (int k = 0; k < half; ++k)
        for (int j = 0; j < half; ++j)
          for (int i = 0; i < half; ++i) {
            double sum = 0;
            for (int n = 0; n < 8; ++n)
              sum += from[v * per_variable() + (2 * k + (n >> 2)) * stride(2) +
                          (2 * j + (n >> 1 & 1)) * stride(1) + 2 * i + (n & 1)];
            to[v * per_variable() + corner + k * stride(2) + j * stride(1) + i] = sum / 8;
          }
  }
}

double field::mass_of(const octree::leaf &l, int turn) const {
  const double *from = cells(l.slot, turn), h = width(l.level);
  double sum = 0;
  for (std::size_t i = 0; i < count(); ++i)
    sum += from[i];
  return sum * h * h * h;
}

double field::sum_of_masses(const octree::picture &p) const {
  double sum = 0;
  for (const octree::leaf &l : p.leaves)
    sum += mass(l.slot);
  return sum;
}
