// SPDX-License-Identifier: Apache-2.0
#include "two_wave.hpp"

#include <numeric>

const app::description app::about{
    .name = "two_wave",
    .title = "Synthetic benchmark of two waves",
    .size = {"size", 1, 1L << 36, 1L << 23, "steps of arithmetic in a wave"},
    .tile = {"tile", 1, 1L << 30, 16384, "steps that a task does"},
    .own = {},
    .sweep = {64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384, 65536, 262144},
    .small = {100000, 500},
};

std::unique_ptr<app::application> app::make(const settings &chosen) {
  return std::make_unique<two_wave>(chosen["size"], chosen["tile"]);
}

namespace {

constexpr std::uint64_t k_factor = 6364136223846793005,
                        k_increment = 1442695040888963407; // Knuth's

std::uint64_t advance(std::uint64_t x, long steps) {
  for (long i = 0; i < steps; ++i)
    x = x * k_factor + k_increment;
  return x;
}

/// Computes the same in log(steps), by powers of the step x -> factor x + increment.
std::uint64_t leap(std::uint64_t x, long steps) {
  std::uint64_t factor = k_factor, increment = k_increment;
  for (; steps; steps /= 2) {
    if (steps % 2)
      x = x * factor + increment;
    increment += factor * increment;
    factor *= factor;
  }
  return x;
}

} // namespace

two_wave::two_wave(long size, long tile)
    : m_tile(tile), m_a(static_cast<std::size_t>((size + tile - 1) / tile)), m_b(m_a.size()) {}

void two_wave::reset() {
  std::iota(m_a.begin(), m_a.end(), 1);
  std::fill(m_b.begin(), m_b.end(), 0);
}

void two_wave::first(long i) {
  app::count_task();
  a(i) = advance(a(i), m_tile);
}

void two_wave::second(long i) {
  app::count_task();
  b(i) = advance(a(i), m_tile);
}

void two_wave::run_serial() {
  for (long i = 0; i < tasks(); ++i)
    first(i);
  for (long i = 0; i < tasks(); ++i)
    second(i);
}

double two_wave::defect() const {
  for (std::size_t i = 0; i < m_kept.size(); ++i)
    if (m_kept[i] != leap(i + 1, 2 * m_tile))
      return 1;
  return 0;
}
