// SPDX-License-Identifier: Apache-2.0
// Decides which values a tuned knob has: asks a search for candidates, compares each with the value
// that the knob has at present, and keeps what wins. Pure: windows of measurement come in, the
// point for the next window comes out; so a model asks it in a time of its own.
//
// A candidate is measured between two windows of the present point (present, candidate, present), so
// a drift of the machine cancels. What decides:
// - A candidate that costs clearly more in one pair has lost; if it costs four times as much, in two: it
//   may have been preempted.
// - A candidate that would win is measured at least twice, and counts by the worse of two pairs or
//   the median of three: one window that a clock has spoilt decides nothing.
// - A pair whose two windows of the present point differ by more than 4 is measured again.
// When the search is over, the best point is compared with the default in three pairs: it stays if it
// is better by 2 %, and goes if not. From time to time it is compared again: a loss of 2 % reverts it.
//
// A program may have phases, each with a best point of its own. When the cost has changed by 15 %
// for three windows, the points that were good before are compared with the present one: the phase may have
// come again. If none wins, or one that costs something else than it did, the search begins again, but
// not all the time. It also begins again in a phase that comes for the second time, from the point that
// was found: windows may have misled it.
//
// Several costs are judged by criteria.hpp. Where bounds depend on the default, a search that begins
// again begins at the default; and where there are bounds, points of other phases are searched anew.
// A point that was found within its bounds stays there until it exceeds one by more than windows
// differ; then the default comes back, and a search follows.
//
// What trials lose against the present point is at most a share of the run time (2 %): a trial waits
// until there is room for one that takes twice as long. A candidate's window that takes absurdly long may
// be a clock that has jumped, so the first one costs nothing; those that follow it count.
#pragma once

#include "tune/criteria.hpp"
#include "tune/search.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

namespace weft::inline v0 {
namespace rt {

/// Is one measurement: one call of the site.
struct tuned_window {
  double work = 0; ///< units of work that were done
  std::uint64_t ns = 0; ///< how long it took
  double objective = 0; ///< what is to be small: of the whole window, not per unit
  std::vector<double> terms{}; ///< the same of each term, where there are several
};

/// Says what a window has led to.
enum class tuning_event {
  none,
  judged, ///< a candidate's cost is known, and the present point stays
  moved, ///< the candidate has won, and is the present point now
  settled, ///< the search is over, and the best point has won against the default
  kept_default, ///< the search is over, and no point was better than the default
  reverted, ///< the point has lost against the default, which is the present point again
  passed_bound, ///< the same, because the point was within its bounds, and is no more
  returned, ///< the program has changed, and a point that was good before has won
  restarted, ///< the program has changed: the search begins again
  gave_up ///< windows have no cost: the default is the present point, for good
};

struct tuning_limits {
  double budget = 0.02; ///< what trials may lose, of the run time
  double loss = 0.02; ///< against the default, from which a point is reverted
};

class paired_trials {
 public:
  using make_search = std::unique_ptr<search> (*)(const lattice &space, const lattice_point &first,
                                                  void *context);

  /// Makes a tuner whose default is `first`. `remembered`: a point that another run has found good;
  /// it is compared with the default before it is trusted. `context` is handed to `make`.
  paired_trials(lattice space, lattice_point first, make_search make, tuning_limits limits = {},
                std::optional<lattice_point> remembered = std::nullopt, void *context = nullptr,
                criteria by = {})
      : m_space(std::move(space)), m_default(std::move(first)), m_present(m_default),
        m_point(m_default), m_make(make), m_context(context), m_limits(limits),
        m_by(std::move(by)), m_remembered(std::move(remembered)), m_scale(m_by.terms(), 1.0),
        m_first_costs(m_by.terms(), 0.0), m_noise_of(m_by.terms(), 0.0),
        m_margin(m_by.terms(), m_limits.loss) {
    m_search = m_make(m_space, m_default, m_context);
    note_tried(m_default, m_scale);
  }

