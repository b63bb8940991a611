// SPDX-License-Identifier: Apache-2.0
// Searches for the best point of a lattice, one trial after the other: ask() names the point to try,
// tell() says what it costs, lower is better. Pure: no clock, no thread, no knob; so a model can
// ask, too. A point has an index per dimension, into the list of values of that dimension.
//
// A search is written as plain code that calls cost(point) where it needs one. Where the cost is not
// known yet, the code is left, and begun again from its start when the cost is known: it takes the
// same way, since all that it uses are costs that are known. A trial takes far longer than that.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <numeric>
#include <optional>
#include <random>
#include <utility>
#include <vector>

namespace weft::inline v0 {
namespace rt {

using lattice_point = std::vector<int>;

/// Holds how many values each dimension has, each at least 1.
struct lattice {
  std::vector<int> sizes;

  [[nodiscard]] std::size_t dimensions() const noexcept { return sizes.size(); }
  /// Returns the number of points, at most the largest number.
  [[nodiscard]] std::uint64_t points() const noexcept {
    std::uint64_t all = 1;
    for (const int size : sizes) {
      const auto n = static_cast<std::uint64_t>(size);
      all = all > UINT64_MAX / n ? UINT64_MAX : all * n;
    }
    return all;
  }
  /// Returns the point of a number below points(); the last dimension changes first.
  [[nodiscard]] lattice_point at(std::uint64_t number) const {
    lattice_point point(dimensions());
    for (std::size_t i = dimensions(); i-- > 0;) {
      const auto n = static_cast<std::uint64_t>(sizes[i]);
      point[i] = static_cast<int>(number % n);
      number /= n;
    }
    return point;
  }
  /// Returns the point of the lattice that is nearest.
  [[nodiscard]] lattice_point nearest(const std::vector<double> &place) const {
    lattice_point point(dimensions());
    for (std::size_t i = 0; i < dimensions(); ++i)
      point[i] = static_cast<int>(
          std::lround(std::clamp(place[i], 0.0, static_cast<double>(sizes[i] - 1))));
    return point;
  }
};

class search {
 public:
  /// Makes a search that ends after `budget` trials at the latest.
  search(lattice space, std::size_t budget) : m_space(std::move(space)), m_budget(budget) {}
  virtual ~search() = default;
  search(const search &) = delete;
  search &operator=(const search &) = delete;

  /// Returns the point to try next, the same until its cost is known; nothing if the search is over.
  [[nodiscard]] std::optional<lattice_point> ask() {
    if (m_asked || m_is_over)
      return m_asked;
    try {
      go();
    } catch (const unknown &missing) {
      if (m_known.size() < m_budget)
        return m_asked = missing.point;
    }
    m_is_over = true;
    return m_asked;
  }
  /// Says what the point of ask() costs. A cost that is no number is as bad as can be.
  void tell(double cost) {
    if (!m_asked)
      return;
    const double known = std::isnan(cost) ? std::numeric_limits<double>::infinity() : cost;
    if (m_best.empty() || known < m_best_cost) {
      m_best = *m_asked;
      m_best_cost = known;
    }
    m_known.emplace(std::move(*m_asked), known);
    m_asked.reset();
  }

  /// Returns the best point that was tried, the first of equals; empty before the first.
  [[nodiscard]] const lattice_point &best() const noexcept { return m_best; }
  [[nodiscard]] double best_cost() const noexcept { return m_best_cost; }
  [[nodiscard]] std::size_t trials() const noexcept { return m_known.size(); }

 protected:
  /// Is the search, from its start to its end.
  virtual void go() = 0;
  [[nodiscard]] double cost(const lattice_point &point) const {
    const auto known = m_known.find(point);
    if (known == m_known.end())
      throw unknown{point};
    return known->second;
  }
  /// Says whether the cost of a point is known, so that cost() does not leave go().
  [[nodiscard]] bool knows(const lattice_point &point) const { return m_known.contains(point); }
  [[nodiscard]] const lattice &space() const noexcept { return m_space; }

