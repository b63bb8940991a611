// SPDX-License-Identifier: Apache-2.0
#include "observe/views.hpp"

#include "base/error.hpp"
#include "config/value.hpp"

#include <weft/error.hpp>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <optional>

namespace weft::inline v0 {
namespace rt {
namespace {

constexpr double k_nothing = std::numeric_limits<double>::quiet_NaN();

double at_least_0(double value) noexcept { return value < 0 ? 0 : value; }

/// Holds the counts of a worker, or of all, by their fields.
struct sums {
#define WEFT_COUNTER(field, ...) double field = 0;
#define WEFT_GAUGE WEFT_COUNTER
#include "observe/counters.def"
  double span_ns = 0, run_ns = 0, resident_bytes = 0, present = 0, idle_now = 0, active = 0,
         reference_task_ns = 0, reference_run_ns = 0;
  double in_graph = 0, suspended_now = 0;
  const reading::buckets *durations = nullptr;

  [[nodiscard]] double tasks() const noexcept { return executed + rounds; }
  [[nodiscard]] double created() const noexcept { return without_accesses + waited + free_at_once; }
  [[nodiscard]] double phases() const noexcept { return tasks() + resumed; }
  [[nodiscard]] double accesses() const noexcept {
    return at_least_0(phases() - successors) + misses;
  }
  [[nodiscard]] double exec() const noexcept { return at_least_0(overall - idle - overhead); }
  [[nodiscard]] double not_exec() const noexcept { return overall - exec(); }
  [[nodiscard]] double wait() const noexcept {
    return reference_task_ns > 0 ? exec() / tasks() - reference_task_ns : k_nothing;
  }
  [[nodiscard]] double speedup() const noexcept {
    return reference_run_ns > 0 ? reference_run_ns / run_ns : k_nothing;
  }
};

struct field_of_name {
  const char *name;
  double sums::*field;
};
constexpr field_of_name k_fields[] = {
#define WEFT_COUNTER(field, kind, name, ...) {name, &sums::field},
#define WEFT_GAUGE WEFT_COUNTER
#include "observe/counters.def"
};

struct view {
  counter_kind kind;
  counter_scope scope;
  const char *name, *unit, *help;
  double (*of)(const sums &totals);
};
constexpr view k_views[] = {
#define WEFT_VIEW(kind, scope, name, unit, help, ...)                                              \
  {counter_kind::kind, counter_scope::scope, name, unit, help, [](const sums &s) -> double {       \
     return __VA_ARGS__;                                                                           \
   }},
#include "observe/views.def"
};

/// Is the `slot` that means the whole reading.
constexpr std::size_t k_all = ~std::size_t{0};

} // namespace

/// Adds up the counts that views are made of: where they are in the catalogue is looked up once, and
/// each slot is added up when it is asked for.
struct calculator::sums_of_slots {
  const reading &numbers;
  std::size_t entries[std::size(k_fields)], overall;
  reading::buckets all_durations{};
  std::optional<sums> total;
  std::vector<std::optional<sums>> slots;

  explicit sums_of_slots(const reading &read) : numbers(read), slots(read.slots.size()) {
    for (std::size_t i = 0; i < std::size(k_fields); ++i)
      entries[i] = read.find(k_fields[i].name);
    overall = read.find("/threads/time/overall");
    all_durations = read.all_durations();
  }

  const sums &of(std::size_t slot) {
    std::optional<sums> &kept = slot == k_all ? total : slots[slot];
    return kept ? *kept : kept.emplace(add_up(slot));
  }

 private:
  void add_presence(sums &total_of, std::size_t slot) const {
    const reading::slot &one = numbers.slots[slot];
    total_of.present += one.present || (overall != numbers.catalogue.size() &&
                                        numbers.of_slot(overall, slot) > 0);
    total_of.idle_now += one.idle;
    total_of.active += one.present && !one.idle;
  }