  /// Returns the point for the next window.
  [[nodiscard]] const lattice_point &point() const noexcept { return m_point; }
  /// Returns the point that the knob has between trials.
  [[nodiscard]] const lattice_point &present() const noexcept { return m_present; }
  [[nodiscard]] const lattice_point &first() const noexcept { return m_default; }
  /// Says whether the next window is a trial of another point than the present one.
  [[nodiscard]] bool tries() const noexcept { return m_phase == phase::candidate; }
  /// Says whether a candidate has been measured and is to be compared with the next window.
  [[nodiscard]] bool is_comparing() const noexcept { return m_phase == phase::after; }
  /// Says whether the search is over.
  [[nodiscard]] bool is_settled() const noexcept {
    return m_job == job::watch || m_job == job::over;
  }
  [[nodiscard]] bool has_given_up() const noexcept { return m_job == job::over; }
  [[nodiscard]] std::size_t trials() const noexcept { return m_trials; }
  [[nodiscard]] std::uint64_t windows_tried() const noexcept { return m_windows_tried; }
  /// Returns what trials have lost against the present point, in ns.
  [[nodiscard]] double lost_ns() const noexcept { return m_lost_ns; }
  /// Returns the cost of the last candidate as a part of that of the default.
  [[nodiscard]] double last_ratio() const noexcept { return m_last_ratio; }
  /// Says whether the present point kept the bounds when it was judged last.
  [[nodiscard]] bool keeps_bounds() const noexcept { return m_keeps_bounds; }
  /// Returns the points of this search that no other one beats, if there are several terms.
  [[nodiscard]] const std::vector<judged_point> &non_dominated() const noexcept {
    return m_front.all();
  }
  /// Returns the point of the last trial.
  [[nodiscard]] const lattice_point &last_tried() const noexcept { return m_candidate; }
  /// Returns whether a remembered point has won against the default; nothing before it was tried.
  [[nodiscard]] std::optional<bool> memory_was_right() const noexcept { return m_memory; }

  /// Has the present point for the next window, because another knob is tried at this time. The
  /// candidate is measured later, also one that is to be compared.
  void postpone() noexcept {
    m_phase = phase::before;
    m_point = m_present;
  }

  /// Takes the window that was measured at point(), and chooses the next point.
  tuning_event take(const tuned_window &seen) {
    if (m_job == job::over)
      return tuning_event::none;
    if (!is_usable(seen))
      return after_unusable(seen);
    m_unusable = 0;
    ++m_windows;
    m_run_ns += static_cast<double>(seen.ns);
    std::vector<double> costs = per_unit(seen);
    if (m_phase == phase::candidate) {
      ++m_windows_tried;
      m_absurd = 0;
      m_lost_ns += std::max(0.0, static_cast<double>(seen.ns) - m_ns_per_unit * seen.work);
      m_tried = std::move(costs);
      m_tried_ns_per_unit = static_cast<double>(seen.ns) / seen.work;
      m_phase = phase::after;
      m_point = m_present;
      return tuning_event::none;
    }
    m_ns_per_unit = static_cast<double>(seen.ns) / seen.work;
    m_window_ns = static_cast<double>(seen.ns);
    const double cost = m_by.product(costs);
    const std::vector<double> before = std::exchange(m_before, std::move(costs));
    if (m_phase == phase::after) {
      m_phase = phase::before;
      note_first();
      const tuning_event then = after_pair(before, m_before);
      if (!is_settled() && choose_candidate())
        begin_window();
      return m_ended_without_trial ? end_at_default() : then;
    }
    if (const tuning_event changed = look_for_change(cost); changed != tuning_event::none)
      return changed;
    note_first();
    if (choose_candidate())
      begin_window();
    return m_ended_without_trial ? end_at_default() : tuning_event::none;
  }

 private:
  enum class phase { before, candidate, after };
  enum class job { remembered, search, confirm, watch, recall, over };

