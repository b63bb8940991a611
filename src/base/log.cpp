// SPDX-License-Identifier: Apache-2.0
#include "base/log.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include <unistd.h>

namespace weft::inline v0 {
namespace rt {

namespace {

std::atomic<fatal_context> g_fatal_context{nullptr};
std::atomic<bool> g_dying{false};

void append_formatted(signal_safe_line &line, const char *format, va_list arguments) noexcept {
  char text[900];
  std::vsnprintf(text, sizeof text, format, arguments);
  line.text(text);
}

void warn_with(const char *format, va_list arguments) noexcept {
  signal_safe_line line;
  line.text("weft: warning: ");
  append_formatted(line, format, arguments);
  line.write();
}

/// Ends every fatal path. A context that itself fails is not called a second time.
[[noreturn]] void die(signal_safe_line &line) noexcept {
  const bool first = !g_dying.exchange(true, std::memory_order_relaxed);
  if (const auto add = g_fatal_context.load(std::memory_order_acquire); first && add != nullptr)
    add(line);
  line.write();
  std::abort();
}

} // namespace

signal_safe_line &signal_safe_line::text(std::string_view text) noexcept {
  const std::size_t fits = std::min(text.size(), k_capacity - m_size);
  if (fits != 0)
    std::memcpy(m_buffer + m_size, text.data(), fits);
  m_size += fits;
  return *this;
}

signal_safe_line &signal_safe_line::decimal(std::int64_t value) noexcept {
  char digits[20];
  std::size_t at = sizeof digits;
  auto rest = value < 0 ? 0 - static_cast<std::uint64_t>(value) : static_cast<std::uint64_t>(value);
  do
    digits[--at] = static_cast<char>('0' + rest % 10);
  while ((rest /= 10) != 0);
  if (value < 0)
    text("-");
  return text({digits + at, sizeof digits - at});
}

signal_safe_line &signal_safe_line::hex(std::uint64_t value) noexcept {
  char digits[16];
  std::size_t at = sizeof digits;
  do
    digits[--at] = "0123456789abcdef"[value % 16];
  while ((value /= 16) != 0);
  return text("0x").text({digits + at, sizeof digits - at});
}

signal_safe_line &signal_safe_line::pointer(const void *p) noexcept {
  return hex(reinterpret_cast<std::uintptr_t>(p));
}

void signal_safe_line::write(int fd) noexcept {
  const int saved = errno;
  m_buffer[m_size++] = '\n';
  for (std::size_t done = 0; done < m_size;) {
    const auto n = ::write(fd, m_buffer + done, m_size - done);
    if (n > 0)
      done += static_cast<std::size_t>(n);
    else if (n == 0 || errno != EINTR)
      break; // stderr takes nothing more, and there is no other place to report that
  }
  m_size = 0;
  errno = saved;
}

void set_fatal_context(fatal_context add) noexcept {
  g_fatal_context.store(add, std::memory_order_release);
}

void fatal(const char *format, ...) noexcept {
  signal_safe_line line;
  line.text("weft: fatal: ");
  va_list arguments;
  va_start(arguments, format);
  append_formatted(line, format, arguments);
  va_end(arguments);
  die(line);
}

void note(const char *format, ...) noexcept {
  signal_safe_line line;
  line.text("weft: ");
  va_list arguments;
  va_start(arguments, format);
  append_formatted(line, format, arguments);
  va_end(arguments);
  line.write();
}

void warn(const char *format, ...) noexcept {
  va_list arguments;
  va_start(arguments, format);
  warn_with(format, arguments);
  va_end(arguments);
}

void warn_once(std::atomic<bool> &warned, const char *format, ...) noexcept {
  if (warned.exchange(true, std::memory_order_relaxed))
    return;
  va_list arguments;
  va_start(arguments, format);
  warn_with(format, arguments);
  va_end(arguments);
}

void check_failed(const char *condition, const char *file, int line,
                  const char *sentence) noexcept {
  signal_safe_line out;
  out.text("weft: fatal: ")
      .text(sentence)
      .text(" [")
      .text(condition)
      .text(" is false at ")
      .text(file);
  out.text(":").decimal(line).text("]");
  die(out);
}

} // namespace rt
} // namespace weft::inline v0
