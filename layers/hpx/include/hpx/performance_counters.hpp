// SPDX-License-Identifier: Apache-2.0
// HPX's names on Weft: performance counters. A name is HPX's, with its instance; values have HPX's units.
#pragma once

#include <hpx/future.hpp>
#include <weft/counters.hpp>
#include <weft/error.hpp>

#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace hpx::performance_counters {

enum class counter_status { valid_data, new_data, invalid_data };

/// Holds one value of a counter.
struct counter_value {
  std::int64_t value_ = 0;
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
      {"/runtime/memory/resident", "/memory/resident"}};
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
/// Returns how many of HPX's units one of Weft's is: HPX counts the idle rate in 0.01 %.
inline double scale_of(std::string_view name) { return name.ends_with("/idle-rate") ? 100 : 1; }

} // namespace detail

/// Reads one counter, since its last reset.
class performance_counter {
 public:
  performance_counter() = default;
  explicit performance_counter(std::string name)
      : m_name(std::move(name)), m_in_weft(detail::name_in_weft(m_name)) {
    static_cast<void>(weft::counters::take().value(m_in_weft)); // throws for a name that is none
  }
  [[nodiscard]] const std::string &get_name(launch) const noexcept { return m_name; }
  [[nodiscard]] future<std::string> get_name() const { return weft::make_ready_future(m_name); }

  [[nodiscard]] counter_value get_counter_value(launch, bool reset_after = false) {
    const weft::counters::snapshot now = weft::counters::take();
    const weft::counters::snapshot seen = m_since ? now - *m_since : now;
    const double number = seen.value(m_in_weft);
    counter_value v;
    v.value_ = std::isnan(number) ? 0 : std::llround(number * detail::scale_of(m_in_weft));
    v.status_ = std::isnan(number) ? counter_status::invalid_data : counter_status::valid_data;
    v.time_ = static_cast<std::uint64_t>(seen.span().count());
    if (reset_after)
      m_since = now;
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
  void reset(launch) { m_since = weft::counters::take(); }
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
  std::string m_name, m_in_weft;
  std::optional<weft::counters::snapshot> m_since;
};

} // namespace hpx::performance_counters
