// SPDX-License-Identifier: Apache-2.0
#include "nbody.hpp"

#include <algorithm>
#include <cmath>

const app::description app::about{
    .name = "nbody",
    .title = "N-Body: forces inside time steps",
    .size = {"size", 2, 1L << 20, 1024, "particles"},
    .tile = {"tile", 1, 1L << 20, 32, "particles of a block"},
    .own = {{"steps", 1, 100000, 8, "time steps"},
            {"nested", 0, 1, 1,
             "1: a task for each phase creates its tasks; 0: one thread creates all of them"}},
    .sweep = {4, 8, 16, 32, 64, 128, 256},
    .small = {128, 16},
    .tolerance = 0,
    .defect_bound = 1e-12,
};

std::unique_ptr<app::application> app::make(const settings &chosen) {
  return std::make_unique<nbody>(chosen["size"], chosen["tile"], chosen["steps"],
                                 chosen["nested"] != 0);
}

namespace {

constexpr double k_step = 1e-4;
constexpr double k_softening = 1e-2;        // squared; keeps near pairs harmless
constexpr double k_energy_drift_max = 1e-4; // of the integrator; relative

} // namespace

nbody::nbody(long size, long tile, long steps, bool nested)
    : m_size(size), m_tile(std::min(tile, size)), m_blocks((m_size + m_tile - 1) / m_tile),
      m_steps(steps), m_nested(nested) {
  for (auto *v : {&m_mass, &m_x, &m_y, &m_z, &m_vx, &m_vy, &m_vz, &m_ax, &m_ay, &m_az})
    v->resize(static_cast<std::size_t>(m_size));
}

nbody::range nbody::of(long block) const {
  return {static_cast<std::size_t>(block * m_tile),
          static_cast<std::size_t>(std::min((block + 1) * m_tile, m_size))};
}

/// Places the particles at points of a low-discrepancy sequence in a cube, moving slowly.
void nbody::reset() {
  const auto scattered = [](std::size_t i, double step) {
    const double product = step * static_cast<double>(i + 1);
    return product - std::floor(product);
  };
  for (std::size_t i = 0; i < m_x.size(); ++i) {
    m_mass[i] = (0.5 + scattered(i, 0.3027756377)) / static_cast<double>(m_size);
    m_x[i] = scattered(i, 0.8191725134);
    m_y[i] = scattered(i, 0.6710436067);
    m_z[i] = scattered(i, 0.5497004779);
    m_vx[i] = scattered(i, 0.7548776662) - 0.5;
    m_vy[i] = scattered(i, 0.5698402910) - 0.5;
    m_vz[i] = scattered(i, 0.6180339887) - 0.5;
  }
  for (auto *v : {&m_ax, &m_ay, &m_az})
    std::fill(v->begin(), v->end(), 0.0);
}

void nbody::attract(long block, long others) {
  app::count_task();
  const range to = of(block), from = of(others);
  for (std::size_t i = to.begin; i < to.end; ++i) {
    double ax = 0, ay = 0, az = 0;
    for (std::size_t j = from.begin; j < from.end; ++j) {
      const double dx = m_x[j] - m_x[i], dy = m_y[j] - m_y[i], dz = m_z[j] - m_z[i];
      const double square = dx * dx + dy * dy + dz * dz + k_softening;
      const double f = m_mass[j] / (square * std::sqrt(square)); // a particle's own part is zero
      ax += f * dx;
      ay += f * dy;
      az += f * dz;
    }
    m_ax[i] = (others == 0 ? 0 : m_ax[i]) + ax;
    m_ay[i] = (others == 0 ? 0 : m_ay[i]) + ay;
    m_az[i] = (others == 0 ? 0 : m_az[i]) + az;
  }
}

void nbody::move(long block) {
  app::count_task();
  const range r = of(block);
  for (std::size_t i = r.begin; i < r.end; ++i) {
    m_x[i] += k_step * (m_vx[i] += k_step * m_ax[i]);
    m_y[i] += k_step * (m_vy[i] += k_step * m_ay[i]);
    m_z[i] += k_step * (m_vz[i] += k_step * m_az[i]);
  }
}

void nbody::run_serial() {
  const auto phase = [this] {
    if (m_nested)
      begin_phase();
  };
  for (long s = 0; s < m_steps; ++s) {
    phase();
    for (long i = 0; i < m_blocks; ++i)
      for (long j = 0; j < m_blocks; ++j)
        attract(i, j);
    phase();
    for (long i = 0; i < m_blocks; ++i)
      move(i);
  }
}

nbody::totals nbody::measure() const {
  totals t;
  for (std::size_t i = 0; i < m_x.size(); ++i) {
    const double v[3] = {m_vx[i], m_vy[i], m_vz[i]};
    double square = 0;
    for (int a = 0; a < 3; ++a) {
      t.momentum[a] += m_mass[i] * v[a];
      square += v[a] * v[a];
    }
    t.size_of_momentum += m_mass[i] * std::sqrt(square);
    t.energy += 0.5 * m_mass[i] * square;
    for (std::size_t j = 0; j < i; ++j) {
      const double dx = m_x[j] - m_x[i], dy = m_y[j] - m_y[i], dz = m_z[j] - m_z[i];
      t.energy -= m_mass[i] * m_mass[j] / std::sqrt(dx * dx + dy * dy + dz * dz + k_softening);
    }
  }
  return t;
}

/// Checks that momentum is conserved up to rounding, and energy up to the error of the integrator.
void nbody::remember() {
  m_kept.clear();
  for (const auto *v : {&m_x, &m_y, &m_z, &m_vx, &m_vy, &m_vz})
    m_kept.insert(m_kept.end(), v->begin(), v->end());
  const totals after = measure();
  reset();
  const totals before = measure();
  m_defect = 0;
  for (int a = 0; a < 3; ++a)
    m_defect = std::max(m_defect,
                        std::abs(after.momentum[a] - before.momentum[a]) / before.size_of_momentum);
  if (!(std::abs(after.energy / before.energy - 1) <= k_energy_drift_max))
    m_defect = 1;
}

double nbody::difference() const {
  double most = 0;
  std::size_t k = 0;
  for (const auto *v : {&m_x, &m_y, &m_z, &m_vx, &m_vy, &m_vz})
    for (const double now : *v)
      if (const double d = std::abs(now - m_kept[k++]); !(d <= most)) // NaN counts as 1
        most = std::isnan(d) ? 1 : d;
  return most;
}
