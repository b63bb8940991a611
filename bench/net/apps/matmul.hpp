// SPDX-License-Identifier: Apache-2.0
// A product of matrices, added up in some rounds: each rank has some rows of all three, and those of the
// second factor travel on a ring.
#pragma once

#include "kernels.hpp"
#include "options.hpp"
#include "ring.hpp"

#include <algorithm>
#include <cstring>
#include <vector>

namespace net_bench {

class matmul {
 public:
  matmul(const options &o, int rank, int ranks)
      : m_rank(rank), m_ranks(ranks), m_rounds(o.rounds  ? o.rounds
                                               : o.small ? 3
                                                         : 4),
        m_rows(o.small ? 8 : 256), m_high(o.small ? 4 : 64), m_blocks(4),
        m_size(m_rows * static_cast<std::size_t>(ranks)), m_wide(m_size / m_blocks),
        m_ring(rank, ranks, m_rounds, m_blocks, m_rows * m_wide),
        m_product(m_rows / m_high * m_blocks), m_factor(m_blocks) {
    m_memory.resize(3 * m_rows * m_size + m_ring.room());
  }
  [[nodiscard]] layout exchanged() const { return m_ring.exchanged(); }
  [[nodiscard]] std::vector<double> &memory() { return m_memory; }

  void reset() {
    std::fill(m_memory.begin(), m_memory.end(), 0);
    const auto first = static_cast<std::size_t>(m_rank) * m_rows;
    for (std::size_t r = 0; r != m_rows; ++r)
      for (std::size_t c = 0; c != m_size; ++c) {
        left()[r * m_size + c] = first_value((first + r) * m_size + c);
        right(c / m_wide)[r * m_wide + c % m_wide] =
            first_value(m_size * m_size + (first + r) * m_size + c);
      }
  }

  template <class Version>
  void spawn(Version &v) {
    for (int round = 0; round != m_rounds; ++round)
      m_ring.travel(
          v, round, left() + 2 * m_rows * m_size,
          [&](std::size_t b) { return ring::block{right(b), &m_factor[b]}; },
          [&](int step, const auto &source) { spawn_step(v, step, source); });
  }

  [[nodiscard]] bool is_right() const {
    const std::vector<double> product = serial_matmul(m_size, static_cast<std::size_t>(m_ranks),
                                                      static_cast<std::size_t>(m_rank), m_rounds);
    return std::memcmp(product.data(), m_memory.data(), m_rows * m_size * sizeof(double)) == 0;
  }
  void spoil() { m_memory[m_rows * m_size - 1] += 1; }

 private:
  // The product, the left factor, and the right one in blocks of columns.
  [[nodiscard]] double *left() { return m_memory.data() + m_rows * m_size; }
  [[nodiscard]] double *right(std::size_t b) {
    return left() + m_rows * m_size + b * m_rows * m_wide;
  }

  template <class Version, class Source>
  void spawn_step(Version &v, int step, const Source &source) {
    const auto owner = static_cast<std::size_t>((m_rank + m_ranks - step) % m_ranks);
    for (std::size_t b = 0; b != m_blocks; ++b) {
      const ring::block from = source(b);
      for (std::size_t i = 0; i != m_rows / m_high; ++i) {
        token &product = m_product[i * m_blocks + b];
        v.run(i * m_blocks + b, uses().inout(product).in(*from.written), 0,
              [to = m_memory.data() + i * m_high * m_size + b * m_wide,
               a = left() + i * m_high * m_size + owner * m_rows, in = from.data, high = m_high,
               wide = m_wide, size = m_size,
               depth = m_rows] { multiply_block(to, size, a, size, in, high, wide, depth); });
      }
    }
  }

  int m_rank, m_ranks, m_rounds;
  std::size_t m_rows, m_high, m_blocks, m_size, m_wide;
  ring m_ring;
  std::vector<double> m_memory;
  std::vector<token> m_product, m_factor;
};

} // namespace net_bench