  static constexpr int k_most_unusable = 64; // in a row
  static constexpr int k_believed = 3; // windows that take absurdly long, in a row
  static constexpr int k_most_discarded = 8; // pairs of one candidate
  static constexpr double k_drift = 4; // between the windows around a candidate
  static constexpr double k_absurd = 1000; // times as long as the window before: the clock jumped
  static constexpr unsigned k_first_rest = 64, k_longest_rest = 4096; // windows between checks
  static constexpr double k_change = 1.15; // of the cost: another phase of the program
  static constexpr unsigned k_windows_of_return = 3, k_windows_of_change = 8; // in a row
  static constexpr std::uint64_t k_least_search_rest = 256, k_most_search_rest = 16'384; // windows
  static constexpr std::size_t k_most_good = 6;
  static constexpr int k_searches =
      2; // that end at a point before it is believed: one may be misled

  [[nodiscard]] bool is_usable(const tuned_window &seen) const {
    return has_cost(seen) && !is_absurd(seen);
  }
  [[nodiscard]] bool has_cost(const tuned_window &seen) const {
    if (!(seen.work > 0 && std::isfinite(seen.work) && seen.ns > 0))
      return false;
    const std::vector<double> costs = per_unit(seen);
    return costs.size() == m_by.terms() && std::isfinite(m_by.product(costs)) &&
           std::all_of(costs.begin(), costs.end(),
                       [](double one) { return std::isfinite(one) && one >= 0; });
  }
  [[nodiscard]] static std::vector<double> per_unit(const tuned_window &seen) {
    std::vector<double> costs = seen.terms;
    if (costs.empty())
      costs.push_back(seen.objective);
    for (double &cost : costs)
      cost /= seen.work;
    return costs;
  }
  [[nodiscard]] bool is_absurd(const tuned_window &seen) const noexcept {
    const double expected = m_ns_per_unit * seen.work;
    return expected > 0 && static_cast<double>(seen.ns) >= k_absurd * expected;
  }

  tuning_event after_unusable(const tuned_window &seen) {
    ++m_unusable;
    if (m_phase == phase::candidate) {
      if (loses_by(seen))
        return judge({std::numeric_limits<double>::infinity(), {}, {}, {}});
      postpone(); // until there is room for it again
    } else if (m_unusable >= k_believed && has_cost(seen)) {
      m_ns_per_unit = 0; // the program has become that slow: the next window counts
    }
    if (m_unusable < k_most_unusable)
      return tuning_event::none;
    m_present = m_point = m_default;
    m_phase = phase::before;
    m_job = job::over;
    return tuning_event::gave_up;
  }

  /// Counts an unusable window of the candidate. Returns whether it has lost: it has no cost, or it may
  /// really be that slow.
  bool loses_by(const tuned_window &seen) {
    if (!has_cost(seen))
      return ++m_costless == k_most_discarded;
    if (++m_absurd == 1) {
      m_first_absurd = seen;
      return false; // the clock may have jumped
    }
    count_lost(seen);
    if (m_absurd < k_believed)
      return false;
    count_lost(m_first_absurd); // it has not
    return true;
  }
  void count_lost(const tuned_window &seen) noexcept {
    m_run_ns += static_cast<double>(seen.ns);
    m_lost_ns += std::max(0.0, static_cast<double>(seen.ns) - m_ns_per_unit * seen.work);
  }

  [[nodiscard]] bool has_room() const noexcept {
    if (m_job == job::remembered && m_absurd == 0)
      return true; // one window, of a point that was good elsewhere
    if (m_job == job::recall)
      return m_lost_ns <= m_limits.budget * m_run_ns; // it was good before
    return m_lost_ns + m_window_ns <= m_limits.budget * m_run_ns;
  }

  tuning_event end_at_default() noexcept {
    m_ended_without_trial = false;
    return tuning_event::kept_default;
  }
  void begin_window() {
    m_point = m_candidate;
    m_phase = phase::candidate;
  }

