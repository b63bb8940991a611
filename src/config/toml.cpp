// SPDX-License-Identifier: Apache-2.0
#include "config/toml.hpp"

#include "base/error.hpp"
#include "os/file.hpp"

#include <charconv>

namespace weft::inline v0 {
namespace rt {

namespace {

bool is_digit(char character) noexcept { return character >= '0' && character <= '9'; }
bool is_key_char(char character) noexcept {
  return is_digit(character) || (character >= 'a' && character <= 'z') ||
         (character >= 'A' && character <= 'Z') || character == '_' || character == '-';
}

/// Reads one line from left to right.
class line_reader {
 public:
  line_reader(std::string_view rest, const std::string &file, int line)
      : m_rest(rest), m_file(file), m_line(line) {}

  [[noreturn]] void fail(const std::string &what) const {
    throw_error(errc::bad_setting, "%s:%d: %s", m_file.c_str(), m_line, what.c_str());
  }

  /// Returns true if nothing or only a comment follows.
  bool at_end() noexcept {
    skip_blanks();
    return m_rest.empty() || m_rest.front() == '#';
  }

  bool take(char character) noexcept {
    skip_blanks();
    if (m_rest.empty() || m_rest.front() != character)
      return false;
    m_rest.remove_prefix(1);
    return true;
  }

  std::string dotted_key() {
    std::string key = key_part();
    while (take('.'))
      key += "." + key_part();
    return key;
  }

  std::string value() {
    skip_blanks();
    if (m_rest.substr(0, 3) == "\"\"\"" || m_rest.substr(0, 3) == "'''")
      fail("strings over several lines are not supported");
    if (!m_rest.empty() && (m_rest.front() == '[' || m_rest.front() == '{'))
      fail("arrays and inline tables are not supported");
    if (take('"'))
      return basic_string();
    if (take('\''))
      return literal_string();
    return bare_value();
  }

 private:
  void skip_blanks() noexcept {
    while (!m_rest.empty() &&
           (m_rest.front() == ' ' || m_rest.front() == '\t' || m_rest.front() == '\r'))
      m_rest.remove_prefix(1);
  }

  std::string key_part() {
    if (take('"'))
      return basic_string();
    if (take('\''))
      return literal_string();
    std::size_t size = 0;
    while (size < m_rest.size() && is_key_char(m_rest[size]))
      ++size;
    if (size == 0)
      fail(
          "a key is missing here: keys are of letters, digits, '_' and '-', with '.' between their parts");
    return cut(size);
  }

  std::string cut(std::size_t size) {
    std::string out(m_rest.substr(0, size));
    m_rest.remove_prefix(size);
    return out;
  }

  std::string literal_string() {
    const auto end = m_rest.find('\'');
    if (end == std::string_view::npos)
      fail("the string has no closing '");
    auto out = cut(end);
    m_rest.remove_prefix(1);
    return out;
  }

  std::string basic_string() {
    std::string out;
    for (std::size_t i = 0; i < m_rest.size(); ++i) {
      const char c = m_rest[i];
      if (c == '"') {
        m_rest.remove_prefix(i + 1);
        return out;
      }
      if (c != '\\' || ++i == m_rest.size()) {
        out += c;
      } else if (m_rest[i] == 'u') {
        out += character(m_rest.substr(i + 1, 4));
        i += 4;
      } else {
        out += unescaped(m_rest[i]);
      }
    }
    fail("the string has no closing \"");
  }

  char unescaped(char character) const {
    switch (character) {
    case 'n':
      return '\n';
    case 't':
      return '\t';
    case 'r':
      return '\r';
    case '"':
      return '"';
    case '\\':
      return '\\';
    default:
      fail(std::string("the escape \\") + character +
           " is not supported; use \\n \\t \\r \\\" \\\\ \\uXXXX");
    }
  }

  /// Returns the character of a number in UTF-8.
  [[nodiscard]] std::string character(std::string_view digits) const {
    unsigned code = 0;
    const auto read = std::from_chars(digits.data(), digits.data() + digits.size(), code, 16);
    if (digits.size() != 4 || read.ptr != digits.data() + 4 || (code >= 0xd800 && code < 0xe000))
      fail("\\u needs the four hexadecimal digits of a character");
    const auto last = [](unsigned bits) { return static_cast<char>(0x80 | (bits & 0x3f)); };
    if (code < 0x80)
      return {static_cast<char>(code)};
    if (code < 0x800)
      return {static_cast<char>(0xc0 | code >> 6), last(code)};
    return {static_cast<char>(0xe0 | code >> 12), last(code >> 6), last(code)};
  }

  std::string bare_value() {
    const auto word = cut(m_rest.find_first_of(" \t\r#") == std::string_view::npos
                              ? m_rest.size()
                              : m_rest.find_first_of(" \t\r#"));
    if (word.empty())
      fail("the value is missing");
    if (word == "true" || word == "false")
      return word;
    std::string number;
    if (!read_number(word, number))
      fail("'" + word + "' is neither a number nor true or false; put it in quotes: \"" + word +
           "\"");
    return number;
  }

  /// Checks for [+-] digits [. digits] [e [+-] digits], with '_' between digits only.
  static bool read_number(std::string_view word, std::string &number) {
    std::size_t at = 0;
    const auto sign = [&] {
      if (at < word.size() && (word[at] == '+' || word[at] == '-'))
        if (word[at++] == '-')
          number += '-';
    };
    const auto digits = [&] {
      const auto begin = at;
      for (; at < word.size(); ++at) {
        const bool between = word[at] == '_' && at > begin && is_digit(word[at - 1]) &&
                             at + 1 < word.size() && is_digit(word[at + 1]);
        if (is_digit(word[at]))
          number += word[at];
        else if (!between)
          break;
      }
      return at > begin;
    };
    const auto take_one_of = [&](std::string_view set) {
      if (at >= word.size() || set.find(word[at]) == std::string_view::npos)
        return false;
      number += word[at++];
      return true;
    };
    sign();
    if (!digits() || (take_one_of(".") && !digits()))
      return false;
    if (take_one_of("eE")) {
      sign();
      if (!digits())
        return false;
    }
    return at == word.size();
  }

  std::string_view m_rest;
  const std::string &m_file;
  int m_line;
};

} // namespace

std::vector<toml_entry> parse_toml(std::string_view text, const std::string &file) {
  std::vector<toml_entry> entries;
  std::string table;
  int number = 0;
  for_each_line(text, [&](std::string_view line) {
    line_reader reader(line, file, ++number);
    if (reader.at_end())
      return;
    if (reader.take('[')) {
      if (reader.take('['))
        reader.fail("arrays of tables are not supported");
      table = reader.dotted_key() + ".";
      if (!reader.take(']'))
        reader.fail("the table's name has no closing ]");
    } else {
      toml_entry entry;
      entry.key = table + reader.dotted_key();
      entry.line = number;
      if (!reader.take('='))
        reader.fail("after the key '" + entry.key + "' there is no '='");
      entry.text = reader.value();
      for (const auto &earlier : entries)
        if (earlier.key == entry.key)
          reader.fail("'" + entry.key + "' was set in line " + std::to_string(earlier.line) +
                      " already");
      entries.push_back(std::move(entry));
    }
    if (!reader.at_end())
      reader.fail(
          "something follows that does not belong there; one key and value, or one table, per line");
  });
  return entries;
}

} // namespace rt
} // namespace weft::inline v0
