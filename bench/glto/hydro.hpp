// SPDX-License-Identifier: Apache-2.0
// Compressible flow in a closed box on a Cartesian grid, as 114 parallel loops a step: the pattern
// of the mini-application CloverLeaf, written anew. Second order in space (limited slopes), four
// sweeps a step (x, y, y, x) of 28 loops each, and two loops for the step in time.
//
// A loop is over rows, and a row's result depends on the loops before only: any division of the
// rows gives the same bits.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

namespace hydro {

constexpr double k_gamma = 1.4;
constexpr int k_loops = 114; ///< of a step

enum : int { k_density, k_energy, k_along, k_across, k_fields }; // of which all four are conserved

class box {
 public:
  explicit box(int side) : m_n(side), m_row(side + 4) {
    const auto cells = static_cast<std::size_t>(m_row) * static_cast<std::size_t>(m_row);
    for (auto *fields : {&m_u, &m_w, &m_slope, &m_low, &m_high, &m_flux})
      for (auto &f : *fields)
        f.assign(cells, 0);
    m_speed.assign(cells, 0);
    m_sums.assign(static_cast<std::size_t>(side), {});
    for (int y = 0; y < m_n; ++y)
      for (int x = 0; x < m_n; ++x) { // a hot, dense corner
        const bool hot = x < m_n / 4 && y < m_n / 3;
        m_u[k_density][at(x, y)] = hot ? 1.0 : 0.2;
        m_u[k_energy][at(x, y)] = hot ? 2.5 : 0.25;
      }
  }

  /// Computes a step; `loop(n, f)` calls f(row) for all rows below n, and waits. Returns how many
  /// loops there were.
  template <class Loop>
  int step(Loop loop) {
    int loops = 0;
    const auto rows = [&](auto f) {
      ++loops;
      loop(m_n, f);
    };
    rows([this](int y) { fastest(y); });
    double speed = 1e-12;
    for (const sums &s : m_sums)
      speed = std::max(speed, s.speed);
    const double dt = 0.4 / (2 * speed); // in cells
    for (const bool vertical : {false, true, true, false})
      sweep(rows, vertical, dt / 2);
    rows([this](int y) { sum_up(y); });
    return loops;
  }

  [[nodiscard]] double mass() const { return total(&sums::mass); }
  [[nodiscard]] double energy() const { return total(&sums::energy); }
  [[nodiscard]] bool same_as(const box &other) const { return m_u == other.m_u; }

 private:
  using field = std::vector<double>;
  struct sums {
    double speed = 0, mass = 0, energy = 0;
  };

  [[nodiscard]] std::size_t at(int x, int y) const {
    return static_cast<std::size_t>(y + 2) * static_cast<std::size_t>(m_row) +
           static_cast<std::size_t>(x + 2);
  }
  [[nodiscard]] double total(double sums::*what) const {
    double t = 0;
    for (const sums &s : m_sums)
      t += s.*what;
    return t;
  }

  void fastest(int y) {
    double most = 0;
    for (int x = 0; x < m_n; ++x) {
      const auto c = at(x, y);
      const double d = m_u[k_density][c], u = m_u[k_along][c] / d, v = m_u[k_across][c] / d;
      const double p =
          std::max(1e-10, (k_gamma - 1) * (m_u[k_energy][c] - 0.5 * d * (u * u + v * v)));
      most = std::max(most, std::max(std::abs(u), std::abs(v)) + std::sqrt(k_gamma * p / d));
    }
    m_sums[static_cast<std::size_t>(y)].speed = most;
  }

  void sum_up(int y) {
    sums &s = m_sums[static_cast<std::size_t>(y)];
    s.mass = s.energy = 0;
    for (int x = 0; x < m_n; ++x) {
      s.mass += m_u[k_density][at(x, y)];
      s.energy += m_u[k_energy][at(x, y)];
    }
  }