  /// Finds what is to be tried next. Returns false if nothing is, or not yet.
  bool choose_candidate() {
    if (m_candidate_is_open)
      return has_room();
    if (m_remembered && m_job == job::search && m_trials == 0) {
      m_job = *m_remembered == m_default ? job::search : job::remembered;
      m_candidate = *m_remembered;
      m_remembered.reset();
      if (m_job == job::remembered)
        return open_candidate();
    }
    if (m_job == job::search) {
      while (const auto asked = m_search->ask()) {
        if (*asked != m_present) {
          m_candidate = *asked;
          return open_candidate();
        }
        m_search->tell(m_by.rank(m_before, m_scale)); // the present point's cost is known
      }
      if (m_present == m_default) {
        settle();
        m_ended_without_trial = true;
        return false;
      }
      m_job = job::confirm;
      m_candidate = m_default;
      return open_candidate();
    }
    if (m_job == job::recall) {
      m_candidate = m_recalled.back().point;
      return open_candidate();
    }
    if (m_job == job::watch && m_present != m_default && ++m_rested >= m_rest) {
      m_rested = 0;
      m_candidate = m_default;
      return open_candidate();
    }
    return false;
  }

  bool open_candidate() {
    m_candidate_is_open = true;
    m_pairs.clear();
    m_discarded = m_preempted = m_costless = m_absurd = 0;
    return has_room();
  }

  /// Is a window of a candidate between two of the present point.
  struct compared {
    double ratio; ///< of the ranks
    std::vector<double> costs, of_default; ///< of the candidate; empty: it had no usable window
    std::vector<double> present_of_default;
    bool present_keeps = true; ///< its bounds, by these windows
  };

  /// Counts the last window among those of the point that this search has begun at.
  void note_first() {
    if (!m_is_at_first || (m_job != job::search && m_job != job::remembered))
      return;
    ++m_first_windows;
    for (std::size_t i = 0; i < m_by.terms(); ++i)
      m_first_costs[i] += (m_before[i] - m_first_costs[i]) / m_first_windows;
    m_keeps_bounds = m_by.keeps_bounds(m_first_costs, m_scale);
  }
  /// Notes by how much two windows of the present point differ.
  void note_noise(const std::vector<double> &before, const std::vector<double> &after) {
    m_noted = std::min(m_noted + 1, 8);
    for (std::size_t i = 0; i < m_by.terms(); ++i) {
      const double drift = std::max(part_of(before[i], after[i]), part_of(after[i], before[i]));
      if (drift <= k_drift)
        m_noise_of[i] += (drift - 1 - m_noise_of[i]) / m_noted;
      m_margin[i] = std::max(m_limits.loss, 3 * m_noise_of[i]);
    }
  }
  /// Returns the candidate's cost as a part of the default's: along the way from the point at which the
  /// search has begun, or, where that leads over a cost of nothing, by what that point has cost.
  [[nodiscard]] double part_of_default(std::size_t term, double present) const noexcept {
    const double scale = m_scale[term];
    if (present > 0 && scale > 0 && scale < k_most_part)
      return part_of(m_tried[term], present) * scale;
    return part_of(m_tried[term], m_first_costs[term]);
  }

  /// Compares the candidate's window with those around it. When the default is compared with a point
  /// that was found, it costs 1 by definition, and the present point's costs follow.
  [[nodiscard]] compared compare(const std::vector<double> &before,
                                 const std::vector<double> &after) const {
    const bool is_default = m_job == job::confirm || m_job == job::watch;
    std::vector<double> present;
    compared seen{0, m_tried, {}, m_scale};
    for (std::size_t i = 0; i < m_by.terms(); ++i) {
      present.push_back((before[i] + after[i]) / 2);
      if (is_default)
        seen.present_of_default[i] = part_of(present[i], m_tried[i]);
      seen.of_default.push_back(is_default ? 1 : part_of_default(i, present[i]));
    }
    const std::vector<double> margin =
        is_default && m_keeps_bounds ? m_margin : std::vector<double>{};
    seen.present_keeps = m_by.keeps_bounds(present, seen.present_of_default, margin);
    seen.ratio = part_of(m_by.rank(m_tried, seen.of_default),
                         m_by.rank(present, seen.present_of_default, margin));
    return seen;
  }

