// SPDX-License-Identifier: Apache-2.0
// Particles that attract each other, all pairs, in blocks. A time step has two tasks, which create
// the tasks that compute: one for each pair of blocks, which adds up accelerations, then one for
// each block, which moves it.
#pragma once

#include "../support/application.hpp"

class nbody final : public app::application {
 public:
  nbody(long size, long tile, long steps, bool nested);
  void reset() override;
  void run_serial() override;
  void run_tasks() override;
  void remember() override;
  [[nodiscard]] double difference() const override;
  [[nodiscard]] double defect() const override { return m_defect; }
  [[nodiscard]] double checksum() const override { return m_x.front(); }

 private:
  struct range {
    std::size_t begin, end;
  };
  struct totals {
    double momentum[3] = {}, size_of_momentum = 0, energy = 0;
  };

  [[nodiscard]] range of(long block) const;
  [[nodiscard]] totals measure() const;
  /// Represent the block's positions and velocities, and its accelerations, in the accesses of
  /// tasks.
  double &place(long block) { return m_x[of(block).begin]; }
  double &acceleration(long block) { return m_ax[of(block).begin]; }

  // The kernels.
  /// Adds the forces of `others` on `block`; the first of them starts from zero.
  void attract(long block, long others);
  void move(long block);
  /// Counts the task that creates the others of a phase, and does nothing else.
  static void begin_phase() { app::count_task(); }

  // Tasks of one phase; they differ by back end.
  void create_attraction();
  void create_motion();

  long m_size, m_tile, m_blocks, m_steps;
  bool m_nested;
  std::vector<double> m_mass, m_x, m_y, m_z, m_vx, m_vy, m_vz, m_ax, m_ay, m_az;
  std::vector<double> m_kept;
  double m_defect = 0;
};