  [[nodiscard]] sums add_up(std::size_t slot) const {
    sums s;
    for (std::size_t i = 0; i < std::size(k_fields); ++i)
      if (const std::size_t e = entries[i]; e != numbers.catalogue.size())
        s.*k_fields[i].field =
            static_cast<double>(slot == k_all ? numbers.total(e) : numbers.of_slot(e, slot));
    s.span_ns = static_cast<double>(numbers.span_ns);
    s.run_ns = static_cast<double>(numbers.taken_ns - numbers.started_ns);
    s.in_graph = static_cast<double>(numbers.in_graph);
    s.suspended_now = static_cast<double>(numbers.suspended);
    s.resident_bytes =
        numbers.resident_bytes ? static_cast<double>(numbers.resident_bytes) : k_nothing;
    for (std::size_t i = slot == k_all ? 0 : slot; i < numbers.slots.size(); ++i) {
      add_presence(s, i);
      if (slot != k_all)
        break;
    }
    s.reference_task_ns = numbers.reference_task_ns;
    s.reference_run_ns = numbers.reference_run_ns;
    s.durations = slot == k_all ? &all_durations : &numbers.durations[slot];
    return s;
  }
};

namespace {

counter_info info_of(const described &counter) {
  return {counter.name,
          counter.unit,
          counter.help,
          counter.kind,
          counter.scope != counter_scope::process && counter.kind != counter_kind::histogram,
          counter.absent};
}
counter_info info_of(const view &source) {
  return {source.name, source.unit, source.help, source.kind, source.scope == counter_scope::both,
          false};
}

double number_of(const reading &numbers, std::size_t entry, std::size_t slot,
                 const reading::buckets &all_durations) {
  const described &d = numbers.catalogue[entry];
  if (d.absent)
    return k_nothing;
  if (d.kind == counter_kind::histogram) { // the number of tasks in it
    double n = 0;
    for (const std::uint64_t k : slot == k_all ? all_durations : numbers.durations[slot])
      n += static_cast<double>(k);
    return n;
  }
  double n =
      static_cast<double>(slot == k_all ? numbers.total(entry) : numbers.of_slot(entry, slot));
  if (slot == k_all && d.name == "/threadqueue/length")
    if (const std::size_t shared = numbers.find("/threadqueue/shared");
        shared != numbers.catalogue.size())
      n += static_cast<double>(numbers.total(shared));
  return n;
}

/// Fills what the pattern asks for with `number(slot)`.
template <class F>
row make_row(const reading &numbers, counter_info about, const counter_name &pattern, F number) {
  row out;
  out.about = std::move(about);
  out.total = number(k_all);
  if (pattern.instance == counter_name::of::total || !out.about.per_worker)
    return out;
  for (std::size_t i = 0; i < numbers.slots.size(); ++i)
    if (pattern.instance == counter_name::of::every_worker || pattern.worker == numbers.slots[i].id)
      out.workers.push_back({numbers.slots[i].id, number(i)});
  return out;
}

[[noreturn]] void unknown(const reading &numbers, const counter_name &name) {
  std::vector<std::string_view> known;
  const auto all = all_counters(numbers);
  for (const auto &c : all)
    known.emplace_back(c.name);
  const auto near = nearest(name.base, known);
  throw_error(errc::invalid_argument, "there is no counter '%s'%s%s%s; `weft list` shows them all",
              name.base.c_str(), near.empty() ? "" : "; did you mean '", std::string(near).c_str(),
              near.empty() ? "" : "'?");
}

} // namespace

std::vector<counter_info> all_counters(const reading &numbers) {
  std::vector<counter_info> all;
  for (const auto &v : k_views)
    all.push_back(info_of(v));
  for (const auto &d : numbers.catalogue)
    all.push_back(info_of(d));
  return all;
}

calculator::calculator(const reading &numbers)
    : m_sums(std::make_unique<sums_of_slots>(numbers)) {}
calculator::~calculator() = default;

std::vector<row> calculator::rows(const counter_name &pattern) {
  const reading &numbers = m_sums->numbers;
  std::vector<row> rows;
  for (const auto &v : k_views)
    if (matches(pattern.base, v.name))
      rows.push_back(make_row(numbers, info_of(v), pattern, [&](std::size_t slot) {
        const double number = v.of(m_sums->of(slot));
        return std::isfinite(number) ? number : k_nothing;
      }));
  for (std::size_t e = 0; e < numbers.catalogue.size(); ++e)
    if (matches(pattern.base, numbers.catalogue[e].name))
      rows.push_back(make_row(numbers, info_of(numbers.catalogue[e]), pattern,
                              [&](std::size_t slot) {
                                return number_of(numbers, e, slot, m_sums->all_durations);
                              }));
  if (rows.empty() && pattern.base.find_first_of("*?") == std::string::npos)
    unknown(numbers, pattern);
  return rows;
}

row calculator::only_row(const counter_name &name) {
  if (name.is_pattern())
    throw_error(errc::invalid_argument, "'%s' names several counters where one is asked for",
                name.base.c_str());
  return std::move(rows(name).front());
}

namespace {

double number_in(const row &found, const counter_name &name) {
  if (name.instance == counter_name::of::total)
    return found.total;
  if (!found.about.per_worker)
    throw_error(errc::invalid_argument, "the counter '%s' is kept for the whole program only",
                name.base.c_str());
  if (found.workers.empty())
    throw_error(errc::invalid_argument, "there is no worker %u that counts '%s'", name.worker,
                name.base.c_str());
  return found.workers.front().number;
}

} // namespace

double calculator::value(const counter_name &name) {
  const row found = only_row(name);
  if (found.about.absent)
    throw_error(errc::invalid_argument, "the counter '%s' cannot be had here: %s",
                name.base.c_str(), found.about.help.c_str());
  return number_in(found, name);
}

std::optional<double> calculator::value_if_present(const counter_name &name) {
  const row found = only_row(name);
  if (found.about.absent)
    return std::nullopt;
  return number_in(found, name);
}

std::vector<row> rows_of(const reading &numbers, const counter_name &pattern) {
  return calculator(numbers).rows(pattern);
}
double value_of(const reading &numbers, const counter_name &name) {
  return calculator(numbers).value(name);
}

std::vector<std::pair<double, std::uint64_t>> histogram_of(const reading &numbers,
                                                           const counter_name &name) {
  static_cast<void>(value_of(numbers, name)); // says what is wrong with it
  const std::size_t e = numbers.find(name.base);
  if (e == numbers.catalogue.size() || numbers.catalogue[e].kind != counter_kind::histogram)
    throw_error(errc::invalid_argument,
                "the counter '%s' is no histogram, as /threads/time/duration is; ask for its value",
                name.base.c_str());
  std::vector<std::pair<double, std::uint64_t>> parts;
  const reading::buckets all = numbers.all_durations();
  for (unsigned i = 0; i < k_duration_buckets; ++i)
    if (all[i])
      parts.emplace_back(static_cast<double>(bucket_floor(i)), all[i]);
  return parts;
}

double quantile(const reading::buckets &counts, double share) noexcept {
  double all = 0, below = 0;
  for (const std::uint64_t n : counts)
    all += static_cast<double>(n);
  if (all == 0)
    return k_nothing;
  for (unsigned i = 0; i < k_duration_buckets; ++i) {
    below += static_cast<double>(counts[i]);
    if (below >= share * all)
      return static_cast<double>(bucket_floor(i + 1));
  }
  return static_cast<double>(bucket_floor(k_duration_buckets));
}

} // namespace rt
} // namespace weft::inline v0
