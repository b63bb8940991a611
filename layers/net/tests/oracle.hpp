// SPDX-License-Identifier: Apache-2.0
// Random puts, gets and atomic operations, and what must be in memory after them.
#pragma once

#include <weft/net/transport.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

namespace net_test {

/// Is random work in epochs. In an epoch a cell of the memory of a rank has one writer, or readers;
/// counters have any number of adders. Each rank computes what must be there.
class oracle {
 public:
  static constexpr std::size_t k_cells = 64, k_counters = 4, k_epochs = 30;

  oracle(std::uint64_t seed, std::size_t ranks) : m_draw(seed), m_ranks(ranks) {}

  struct step {
    weft::net::action what;
    int from, to;
    std::size_t cell, cells;
    std::uint64_t value, expected; // expected: of a get or a compare_swap
  };
  using memory = std::vector<std::vector<std::uint64_t>>;

  /// Draws an epoch, and does it to `m`.
  std::vector<step> epoch(memory &m) {
    std::vector<step> steps;
    for (int to = 0; to < static_cast<int>(m_ranks); ++to) {
      auto &there = m[static_cast<std::size_t>(to)];
      for (std::size_t cell = 0; cell < k_cells;) {
        const std::size_t cells = std::min<std::size_t>(1 + m_draw() % 9, k_cells - cell);
        const int from = static_cast<int>(m_draw() % m_ranks);
        switch (m_draw() % 4) {
        case 0: {
          const std::uint64_t value = m_draw();
          steps.push_back({weft::net::action::put, from, to, cell, cells, value, 0});
          for (std::size_t i = 0; i < cells; ++i)
            there[cell + i] = value + i;
          break;
        }
        case 1:
          steps.push_back({weft::net::action::get, from, to, cell, cells, 0, 0});
          steps.push_back({weft::net::action::get, (from + 1) % static_cast<int>(m_ranks), to, cell,
                           cells, 0, 0});
          break;
        case 2: {
          const bool hits = m_draw() % 2 == 0;
          const std::uint64_t value = m_draw();
          steps.push_back({weft::net::action::compare_swap, from, to, cell, 1, value,
                           hits ? there[cell] : there[cell] + 1});
          if (hits)
            there[cell] = value;
          break;
        }
        default:
          break;
        }
        cell += cells;
      }
      for (std::size_t i = 0; i < 20; ++i) {
        const std::size_t counter = k_cells + m_draw() % k_counters;
        const std::uint64_t value = m_draw() % 1000;
        steps.push_back({weft::net::action::fetch_add, static_cast<int>(m_draw() % m_ranks), to,
                         counter, 1, value, 0});
        there[counter] += value;
      }
    }
    std::ranges::shuffle(steps, m_draw);
    return steps;
  }

 private:
  std::mt19937_64 m_draw;
  const std::size_t m_ranks;
};

} // namespace net_test
