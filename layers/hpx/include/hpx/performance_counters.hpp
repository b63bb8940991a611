// SPDX-License-Identifier: Apache-2.0
// HPX's names on Weft: performance counters. A name is HPX's, with its instance; values have HPX's units.
#pragma once

#include <hpx/detail/processor_event.hpp>
#include <hpx/future.hpp>
#include <weft/counters.hpp>
#include <weft/error.hpp>

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <limits>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace hpx::performance_counters {

enum class counter_status { valid_data, new_data, invalid_data };

/// Describes a counter. One that this system cannot count has the status invalid_data, and the help
/// says why.
struct counter_info {
  counter_status status_ = counter_status::invalid_data;
  std::string fullname_, helptext_, unit_of_measure_;
};

/// Holds one value of a counter. That of a counter which cannot be had here is invalid_data.
struct counter_value {
  std::int64_t value_ = 0;
  std::uint64_t count_ = 0; // how often the counter was asked, this time included
  std::int64_t scaling_ = 1;
  bool scale_inverse_ = false;
  counter_status status_ = counter_status::valid_data;
  std::uint64_t time_ = 0; // nanoseconds of the interval
  template <class T>
  T get_value() const {
    const double scaled = scale_inverse_
                              ? static_cast<double>(value_) / static_cast<double>(scaling_)
                              : static_cast<double>(value_) * static_cast<double>(scaling_);
    return static_cast<T>(scaling_ == 1 ? static_cast<double>(value_) : scaled);
  }
};

namespace detail {

/// Returns the name that Weft has for a counter of HPX.
inline std::string name_in_weft(std::string name) {
  const std::pair<std::string_view, std::string_view> other_names[] = {
      {"/threads/time/cumulative-overall", "/threads/time/overall"},
      {"/runtime/memory/resident", "/memory/resident"},
      {"/papi/PAPI_TOT_CYC", "/hardware/cycles"},
      {"/papi/PAPI_TOT_INS", "/hardware/instructions"},
      {"/papi/PAPI_BR_MSP", "/hardware/branch-misses"}};
  if (!name.starts_with('/')) // as the thesis writes them
    name.insert(0, 1, '/');
  std::string bare = name;
  const auto open = bare.find('{'), close = bare.find('}');
  std::string instance;
  if (open != std::string::npos && close != std::string::npos) {
    instance = bare.substr(open, close + 1 - open);
    bare.erase(open, close + 1 - open);
  }
  for (const auto &[of_hpx, of_weft] : other_names)
    if (bare == of_hpx)
      bare = of_weft;
  const std::string_view total = "{locality#0/total}";
  if (instance.empty() || instance == total || instance == "{locality#*/total}")
    return bare;
  const auto second = bare.find('/', 1);
  return bare.substr(0, second) + instance + bare.substr(second);
}
/// Says whether Weft counts it only if counters.hardware is set at the start.
inline bool is_of_processor(std::string name) {
  return name_in_weft(std::move(name)).starts_with("/hardware");
}
/// Returns a name in Weft without its instance, as weft::counters::list() has it.
inline std::string without_instance(std::string name) {
  const auto open = name.find('{'), close = name.find('}');
  if (open != std::string::npos && close != std::string::npos)
    name.erase(open, close + 1 - open);
  return name;
}
/// Returns how many of HPX's units one of Weft's is: HPX counts the idle rate in 0.01 %.
inline double scale_of(std::string_view name) { return name.ends_with("/idle-rate") ? 100 : 1; }

} // namespace detail

/// Reads one counter, since its last reset.
class performance_counter {
 public:
  performance_counter() = default;
  explicit performance_counter(std::string name)
      : m_name(std::move(name)), m_in_weft(detail::name_in_weft(m_name)),
        m_event(detail::offcore_event(detail::without_instance(m_in_weft))) {
    static_cast<void>(number_in(weft::counters::take())); // throws for a name that is none
    m_before = m_event ? m_event->count() : 0;
  }
  [[nodiscard]] const std::string &get_name(launch) const noexcept { return m_name; }
  [[nodiscard]] future<std::string> get_name() const { return weft::make_ready_future(m_name); }

  /// Says what the counter is, or why this system has none.
  [[nodiscard]] counter_info get_info(launch) const {
    counter_info about{counter_status::valid_data, m_name, {}, {}};
    if (m_event) {
      about.helptext_ =
          !has_one_for_all()          ? "counted for the whole program alone, {locality#0/total}"
          : m_event->absent().empty() ? "requests that left the cores of the program's threads"
                                      : m_event->absent();
      if (!is_counted())
        about.status_ = counter_status::invalid_data;
      return about;
    }
    for (const weft::counters::info &i :
         weft::counters::list(detail::without_instance(m_in_weft))) {
      if (i.absent)
        about.status_ = counter_status::invalid_data;
      about.helptext_ = i.help;
      about.unit_of_measure_ = m_in_weft.ends_with("/idle-rate") ? "0.01%" : i.unit;
    }
    return about;
  }
  [[nodiscard]] future<counter_info> get_info() const {
    return weft::make_ready_future(get_info(launch::sync));
  }

  [[nodiscard]] counter_value get_counter_value(launch, bool reset_after = false) {
    const weft::counters::snapshot now = weft::counters::take();
    const weft::counters::snapshot seen = m_since ? now - *m_since : now;
    const double number = number_in(seen);
    counter_value v;
    v.count_ = ++m_count;
    v.value_ = std::isnan(number) ? 0 : std::llround(number * detail::scale_of(m_in_weft));
    v.status_ = std::isnan(number) ? counter_status::invalid_data : counter_status::valid_data;
    v.time_ = static_cast<std::uint64_t>(seen.span().count());
    if (reset_after)
      begin_anew(now);
    return v;
  }
  [[nodiscard]] future<counter_value> get_counter_value(bool reset_after = false) {
    return weft::make_ready_future(get_counter_value(launch::sync, reset_after));
  }
  template <class T>
  [[nodiscard]] T get_value(launch, bool reset_after = false) {
    return get_counter_value(launch::sync, reset_after).template get_value<T>();
  }
  template <class T>
  [[nodiscard]] future<T> get_value(bool reset_after = false) {
    return weft::make_ready_future(get_value<T>(launch::sync, reset_after));
  }
  void reset(launch) { begin_anew(weft::counters::take()); }
  future<void> reset() {
    reset(launch::sync);
    return weft::make_ready_future();
  }
  /// Counters always count: start and stop change nothing.
  bool start(launch) { return true; }
  future<bool> start() { return weft::make_ready_future(true); }
  bool stop(launch) { return true; }
  future<bool> stop() { return weft::make_ready_future(true); }

 private:
  [[nodiscard]] bool has_one_for_all() const { return m_in_weft.find('{') == std::string::npos; }
  [[nodiscard]] bool is_counted() const { return has_one_for_all() && m_event->absent().empty(); }
  void begin_anew(const weft::counters::snapshot &now) {
    m_since = now;
    m_before = m_event ? m_event->count() : 0;
  }
  /// Returns the number; NaN of a counter that cannot be had here.
  [[nodiscard]] double number_in(const weft::counters::snapshot &seen) const {
    if (m_event)
      return is_counted() ? m_event->count() - m_before : std::numeric_limits<double>::quiet_NaN();
    const std::vector<weft::counters::value> found = seen.values(m_in_weft);
    return found.size() == 1 ? found[0].number : seen.value(m_in_weft); // which throws for several
  }
  std::string m_name, m_in_weft;
  const detail::processor_event *m_event = nullptr; // which Weft's own counters have not
  double m_before = 0; // its count at the last reset
  std::optional<weft::counters::snapshot> m_since;
  std::uint64_t m_count = 0;
};

} // namespace hpx::performance_counters

