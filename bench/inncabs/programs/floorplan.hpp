// SPDX-License-Identifier: Apache-2.0
// floorplan: puts cells on a board so that the rectangle around them is as small as possible. A
// task puts one cell; what is not smaller than the best plan so far is not followed. How much is
// followed depends on the order of the tasks, so `cap` may bound their number.
#pragma once

#include "../support/future_list.hpp"
#include "../support/sizes.hpp"

#include <array>
#include <atomic>
#include <bit>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace inncabs {

class floorplan {
 public:
  static constexpr const char *k_name = "floorplan";
  static constexpr parameter k_parameters[] = {
      {"cells", 15, 5, 1, 20, "cells to put"},
      {"cap", 100'000, 0, 0, 1'000'000'000, "no task beyond so many; 0: all"}};

  explicit floorplan(const sizes &s);
  void reset();
  template <class M>
  void run() {
    typename M::mutex guard;
    search<M> s{this, &guard};
    extend<M>(&s, {});
  }
  void remember() { m_expected = m_area.load(); }
  [[nodiscard]] std::string check() const;
  /// Returns how many tasks the last run had: it depends on their order.
  [[nodiscard]] long explored() const { return m_tasks.load() - m_refused.load(); }

 private:
  static constexpr int k_side = 64; // of the board
  static constexpr std::size_t k_most_cells = 20;
  static constexpr int k_longest = 6; // side of a cell

  struct shape {
    int width, height;
  };
  /// Is a cell: its shapes, and the earlier cells that it touches; -1: none.
  struct cell {
    std::vector<shape> shapes;
    int left_of = -1, below_of = -1;
  };
  struct rectangle {
    std::int8_t x, y, width, height;
    [[nodiscard]] int right() const { return x + width; }
    [[nodiscard]] int bottom() const { return y + height; }
  };
  /// Holds the first cells, with the squares that they cover.
  struct plan {
    std::array<rectangle, k_most_cells> at{};
    std::array<std::uint64_t, k_side> covered{};
    int cells = 0, width = 0, height = 0;

    [[nodiscard]] int area() const { return width * height; }
    /// Puts the next cell; returns false where it would overlap another one or leave the board.
    bool put(int x, int y, shape s);
  };
  template <class M>
  struct search {
    floorplan *all;
    typename M::mutex *best;
  };

  [[nodiscard]] bool may_create_task() {
    const long before = m_tasks.fetch_add(1, std::memory_order_relaxed);
    if (m_cap == 0 || before < m_cap)
      return true;
    m_refused.fetch_add(1, std::memory_order_relaxed);
    return false;
  }
  /// Calls f(plan) for each plan with one cell more that may become the best.
  template <class F>
  void for_each_extension(const plan &p, F &&f) const;
  [[nodiscard]] std::string fault_of(const plan &p) const;

  template <class M>
  static void extend(search<M> *s, plan p) {
    floorplan &all = *s->all;
    if (p.cells == static_cast<int>(all.m_cells.size())) {
      const std::lock_guard here(*s->best);
      if (p.area() < all.m_area.load(std::memory_order_relaxed)) {
        all.m_area.store(p.area(), std::memory_order_relaxed);
        all.m_best = p;
      }
      return;
    }
    typename M::scope here;
    future_list<M, void> parts(all.most_extensions(p));
    all.for_each_extension(p, [&](const plan &next) {
      if (all.may_create_task())
        parts.async(here, extend<M>, s, next);
    });
    parts.get();
  }
  [[nodiscard]] std::size_t most_extensions(const plan &p) const;

  std::vector<cell> m_cells;
  long m_cap;
  std::atomic<int> m_area{0}; // of the best plan
  std::optional<plan> m_best;
  std::atomic<long> m_tasks{0}, m_refused{0}; // asked for; of these beyond the cap
  int m_expected = 0;
};

template <class F>
void floorplan::for_each_extension(const plan &p, F &&f) const {
  const cell &next = m_cells[static_cast<std::size_t>(p.cells)];
  const auto try_at = [&](int x, int y, shape s) {
    plan longer = p;
    if (longer.put(x, y, s) && longer.area() < m_area.load(std::memory_order_relaxed))
      f(longer);
  };
  for (const shape s : next.shapes) {
    if (next.left_of < 0 && next.below_of < 0) {
      try_at(0, 0, s);
      continue;
    }
    if (next.below_of < 0) { // it slides along the right edge of that cell
      const rectangle &r = p.at[static_cast<std::size_t>(next.left_of)];
      for (int y = r.y - s.height + 1; y < r.bottom(); ++y)
        try_at(r.right(), y, s);
      continue;
    }
    const rectangle &r = p.at[static_cast<std::size_t>(next.below_of)];
    if (next.left_of >= 0) {
      try_at(p.at[static_cast<std::size_t>(next.left_of)].right(), r.bottom(), s);
      continue;
    }
    for (int x = r.x - s.width + 1; x < r.right(); ++x)
      try_at(x, r.bottom(), s);
  }
}

} // namespace inncabs
