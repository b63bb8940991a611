// SPDX-License-Identifier: Apache-2.0
// Unstable: environment variables of another runtime, and settings and cpus. Changes with any version.
#pragma once

#include <weft/config.hpp>

#include <string>

namespace weft::inline v0 {
namespace layer {

/// Returns the value of a variable of the environment that is not Weft's own, or null. Null also in
/// a program that runs with raised rights (as secure_getenv).
[[nodiscard]] WEFT_API const char *environment(const char *name) noexcept;

/// Returns the value of one of Weft's settings, as `weft config` prints it, and loads the settings
/// if that has not been done.
///
/// Errors. bad_setting.
[[nodiscard]] WEFT_API std::string setting(const char *key);

/// Returns how many cpus the process may use at once, by its mask and by its quota of control
/// groups.
[[nodiscard]] WEFT_API int effective_cpus() noexcept;

} // namespace layer
} // namespace weft::inline v0
