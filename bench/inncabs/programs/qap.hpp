// SPDX-License-Identifier: Apache-2.0
// qap: the quadratic assignment problem by branch and bound. A task puts one facility on a free
// location; what costs as much as the best solution so far is not followed.
#pragma once

#include "../support/future_list.hpp"
#include "../support/sizes.hpp"

#include <array>
#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

namespace inncabs {

class qap {
 public:
  static constexpr const char *k_name = "qap";
  static constexpr std::size_t k_most = 16;
  static constexpr parameter k_parameters[] = {
      {"n", 10, 6, 1, k_most, "facilities, and locations"}};

  explicit qap(const sizes &s);
  void reset();
  template <class M>
  void run() {
    m_tasks = place<M>(this, {}) - 1;
  }
  void remember() {}
  [[nodiscard]] std::string check() const;
  /// Returns how many tasks the last run had: it depends on their order.
  [[nodiscard]] long explored() const { return m_tasks; }

 private:
  struct solution {
    std::array<std::uint8_t, k_most> location{}; // of the first facilities
    std::uint8_t facilities = 0;
    std::uint16_t used = 0; // locations, a bit each
    int cost = 0;
  };
  /// Puts the next facility on a location.
  [[nodiscard]] solution with(const solution &s, unsigned location) const;
  void offer(int cost);
  [[nodiscard]] int least_cost() const;

  /// Returns the number of calls.
  template <class M>
  static long place(qap *all, solution s) {
    if (s.facilities == all->m_n) {
      all->offer(s.cost);
      return 1;
    }
    typename M::scope here;
    future_list<M, long> parts(all->m_n);
    for (unsigned location = 0; location < all->m_n; ++location) {
      if (s.used >> location & 1)
        continue;
      const solution next = all->with(s, location);
      if (next.cost < all->m_best.load(std::memory_order_relaxed))
        parts.async(here, place<M>, all, next);
    }
    long calls = 1;
    for (auto &part : parts)
      calls += part.get();
    return calls;
  }

  [[nodiscard]] int flow(std::size_t i, std::size_t j) const { return m_flow[i * m_n + j]; }
  [[nodiscard]] int distance(std::size_t i, std::size_t j) const { return m_distance[i * m_n + j]; }

  std::size_t m_n;
  std::vector<int> m_flow, m_distance; // symmetric
  std::atomic<int> m_best{0};
  long m_tasks = 0;
  mutable int m_least = -1; // cost, by another search; -1: not known yet
};

} // namespace inncabs
