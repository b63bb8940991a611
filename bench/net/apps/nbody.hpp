// SPDX-License-Identifier: Apache-2.0
// Bodies that attract each other: those of each rank travel on a ring in each step of time. The forces on a
// block are a chain of tasks; with priorities, the oldest step of the ring goes first, so that no chain is
// left over at the end.
#pragma once

#include "kernels.hpp"
#include "options.hpp"
#include "ring.hpp"

#include <algorithm>
#include <cstring>
#include <vector>

namespace net_bench {

class nbody {
 public:
  nbody(const options &o, int rank, int ranks)
      : m_rank(rank), m_ranks(ranks), m_rounds(o.rounds  ? o.rounds
                                               : o.small ? 3
                                                         : 4),
        m_priorities(o.priorities), m_count(o.small ? 8 : 128), m_blocks(o.small ? 3 : 16),
        m_ring(rank, ranks, m_rounds, m_blocks, m_count * k_body), m_forces(m_blocks) {
    m_memory.resize(m_blocks * m_count * (k_body + 2 * k_force) + m_ring.room());
    m_bodies_tokens.resize(m_blocks);
  }
  [[nodiscard]] layout exchanged() const { return m_ring.exchanged(); }
  [[nodiscard]] std::vector<double> &memory() { return m_memory; }

  void reset() {
    std::fill(m_memory.begin(), m_memory.end(), 0);
    for (std::size_t b = 0; b != m_blocks; ++b)
      for (std::size_t d = 0; d != k_body; ++d)
        for (std::size_t i = 0; i != m_count; ++i)
          bodies(b)[d * m_count + i] = first_value(d * all() + first(b) + i);
  }

  template <class Version>
  void spawn(Version &v) {
    for (int round = 0; round != m_rounds; ++round) {
      m_ring.travel(
          v, round, visiting(),
          [&](std::size_t b) { return ring::block{bodies(b), &m_bodies_tokens[b]}; },
          [&](int step, const auto &source) { spawn_step(v, step, source); });
      for (std::size_t b = 0; b != m_blocks; ++b)
        v.run(b, uses().inout(m_bodies_tokens[b]).inout(m_forces[b]), 0,
              [own = bodies(b), fast = speeds(b), f = forces(b), count = m_count] {
                move_block(own, fast, f, count);
              });
    }
  }

  [[nodiscard]] bool is_right() {
    const std::vector<double> right =
        serial_nbody(all(), static_cast<std::size_t>(m_ranks), m_rounds);
    for (std::size_t b = 0; b != m_blocks; ++b)
      for (std::size_t d = 0; d != k_body; ++d)
        if (std::memcmp(right.data() + d * all() + first(b), bodies(b) + d * m_count,
                        m_count * sizeof(double)) != 0)
          return false;
    return true;
  }
  void spoil() { bodies(m_blocks - 1)[0] += 1; }

 private:
  [[nodiscard]] std::size_t all() const {
    return m_count * m_blocks * static_cast<std::size_t>(m_ranks);
  }
  [[nodiscard]] std::size_t first(std::size_t b) const {
    return (static_cast<std::size_t>(m_rank) * m_blocks + b) * m_count;
  }
  [[nodiscard]] double *bodies(std::size_t b) { return m_memory.data() + b * m_count * k_body; }
  [[nodiscard]] double *speeds(std::size_t b) {
    return m_memory.data() + m_count * (m_blocks * k_body + b * k_force);
  }
  [[nodiscard]] double *forces(std::size_t b) {
    return m_memory.data() + m_count * (m_blocks * (k_body + k_force) + b * k_force);
  }
  [[nodiscard]] double *visiting() {
    return m_memory.data() + m_count * m_blocks * (k_body + 2 * k_force);
  }

  template <class Version, class Source>
  void spawn_step(Version &v, int step, const Source &source) {
    const int steps = m_ranks * static_cast<int>(m_blocks);
    for (std::size_t other = 0; other != m_blocks; ++other) {
      const ring::block from = source(other);
      const int behind = steps - step * static_cast<int>(m_blocks) - static_cast<int>(other);
      for (std::size_t b = 0; b != m_blocks; ++b) {
        uses used;
        used.inout(m_forces[b]).in(m_bodies_tokens[b]);
        if (from.written != &m_bodies_tokens[b])
          used.in(*from.written);
        v.run(b, used, m_priorities ? behind : 0,
              [f = forces(b), own = bodies(b), others = from.data, count = m_count] {
                forces_block(f, own, others, count);
              });
      }
    }
  }

  int m_rank, m_ranks, m_rounds, m_priorities;
  std::size_t m_count, m_blocks;
  ring m_ring;
  std::vector<double> m_memory;
  std::vector<token> m_forces, m_bodies_tokens;
};

} // namespace net_bench
