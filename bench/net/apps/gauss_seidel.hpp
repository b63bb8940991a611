// SPDX-License-Identifier: Apache-2.0
// Heat on a plate by the method of Gauss and Seidel: a value needs those above and to the left of the same
// iteration. Rank k computes iteration i of the block column c in round c + k + 2 i, one round behind what it
// needs; so all ranks compute in all rounds if there are two columns or more, with an iteration in flight for
// two columns. With one column, each rank waits in every other round.
// With priorities, the oldest round goes first. Else tasks work ahead in the upper rows, and what the rank below
// waits for is computed late.
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

class gauss_seidel {
 public:
  gauss_seidel(const options &o, int rank, int ranks)
      : m_rank(rank), m_ranks(ranks), m_priorities(o.priorities),
        m_iterations(o.rounds  ? o.rounds
                     : o.small ? 5
                               : 30) {
    m_columns = o.small ? 48 : 2048;
    m_across = static_cast<std::size_t>(o.columns ? o.columns : o.small ? 4 : 8);
    if (m_columns % m_across != 0 || (m_across != 1 && m_across % 2 != 0))
      throw std::runtime_error("--columns is 1, or an even number that divides " +
                               std::to_string(m_columns));
    m_wide = m_columns / m_across;
    m_rows = o.small ? 24 : 1024;
    m_high = o.small ? 8 : 64;
    m_down = m_rows / m_high;
    m_stride = m_columns + 2; // with a value beside each row
    m_edges = m_stride * m_rows; // then the halos: two in turn, by side
    m_rounds = static_cast<int>(m_across) + ranks - 1 + 2 * (m_iterations - 1);
    m_memory.resize(m_edges + 4 * m_columns + 2 * m_wide);
    m_tokens.resize(m_across * m_down + 4 * m_across);
  }
  [[nodiscard]] layout exchanged() const {
    return {static_cast<int>(2 * m_across), m_wide * sizeof(double), m_rounds - 1};
  }
  [[nodiscard]] std::vector<double> &memory() { return m_memory; }

  void reset() {
    std::fill(m_memory.begin(), m_memory.end(), 0);
    std::fill_n(edge(), m_wide, k_edge);
    const auto first = static_cast<std::size_t>(m_rank) * m_rows;
    for (std::size_t c = 0; c != m_columns; ++c) {
      for (std::size_t r = 0; r != m_rows; ++r)
        *cell(r, c) = first_value((first + r) * m_columns + c);
      for (const int turn : {0, 1}) // the first iteration has no message from below
        *halo(2 * turn, below, c) = first_value((first + m_rows) * m_columns + c);
    }
  }

  template <class Version>
  void spawn(Version &v) {
    for (int round = 0; round != m_rounds; ++round) {
      compute(v, round);
      if (m_ranks > 1 && round + 1 != m_rounds)
        exchange(v, round);
    }
  }

  [[nodiscard]] bool is_right() const {
    const std::vector<double> all =
        serial_gauss_seidel(m_rows * static_cast<std::size_t>(m_ranks), m_columns, m_iterations);
    const double *const own = all.data() + static_cast<std::size_t>(m_rank) * m_rows * m_columns;
    for (std::size_t r = 0; r != m_rows; ++r)
      if (std::memcmp(own + r * m_columns, m_memory.data() + r * m_stride + 1,
                      m_columns * sizeof(double)) != 0)
        return false;
    return true;
  }
  void spoil() { *cell(m_rows - 1, m_columns - 1) += 1; }

 private:
  enum side { above, below };
  [[nodiscard]] double *cell(std::size_t row, std::size_t column) {
    return m_memory.data() + row * m_stride + 1 + column;
  }
  // What is sent in a round is used in the next one; a column is sent in every other round.
  [[nodiscard]] static std::size_t turn(int round) {
    return static_cast<std::size_t>(round / 2 % 2);
  }
  [[nodiscard]] double *halo(int round, side which, std::size_t column) {
    return m_memory.data() + m_edges +
           (2 * turn(round) + static_cast<std::size_t>(which)) * m_columns + column;
  }
  [[nodiscard]] double *edge() { return m_memory.data() + m_edges + 4 * m_columns; }
  [[nodiscard]] token &block(std::size_t i, std::size_t j) { return m_tokens[i * m_across + j]; }
  [[nodiscard]] token &halo_token(int round, side which, std::size_t j) {
    return m_tokens[m_across * m_down +
                    (2 * turn(round) + static_cast<std::size_t>(which)) * m_across + j];
  }
  /// Returns whether a rank is at a column in a round; before and behind the iterations, too.
  [[nodiscard]] bool is_at(int rank, std::size_t column, int round) const {
    return (round + rank + static_cast<int>(column)) % 2 == 0;
  }

  template <class Version>
  void compute(Version &v, int round) {
    const bool has_above = m_rank != 0, has_below = m_rank + 1 != m_ranks;
    for (std::size_t j = 0; j != m_across; ++j) {
      const int begun = round - m_rank - static_cast<int>(j);
      if (begun < 0 || begun % 2 != 0 || begun / 2 >= m_iterations)
        continue;
      const int before = round == 0 ? 0 : round - 1; // in which the halos came
      for (std::size_t i = 0; i != m_down; ++i) {
        const bool is_first = i == 0, is_last = i + 1 == m_down;
        uses used;
        used.inout(block(i, j));
        if (j != 0)
          used.in(block(i, j - 1));
        if (j + 1 != m_across)
          used.in(block(i, j + 1));
        if (!is_first)
          used.in(block(i - 1, j));
        else if (has_above)
          used.in(halo_token(before, above, j));
        if (!is_last)
          used.in(block(i + 1, j));
        else if (has_below)
          used.in(halo_token(before, below, j));
        const std::size_t c = j * m_wide;
        const plate_block shape{m_high, m_wide, m_stride,
                                !is_first   ? cell(i * m_high - 1, c)
                                : has_above ? halo(before, above, c)
                                            : edge(),
                                !is_last    ? cell((i + 1) * m_high, c)
                                : has_below ? halo(before, below, c)
                                            : edge() + m_wide};
        v.run(j, used, m_priorities ? m_rounds - round : 0,
              [at = cell(i * m_high, c), shape] { gauss_seidel_block(at, shape); });
      }
    }
  }

  template <class Version>
  void exchange(Version &v, int round) {
    std::vector<arrival> coming;
    for (std::size_t j = 0; j != m_across; ++j) {
      const int piece = static_cast<int>(j), other = static_cast<int>(m_across + j);
      const std::size_t c = j * m_wide;
      const bool is_sent = m_across == 1 || is_at(m_rank, j, round);
      const bool comes = m_across == 1 || is_at(m_rank + 1, j, round); // of both neighbours
      if (m_rank != 0 && is_sent)
        v.send(other, m_rank - 1, round, cell(0, c), block(0, j));
      if (m_rank + 1 != m_ranks && is_sent)
        v.send(piece, m_rank + 1, round, cell(m_rows - 1, c), block(m_down - 1, j));
      if (m_rank != 0 && comes)
        coming.push_back({piece, m_rank - 1, halo(round, above, c), &halo_token(round, above, j)});
      if (m_rank + 1 != m_ranks && comes)
        coming.push_back({other, m_rank + 1, halo(round, below, c), &halo_token(round, below, j)});
    }
    v.receive(round, coming);
  }

  int m_rank, m_ranks, m_priorities, m_iterations, m_rounds;
  std::size_t m_rows, m_columns, m_high, m_wide, m_down, m_across, m_stride, m_edges;
  std::vector<double> m_memory;
  std::vector<token> m_tokens;
};

} // namespace net_bench