  tuning_event after_pair(const std::vector<double> &before, const std::vector<double> &after) {
    const double first = m_by.product(before), second = m_by.product(after);
    const double drift = std::max(part_of(first, second), part_of(second, first));
    if (drift > k_drift) {
      if (++m_discarded < k_most_discarded)
        return tuning_event::none; // measured again
    } else {
      m_noise += (drift - 1 - m_noise) / 8;
      note_noise(before, after);
    }
    compared seen = compare(before, after);
    if (seen.ratio > k_drift && m_preempted++ == 0)
      return tuning_event::none; // measured again
    m_pairs.push_back(std::move(seen));
    const double band = std::max(m_limits.loss, 3 * m_noise);
    if (m_job == job::search || m_job == job::remembered || m_job == job::recall) {
      const double last = m_pairs.back().ratio;
      if (m_pairs.size() == 1 && last >= 1 && last > 1 + band)
        return judge(m_pairs.back());
      if (m_pairs.size() == 2) {
        const compared &worse = m_pairs[m_pairs[0].ratio > m_pairs[1].ratio ? 0 : 1];
        if (worse.ratio < 1 - m_limits.loss || worse.ratio > 1 + band)
          return judge(worse);
      }
    }
    if (m_pairs.size() < 3)
      return tuning_event::none;
    std::sort(m_pairs.begin(), m_pairs.end(),
              [](const compared &a, const compared &b) { return a.ratio < b.ratio; });
    return judge(m_pairs[1]);
  }

  void note_tried(const lattice_point &point, const std::vector<double> &costs) {
    if (m_by.terms() > 1)
      m_front.add({point, costs});
  }

  /// Ends the trial of a candidate.
  tuning_event judge(const compared &seen) {
    const double ratio = seen.ratio;
    m_candidate_is_open = false;
    m_phase = phase::before;
    m_point = m_present;
    ++m_trials;
    m_last_ratio = seen.costs.empty() ? ratio : m_by.product(seen.of_default);
    if ((m_job == job::search || m_job == job::remembered) && !seen.costs.empty())
      note_tried(m_candidate, seen.of_default);
    switch (m_job) {
    case job::search:
      m_search->tell(seen.costs.empty() ? ratio : m_by.rank(seen.costs, seen.of_default));
      return ratio < 1 ? move_to(m_candidate, seen.costs, seen.of_default) : tuning_event::judged;
    case job::remembered:
      m_memory = ratio < 1 - m_limits.loss;
      if (!*m_memory) {
        m_job = job::search;
        return tuning_event::judged;
      }
      move_to(m_candidate, seen.costs, seen.of_default);
      settle();
      return tuning_event::settled;
    case job::confirm: // the candidate is the default: it loses if its ratio is above 1
      if (ratio > 1 + m_limits.loss) {
        if (!seen.costs.empty()) { // measured against each other
          m_scale = seen.present_of_default;
          m_keeps_bounds = seen.present_keeps;
        }
        m_last_ratio = m_by.product(m_scale);
        settle();
        return tuning_event::settled;
      }
      return revert(seen, ratio < 1 - m_limits.loss ? tuning_event::reverted
                                                    : tuning_event::kept_default);
    case job::watch:
      if (ratio * (1 + m_limits.loss) > 1) {
        m_rest = std::min(2 * m_rest, k_longest_rest);
        if (has_passed_bound(seen)) { // so has the default: others may keep it
          m_keeps_bounds = false;
          m_wants_search = true;
        }
        return tuning_event::judged;
      }
      return revert(seen, tuning_event::reverted);
    case job::recall:
      return after_recall(ratio);
    case job::over:
      break;
    }
    return tuning_event::none;
  }

