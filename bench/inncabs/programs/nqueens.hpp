// SPDX-License-Identifier: Apache-2.0
// nqueens: counts the ways to place n queens, none of which attacks another one. A task places one
// queen; below `depth` rows it goes on by itself.
#pragma once

#include "../support/future_list.hpp"
#include "../support/sizes.hpp"

#include <bit>
#include <cstdint>
#include <string>

namespace inncabs {

class nqueens {
 public:
  static constexpr const char *k_name = "nqueens";
  static constexpr parameter k_parameters[] = {{"n", 15, 8, 1, 16, "queens, and rows of the board"},
                                               {"depth", 4, 3, 0, 16, "rows that have tasks"}};

  explicit nqueens(const sizes &s) : m_n(s.integer("n")), m_depth(s.integer("depth")) {}
  void reset() { m_ways = -1; }
  template <class M>
  void run() {
    m_ways = search<M>(m_n, m_depth, {});
  }
  void remember() {}
  [[nodiscard]] std::string check() const {
    static constexpr long k_ways[] = {1,   1,   0,    0,     2,     10,     4,       40,      92,
                                      352, 724, 2680, 14200, 73712, 365596, 2279184, 14772512};
    return m_ways == k_ways[m_n] ? "" : "nqueens found " + std::to_string(m_ways) + " ways";
  }

 private:
  /// Marks the columns that the next row may not use, by the queens above it.
  struct attacks {
    std::uint32_t columns = 0, left = 0, right = 0;

    [[nodiscard]] std::uint32_t free(int n) const noexcept {
      return ~(columns | left | right) & ((1U << n) - 1);
    }
    [[nodiscard]] attacks with(std::uint32_t queen) const noexcept {
      return {columns | queen, (left | queen) << 1, (right | queen) >> 1};
    }
    [[nodiscard]] int rows() const noexcept { return std::popcount(columns); }
  };

  static long count(int n, attacks above) noexcept {
    if (above.rows() == n)
      return 1;
    long ways = 0;
    for (std::uint32_t open = above.free(n); open; open &= open - 1)
      ways += count(n, above.with(open & -open));
    return ways;
  }

  template <class M>
  static long search(int n, int depth, attacks above) {
    if (above.rows() >= depth)
      return count(n, above);
    typename M::scope here;
    const std::uint32_t all = above.free(n);
    future_list<M, long> parts(static_cast<std::size_t>(std::popcount(all)));
    for (std::uint32_t open = all; open; open &= open - 1)
      parts.async(here, search<M>, n, depth, above.with(open & -open));
    long ways = above.rows() == n ? 1 : 0;
    for (auto &part : parts)
      ways += part.get();
    return ways;
  }

  int m_n, m_depth;
  long m_ways = -1;
};

} // namespace inncabs
