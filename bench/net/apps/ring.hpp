// SPDX-License-Identifier: Apache-2.0
// What travels on a ring of ranks: each rank begins a round trip with blocks of its own, sends what it has to
// the next rank, and works with what has come from the one before, until it has seen the blocks of all.
#pragma once

#include "uses.hpp"

#include <cstddef>
#include <vector>

namespace net_bench {

class ring {
 public:
  /// Refers to the memory of the visiting blocks: twice `blocks` of `values` doubles.
  ring(int rank, int ranks, int trips, std::size_t blocks, std::size_t values)
      : m_rank(rank), m_ranks(ranks), m_trips(trips), m_blocks(blocks), m_values(values),
        m_tokens(2 * blocks) {}
  [[nodiscard]] layout exchanged() const {
    return {static_cast<int>(m_blocks), m_values * sizeof(double), m_trips * (m_ranks - 1)};
  }
  [[nodiscard]] std::size_t room() const noexcept { return 2 * m_blocks * m_values; }

  struct block {
    const double *data;
    const token *written;
  };
  /// Makes a trip. `own(b)` is a block of this rank; `work(step, source)` spawns the work of a step with the
  /// blocks of rank `rank - step`, and source(b) is such a block.
  template <class Version, class Own, class Work>
  void travel(Version &v, int trip, double *visiting, const Own &own, const Work &work) {
    for (int step = 0; step != m_ranks; ++step) {
      const int round = trip * (m_ranks - 1) + step; // in which what is here goes on
      const auto source = [&](std::size_t b) {
        return step == 0 ? own(b) : block{place(visiting, round - 1, b), &at(round - 1, b)};
      };
      const bool goes_on = step + 1 != m_ranks;
      for (std::size_t b = 0; goes_on && b != m_blocks; ++b)
        v.send(static_cast<int>(b), (m_rank + 1) % m_ranks, round, source(b).data,
               *source(b).written);
      work(step, source);
      if (goes_on) {
        std::vector<arrival> coming;
        for (std::size_t b = 0; b != m_blocks; ++b)
          coming.push_back({static_cast<int>(b), (m_rank + m_ranks - 1) % m_ranks,
                            place(visiting, round, b), &at(round, b)});
        v.receive(round, coming);
      }
    }
  }

 private:
  [[nodiscard]] double *place(double *visiting, int round, std::size_t b) const {
    return visiting + (static_cast<std::size_t>(round % 2) * m_blocks + b) * m_values;
  }
  [[nodiscard]] token &at(int round, std::size_t b) {
    return m_tokens[static_cast<std::size_t>(round % 2) * m_blocks + b];
  }
  int m_rank, m_ranks, m_trips;
  std::size_t m_blocks, m_values;
  std::vector<token> m_tokens;
};

} // namespace net_bench