  /// Ends the trial of a point that was good before.
  tuning_event after_recall(double ratio) {
    const good_point tried = std::move(m_recalled.back());
    m_recalled.pop_back();
    const bool wins = ratio < 1 - m_limits.loss;
    m_recall_won = m_recall_won || wins;
    if (wins)
      move_to(m_candidate, m_tried, std::vector<double>(m_by.terms(), 1.0));
    if (wins && is_like(m_by.product(m_tried), tried.cost)) {
      settle();
      m_wants_search = m_good.back().searches < k_searches;
    } else if (m_recalled.empty()) {
      m_job = job::watch;
      m_changed = 0;
      m_rested = 0;
      m_rest = k_first_rest; // of another phase
      // No phase was like this one, if a point has won that never cost this much, or if none has won
      // and the present one costs something else than before.
      m_wants_search = m_recall_won || !is_like(cost_before(), m_settled_cost);
      m_settled_cost = cost_before();
    }
    return wins ? tuning_event::returned : tuning_event::judged;
  }

  tuning_event move_to(const lattice_point &there, const std::vector<double> &costs,
                       std::vector<double> scale) {
    m_present = m_point = there;
    m_is_at_first = false;
    m_scale = std::move(scale);
    m_keeps_bounds = m_by.keeps_bounds(costs, m_scale);
    m_before = m_tried;
    m_ns_per_unit = m_tried_ns_per_unit;
    return tuning_event::moved;
  }
  [[nodiscard]] bool has_passed_bound(const compared &seen) const noexcept {
    return m_keeps_bounds && !seen.present_keeps;
  }
  /// Returns to the default. A point that has passed a bound leaves others that may keep it.
  tuning_event revert(const compared &seen, tuning_event why) {
    const bool has_passed = has_passed_bound(seen);
    move_to(m_default, seen.costs, seen.of_default);
    settle();
    m_wants_search = has_passed;
    return has_passed ? tuning_event::passed_bound : why;
  }
  void settle() {
    m_job = job::watch;
    m_rested = 0;
    m_rest = k_first_rest;
    m_settled_cost = cost_before();
    m_changed = m_beyond = 0;
    m_wants_search = false;
    if (m_by.bounds.empty())
      note_good();
  }
  [[nodiscard]] double cost_before() const noexcept {
    return m_before.empty() ? 0 : m_by.product(m_before);
  }

  [[nodiscard]] static bool is_like(double cost, double other) noexcept {
    return std::max(part_of(cost, other), part_of(other, cost)) < k_change;
  }

  /// Notes that the present point is good where it costs this much.
  void note_good() {
    int searches = std::exchange(m_searched, false) ? 1 : 0;
    std::erase_if(m_good, [&](const good_point &good) {
      const bool same = good.point == m_present && is_like(good.cost, m_settled_cost);
      searches += same ? good.searches : 0;
      return same;
    });
    if (m_good.size() == k_most_good)
      m_good.erase(m_good.begin());
    m_good.push_back({m_present, m_settled_cost, searches});
  }

  /// Begins to compare points that were good before. The present one may be one of them at this cost:
  /// then all is well.
  void recall(double cost) {
    m_recalled.clear();
    for (const good_point &good : m_good) {
      if (good.point == m_present && is_like(good.cost, cost)) {
        m_recalled.clear();
        m_changed = 0;
        m_settled_cost = cost;
        m_wants_search = good.searches < k_searches;
        return;
      }
      std::erase_if(m_recalled, [&](const good_point &seen) { return seen.point == good.point; });
      if (good.point != m_present)
        m_recalled.push_back(good);
    }
    m_recall_won = false;
    if (!m_recalled.empty())
      m_job = job::recall;
  }

