// SPDX-License-Identifier: Apache-2.0
// The synthetic benchmark of Bosch (2017): a wave of independent tasks, and a second wave of as
// many tasks, each of which reads the data that its counterpart in the first wave has written. A
// task is a loop of dependent arithmetic.
#pragma once

#include "../support/application.hpp"

#include <cstdint>

class two_wave final : public app::application {
 public:
  two_wave(long size, long tile);
  void reset() override;
  void run_serial() override;
  void run_tasks() override;
  void remember() override { m_kept = m_b; }
  [[nodiscard]] double difference() const override { return m_b == m_kept ? 0 : 1; }
  [[nodiscard]] double defect() const override;
  [[nodiscard]] double checksum() const override { return static_cast<double>(m_b.back()); }

 private:
  [[nodiscard]] long tasks() const { return static_cast<long>(m_a.size()); }
  [[nodiscard]] std::uint64_t &a(long i) { return m_a[static_cast<std::size_t>(i)]; }
  [[nodiscard]] std::uint64_t &b(long i) { return m_b[static_cast<std::size_t>(i)]; }
  /// The kernels: the first advances a(i), the second computes b(i) from a(i).
  void first(long i);
  void second(long i);

  long m_tile;
  std::vector<std::uint64_t> m_a, m_b, m_kept;
};