 private:
  struct unknown {
    lattice_point point;
  };
  const lattice m_space;
  const std::size_t m_budget;
  std::map<lattice_point, double> m_known;
  std::optional<lattice_point> m_asked;
  lattice_point m_best;
  double m_best_cost = std::numeric_limits<double>::infinity();
  bool m_is_over = false;
};

/// Tries all points, in order.
class exhaustive_search final : public search {
 public:
  using search::search;

 private:
  void go() override {
    for (std::uint64_t i = trials(); i < space().points(); ++i) // those before are known
      static_cast<void>(cost(space().at(i)));
  }
};

/// Tries points by chance, none twice; a seed gives the same ones again.
class random_search final : public search {
 public:
  random_search(lattice all, std::size_t budget, std::uint64_t seed)
      : search(std::move(all), budget), m_seed(seed) {}

 private:
  void go() override {
    std::mt19937_64 random(m_seed);
    std::map<std::uint64_t, std::uint64_t>
        moved; // of a shuffle of all numbers, what is not in place
    const auto number = [&moved](std::uint64_t i) {
      const auto at = moved.find(i);
      return at == moved.end() ? i : at->second;
    };
    for (std::uint64_t i = 0; i < space().points(); ++i) {
      const std::uint64_t other = i + random() % (space().points() - i);
      const std::uint64_t chosen = number(other);
      moved[other] = number(i);
      static_cast<void>(cost(space().at(chosen)));
    }
  }
  const std::uint64_t m_seed;
};

/// Goes from a first guess along one dimension: to the better neighbour while there is one, in steps
/// that halve. The law that gives the guess is first_by_law(). Finds the least cost of a curve
/// that falls, then rises.
class line_search final : public search {
 public:
  line_search(int values, int first, std::size_t budget = 8, int step = 2)
      : search({{values}}, budget), m_first(std::clamp(first, 0, values - 1)),
        m_step(std::max(step, 1)) {}

 private:
  void go() override {
    int here = m_first;
    double now = cost({here});
    for (int step = m_step; step > 0; step /= 2)
      for (bool moved = true; moved;) {
        moved = false;
        for (const int way : {+1, -1}) {
          const int there = std::clamp(here + way * step, 0, space().sizes[0] - 1);
          if (there == here)
            continue;
          if (const double then = cost({there}); then < now) {
            here = there;
            now = then;
            moved = true;
            break;
          }
        }
      }
  }
  const int m_first;
  const int m_step;
};

inline constexpr double k_law_share = 0.05; // overhead per work

/// Returns the index of the smallest grain whose overhead is at most `share` of its work: grains are
/// ascending numbers of units of work. The last one if none is.
[[nodiscard]] inline int first_by_law(const std::vector<std::int64_t> &grains, double overhead_ns,
                                      double ns_per_unit, double share) {
  const double least = overhead_ns / (share * ns_per_unit);
  const auto at = std::find_if(grains.begin(), grains.end(), [least](std::int64_t grain) {
    return static_cast<double>(grain) >= least;
  });
  return static_cast<int>(std::min<std::ptrdiff_t>(at - grains.begin(),
                                                   static_cast<std::ptrdiff_t>(grains.size()) - 1));
}

/// Is Nelder and Mead's simplex on a lattice. Its corners are real numbers, and cost what the nearest
/// point costs; so a point is tried once however often a corner comes to it. It ends when the
/// simplex is, in each dimension, at most a twentieth of the space.
class simplex_search final : public search {
 public:
  /// The first corner has, in each dimension, the index at a quarter of its values, and each further
  /// corner one at three quarters in one dimension.
  simplex_search(lattice all, std::size_t budget) : search(std::move(all), budget) {}
  /// The first corner is that of these indices, and each further one lies half of a dimension's values
  /// away from it: above, or below where there are not so many above.
  simplex_search(lattice all, std::size_t budget, std::vector<double> first)
      : search(std::move(all), budget), m_first(std::move(first)) {}