  tuning_event search_again() {
    if (m_windows - m_searched_at < m_search_rest)
      return tuning_event::none;
    m_searched_at = m_windows;
    m_search_rest = std::clamp(2 * m_search_rest, k_least_search_rest, k_most_search_rest);
    m_wants_search = false;
    if (m_by.compares_with_default())
      m_present = m_point = m_default;
    m_search = m_make(m_space, m_present, m_context);
    m_scale.assign(m_by.terms(), 1.0);
    m_is_at_first = true;
    m_first_windows = 0;
    m_front.clear();
    note_tried(m_present, m_scale);
    m_searched = true;
    m_job = job::search;
    return tuning_event::restarted;
  }

  /// Says whether the last window is beyond a bound that the present point kept. Bounds by the default
  /// are looked at when the two are compared.
  [[nodiscard]] bool is_beyond() const {
    return m_keeps_bounds && !m_by.bounds.empty() &&
           !m_by.keeps_bounds(m_before, std::vector<double>(m_by.terms(), 0.0), m_margin);
  }

  /// Begins again when the cost has changed for long.
  tuning_event look_for_change(double cost) {
    if (m_job != job::watch || m_candidate_is_open)
      return tuning_event::none;
    m_beyond = is_beyond() ? m_beyond + 1 : 0;
    if (is_like(cost, m_settled_cost)) {
      m_changed = 0;
      m_settled_cost += (cost - m_settled_cost) / 8;
      return m_wants_search || m_beyond >= k_windows_of_change ? search_again() : tuning_event::none;
    }
    if (++m_changed == k_windows_of_return && m_by.bounds.empty())
      recall(cost);
    if (m_changed < k_windows_of_change)
      return tuning_event::none;
    m_changed = 0;
    m_settled_cost = cost;
    m_wants_search = true;
    return search_again();
  }

  /// Is a point that has been settled at, and what a unit cost there.
  struct good_point {
    lattice_point point;
    double cost;
    int searches; // that have ended here
  };

  const lattice m_space;
  const lattice_point m_default;
  lattice_point m_present, m_point, m_candidate;
  const make_search m_make;
  void *const m_context;
  const tuning_limits m_limits;
  const criteria m_by;
  std::optional<lattice_point> m_remembered;
  std::unique_ptr<search> m_search;
  bool m_ended_without_trial = false; // the search, with this window
  std::optional<bool> m_memory;

  phase m_phase = phase::before;
  job m_job = job::search;
  bool m_candidate_is_open = false;
  std::vector<double> m_scale; // what the present point costs, as a part of what the default costs
  std::vector<double> m_first_costs; // per unit, of the point that this search has begun at: the mean
  int m_first_windows = 0; // of which
  bool m_is_at_first = true; // the present point
  std::vector<double> m_before, m_tried; // per unit
  double m_ns_per_unit = 0, m_window_ns = 0; // of the present point
  double m_tried_ns_per_unit = 0;
  double m_noise = 0; // by how much two windows of one point differ
  std::vector<double> m_noise_of, m_margin; // the same in each term, and what bounds leave for it
  int m_noted = 0; // pairs of windows, at most 8
  std::vector<compared> m_pairs;
  non_dominated_points m_front;
  int m_discarded = 0, m_preempted = 0, m_unusable = 0;
  int m_costless = 0, m_absurd = 0; // windows of the candidate; the latter in a row
  tuned_window m_first_absurd; // of these
  double m_run_ns = 0, m_lost_ns = 0, m_last_ratio = 1;
  std::size_t m_trials = 0;
  std::uint64_t m_windows_tried = 0;
  unsigned m_rested = 0, m_rest = k_first_rest;
  double m_settled_cost = 0;
  unsigned m_changed = 0, m_beyond = 0; // windows in a row
  bool m_keeps_bounds = true; // the present point, when it was judged last
  std::vector<good_point> m_good; // of other phases, too; the newest last
  std::vector<good_point> m_recalled; // to be compared, the last one first
  bool m_recall_won = false; // one of those compared, at another cost than before
  bool m_searched = true; // since the last point was settled at
  bool m_wants_search = false; // as soon as the last one is long enough ago
  std::uint64_t m_windows = 0, m_searched_at = 0, m_search_rest = 0;
};

} // namespace rt
} // namespace weft::inline v0
