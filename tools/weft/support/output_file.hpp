// SPDX-License-Identifier: Apache-2.0
// A file that is written fast, and that exists whole or not at all.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace weft_tool {

class output_file {
 public:
  /// Opens the file; "" is standard output. An ordinary file is written under a name that no other
  /// file has and gets its own in finish(); anything else, such as a pipe, is written to directly.
  /// Throws weft::error, as all functions of this class do.
  explicit output_file(const std::string &path);
  ~output_file();
  output_file(const output_file &) = delete;
  output_file &operator=(const output_file &) = delete;
  /// Returns whether finish() gives the file its name.
  [[nodiscard]] bool has_name_of_its_own() const noexcept { return !m_part.empty(); }

  void put(std::string_view text) {
    if (text.size() > k_capacity - m_used) [[unlikely]]
      return put_slow(text);
    text.copy(m_buffer.get() + m_used, text.size());
    m_used += text.size();
  }
  void put(char character) { put(std::string_view(&character, 1)); }
  void number(std::uint64_t n);
  void number(std::int64_t n);
  /// Writes a time in microseconds, with three digits behind the point.
  void microseconds(std::int64_t ns);
  void print(const char *format, ...) __attribute__((format(printf, 2, 3)));
  void finish();

 private:
  static constexpr std::size_t k_capacity = 1 << 18;
  void put_slow(std::string_view text);
  void flush();
  [[noreturn]] void fail() const;

  std::string m_path, m_part; // m_part: empty where the file is written in place
  int m_file;
  bool m_finished = false;
  std::size_t m_used = 0;
  std::unique_ptr<char[]> m_buffer{new char[k_capacity]};
};

} // namespace weft_tool
