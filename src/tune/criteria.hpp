// SPDX-License-Identifier: Apache-2.0
// By what a session judges values of knobs: a product of costs, each with a weight, and bounds that some
// costs must keep. Costs are of a unit of work, and lower is better. Pure.
//
// All of it becomes one number, the rank of a point, so searches know nothing of bounds: a point that
// keeps its bounds ranks by its product, as a part of the default's, and one that does not ranks
// behind all that do, by how far it is beyond the worst of its bounds.
#pragma once

#include "tune/search.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <utility>
#include <vector>

namespace weft::inline v0 {
namespace rt {

/// Says what a cost may be at most.
struct cost_bound {
  std::size_t term = 0;
  double most = 0; ///< above 0
  bool of_default = false; ///< `most` is a part of what the default costs, else of a unit of work
};

struct criteria {
  std::vector<double> weights{1}; ///< of each term in the product; 0: it is only bounded
  std::vector<cost_bound> bounds{};

  [[nodiscard]] std::size_t terms() const noexcept { return weights.size(); }
  /// Says whether what is allowed depends on the default.
  [[nodiscard]] bool compares_with_default() const noexcept {
    return std::any_of(bounds.begin(), bounds.end(),
                       [](const cost_bound &one) { return one.of_default; });
  }
  /// Returns the product of the costs, each to the power of its weight.
  [[nodiscard]] double product(const std::vector<double> &costs) const noexcept {
    double all = 1;
    for (std::size_t i = 0; i < weights.size(); ++i)
      if (weights[i] != 0)
        all *= weights[i] == 1 ? costs[i] : std::pow(costs[i], weights[i]);
    return all;
  }
  /// Returns the cost that is furthest beyond its bound, as a part of that bound; 0 without bounds.
  /// `margin`: by which part each term may exceed its bounds; empty: by none.
  [[nodiscard]] double worst(const std::vector<double> &costs,
                             const std::vector<double> &of_default,
                             const std::vector<double> &margin = {}) const noexcept {
    double most = 0;
    for (const cost_bound &one : bounds) {
      const double allowed = one.most * (1 + (margin.empty() ? 0 : margin[one.term]));
      most = std::max(most, (one.of_default ? of_default : costs)[one.term] / allowed);
    }
    return most;
  }
  /// Returns the rank of a point, of its costs and of these as parts of the default's.
  [[nodiscard]] double rank(const std::vector<double> &costs, const std::vector<double> &of_default,
                            const std::vector<double> &margin = {}) const noexcept {
    return keeps_bounds(costs, of_default, margin) ? product(of_default)
                                                   : k_beyond * worst(costs, of_default);
  }
  [[nodiscard]] bool keeps_bounds(const std::vector<double> &costs,
                                  const std::vector<double> &of_default,
                                  const std::vector<double> &margin = {}) const noexcept {
    return worst(costs, of_default, margin) <= 1;
  }

  /// Is more than any product of a point that is worth having.
  static constexpr double k_beyond = 1e30;
};

inline constexpr double k_most_part = 1e9;

/// Returns `cost` as a part of `other`. Two costs of nothing are equal.
[[nodiscard]] inline double part_of(double cost, double other) noexcept {
  return other > 0 ? std::min(cost / other, k_most_part) : cost > 0 ? k_most_part : 1;
}

/// Is a point and its costs, as parts of the default's.
struct judged_point {
  lattice_point point;
  std::vector<double> costs;
};

/// Holds the points that no other point beats: of which none costs as little in each term, and less in
/// one. In ascending order of their first cost.
class non_dominated_points {
 public:
  static constexpr std::size_t k_most = 64;

  /// Adds a point; what is known of it already is forgotten.
  void add(judged_point one) {
    std::erase_if(m_points, [&](const judged_point &other) { return other.point == one.point; });
    for (const judged_point &other : m_points)
      if (is_beaten(one, other))
        return;
    std::erase_if(m_points, [&](const judged_point &other) { return is_beaten(other, one); });
    if (m_points.size() == k_most)
      return;
    m_points.insert(std::upper_bound(m_points.begin(), m_points.end(), one,
                                     [](const judged_point &a, const judged_point &b) {
                                       return a.costs < b.costs;
                                     }),
                    std::move(one));
  }
  void clear() noexcept { m_points.clear(); }
  [[nodiscard]] const std::vector<judged_point> &all() const noexcept { return m_points; }

 private:
  /// Says whether `other` costs at most as much in each term; of equal points the first one stays.
  static bool is_beaten(const judged_point &one, const judged_point &other) noexcept {
    for (std::size_t i = 0; i < one.costs.size(); ++i)
      if (other.costs[i] > one.costs[i])
        return false;
    return true;
  }
  std::vector<judged_point> m_points;
};

} // namespace rt
} // namespace weft::inline v0