namespace hpx {
namespace detail {

/// Holds the counters that --hpx:print-counter names. They count from the start of Weft, or from
/// their last reset.
struct active_counters {
  std::mutex lock;
  std::vector<performance_counters::performance_counter> all;
};
inline active_counters g_active_counters;

/// Makes these counters the active ones. A name that is none throws.
inline void activate_counters(const std::vector<std::string> &names) {
  std::vector<performance_counters::performance_counter> all;
  for (const std::string &name : names)
    all.emplace_back(name);
  const std::lock_guard guard(g_active_counters.lock);
  g_active_counters.all.swap(all);
}

} // namespace detail

/// Prints the counters of --hpx:print-counter as HPX does: name, how often it was asked, seconds,
/// unit of the seconds, value. A counter that this system has not is "invalid", and standard error
/// has the reason. A description comes first.
inline void evaluate_active_counters(bool reset = false, const char *description = nullptr) {
  const std::lock_guard guard(detail::g_active_counters.lock);
  if (detail::g_active_counters.all.empty())
    return;
  if (description)
    std::printf("%s\n", description);
  for (performance_counters::performance_counter &c : detail::g_active_counters.all) {
    const auto v = c.get_counter_value(launch::sync, reset);
    const std::string name = c.get_name(launch::sync);
    std::printf("%s,%llu,%f,[s],", name.c_str(), static_cast<unsigned long long>(v.count_),
                static_cast<double>(v.time_) * 1e-9);
    const performance_counters::counter_info about = c.get_info(launch::sync);
    if (about.status_ != performance_counters::counter_status::invalid_data) {
      std::printf("%lld\n", static_cast<long long>(v.value_));
    } else {
      std::printf("invalid\n");
      std::fprintf(stderr, "%s: %s\n", name.c_str(), about.helptext_.c_str());
    }
  }
}
/// Lets the counters of --hpx:print-counter begin anew.
inline void reset_active_counters() {
  const std::lock_guard guard(detail::g_active_counters.lock);
  for (performance_counters::performance_counter &c : detail::g_active_counters.all)
    c.reset(launch::sync);
}
/// Counters always count: start and stop change nothing.
inline void start_active_counters() {}
inline void stop_active_counters() {}

} // namespace hpx
