// SPDX-License-Identifier: Apache-2.0
#include "gauss_seidel.hpp"

#include <cmath>

const app::description app::about{
    .name = "gauss_seidel",
    .title = "Gauss-Seidel heat equation, with the residual of each sweep",
    .size = {"size", 1, 1L << 15, 512, "rows of the plate"},
    .tile = {"tile", 1, 1L << 15, 64, "rows of a block"},
    .own = {{"sweeps", 1, 64, 16, "sweeps over the plate"}},
    .sweep = {4, 6, 8, 12, 16, 24, 32, 48, 64, 128, 256},
    .small = {100, 12},
    .tolerance = 1e-12, // of the residuals: the plate is the same in every bit
};

std::unique_ptr<app::application> app::make(const settings &chosen) {
  return std::make_unique<gauss_seidel>(chosen["size"], chosen["tile"], chosen["sweeps"]);
}

namespace {

/// Computes one row of a sweep; returns the sum of the squares of the changes.
double relax_row(double *row, long stride, long from, long to) {
  double sum = 0;
  for (long c = from; c < to; ++c) {
    const double value = 0.25 * (row[c - stride] + row[c - 1] + row[c + 1] + row[c + stride]);
    const double change = value - row[c];
    row[c] = value;
    sum += change * change;
  }
  return sum;
}

} // namespace

gauss_seidel::gauss_seidel(long size, long tile, long sweeps)
    : m_size(size), m_tile(tile), m_plate(static_cast<std::size_t>((size + 2) * (size + 2))),
      m_residuals(static_cast<std::size_t>(sweeps)) {}

/// Makes the plate cold, with a hot upper edge and a warm left one.
void gauss_seidel::reset() {
  std::fill(m_plate.begin(), m_plate.end(), 0.0);
  for (long i = 0; i < m_size + 2; ++i) {
    m_plate[at(i, 0)] = 0.5;
    m_plate[at(0, i)] = 1.0;
  }
  std::fill(m_residuals.begin(), m_residuals.end(), 0.0);
}

double gauss_seidel::relax(long i, long j) {
  app::count_task();
  double sum = 0;
  for (long row = first(i); row < first(i + 1); ++row)
    sum += relax_row(&m_plate[at(row, 0)], m_size + 2, first(j), first(j + 1));
  return sum;
}

void gauss_seidel::run_serial() {
  for (double &residual : m_residuals)
    for (long i = 0; i < blocks(); ++i)
      for (long j = 0; j < blocks(); ++j)
        residual += relax(i, j);
}

void gauss_seidel::remember() {
  m_kept_plate = m_plate;
  m_kept_residuals = m_residuals;
}

double gauss_seidel::difference() const {
  if (m_plate != m_kept_plate)
    return 1;
  double most = 0;
  for (std::size_t s = 0; s < m_residuals.size(); ++s)
    most = std::max(most, std::abs(m_residuals[s] / m_kept_residuals[s] - 1));
  return most;
}

/// Sweeps over whole rows, which read the same neighbours, so that every bit must be the same.
double gauss_seidel::defect() const {
  gauss_seidel plain(m_size, m_size, static_cast<long>(m_residuals.size()));
  plain.reset();
  for (std::size_t s = 0; s < m_residuals.size(); ++s)
    for (long row = 1; row <= m_size; ++row)
      relax_row(&plain.m_plate[at(row, 0)], m_size + 2, 1, m_size + 1);
  return plain.m_plate == m_kept_plate ? 0 : 1;
}
