// SPDX-License-Identifier: Apache-2.0
// The registry of knobs: the settings that can change while the program runs (config/settings.def),
// and knobs of the program's own. A change is parsed, checked and applied with one lock held, so
// changes come one after the other. A value is read without the registry: the runtime has copies of
// settings where it needs them (worker/apply_knob.cpp), a program's knob is one word.
#pragma once

#include "config/settings.hpp"
#include "tune/domain.hpp"

#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace weft::inline v0 {
namespace rt {

/// Is a knob of the program. Its address is given to readers of `word`.
struct program_knob {
  std::atomic<std::int64_t> word{0}; ///< relaxed: what a value is about is handed over otherwise
  std::atomic<std::uint32_t> sets{0}; ///< how often users, policies and the program have set it
  std::string name, help;
  knob_domain domain;
  setting_read takes_hold = setting_read::next_call;
  std::int64_t first = 0;
};

/// Describes a knob for a reader.
struct knob_line {
  std::string name, type, value, first, allowed, help;
  setting_read takes_hold = setting_read::next_call;
  bool in_powers = false;
  bool of_program = false;
};

/// Opens the settings of a runtime that has started with `chosen`. From now on a change calls
/// `apply`, which may throw: then the setting keeps its value.
void open_knobs(const settings &chosen, void (*apply)(setting_index which, const settings &now));
/// Notes that the runtime has ended: its settings change no more.
void close_knobs() noexcept;

/// Changes a knob. Before the runtime starts, a setting gets its value for the start.
/// Throws weft::error: bad_setting for an unknown name or a wrong value, already_started for a
/// setting that is read at start only, shut_down, and what `apply` throws.
void change_knob(std::string_view name, std::string_view text);
/// Returns how often change_knob() has set a setting since the start, perhaps to the value that it had.
[[nodiscard]] std::uint32_t times_set(setting_index which);
/// Changes a setting that has been set so often, and counts this change not. Returns false if it was set
/// since. Throws as change_knob().
[[nodiscard]] bool replace_setting(setting_index which, std::uint32_t times, std::string_view to);
/// Returns the present value of a setting or a knob. Throws bad_setting for an unknown name.
[[nodiscard]] std::string knob_text(std::string_view name);
/// Returns the knobs that can change while the program runs: settings, then the program's, by name.
[[nodiscard]] std::vector<knob_line> list_knobs();
/// Returns how many changes there have been.
[[nodiscard]] std::uint64_t knob_changes() noexcept;

/// Enters a knob of the program. Throws invalid_argument if its name is bad or taken, its values are
/// none, or the first one is not among them.
void enter_knob(program_knob &knob);
void withdraw_knob(program_knob &knob) noexcept;
/// Gives a program's knob a value of its domain. Throws bad_setting that says what is allowed.
void set_program_knob(program_knob &knob, std::int64_t value);
/// Gives a program's knob another value if it has `from`, for a session. Both are of its domain. Returns
/// false if it has another one.
[[nodiscard]] bool replace_program_knob(program_knob &knob, std::int64_t from,
                                        std::int64_t to) noexcept;

// Around fork(). The settings of the child begin with the values of the start again; the program's
// knobs keep theirs.
void knobs_before_fork();
void knobs_after_fork_in_parent();
void knobs_after_fork_in_child();

} // namespace rt
} // namespace weft::inline v0
