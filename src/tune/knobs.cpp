// SPDX-License-Identifier: Apache-2.0
#include "tune/knobs.hpp"

#include "base/error.hpp"
#include "config/process.hpp"
#include "config/value.hpp"

#include <algorithm>
#include <array>
#include <mutex>
#include <optional>

namespace weft::inline v0 {
namespace rt {
namespace {

constexpr std::size_t k_longest_name = 64;

struct registry_of_knobs {
  std::mutex mutex;
  std::optional<settings> now; ///< while the runtime runs
  std::array<std::uint32_t, k_setting_count> times_set{}; ///< since the start, by change_knob()
  void (*apply)(setting_index which, const settings &now) = nullptr;
  bool ended = false;
  std::vector<program_knob *> of_program; ///< by name
};

registry_of_knobs &all() {
  static auto *const those =
      new registry_of_knobs; // never destroyed: threads may ask while we exit
  return *those;
}

std::atomic<std::uint64_t> g_changes{0};

void count_change() noexcept { g_changes.fetch_add(1, std::memory_order_relaxed); }

auto place_of(const registry_of_knobs &those, std::string_view name) {
  return std::lower_bound(
      those.of_program.begin(), those.of_program.end(), name,
      [](const program_knob *knob, std::string_view wanted) { return knob->name < wanted; });
}

program_knob *find_program_knob(const registry_of_knobs &those, std::string_view name) {
  const auto at = place_of(those, name);
  return at != those.of_program.end() && (*at)->name == name ? *at : nullptr;
}

[[noreturn]] void refuse_unknown(const registry_of_knobs &those, std::string_view name) {
  std::vector<std::string_view> names;
  for (const auto &info : setting_table())
    names.emplace_back(info.key);
  for (const program_knob *knob : those.of_program)
    names.emplace_back(knob->name);
  const auto near = nearest(name, names);
  throw_bad_setting("there is no setting and no knob '" + std::string(name) + "'" +
                    (near.empty() ? "; `weft set PID` lists those of a program that can change"
                                  : "; did you mean '" + std::string(near) + "'?"));
}

[[noreturn]] void refuse_value(std::string_view kind, std::string_view name, std::string_view text,
                               const std::string &allowed) {
  throw_bad_setting(std::string(kind) + " " + std::string(name) + " cannot be '" +
                    std::string(text) + "': it must be " + allowed);
}

/// Returns the present value of a setting.
std::string setting_now(const registry_of_knobs &those, std::size_t row) {
  return setting_text(those.now ? *those.now : current_settings(), row);
}

void change_setting(registry_of_knobs &those, std::size_t row, std::string_view text) {
  const setting_info &info = setting_table()[row];
  if (those.ended)
    throw_error(errc::shut_down, "setting %s cannot change: Weft was shut down", info.key);
  if (!those.now)
    return settings_override(info.key, text);
  if (!is_knob(info))
    throw_error(
        errc::already_started,
        "setting %s is read at start only, and Weft has started: set it before (%s in the environment, weft.toml, or `weft run --set`)",
        info.key, info.environment.c_str());
  settings next = *those.now;
  if (!set_setting(next, row, text))
    refuse_value("setting", info.key, text, describe_allowed(info));
  those.apply(static_cast<setting_index>(row), next);
  those.now = std::move(next);
  count_change();
}

/// Stores what is no session's choice.
void store_for_others(program_knob &knob, std::int64_t value) noexcept {
  knob.word.store(value, std::memory_order_relaxed);
  knob.sets.fetch_add(1, std::memory_order_relaxed); // a number to compare
  count_change();
}

void change_program_knob(program_knob &knob, std::string_view text) {
  const auto value = knob.domain.parse(text);
  if (!value)
    refuse_value("knob", knob.name, text, knob.domain.allowed());
  store_for_others(knob, *value);
}

/// Says what is wrong with a name; null: nothing.
const char *fault_of_name(std::string_view name) {
  const auto is_good = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '.' || c == '-';
  };
  if (name.size() > k_longest_name)
    return "it is longer than 64 characters";
  if (!std::all_of(name.begin(), name.end(), is_good))
    return "it has other characters than a-z, 0-9, '_', '-' and '.'";
  if (name.find('.') == std::string_view::npos || name.front() == '.' || name.back() == '.')
    return "it is not of the form object.property";
  if (find_setting(name) != k_setting_count)
    return "it is the name of a setting of Weft";
  return nullptr;
}

/// Says what is wrong with the values; null: nothing.
const char *fault_of_values(const knob_domain &domain, std::int64_t first) {
  switch (domain.what) {
  case knob_domain::kind::range:
    if (domain.least > domain.most)
      return "its least value is above its most";
    if (domain.in_powers && domain.least < 0)
      return "a logarithmic range has no negative values";
    break;
  case knob_domain::kind::reals:
    if (!(domain.real_least <= domain.real_most))
      return "its least value is above its most";
    if (domain.in_powers && domain.real_least <= 0)
      return "a logarithmic range of reals has positive values only";
    break;
  case knob_domain::kind::numbers:
    if (domain.numbers.empty())
      return "its list has no value";
    break;
  case knob_domain::kind::words:
    if (domain.words.empty())
      return "its list has no word";
    break;
  }
  return domain.includes(first) ? nullptr : "its first value is not among those that are allowed";
}

knob_line line_of(const registry_of_knobs &those, std::size_t row) {
  const setting_info &info = setting_table()[row];
  return {info.key,
          type_text(info.type),
          setting_now(those, row),
          those.now ? setting_text(current_settings(), row) : info.default_text,
          describe_allowed(info),
          info.doc,
          info.read,
          info.limit.in_powers,
          false};
}

knob_line line_of(const program_knob &knob) {
  return {knob.name,
          knob.domain.type(),
          knob.domain.text(knob.word.load(std::memory_order_relaxed)),
          knob.domain.text(knob.first),
          knob.domain.allowed(),
          knob.help,
          knob.takes_hold,
          knob.domain.in_powers,
          true};
}

} // namespace

void open_knobs(const settings &chosen, void (*apply)(setting_index which, const settings &now)) {
  auto &those = all();
  const std::lock_guard hold(those.mutex);
  those.now = chosen;
  those.times_set.fill(0);
  those.apply = apply;
  those.ended = false;
}

void close_knobs() noexcept {
  auto &those = all();
  const std::lock_guard hold(those.mutex);
  those.ended = true;
}

void change_knob(std::string_view name, std::string_view text) {
  auto &those = all();
  const std::lock_guard hold(those.mutex);
  if (const std::size_t row = find_setting(name); row != k_setting_count) {
    change_setting(those, row, text);
    ++those.times_set[row];
    return;
  }
  if (program_knob *const knob = find_program_knob(those, name))
    return change_program_knob(*knob, text);
  refuse_unknown(those, name);
}

std::uint32_t times_set(setting_index which) {
  auto &those = all();
  const std::lock_guard hold(those.mutex);
  return those.times_set[static_cast<std::size_t>(which)];
}

bool replace_setting(setting_index which, std::uint32_t times, std::string_view to) {
  auto &those = all();
  const std::lock_guard hold(those.mutex);
  const auto row = static_cast<std::size_t>(which);
  if (those.times_set[row] != times)
    return false;
  change_setting(those, row, to);
  return true;
}

std::string knob_text(std::string_view name) {
  auto &those = all();
  const std::lock_guard hold(those.mutex);
  if (const std::size_t row = find_setting(name); row != k_setting_count)
    return setting_now(those, row);
  if (const program_knob *const knob = find_program_knob(those, name))
    return knob->domain.text(knob->word.load(std::memory_order_relaxed));
  refuse_unknown(those, name);
}

std::vector<knob_line> list_knobs() {
  auto &those = all();
  const std::lock_guard hold(those.mutex);
  std::vector<knob_line> lines;
  for (std::size_t row = 0; row < k_setting_count; ++row)
    if (is_knob(setting_table()[row]))
      lines.push_back(line_of(those, row));
  for (const program_knob *knob : those.of_program)
    lines.push_back(line_of(*knob));
  return lines;
}

std::uint64_t knob_changes() noexcept { return g_changes.load(std::memory_order_relaxed); }

void enter_knob(program_knob &knob) {
  const char *fault = fault_of_name(knob.name);
  std::sort(knob.domain.numbers.begin(), knob.domain.numbers.end());
  if (!fault)
    fault = fault_of_values(knob.domain, knob.first);
  if (fault)
    throw_error(errc::invalid_argument, "the knob '%s' cannot be: %s", knob.name.c_str(), fault);
  knob.word.store(knob.first, std::memory_order_relaxed);
  auto &those = all();
  const std::lock_guard hold(those.mutex);
  if (find_program_knob(those, knob.name))
    throw_error(errc::invalid_argument,
                "there is a knob '%s' already: give each its own name, such as that of its object",
                knob.name.c_str());
  those.of_program.insert(place_of(those, knob.name), &knob);
}

void withdraw_knob(program_knob &knob) noexcept {
  auto &those = all();
  const std::lock_guard hold(those.mutex);
  std::erase(those.of_program, &knob);
}

void set_program_knob(program_knob &knob, std::int64_t value) {
  if (!knob.domain.includes(value))
    refuse_value("knob", knob.name,
                 knob.domain.what == knob_domain::kind::words ? std::to_string(value)
                                                              : knob.domain.text(value),
                 knob.domain.allowed());
  store_for_others(knob, value);
}

bool replace_program_knob(program_knob &knob, std::int64_t from, std::int64_t to) noexcept {
  if (!knob.word.compare_exchange_strong(from, to, std::memory_order_relaxed))
    return false;
  count_change();
  return true;
}

void knobs_before_fork() { all().mutex.lock(); }
void knobs_after_fork_in_parent() { all().mutex.unlock(); }
void knobs_after_fork_in_child() {
  all().now.reset();
  all().apply = nullptr;
  g_changes.store(0, std::memory_order_relaxed);
  all().mutex.unlock();
}

} // namespace rt
} // namespace weft::inline v0