  /// Advances along one direction. A "line" is a row of the direction; cell `i` of line `l` is
  /// (i, l) or (l, i). 28 loops.
  template <class Rows>
  void sweep(Rows &rows, bool vertical, double dt) {
    const int normal = vertical ? k_across : k_along, other = vertical ? k_along : k_across;
    const auto cell = [this, vertical](int i, int l) { return vertical ? at(l, i) : at(i, l); };
    const auto for_cells = [this, &rows, cell](int first, int end, auto f) {
      rows([=](int l) {
        for (int i = first; i < end; ++i)
          f(cell(i, l));
      });
    };
    const std::size_t next = vertical ? static_cast<std::size_t>(m_row) : 1;
    for (int f = 0; f < k_fields; ++f) // 8: walls reflect
      for (const bool far : {false, true})
        rows([this, cell, far, f, normal](int l) {
          const double sign = f == normal ? -1 : 1;
          for (int i = 0; i < 2; ++i) {
            const int from = far ? m_n - 1 - i : i, to = far ? m_n + i : -1 - i;
            m_u[static_cast<std::size_t>(f)][cell(to, l)] =
                sign * m_u[static_cast<std::size_t>(f)][cell(from, l)];
          }
        });
    auto &d = m_w[k_density], &p = m_w[k_energy], &u = m_w[k_along], &v = m_w[k_across];
    auto &du = m_u[static_cast<std::size_t>(normal)], &dv = m_u[static_cast<std::size_t>(other)];
    for_cells(-2, m_n + 2, [&](std::size_t c) { // 2: primitive values
      d[c] = m_u[k_density][c];
      u[c] = du[c] / d[c];
      v[c] = dv[c] / d[c];
    });
    for_cells(-2, m_n + 2, [&](std::size_t c) {
      p[c] = std::max(1e-10, (k_gamma - 1) *
                                 (m_u[k_energy][c] - 0.5 * d[c] * (u[c] * u[c] + v[c] * v[c])));
    });
    for (auto f = 0U; f < k_fields; ++f) // 4
      for_cells(-1, m_n + 1, [this, f, next](std::size_t c) {
        const double left = m_w[f][c] - m_w[f][c - next], right = m_w[f][c + next] - m_w[f][c];
        m_slope[f][c] = left * right <= 0 ? 0 : 2 * left * right / (left + right);
      });
    for (auto f = 0U; f < k_fields; ++f) // 4: both sides of a cell
      for_cells(-1, m_n + 1, [this, f](std::size_t c) {
        m_low[f][c] = m_w[f][c] - 0.5 * m_slope[f][c];
        m_high[f][c] = m_w[f][c] + 0.5 * m_slope[f][c];
      });
    for_cells(0, m_n + 1, [this, next](std::size_t c) { // 1: at the face before the cell
      const std::size_t b = c - next;
      m_speed[c] = std::max(std::abs(m_high[k_along][b]) +
                                std::sqrt(k_gamma * m_high[k_energy][b] / m_high[k_density][b]),
                            std::abs(m_low[k_along][c]) +
                                std::sqrt(k_gamma * m_low[k_energy][c] / m_low[k_density][c]));
    });
    for (auto f = 0U; f < k_fields; ++f) // 4
      for_cells(0, m_n + 1, [this, f, next](std::size_t c) {
        const auto b = side_of(m_high, c - next), a = side_of(m_low, c);
        m_flux[f][c] = 0.5 * (flux_of(b)[f] + flux_of(a)[f]) -
                       0.5 * m_speed[c] * (conserved_of(a)[f] - conserved_of(b)[f]);
      });
    const std::array<field *, k_fields> to{&m_u[k_density], &m_u[k_energy], &du, &dv};
    for (auto f = 0U; f < k_fields; ++f) // 4
      for_cells(0, m_n, [this, f, next, dt, &to](std::size_t c) {
        (*to[f])[c] -= dt * (m_flux[f][c + next] - m_flux[f][c]);
      });
    for_cells(0, m_n, [this](std::size_t c) { // 1
      m_u[k_density][c] = std::max(m_u[k_density][c], 1e-10);
    });
  }

  using values = std::array<double, k_fields>;
  static values side_of(const std::array<field, k_fields> &of, std::size_t c) {
    return {of[k_density][c], of[k_energy][c], of[k_along][c], of[k_across][c]};
  }
  static values conserved_of(const values &w) {
    const double d = w[k_density], u = w[k_along], v = w[k_across];
    return {d, w[k_energy] / (k_gamma - 1) + 0.5 * d * (u * u + v * v), d * u, d * v};
  }
  static values flux_of(const values &w) {
    const values c = conserved_of(w);
    const double u = w[k_along], p = w[k_energy];
    return {c[k_along], (c[k_energy] + p) * u, c[k_along] * u + p, c[k_across] * u};
  }

  const int m_n, m_row;
  std::array<field, k_fields> m_u, m_w, m_slope, m_low, m_high, m_flux;
  field m_speed;
  std::vector<sums> m_sums;
};

} // namespace hydro
