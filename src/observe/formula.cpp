// SPDX-License-Identifier: Apache-2.0
#include "observe/formula.hpp"

#include "base/error.hpp"
#include "os/file.hpp"

#include <weft/error.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace weft::inline v0 {
namespace rt {
namespace {

constexpr double k_nothing = std::numeric_limits<double>::quiet_NaN();

double mean(const std::vector<double> &values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

double variance(const std::vector<double> &values) {
  const double m = mean(values);
  double sum = 0;
  for (const double x : values)
    sum += (x - m) * (x - m);
  return sum / static_cast<double>(values.size());
}

double rank(std::vector<double> values, double share) {
  std::sort(values.begin(), values.end());
  const double at = share * static_cast<double>(values.size() - 1);
  const auto below = static_cast<std::size_t>(at);
  const std::size_t above = std::min(below + 1, values.size() - 1);
  return values[below] + (at - static_cast<double>(below)) * (values[above] - values[below]);
}

template <class F>
double fold(const std::vector<double> &values, F f) {
  double result = values.front();
  for (std::size_t i = 1; i < values.size(); ++i)
    result = f(result, values[i]);
  return result;
}

/// Computes a square root by Newton's method. Does not use std::sqrt, because a program would have
/// to link the library of mathematics.
double root(double value) noexcept {
  if (!(value > 0))
    return 0;
  double x = value > 1 ? value : 1;
  for (double next = (x + value / x) / 2; next < x; next = (x + value / x) / 2)
    x = next;
  return x;
}

struct operation {
  const char *name;
  double (*of)(const std::vector<double> &values); // v has at least one element
  bool needs_all = false; // it says nothing where a value is no number
};
constexpr operation k_statistics[] = {
    {"average", mean},
    {"mean", mean},
    {"variance", variance},
    {"stddev", [](const std::vector<double> &v) { return root(variance(v)); }},
    {"median", [](const std::vector<double> &v) { return rank(v, 0.5); }},
    {"p99", [](const std::vector<double> &v) { return rank(v, 0.99); }},
    {"min", [](const std::vector<double> &v) { return *std::min_element(v.begin(), v.end()); }},
    {"max", [](const std::vector<double> &v) { return *std::max_element(v.begin(), v.end()); }},
    {"count", [](const std::vector<double> &v) { return static_cast<double>(v.size()); }},
};
constexpr operation k_arithmetics[] = {
    {"add",
     [](const std::vector<double> &v) {
       return fold(v, [](double a, double b) { return a + b; });
     },
     true},
    {"subtract",
     [](const std::vector<double> &v) {
       return fold(v, [](double a, double b) { return a - b; });
     },
     true},
    {"multiply",
     [](const std::vector<double> &v) {
       return fold(v, [](double a, double b) { return a * b; });
     },
     true},
    {"divide",
     [](const std::vector<double> &v) {
       return fold(v, [](double a, double b) { return a / b; });
     },
     true},
};

const operation *find_operation(std::string_view base) {
  const std::string_view name = base.substr(base.rfind('/') + 1);
  for (const auto &o : k_statistics) // as in HPX they can be had over several counters, too
    if (name == o.name)
      return &o;
  if (base.starts_with("/arithmetics/"))
    for (const auto &o : k_arithmetics)
      if (name == o.name)
        return &o;
  return nullptr;
}

/// Computes a statistic of the values that are numbers; what is added or divided needs all of them.
double result_of(const operation &step, std::vector<double> values) {
  if (!step.needs_all)
    std::erase_if(values, [](double value) { return std::isnan(value); });
  const double number = values.empty() ? k_nothing : step.of(values);
  return std::isfinite(number) ? number : k_nothing;
}

std::vector<std::pair<double, std::uint64_t>> buckets_of(const reading &numbers, const row &found) {
  if (found.about.kind != counter_kind::histogram)
    return {};
  return histogram_of(numbers, parse_counter_name(found.about.name));
}

/// Returns a row's values, with those of workers that have not begun: so the first line of a table has
/// a column for each.
std::vector<row::part> with_workers_to_come(const counter_name &name, const row &found,
                                            unsigned workers) {
  std::vector<row::part> all = found.workers;
  if (name.instance != counter_name::of::every_worker || !found.about.per_worker)
    return all;
  for (unsigned id = 0; id < workers; ++id)
    if (id >= all.size() || all[id].worker != id)
      all.insert(all.begin() + std::min<std::ptrdiff_t>(id, std::ssize(all)), {id, k_nothing});
  return all;
}

std::string text_of_worker(const counter_info &about, unsigned worker) {
  return name_of_worker(about.name, worker);
}

} // namespace

evaluator::evaluator(std::string_view names) {
  for (auto &text : split_names(names)) {
    wanted w;
    w.name = parse_counter_name(text);
    w.text = std::move(text);
    if (w.name.is_statistics() || w.name.is_arithmetics())
      parse_formula(w);
    m_wanted.push_back(std::move(w));
  }
  if (m_wanted.empty())
    throw_error(errc::invalid_argument, "no counter is named; '*' stands for all");
}

void evaluator::parse_formula(wanted &asked) {
  if (!find_operation(asked.name.base))
    throw_error(
        errc::invalid_argument,
        "'%s' is no formula: there are average, stddev, variance, median, p99, min, max and count, and for "
        "arithmetics add, subtract, multiply and divide",
        asked.text.c_str());
  if (asked.name.is_statistics()) {
    asked.inner = parse_counter_name(asked.name.inner);
    const auto window = parse_unsigned(asked.name.parameters);
    if (!asked.name.parameters.empty() && !window)
      throw_error(errc::invalid_argument, "'%s': '@' is followed by the number of intervals",
                  asked.text.c_str());
    asked.window = window ? static_cast<std::size_t>(*window) : 0;
    return;
  }
  for (const auto &operand : split_names(asked.name.parameters))
    asked.operands.push_back(parse_counter_name(operand));
}

std::optional<double> evaluator::statistics(wanted &asked, calculator &interval) {
  const std::optional<double> now = interval.value_if_present(asked.inner);
  if (!now)
    return std::nullopt;
  if (!std::isnan(*now))
    asked.past.push_back(*now);
  while (asked.window && asked.past.size() > asked.window)
    asked.past.pop_front();
  return result_of(*find_operation(asked.name.base), {asked.past.begin(), asked.past.end()});
}

std::optional<double> evaluator::arithmetics(const wanted &asked, calculator &numbers) {
  std::vector<double> values;
  for (const auto &operand : asked.operands) {
    if (!operand.is_pattern()) {
      const std::optional<double> value = numbers.value_if_present(operand);
      if (!value)
        return std::nullopt;
      values.push_back(*value);
      continue;
    }
    for (const auto &found : numbers.rows(operand)) {
      if (found.about.absent)
        return std::nullopt;
      if (operand.instance != counter_name::of::every_worker)
        values.push_back(found.total);
      for (const auto &part : found.workers)
        values.push_back(part.number);
    }
  }
  return result_of(*find_operation(asked.name.base), std::move(values));
}

std::vector<evaluator::result> evaluator::evaluate(const reading &numbers,
                                                   const reading &interval) {
  std::vector<result> results;
  calculator shown(numbers), grown(interval);
  for (auto &w : m_wanted) {
    if (w.name.is_statistics() || w.name.is_arithmetics()) {
      const std::optional<double> value =
          w.name.is_statistics() ? statistics(w, grown) : arithmetics(w, shown);
      results.push_back({w.text, "", value.value_or(k_nothing), !value});
      continue;
    }
    for (const auto &found : shown.rows(w.name)) {
      if (w.name.instance == counter_name::of::total || !found.about.per_worker)
        results.push_back({found.about.name, found.about.unit, found.total, found.about.absent,
                           buckets_of(numbers, found)});
      for (const auto &part : with_workers_to_come(w.name, found, numbers.workers))
        results.push_back({text_of_worker(found.about, part.worker), found.about.unit, part.number,
                           found.about.absent});
    }
  }
  return results;
}

void evaluator::require_all(const reading &numbers) const {
  calculator shown(numbers);
  for (const auto &w : m_wanted) {
    if (w.name.is_statistics())
      static_cast<void>(shown.value(w.inner));
    for (const auto &operand : w.operands)
      for (const auto &found : shown.rows(operand))
        if (found.about.absent)
          static_cast<void>(shown.value(parse_counter_name(found.about.name)));
  }
}

} // namespace rt
} // namespace weft::inline v0
