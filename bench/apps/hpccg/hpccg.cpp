// SPDX-License-Identifier: Apache-2.0
#include "hpccg.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

const app::description app::about{
    .name = "hpccg",
    .title = "HPCCG: sparse conjugate gradient",
    .size = {"size", 1, 512, 32, "points along an edge of the cube"},
    .tile = {"tile", 1, 1L << 27, 1024, "rows of a block"},
    .own = {{"iterations", 1, 10000, 30, "steps of the method"}},
    .sweep = {16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384},
    .small = {8, 50},
    .tolerance = 1e-10,
    .defect_bound = 1e-10,
};

std::unique_ptr<app::application> app::make(const settings &chosen) {
  return std::make_unique<hpccg>(chosen["size"], chosen["tile"], chosen["iterations"]);
}

hpccg::hpccg(long size, long tile, long iterations) : m_edge(size), m_iterations(iterations) {
  make_matrix();
  make_blocks(tile);
  m_part_p_ap.resize(m_blocks.size());
  m_part_r_r.resize(m_blocks.size());
  for (auto *v : {&m_x, &m_r, &m_p, &m_ap})
    v->resize(m_right.size());
}

void hpccg::make_matrix() {
  m_first.push_back(0);
  for (long z = 0; z < m_edge; ++z)
    for (long y = 0; y < m_edge; ++y)
      for (long x = 0; x < m_edge; ++x) {
        for (long k = std::max(z - 1, 0L); k <= std::min(z + 1, m_edge - 1); ++k)
          for (long j = std::max(y - 1, 0L); j <= std::min(y + 1, m_edge - 1); ++j)
            for (long i = std::max(x - 1, 0L); i <= std::min(x + 1, m_edge - 1); ++i) {
              m_column.push_back(static_cast<int>((k * m_edge + j) * m_edge + i));
              m_value.push_back(i == x && j == y && k == z ? 27 : -1);
            }
        m_right.push_back(27 - static_cast<double>(m_column.size() - m_first.back() - 1));
        m_first.push_back(m_column.size());
      }
}

void hpccg::make_blocks(long tile) {
  const std::size_t rows = m_right.size(), step = static_cast<std::size_t>(tile);
  for (std::size_t begin = 0; begin < rows; begin += step) {
    block &b = m_blocks.emplace_back(block{begin, std::min(begin + step, rows), {}});
    for (std::size_t k = m_first[b.begin]; k < m_first[b.end]; ++k)
      if (const int read = static_cast<int>(m_column[k] / tile);
          b.reads.empty() || b.reads.back() != read)
        b.reads.push_back(read);
    std::sort(b.reads.begin(), b.reads.end());
    b.reads.erase(std::unique(b.reads.begin(), b.reads.end()), b.reads.end());
  }
}

/// Starts from zero, where the residual and the first direction are the right side.
void hpccg::reset() {
  std::fill(m_x.begin(), m_x.end(), 0.0);
  m_r = m_p = m_right;
  m_r_r = std::inner_product(m_r.begin(), m_r.end(), m_r.begin(), 0.0);
  m_sum_p_ap = m_sum_r_r = 0;
}

void hpccg::multiply(std::size_t b) {
  app::count_task();
  for (std::size_t row = m_blocks[b].begin; row < m_blocks[b].end; ++row) {
    double sum = 0;
    for (std::size_t k = m_first[row]; k < m_first[row + 1]; ++k)
      sum += m_value[k] * m_p[static_cast<std::size_t>(m_column[k])];
    m_ap[row] = sum;
  }
}

double hpccg::dot_p_ap(std::size_t b) const {
  app::count_task();
  double sum = 0;
  for (std::size_t i = m_blocks[b].begin; i < m_blocks[b].end; ++i)
    sum += m_p[i] * m_ap[i];
  return sum;
}

void hpccg::choose_alpha(double p_ap) {
  app::count_task();
  m_alpha = p_ap > 0 ? m_r_r / p_ap : 0; // else the solution is exact
}

void hpccg::advance_x(std::size_t b) {
  app::count_task();
  for (std::size_t i = m_blocks[b].begin; i < m_blocks[b].end; ++i)
    m_x[i] += m_alpha * m_p[i];
}

void hpccg::advance_r(std::size_t b) {
  app::count_task();
  for (std::size_t i = m_blocks[b].begin; i < m_blocks[b].end; ++i)
    m_r[i] -= m_alpha * m_ap[i];
}

double hpccg::dot_r_r(std::size_t b) const {
  app::count_task();
  double sum = 0;
  for (std::size_t i = m_blocks[b].begin; i < m_blocks[b].end; ++i)
    sum += m_r[i] * m_r[i];
  return sum;
}

void hpccg::choose_beta(double r_r) {
  app::count_task();
  m_beta = m_r_r > 0 ? r_r / m_r_r : 0;
  m_r_r = r_r;
}

void hpccg::advance_p(std::size_t b) {
  app::count_task();
  for (std::size_t i = m_blocks[b].begin; i < m_blocks[b].end; ++i)
    m_p[i] = m_r[i] + m_beta * m_p[i];
}

void hpccg::run_serial() {
  const auto all = [this](void (hpccg::*kernel)(std::size_t)) {
    for (std::size_t b = 0; b < m_blocks.size(); ++b)
      (this->*kernel)(b);
  };
  const auto sum = [this](double (hpccg::*kernel)(std::size_t) const) {
    double s = 0;
    for (std::size_t b = 0; b < m_blocks.size(); ++b)
      s += (this->*kernel)(b);
    return s;
  };
  for (long i = 0; i < m_iterations; ++i) {
    all(&hpccg::multiply);
    choose_alpha(sum(&hpccg::dot_p_ap));
    all(&hpccg::advance_x);
    all(&hpccg::advance_r);
    choose_beta(sum(&hpccg::dot_r_r));
    all(&hpccg::advance_p);
  }
}

double hpccg::true_residual() const {
  double sum = 0;
  for (std::size_t row = 0; row < m_right.size(); ++row) {
    double r = m_right[row];
    for (std::size_t k = m_first[row]; k < m_first[row + 1]; ++k)
      r -= m_value[k] * m_x[static_cast<std::size_t>(m_column[k])];
    sum += r * r;
  }
  return std::sqrt(sum);
}

/// Checks that the method's residual is the true one up to rounding, and that it shrinks.
void hpccg::remember() {
  m_kept = m_x;
  const double start =
      std::sqrt(std::inner_product(m_right.begin(), m_right.end(), m_right.begin(), 0.0));
  const double end = true_residual();
  m_defect = end < start ? std::abs(end - std::sqrt(m_r_r)) / start : 1;
}

double hpccg::difference() const {
  double most = 0; // the solution is 1: absolute is relative
  for (std::size_t i = 0; i < m_x.size(); ++i) {
    const double d = std::abs(m_x[i] - m_kept[i]);
    most = d <= most ? most : std::isnan(d) ? 1 : d;
  }
  return most;
}

double hpccg::checksum() const { return std::sqrt(m_r_r); }
