// SPDX-License-Identifier: Apache-2.0
// The settings of this process.
#pragma once

#include "config/load.hpp"
#include "config/settings.hpp"

namespace weft::inline v0 {
namespace rt {

/// Returns the settings of this process, from environment, file and overrides. Loads them on first
/// use; warnings go to stderr.
const loaded_settings &process_settings();
inline const settings &current_settings() { return process_settings().values; }

/// Loads again, for a runtime that starts anew. The caller ensures that no thread reads settings
/// meanwhile. References stay valid; their contents change.
const loaded_settings &reload_process_settings();

/// Keeps a value of the API for the next (re)load. Throws bad_setting at once if key or value is
/// wrong.
void settings_override(std::string_view key, std::string_view value);
void settings_clear_overrides() noexcept;

/// Gives a setting another default for the next (re)load, below all other sources. Throws
/// bad_setting at once if key or value is wrong.
void settings_default(std::string_view key, std::string_view value);

/// Locks the settings around fork(), so that the child finds them whole and no thread changing
/// them.
void lock_settings();
void unlock_settings();

/// Returns the variables of this process's environment; none in a set-user-id program.
std::vector<key_value> process_environment();

} // namespace rt
} // namespace weft::inline v0
