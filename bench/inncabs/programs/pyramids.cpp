// SPDX-License-Identifier: Apache-2.0
#include "pyramids.hpp"

#include "../support/random.hpp"

#include <algorithm>

namespace inncabs {

namespace {

inline double heat(double middle, double left, double right, double up, double down) noexcept {
  return 0.5 * middle + 0.125 * ((left + right) + (up + down));
}

/// Computes the columns [from, to) of a row, which are all inside of the grid.
void inner_columns(const double *row, const double *up, const double *down, double *to_row,
                   int from, int to) {
  for (int i = from; i < to; ++i)
    to_row[i] = heat(row[i], row[i - 1], row[i + 1], up[i], down[i]);
}

} // namespace

pyramids::pyramids(const sizes &s)
    : m_n(1 << s["log2n"]), m_leaf(std::min(s.integer("leaf"), m_n)) {
  const auto cells = static_cast<std::size_t>(m_n) * static_cast<std::size_t>(m_n);
  m_grid[0].resize(cells), m_grid[1].resize(cells);
  reset();
  // The plain loop over time.
  const auto at = [this](int y, int x) {
    return static_cast<std::size_t>(y & (m_n - 1)) * static_cast<std::size_t>(m_n) +
           static_cast<std::size_t>(x & (m_n - 1));
  };
  std::vector<double> now = m_grid[0], next(cells);
  for (int step = 0; step < m_n / 2; ++step) {
    for (int y = 0; y < m_n; ++y)
      for (int x = 0; x < m_n; ++x)
        next[at(y, x)] = heat(now[at(y, x)], now[at(y, x - 1)], now[at(y, x + 1)],
                              now[at(y - 1, x)], now[at(y + 1, x)]);
    now.swap(next);
  }
  m_expected = std::move(now);
}

void pyramids::reset() {
  random_stream random(41);
  for (double &cell : m_grid[0])
    cell = random.unit();
  m_grid[1].assign(m_grid[1].size(), 0);
}

pyramids::part_list pyramids::parts_of(triangle t, int w, bool second) {
  const int half = w / 2;
  if (t.upright) {
    if (second)
      return {{{{true, t.at + half / 2}, 0}}, 1};
    return {{{{true, t.at}, 0}, {{true, t.at + half}, 0}, {{false, t.at + half}, 1}}, 3};
  }
  if (!second)
    return {{{{false, t.at}, 0}}, 1};
  return {
      {{{true, t.at - half / 2}, 0}, {{false, t.at - half / 2}, 1}, {{false, t.at + half / 2}, 1}},
      3};
}

void pyramids::compute(extent e, triangle x, triangle y) {
  const int mask = m_n - 1;
  const auto row_of = [this, mask](std::vector<double> &grid, int row) {
    return grid.data() + static_cast<std::size_t>(row & mask) * static_cast<std::size_t>(m_n);
  };
  for (int step = 0; step < e.width / 2; ++step) {
    std::vector<double> &from = m_grid[(e.time + step) & 1], &to = m_grid[(e.time + step + 1) & 1];
    const int left = x.upright ? x.at + step : x.at - step,
              right = x.upright ? x.at + e.width - step : x.at + step;
    const int top = y.upright ? y.at + step : y.at - step,
              bottom = y.upright ? y.at + e.width - step : y.at + step;
    for (int r = top; r < bottom; ++r) {
      const double *const row = row_of(from, r), *const up = row_of(from, r - 1),
                          *const down = row_of(from, r + 1);
      double *const to_row = row_of(to, r);
      for (int c = left; c < right;) {
        const int column = c & mask;
        if (column == 0 || column == mask) {
          to_row[column] = heat(row[column], row[(column - 1) & mask], row[(column + 1) & mask],
                                up[column], down[column]);
          ++c;
          continue;
        }
        const int end = std::min(mask, column + (right - c));
        inner_columns(row, up, down, to_row, column, end);
        c += end - column;
      }
    }
  }
}

std::string pyramids::check() const {
  return m_grid[(m_n / 2) & 1] == m_expected ? "" : "pyramids differs from the loop over time";
}

} // namespace inncabs
