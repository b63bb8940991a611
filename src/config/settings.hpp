// SPDX-License-Identifier: Apache-2.0
// Settings: settings.def lists them, `rt::settings` holds their values. Sources, each over the one
// before: defaults, file, preset, environment, API.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace weft::inline v0 {
namespace rt {

#define WEFT_CHOICES(type, spellings, ...) enum class type { __VA_ARGS__ };
#include "config/settings.def"

/// Holds one plain field per key: key `sched.policy` is the field `sched_policy`. If the table has
/// a word for zero (workers "auto", throttle.bytes "off"), the field holds 0 for this word.
struct settings {
#define WEFT_SETTING(type, field, ...) type field{};
#include "config/settings.def"

  settings(); ///< the defaults
};

enum class setting_index : std::size_t {
#define WEFT_SETTING(type, field, ...) field,
#include "config/settings.def"
  count
};
inline constexpr std::size_t k_setting_count = static_cast<std::size_t>(setting_index::count);

enum class setting_type { boolean, integer, real, bytes, duration, choice, text };
/// Says when a value is read; for a knob, from when on a change holds.
enum class setting_read { start, next_call, next_loop, when_quiet };
enum class setting_stability { stable, experimental };

struct setting_limit {
  double least = 0;
  double most = 0;
  const char *zero_word = nullptr; ///< a word that stands for 0, which the range need not contain
  bool bounded = false;
  bool in_powers = false; ///< a search tries powers of two
};

/// Describes one row of the table.
struct setting_info {
  const char *key;
  std::string environment; ///< "WEFT_SCHED_POLICY"
  setting_type type;
  const char *unit;    ///< of a bare number: "bytes", "us" or ""
  const char *choices; ///< "a|b|c" of a choice; "" otherwise
  const char *default_text;
  setting_limit limit;
  setting_read read;
  setting_stability stability;
  const char *alias; ///< or nullptr
  const char *doc;
};

struct preset_value {
  const char *preset;
  const char *key;
  const char *value;
};

/// Holds a setting's key of an earlier version.
struct former_key {
  const char *former;
  const char *key;
};

const std::array<setting_info, k_setting_count> &setting_table();
const std::vector<former_key> &former_keys();
const std::vector<preset_value> &preset_table();

/// Returns the row of a key, or of its former name; k_setting_count if there is none.
std::size_t find_setting(std::string_view key);
/// Returns "WEFT_SCHED_POLICY" for "sched.policy".
std::string environment_name(std::string_view key);
/// Returns the key most like `word`; "" if none is near.
std::string nearest_key(std::string_view word);
/// Returns a field as text that the parser reads back to the same value.
std::string setting_text(const settings &chosen, std::size_t row);
/// Parses `text` into its field; returns false, and changes nothing, if `text` is not allowed.
[[nodiscard]] bool set_setting(settings &chosen, std::size_t row, std::string_view text);

/// Says whether the setting can change while the program runs.
[[nodiscard]] inline bool is_knob(const setting_info &info) {
  return info.read != setting_read::start;
}
/// Returns "next call"; "start" for a setting that is no knob.
const char *read_text(setting_read read) noexcept;
/// Returns "int", "bytes" and so on.
const char *type_text(setting_type type) noexcept;

using key_value = std::pair<std::string, std::string>;

} // namespace rt
} // namespace weft::inline v0
