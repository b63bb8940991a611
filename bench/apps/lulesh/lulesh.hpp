// SPDX-License-Identifier: Apache-2.0
// LULESH 2.0's physics (domain.hpp) as tasks: four per block and step, and one per step for the clock.
#pragma once

#include "../support/application.hpp"
#include "domain.hpp"

class lulesh final : public app::application {
 public:
  lulesh(long size, long tile, long steps);
  void reset() override;
  void run_serial() override;
  void run_tasks() override;
  void remember() override;
  [[nodiscard]] double difference() const override;
  [[nodiscard]] double defect() const override;
  [[nodiscard]] double checksum() const override { return m_domain.elements.front().energy; }

 private:
  sedov::domain m_domain;
  long m_most; // steps; 0: until the time is over
  long m_steps = 0; // of the serial order
  std::vector<double> m_kept; // energies, and where the nodes are
  double m_defect = 0;
};
