// SPDX-License-Identifier: Apache-2.0
// Heat on a plate by Jacobi's method: each rank has some rows, and sends the first and the last of them in
// each round, in pieces of a block's width. Blocks have one size, whatever their width. With one column they are
// whole rows, and what the processor fetches beyond the end of a row is of the same block.
#pragma once

#include "kernels.hpp"
#include "options.hpp"
#include "uses.hpp"

#include <algorithm>
#include <cstring>
#include <stdexcept>
#include <string>
#include <vector>

namespace net_bench {

class jacobi {
 public:
  jacobi(const options &o, int rank, int ranks)
      : m_rank(rank), m_ranks(ranks), m_rounds(o.rounds  ? o.rounds
                                               : o.small ? 6
                                                         : 40) {
    const std::size_t rows = static_cast<std::size_t>(m_ranks) * (o.small ? 24 : 1024);
    m_columns = o.small ? 48 : 2048;
    m_across = static_cast<std::size_t>(o.columns ? o.columns : o.small ? 3 : 4);
    m_high = o.small ? 8 : 16 * m_across;
    m_rows = rows / static_cast<std::size_t>(ranks);
    if (m_columns % m_across != 0 || m_rows % m_high != 0)
      throw std::runtime_error("--columns divides " + std::to_string(m_columns) +
                               ", and makes blocks that fill " + std::to_string(m_rows) + " rows");
    m_wide = m_columns / m_across;
    m_down = m_rows / m_high;
    m_stride = m_columns + 2; // with a value beside each row
    m_plate = m_stride * m_rows;
    m_edges = 2 * m_plate; // then the halos: by round, side
    m_memory.resize(m_edges + 4 * m_columns + 2 * m_wide);
    m_tokens.resize(2 * m_across * m_down + 4 * m_across);
  }
  [[nodiscard]] layout exchanged() const {
    return {static_cast<int>(2 * m_across), m_wide * sizeof(double), m_rounds};
  }
  [[nodiscard]] std::vector<double> &memory() { return m_memory; }

  void reset() {
    std::fill(m_memory.begin(), m_memory.end(), 0);
    std::fill_n(edge(), m_wide, k_edge);
    const auto first = static_cast<std::size_t>(m_rank) * m_rows;
    for (std::size_t r = 0; r != m_rows; ++r)
      for (std::size_t c = 0; c != m_columns; ++c)
        *cell(0, r, c) = first_value((first + r) * m_columns + c);
  }

  template <class Version>
  void spawn(Version &v) {
    for (int round = 0; round != m_rounds; ++round)
      spawn_round(v, round);
  }

  [[nodiscard]] bool is_right() const {
    const std::vector<double> all =
        serial_jacobi(m_rows * static_cast<std::size_t>(m_ranks), m_columns, m_rounds);
    const double *const own = all.data() + static_cast<std::size_t>(m_rank) * m_rows * m_columns;
    for (std::size_t r = 0; r != m_rows; ++r)
      if (std::memcmp(own + r * m_columns,
                      m_memory.data() + static_cast<std::size_t>(m_rounds % 2) * m_plate +
                          r * m_stride + 1,
                      m_columns * sizeof(double)) != 0)
        return false;
    return true;
  }
  void spoil() { *cell(m_rounds % 2, m_rows - 1, m_columns - 1) += 1; }

 private:
  enum side { above, below };
  [[nodiscard]] double *cell(int plate, std::size_t row, std::size_t column) {
    return m_memory.data() + static_cast<std::size_t>(plate) * m_plate + row * m_stride + 1 +
           column;
  }
  [[nodiscard]] double *halo(int round, side which, std::size_t column) {
    return m_memory.data() + m_edges +
           static_cast<std::size_t>(2 * (round % 2) + which) * m_columns + column;
  }
  [[nodiscard]] double *edge() { return m_memory.data() + m_edges + 4 * m_columns; }
  [[nodiscard]] token &block(int plate, std::size_t i, std::size_t j) {
    return m_tokens[(static_cast<std::size_t>(plate) * m_down + i) * m_across + j];
  }
  [[nodiscard]] token &halo_token(int round, side which, std::size_t j) {
    return m_tokens[2 * m_across * m_down +
                    static_cast<std::size_t>(2 * (round % 2) + which) * m_across + j];
  }

  template <class Version>
  void spawn_round(Version &v, int round) {
    const int from = round % 2, to = 1 - from;
    const bool has_above = m_rank != 0, has_below = m_rank + 1 != m_ranks;
    std::vector<arrival> coming;
    for (std::size_t j = 0; j != m_across; ++j) {
      const int piece = static_cast<int>(j), other = static_cast<int>(m_across + j);
      if (has_above) { // where the row lands below
        v.send(other, m_rank - 1, round, cell(from, 0, j * m_wide), block(from, 0, j));
        coming.push_back(
            {piece, m_rank - 1, halo(round, above, j * m_wide), &halo_token(round, above, j)});
      }
      if (has_below) {
        v.send(piece, m_rank + 1, round, cell(from, m_rows - 1, j * m_wide),
               block(from, m_down - 1, j));
        coming.push_back(
            {other, m_rank + 1, halo(round, below, j * m_wide), &halo_token(round, below, j)});
      }
    }
    if (m_ranks > 1)
      v.receive(round, coming);
    for (std::size_t i = 0; i != m_down; ++i)
      for (std::size_t j = 0; j != m_across; ++j) {
        const bool is_first = i == 0, is_last = i + 1 == m_down;
        uses used;
        used.out(block(to, i, j)).in(block(from, i, j));
        if (j != 0)
          used.in(block(from, i, j - 1));
        if (j + 1 != m_across)
          used.in(block(from, i, j + 1));
        if (!is_first)
          used.in(block(from, i - 1, j));
        else if (has_above)
          used.in(halo_token(round, above, j));
        if (!is_last)
          used.in(block(from, i + 1, j));
        else if (has_below)
          used.in(halo_token(round, below, j));
        const std::size_t c = j * m_wide;
        const plate_block shape{m_high, m_wide, m_stride,
                                !is_first   ? cell(from, i * m_high - 1, c)
                                : has_above ? halo(round, above, c)
                                            : edge(),
                                !is_last    ? cell(from, (i + 1) * m_high, c)
                                : has_below ? halo(round, below, c)
                                            : edge() + m_wide};
        v.run(i * m_across + j, used, 0,
              [out = cell(to, i * m_high, c), in = cell(from, i * m_high, c), shape] {
                jacobi_block(out, in, shape);
              });
      }
  }

  int m_rank, m_ranks, m_rounds;
  std::size_t m_rows, m_columns, m_high, m_wide, m_down, m_across, m_stride, m_plate, m_edges;
  std::vector<double> m_memory;
  std::vector<token> m_tokens;
};

} // namespace net_bench
