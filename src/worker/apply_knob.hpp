// SPDX-License-Identifier: Apache-2.0
// Applies changes of settings to the runtime while tasks run. What reads such a setting often has
// a copy of its own in an atomic; here the copies are written.
#pragma once

#include "config/settings.hpp"

#include <chrono>
#include <cstdint>

namespace weft::inline v0 {
namespace rt {

class runtime;

[[nodiscard]] inline std::uint64_t in_ns(std::chrono::microseconds time) noexcept {
  return static_cast<std::uint64_t>(time.count()) * 1000u;
}
/// Returns a probability as a part of 2^32 - 1.
[[nodiscard]] inline std::uint32_t odds_of(double probability) noexcept {
  return static_cast<std::uint32_t>(probability * double{UINT32_MAX});
}

/// Opens the knobs of a runtime that has started, to the program and to other processes of the user.
/// The caller has the start lock.
void begin_knobs(runtime &rt);
/// Applies the value that a setting has in `now`. Any thread, one at a time. Throws weft::error if
/// the runtime cannot follow.
void apply_knob(setting_index which, const settings &now);

} // namespace rt
} // namespace weft::inline v0
