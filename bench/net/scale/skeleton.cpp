// SPDX-License-Identifier: Apache-2.0
#include "skeleton.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace net_scale {

namespace {

constexpr double k_word = 8, k_flops = 10e9; // bytes; of a core in a second

/// Returns a number in [0, 1) that a seed, a rank and a round draw.
double draw(std::uint64_t seed, int rank, int round) {
  std::uint64_t x = seed * 0x9e3779b97f4a7c15u +
                    static_cast<std::uint64_t>(rank) * 0xbf58476d1ce4e5b9u +
                    static_cast<std::uint64_t>(round) * 0x94d049bb133111ebu;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return static_cast<double>((x ^ (x >> 31)) >> 11) * 0x1p-53;
}

} // namespace

double most_tasks(double tasks, int cores) noexcept { return std::ceil(tasks / cores - 1e-9); }

plan::plan(const problem &p, const costs &c) : m_problem(p), m_costs(c) {
  // The sizes of one rank; a weak problem has them on each, a strong one that of 32 ranks together.
  const double shared = p.weak ? 1 : 32.0 / p.ranks;
  const auto set = [&](int rounds, double tasks, double task, double bytes) {
    m_rounds = p.rounds ? std::max(p.rounds, p.ranks) : rounds;
    m_tasks = tasks;
    m_task = c.task > 0 ? c.task : task;
    m_bytes = bytes;
  };
  switch (p.what) {
  case app::jacobi: // 1024 rows of 32768 values on each of 32 ranks, in blocks of 128 x 2048
    set(20, std::max(1.0, 128 * shared), 130e-6, 32768 * k_word);
    break;
  case app::
      gauss_seidel: // the same plate; all columns of blocks, of different iterations, in a round
    set(59 + p.ranks, std::max(1.0, 128 * shared / 2), 260e-6, 32768 / 2 * k_word);
    break;
  case app::gauss_seidel_column: // the rank computes all of one iteration in every other round
    set(59 + p.ranks, std::max(1.0, 128 * shared), 260e-6, 32768 * k_word);
    break;
  case app::nbody:
  case app::nbody_priorities: { // 64 blocks of 512 bodies on each of 32 ranks
    const double blocks = std::max(1.0, 64 * shared);
    set(2 * p.ranks, blocks * blocks, 250e-6, blocks * 512 * 4 * k_word);
    break;
  }
  case app::
      matmul: { // 256 rows of 8192 values on each of 32 ranks, in blocks of 64 rows and a 16th of them
    const double rows = 256 * shared, size = p.weak ? 256.0 * p.ranks : 8192;
    set(2 * p.ranks, std::max(1.0, rows / 64 * 16), 2 * 64 * size / 16 * rows / k_flops,
        rows * size * k_word);
    break;
  }
  }
}

double plan::work(int rank, int round, double tasks) const {
  if (tasks <= 0)
    return 0;
  const double late = 1 + m_costs.jitter * draw(m_costs.seed, rank, round);
  return tasks * m_task * late;
}

bool plan::is_active(int rank, int round) const {
  const int begun = round - rank, behind = m_problem.ranks - 1;
  switch (m_problem.what) {
  case app::gauss_seidel: // each rank begins a round behind the one above
    return begun >= 0 && begun < m_rounds - behind;
  case app::gauss_seidel_column:
    return begun >= 0 && begun < m_rounds - behind && begun % 2 == 0;
  default:
    return true;
  }
}

double plan::serial() const {
  double rounds = 0; // in which some rank computes
  for (int round = 0; round != m_rounds; ++round)
    rounds += is_active(0, round) ? 1 : 0;
  return m_tasks * m_task * rounds * m_problem.ranks / m_costs.cores;
}

round_plan plan::of(int rank, int round) const {
  round_plan r;
  const int ranks = m_problem.ranks, cores = m_costs.cores;
  r.bytes = m_bytes;
  const bool is_ring = m_problem.what == app::nbody || m_problem.what == app::nbody_priorities ||
                       m_problem.what == app::matmul;
  if (is_ring && ranks > 1) {
    if (round % ranks != ranks - 1) { // the last step of a trip sends nothing on
      r.to = {(rank + 1) % ranks};
      r.from = {(rank + ranks - 1) % ranks};
    }
  } else if (!is_ring) {
    for (const int other : {rank - 1, rank + 1})
      if (other >= 0 && other < ranks) {
        r.to.push_back(other);
        r.from.push_back(other);
      }
  }
  switch (m_problem.what) {
  case app::jacobi: { // the edge blocks go first: 16 of them in each of two rows
    const double edge = std::min(m_tasks, 32.0);
    r.before = work(rank, round, edge / cores);
    r.after = work(rank, round, std::max(0.0, most_tasks(m_tasks, cores) - edge / cores));
    break;
  }
  case app::gauss_seidel:
  case app::gauss_seidel_column:
    if (is_active(rank, round))
      r.before = work(rank, round, most_tasks(m_tasks, cores));
    break;
  case app::nbody: // chains: a core goes to the end of one before it begins another
    r.after = work(rank, round, most_tasks(std::sqrt(m_tasks), cores) * std::sqrt(m_tasks));
    break;
  case app::nbody_priorities:
  case app::matmul:
    r.after = work(rank, round, most_tasks(m_tasks, cores));
    break;
  }
  return r;
}

} // namespace net_scale
