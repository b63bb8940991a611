// SPDX-License-Identifier: Apache-2.0
// The settings of this process.
#include "config/settings.hpp"

#include "base/log.hpp"
#include "config/load.hpp"
#include "config/process.hpp"

#include <algorithm>
#include <cstring>
#include <mutex>
#include <optional>

#include <sys/auxv.h>
#include <unistd.h>

namespace weft::inline v0 {
namespace rt {

namespace {

constexpr const char *k_layer_default = "default of the program";

struct process_state {
  std::mutex mutex;
  std::vector<key_value> overrides;
  std::vector<key_value> defaults; ///< of layers, in the order in which they were given
  std::optional<loaded_settings> loaded;
  std::vector<std::string> printed; ///< warnings that were printed
};

process_state &state() {
  static auto *const s = new process_state; // never destroyed: threads may ask while we exit
  return *s;
}

/// Applies the layers' defaults where no other source has a value. Each layer needs the size of stacks that it gives.
void apply_defaults(const std::vector<key_value> &defaults, loaded_settings &out) {
  std::uint64_t largest_stack = 0;
  for (const auto &[key, value] : defaults) {
    const auto row = find_setting(key);
    auto &origin = out.origin[row];
    if ((origin != "default" && origin != k_layer_default) || !set_setting(out.values, row, value))
      continue;
    origin = k_layer_default;
    if (row == static_cast<std::size_t>(setting_index::stack_bytes))
      out.values.stack_bytes = largest_stack = std::max(largest_stack, out.values.stack_bytes);
  }
}

/// Loads the settings; the caller holds the mutex.
void load(process_state &state) {
  settings_input input;
  input.environment = process_environment();
  input.overrides = state.overrides;
  auto fresh = load_settings(input);
  apply_defaults(state.defaults, fresh);
  for (const auto &warning : fresh.warnings)
    if (std::find(state.printed.begin(), state.printed.end(), warning) == state.printed.end()) {
      state.printed.push_back(warning);
      warn("%s", warning.c_str());
    }
  state.loaded = std::move(fresh);
}

/// Returns the settings, loaded if they were not. The caller holds the mutex.
const loaded_settings &loaded(process_state &state) {
  if (!state.loaded)
    load(state);
  return *state.loaded;
}

/// Adds a value of the program to `source`, and loads again if a layer has read a setting already. The
/// value is taken back where it contradicts another source, or all later loads would fail because of it.
/// The caller holds the mutex.
void add(process_state &state, std::vector<key_value> &source, const key_value &fresh) {
  source.push_back(fresh);
  if (!state.loaded)
    return;
  try {
    load(state);
  } catch (...) {
    source.pop_back();
    throw;
  }
}

} // namespace

std::vector<key_value> process_environment() {
  std::vector<key_value> out;
  if (getauxval(AT_SECURE) != 0)
    return out;
  for (char **entry = environ; entry != nullptr && *entry != nullptr; ++entry)
    if (char *const equals = std::strchr(*entry, '='))
      out.emplace_back(std::string(*entry, equals), equals + 1);
  return out;
}

loaded_settings process_settings() {
  auto &s = state();
  const std::lock_guard hold(s.mutex);
  return loaded(s);
}

settings current_settings() {
  auto &s = state();
  const std::lock_guard hold(s.mutex);
  return loaded(s).values;
}

loaded_settings reload_process_settings() {
  auto &s = state();
  const std::lock_guard hold(s.mutex);
  load(s);
  return *s.loaded;
}

void settings_override(std::string_view key, std::string_view value) {
  settings_input only_this;
  only_this.overrides.emplace_back(key, value);
  load_settings(only_this); // throws if the override is wrong
  auto &s = state();
  const std::lock_guard hold(s.mutex);
  add(s, s.overrides, only_this.overrides.front());
}

void settings_default(std::string_view key, std::string_view value) {
  settings_input only_this;
  only_this.overrides.emplace_back(key, value);
  only_this.overriding = k_layer_default;
  load_settings(only_this); // throws if key or value is wrong
  auto &s = state();
  const std::lock_guard hold(s.mutex);
  add(s, s.defaults, only_this.overrides.front());
}

void lock_settings() { state().mutex.lock(); }
void unlock_settings() { state().mutex.unlock(); }

void settings_clear_overrides() noexcept {
  auto &s = state();
  const std::lock_guard hold(s.mutex);
  s.overrides.clear();
}

} // namespace rt
} // namespace weft::inline v0
