// SPDX-License-Identifier: Apache-2.0
// The settings of this process.
#pragma once

#include "config/load.hpp"
#include "config/settings.hpp"

namespace weft::inline v0 {
namespace rt {

/// Returns the settings of this process, from environment, file and overrides. Loads them on first
/// use; warnings go to stderr. A copy, because another thread may change settings until the start.
loaded_settings process_settings();
settings current_settings();

/// Loads again, for a runtime that starts anew.
loaded_settings reload_process_settings();

/// Keeps a value of the API for the next load, or loads again where settings were read. Throws
/// bad_setting at once if key or value is wrong, or contradicts another source; then nothing changes.
void settings_override(std::string_view key, std::string_view value);
void settings_clear_overrides() noexcept;

/// Gives a setting another default, below all other sources. As settings_override().
void settings_default(std::string_view key, std::string_view value);

/// Locks the settings around fork(), so that the child finds them whole and no thread changing
/// them.
void lock_settings();
void unlock_settings();

/// Returns the variables of this process's environment; none in a set-user-id program.
std::vector<key_value> process_environment();

} // namespace rt
} // namespace weft::inline v0
