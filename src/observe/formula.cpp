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

double mean(const std::vector<double> &v) {
  return std::accumulate(v.begin(), v.end(), 0.0) / static_cast<double>(v.size());
}

double variance(const std::vector<double> &v) {
  const double m = mean(v);
  double sum = 0;
  for (const double x : v)
    sum += (x - m) * (x - m);
  return sum / static_cast<double>(v.size());
}

double rank(std::vector<double> v, double share) {
  std::sort(v.begin(), v.end());
  const double at = share * static_cast<double>(v.size() - 1);
  const auto below = static_cast<std::size_t>(at);
  const std::size_t above = std::min(below + 1, v.size() - 1);
  return v[below] + (at - static_cast<double>(below)) * (v[above] - v[below]);
}

template <class F>
double fold(const std::vector<double> &v, F f) {
  double result = v.front();
  for (std::size_t i = 1; i < v.size(); ++i)
    result = f(result, v[i]);
  return result;
}

/// Computes a square root by Newton's method. Does not use std::sqrt, because a program would have
/// to link the library of mathematics.
double root(double v) noexcept {
  if (!(v > 0))
    return 0;
  double x = v > 1 ? v : 1;
  for (double next = (x + v / x) / 2; next < x; next = (x + v / x) / 2)
    x = next;
  return x;
}

struct operation {
  const char *name;
  double (*of)(const std::vector<double> &v); // v has at least one element
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
     }},
    {"subtract",
     [](const std::vector<double> &v) {
       return fold(v, [](double a, double b) { return a - b; });
     }},
    {"multiply",
     [](const std::vector<double> &v) {
       return fold(v, [](double a, double b) { return a * b; });
     }},
    {"divide",
     [](const std::vector<double> &v) {
       return fold(v, [](double a, double b) { return a / b; });
     }},
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

double result_of(const operation &o, const std::vector<double> &v) {
  const double number = v.empty() ? k_nothing : o.of(v);
  return std::isfinite(number) ? number : k_nothing;
}

std::vector<std::pair<double, std::uint64_t>> buckets_of(const reading &r, const row &found) {
  if (found.about.kind != counter_kind::histogram)
    return {};
  return histogram_of(r, parse_counter_name(found.about.name));
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

void evaluator::parse_formula(wanted &w) {
  if (!find_operation(w.name.base))
    throw_error(
        errc::invalid_argument,
        "'%s' is no formula: there are average, stddev, variance, median, p99, min, max and count, and for "
        "arithmetics add, subtract, multiply and divide",
        w.text.c_str());
  if (w.name.is_statistics()) {
    w.inner = parse_counter_name(w.name.inner);
    const auto window = parse_unsigned(w.name.parameters);
    if (!w.name.parameters.empty() && !window)
      throw_error(errc::invalid_argument, "'%s': '@' is followed by the number of intervals",
                  w.text.c_str());
    w.window = window ? static_cast<std::size_t>(*window) : 0;
    return;
  }
  for (const auto &operand : split_names(w.name.parameters))
    w.operands.push_back(parse_counter_name(operand));
}

double evaluator::statistics(wanted &w, const reading &interval) {
  const double now = value_of(interval, w.inner);
  if (!std::isnan(now))
    w.past.push_back(now);
  while (w.window && w.past.size() > w.window)
    w.past.pop_front();
  return result_of(*find_operation(w.name.base), {w.past.begin(), w.past.end()});
}

double evaluator::arithmetics(const wanted &w, const reading &r) {
  std::vector<double> values;
  for (const auto &operand : w.operands) {
    if (!operand.is_pattern()) {
      values.push_back(value_of(r, operand));
      continue;
    }
    for (const auto &found : rows_of(r, operand)) {
      if (operand.instance != counter_name::of::every_worker)
        values.push_back(found.total);
      for (const auto &part : found.workers)
        values.push_back(part.number);
    }
  }
  return result_of(*find_operation(w.name.base), values);
}

std::vector<evaluator::result> evaluator::evaluate(const reading &r, const reading &interval) {
  std::vector<result> results;
  for (auto &w : m_wanted) {
    if (w.name.is_statistics() || w.name.is_arithmetics()) {
      results.push_back(
          {w.text, "", w.name.is_statistics() ? statistics(w, interval) : arithmetics(w, r)});
      continue;
    }
    for (const auto &found : rows_of(r, w.name)) {
      if (w.name.instance == counter_name::of::total || !found.about.per_worker)
        results.push_back({found.about.name, found.about.unit, found.total, found.about.absent,
                           buckets_of(r, found)});
      for (const auto &part : found.workers)
        results.push_back({text_of_worker(found.about, part.worker), found.about.unit, part.number,
                           found.about.absent});
    }
  }
  return results;
}

} // namespace rt
} // namespace weft::inline v0
