// SPDX-License-Identifier: Apache-2.0
// round: players around a table. A task is a player's move, for which it holds the mutexes of the
// two hands beside it; neighbours wait for each other.
#pragma once

#include "../support/future_list.hpp"
#include "../support/random.hpp"
#include "../support/sizes.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace inncabs {

class round {
 public:
  static constexpr const char *k_name = "round";
  static constexpr parameter k_parameters[] = {
      {"players", 64, 12, 2, 100'000, "around the table; a task each"},
      {"work", 2'500'000, 1000, 0, 1'000'000'000, "length of a move"}};

  explicit round(const sizes &s) : m_work(s["work"]), m_hands(s.count("players")) {}
  void reset() { m_hands.assign(m_hands.size(), 0); }
  template <class M>
  void run() {
    const std::unique_ptr<typename M::mutex[]> mutexes(new typename M::mutex[m_hands.size()]);
    typename M::scope here;
    future_list<M, void> moves(m_hands.size());
    for (std::size_t i = 0; i < m_hands.size(); ++i)
      moves.async(here, move<M>, this, i, mutexes.get());
    moves.get();
  }
  void remember() { m_expected = m_hands; }
  [[nodiscard]] std::string check() const {
    return m_hands == m_expected ? "" : "round differs from the serial run";
  }

 private:
  /// Returns what a player's move adds to both hands.
  static std::uint64_t play(std::size_t player, long work);

  template <class M>
  static void move(round *all, std::size_t player, typename M::mutex *mutexes) {
    const std::size_t next = (player + 1) % all->m_hands.size();
    typename M::mutex &low = mutexes[player < next ? player : next],
                      &high = mutexes[player < next ? next : player];
    low.lock(), high.lock();
    const std::uint64_t points = play(player, all->m_work);
    all->m_hands[player] += points;
    all->m_hands[next] += mix(points);
    high.unlock(), low.unlock();
  }

  long m_work;
  std::vector<std::uint64_t> m_hands, m_expected;
};

} // namespace inncabs