 private:
  struct corner {
    std::vector<double> place;
    double cost = 0;
  };
  static constexpr double k_end = 0.05;
  static constexpr int k_most_steps = 1000; // that need no trial

  corner at(std::vector<double> place) const {
    for (std::size_t i = 0; i < place.size(); ++i)
      place[i] = std::clamp(place[i], 0.0, static_cast<double>(space().sizes[i] - 1));
    const double value = cost(space().nearest(place));
    return {std::move(place), value};
  }
  /// Returns from + factor * (from - worst).
  corner along(const std::vector<double> &from, const corner &worst, double factor) const {
    std::vector<double> place(from);
    for (std::size_t i = 0; i < place.size(); ++i)
      place[i] += factor * (from[i] - worst.place[i]);
    return at(std::move(place));
  }
  bool is_small(const std::vector<corner> &all) const {
    for (std::size_t i = 0; i < space().dimensions(); ++i) {
      const auto [least, most] =
          std::minmax_element(all.begin(), all.end(), [i](const corner &a, const corner &b) {
            return a.place[i] < b.place[i];
          });
      // Half a step of the lattice is the least that makes a difference.
      if (most->place[i] - least->place[i] > std::max(k_end * space().sizes[i], 0.5))
        return false;
    }
    return true;
  }
  /// Keeps the order of equals. Not std::stable_sort(): with it Clang reports a deprecated function
  /// of GCC 12's library.
  static void sort_by_cost(std::vector<corner> &all) {
    for (auto next = all.begin(); next != all.end(); ++next)
      std::rotate(
          std::upper_bound(all.begin(), next, *next,
                           [](const corner &a, const corner &b) { return a.cost < b.cost; }),
          next, next + 1);
  }
  std::vector<corner> first_corners() const {
    std::vector<double> first = m_first;
    for (std::size_t i = first.size(); i < space().dimensions(); ++i)
      first.push_back(0.25 * (space().sizes[i] - 1));
    std::vector<corner> all{at(first)};
    for (std::size_t i = 0; i < first.size(); ++i) {
      std::vector<double> next = first;
      const double last = space().sizes[i] - 1;
      next[i] += next[i] <= 0.5 * last ? 0.5 * last : -0.5 * last;
      all.push_back(at(std::move(next)));
    }
    return all;
  }

  void go() override {
    std::vector<corner> all = first_corners();
    const std::size_t n = space().dimensions();
    for (int step = 0; step < k_most_steps && !is_small(all); ++step) {
      sort_by_cost(all);
      std::vector<double> middle(n, 0.0);
      for (std::size_t c = 0; c < n; ++c)
        for (std::size_t i = 0; i < n; ++i)
          middle[i] += all[c].place[i] / static_cast<double>(n);
      corner &worst = all.back();
      corner reflected = along(middle, worst, 1);
      if (reflected.cost < all.front().cost) {
        corner expanded = along(middle, worst, 2);
        worst = expanded.cost < reflected.cost ? std::move(expanded) : std::move(reflected);
        continue;
      }
      if (reflected.cost < all[n - 1].cost) {
        worst = std::move(reflected);
        continue;
      }
      const bool outside = reflected.cost < worst.cost;
      corner contracted = along(middle, worst, outside ? 0.5 : -0.5);
      if (contracted.cost < std::min(reflected.cost, worst.cost)) {
        worst = std::move(contracted);
        continue;
      }
      for (std::size_t c = 1; c < all.size(); ++c) {
        std::vector<double> place(n);
        for (std::size_t i = 0; i < n; ++i)
          place[i] = (all[0].place[i] + all[c].place[i]) / 2;
        all[c] = at(std::move(place));
      }
    }
  }

  const std::vector<double> m_first; // corner; empty: at a quarter of each dimension's values
};

} // namespace rt
} // namespace weft::inline v0
