// SPDX-License-Identifier: Apache-2.0
#include "config/settings.hpp"

#include "config/value.hpp"

#include "base/log.hpp"

namespace weft::inline v0 {
namespace rt {

namespace {

template <setting_type Type>
struct type_row {
  static constexpr setting_type type = Type;
  static constexpr const char *unit = Type == setting_type::bytes      ? "bytes"
                                      : Type == setting_type::duration ? "us"
                                                                       : "";
  static constexpr const char *choices = "";
};

template <class T>
struct type_of;
template <>
struct type_of<bool> : type_row<setting_type::boolean> {};
template <>
struct type_of<int> : type_row<setting_type::integer> {};
template <>
struct type_of<double> : type_row<setting_type::real> {};
template <>
struct type_of<std::uint64_t> : type_row<setting_type::bytes> {};
template <>
struct type_of<std::chrono::microseconds> : type_row<setting_type::duration> {};
template <>
struct type_of<std::string> : type_row<setting_type::text> {};

constexpr std::size_t count_spellings(std::string_view spellings) {
  std::size_t count = 1;
  for (const char c : spellings)
    count += c == '|' ? 1 : 0;
  return count;
}

template <class... Enumerators>
constexpr std::size_t count_enumerators(Enumerators...) {
  return sizeof...(Enumerators);
}

#define WEFT_CHOICES(T, spellings, ...)                                                            \
  template <>                                                                                      \
  struct type_of<T> : type_row<setting_type::choice> {                                             \
    static constexpr const char *choices = spellings;                                              \
    static constexpr bool matches() {                                                              \
      using enum T;                                                                                \
      return count_enumerators(__VA_ARGS__) == count_spellings(spellings);                         \
    }                                                                                              \
  };                                                                                               \
  static_assert(type_of<T>::matches(), "settings.def: as many spellings as enumerators");
#include "config/settings.def"

constexpr setting_limit any() { return {}; }
constexpr setting_limit between(double least, double most, const char *zero_word = nullptr) {
  return {least, most, zero_word, true, false};
}
constexpr setting_limit powers(double least, double most, const char *zero_word = nullptr) {
  return {least, most, zero_word, true, true};
}

std::string environment_name(std::string_view key) {
  std::string name = "WEFT_";
  for (const char c : key)
    name += c == '.' ? '_' : c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  return name;
}

using table = std::array<setting_info, k_setting_count>;

table make_table() {
  using enum setting_read;
  using enum setting_stability;
  return {{
#define WEFT_SETTING(T, field, key, default_text, limit, read, stability, alias, doc)              \
  {key,                                                                                            \
   environment_name(key),                                                                          \
   type_of<T>::type,                                                                               \
   type_of<T>::unit,                                                                               \
   type_of<T>::choices,                                                                            \
   default_text,                                                                                   \
   limit,                                                                                          \
   read,                                                                                           \
   stability,                                                                                      \
   alias,                                                                                          \
   doc},
#include "config/settings.def"
  }};
}

} // namespace

const std::array<setting_info, k_setting_count> &setting_table() {
  static const table *const rows =
      new table(make_table()); // never destroyed: threads may ask while we exit
  return *rows;
}

const std::vector<preset_value> &preset_table() {
  static const auto *const rows = new std::vector<preset_value>{
#define WEFT_PRESET(preset, key, value) {#preset, key, value},
#include "config/settings.def"
  };
  return *rows;
}

const std::vector<former_key> &former_keys() {
  static const auto *const rows = new std::vector<former_key>{
#define WEFT_FORMER(former, key) {former, key},
#include "config/settings.def"
  };
  return *rows;
}

std::string environment_name(std::string_view key) {
  std::string name = "WEFT_";
  for (const char c : key)
    name += c == '.' ? '_' : c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  return name;
}

std::size_t find_setting(std::string_view key) {
  for (const auto &[former, now] : former_keys())
    if (key == former)
      key = now;
  const auto &rows = setting_table();
  std::size_t row = 0;
  while (row < k_setting_count && rows[row].key != key)
    ++row;
  return row;
}

std::string nearest_key(std::string_view word) {
  std::vector<std::string_view> keys;
  for (const auto &info : setting_table())
    keys.push_back(info.key);
  return std::string(nearest(word, keys));
}

const char *read_text(setting_read read) noexcept {
  switch (read) {
  case setting_read::start:
    return "start";
  case setting_read::next_call:
    return "next call";
  case setting_read::next_loop:
    return "next loop";
  case setting_read::when_quiet:
    return "when quiet";
  }
  return "";
}

const char *type_text(setting_type type) noexcept {
  switch (type) {
  case setting_type::boolean:
    return "bool";
  case setting_type::integer:
    return "int";
  case setting_type::real:
    return "real";
  case setting_type::bytes:
    return "bytes";
  case setting_type::duration:
    return "duration";
  case setting_type::choice:
    return "choice";
  case setting_type::text:
    return "text";
  }
  return "";
}

std::string setting_text(const settings &chosen, std::size_t row) {
  const auto &info = setting_table()[row];
  switch (static_cast<setting_index>(row)) {
#define WEFT_SETTING(type, field, ...)                                                             \
  case setting_index::field:                                                                       \
    return value_text(info, chosen.field);
#include "config/settings.def"
  case setting_index::count:
    break;
  }
  fatal("there is no setting of number %zu", row);
}

bool set_setting(settings &chosen, std::size_t row, std::string_view text) {
  const auto &info = setting_table()[row];
  switch (static_cast<setting_index>(row)) {
#define WEFT_SETTING(type, field, ...)                                                             \
  case setting_index::field:                                                                       \
    return parse_value(info, text, chosen.field);
#include "config/settings.def"
  case setting_index::count:
    break;
  }
  fatal("there is no setting of number %zu", row);
}

settings::settings() {
  for (std::size_t row = 0; row < k_setting_count; ++row)
    if (const auto &info = setting_table()[row]; !set_setting(*this, row, info.default_text))
      fatal("settings.def: the default of %s is not allowed", info.key);
}

} // namespace rt
} // namespace weft::inline v0
