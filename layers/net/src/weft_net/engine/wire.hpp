// SPDX-License-Identifier: Apache-2.0
// Operations that are under way in inproc, where faults hold them back and change their order. One
// thread at a time uses it.
#pragma once

#include <weft/net/transport.hpp>

#include <algorithm>
#include <cstdint>
#include <random>
#include <vector>

namespace weft_net {

using weft::net::action;
using weft::net::operation;

class wire {
 public:
  struct faults {
    std::uint64_t seed;
    unsigned delay;
    bool reorder;
  };

  /// Holds `most` operations to each of the ranks.
  wire(std::size_t ranks, std::size_t most, faults injected)
      : m_faults(injected), m_most(most), m_draw(injected.seed) {
    if (!has_faults())
      return;
    m_peers.resize(ranks);
    m_all.reserve(ranks * most);
  }

  [[nodiscard]] bool has_faults() const noexcept { return m_faults.delay != 0 || m_faults.reorder; }

  /// Returns false if there is no room.
  bool push(operation &op) {
    peer &p = m_peers[static_cast<std::size_t>(op.rank)];
    if (p.under_way == m_most)
      return false;
    ++p.under_way;
    const bool is_border =
        op.what == action::fence || op.what == action::flush || !m_faults.reorder;
    p.epoch += is_border ? 1U : 0U;
    m_all.push_back({&op, m_round + draw(m_faults.delay + 1), p.epoch});
    p.epoch += is_border ? 1U : 0U;
    return true;
  }

  /// Calls deliver(op) for operations that are due, until it has taken `budget`; it returns false
  /// for one that has to wait.
  template <class Deliver>
  void deliver(std::size_t budget, Deliver &&deliver) {
    if (m_all.empty())
      return;
    ++m_round;
    if (m_faults.reorder)
      std::ranges::shuffle(m_all, m_draw);
    std::size_t done = 0;
    for (std::size_t i = 0; i < m_all.size() && done < budget;) {
      const entry now = m_all[i];
      if (now.due >= m_round || !is_first(now) || !deliver(*now.op)) {
        ++i;
        continue;
      }
      remove(i, now.rank());
      ++done;
      i = 0; // what a border held back may go on
    }
  }

  /// Takes out the operations to a rank, and calls end(op) for each.
  template <class End>
  void take_rank(int rank, End &&end) {
    for (std::size_t i = 0; i < m_all.size();)
      if (m_all[i].rank() == static_cast<std::size_t>(rank))
        end(*remove(i, m_all[i].rank()));
      else
        ++i;
  }
  template <class End>
  void take_all(End &&end) {
    while (!m_all.empty())
      end(*remove(0, m_all[0].rank()));
  }

 private:
  struct entry {
    operation *op;
    std::uint64_t due; // the round in which it may arrive
    std::uint64_t epoch; // it arrives after all operations of earlier epochs
    std::size_t to = static_cast<std::size_t>(op->rank);
    [[nodiscard]] std::size_t rank() const noexcept { return to; }
  };
  struct peer {
    std::size_t under_way = 0;
    std::uint64_t epoch = 0;
  };

  std::uint64_t draw(std::uint64_t below) { return m_draw() % below; }

  [[nodiscard]] bool is_first(const entry &candidate) const noexcept {
    return std::ranges::none_of(m_all, [&candidate](const entry &other) {
      return other.to == candidate.to && other.epoch < candidate.epoch;
    });
  }

  operation *remove(std::size_t i, std::size_t rank) {
    --m_peers[rank].under_way;
    operation *const op = m_all[i].op;
    m_all.erase(m_all.begin() + static_cast<std::ptrdiff_t>(i));
    return op;
  }

  const faults m_faults;
  const std::size_t m_most;
  std::mt19937_64 m_draw;
  std::uint64_t m_round = 0;
  std::vector<entry> m_all;
  std::vector<peer> m_peers;
};

} // namespace weft_net
