// SPDX-License-Identifier: Apache-2.0
#include "qap.hpp"

#include "../support/random.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

namespace inncabs {

// The flows form a tree with few further pairs, as those of common test instances.
qap::qap(const sizes &s) : m_n(s.count("n")), m_flow(m_n * m_n), m_distance(m_n * m_n) {
  random_stream random(37);
  for (std::size_t i = 0; i < m_n; ++i)
    for (std::size_t j = 0; j < i; ++j) {
      const bool tree = j == random.below(static_cast<std::uint32_t>(i));
      m_flow[i * m_n + j] = m_flow[j * m_n + i] =
          tree || random.below(4) == 0 ? 1 + static_cast<int>(random.below(99)) : 0;
      m_distance[i * m_n + j] = m_distance[j * m_n + i] = 1 + static_cast<int>(random.below(99));
    }
}

void qap::reset() {
  m_best = std::numeric_limits<int>::max();
  m_tasks = 0;
}

qap::solution qap::with(const solution &s, unsigned location) const {
  solution next = s;
  for (std::size_t i = 0; i < s.facilities; ++i)
    next.cost += flow(s.facilities, i) * distance(location, s.location[i]);
  next.location[next.facilities++] = static_cast<std::uint8_t>(location);
  next.used = static_cast<std::uint16_t>(next.used | 1U << location);
  return next;
}

void qap::offer(int cost) {
  int best = m_best.load(std::memory_order_relaxed);
  while (cost < best && !m_best.compare_exchange_weak(best, cost, std::memory_order_relaxed)) {
  }
}

/// Returns the least cost: that of all permutations if they are few, else of those that a search
/// from the last facility to the first one does not cut off.
int qap::least_cost() const {
  int least = std::numeric_limits<int>::max();
  std::vector<std::size_t> location(m_n);
  std::iota(location.begin(), location.end(), 0);
  if (m_n <= 8) {
    do {
      int cost = 0;
      for (std::size_t i = 0; i < m_n; ++i)
        for (std::size_t j = 0; j < i; ++j)
          cost += flow(i, j) * distance(location[i], location[j]);
      least = std::min(least, cost);
    } while (std::next_permutation(location.begin(), location.end()));
    return least;
  }
  const auto search = [&](auto &self, std::size_t open, int cost) -> void {
    if (cost >= least)
      return;
    if (open == 0) {
      least = cost;
      return;
    }
    for (std::size_t k = 0; k < open; ++k) {
      std::swap(location[k], location[open - 1]);
      int more = 0;
      for (std::size_t i = open; i < m_n; ++i)
        more += flow(open - 1, i) * distance(location[open - 1], location[i]);
      self(self, open - 1, cost + more);
      std::swap(location[k], location[open - 1]);
    }
  };
  search(search, m_n, 0);
  return least;
}

std::string qap::check() const {
  if (m_least < 0)
    m_least = least_cost();
  return m_best.load() == m_least ? ""
                                  : "qap found a cost of " + std::to_string(m_best.load()) +
                                        ", not " + std::to_string(m_least);
}

} // namespace inncabs
