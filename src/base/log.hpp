// SPDX-License-Identifier: Apache-2.0
// Messages on stderr: whole lines, one write(2) each; every line starts with "weft: ".
#pragma once

#include <weft/config.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace weft::inline v0 {
namespace rt {

/// Builds a line without malloc, locale or locks, so that a signal handler may use it. Cuts off
/// what does not fit.
class signal_safe_line {
 public:
  signal_safe_line &text(std::string_view text) noexcept;
  signal_safe_line &decimal(std::int64_t value) noexcept;
  signal_safe_line &hex(std::uint64_t value) noexcept;
  signal_safe_line &pointer(const void *p) noexcept;

  [[nodiscard]] std::string_view view() const noexcept { return {m_buffer, m_size}; }

  /// Writes the line and a newline to `fd` and starts afresh. errno is kept.
  void write(int fd = 2) noexcept;

 private:
  static constexpr std::size_t k_capacity = 1000;
  char m_buffer[k_capacity + 1]; // one more for the newline
  std::size_t m_size = 0;
};

/// Adds to a line of fatal() where it happened (the running task, the configuration). Must be
/// signal-safe.
using fatal_context = void (*)(signal_safe_line &line) noexcept;
void set_fatal_context(fatal_context add) noexcept;

/// Prints "weft: fatal: ..." and aborts.
[[noreturn]] WEFT_COLD void fatal(const char *format, ...) noexcept
    __attribute__((format(printf, 1, 2)));

/// Prints "weft: ...", for output that the user has asked for.
WEFT_COLD void note(const char *format, ...) noexcept __attribute__((format(printf, 1, 2)));

/// Prints "weft: warning: ...".
WEFT_COLD void warn(const char *format, ...) noexcept __attribute__((format(printf, 1, 2)));

/// Prints a warning, but only for the first caller that passes this flag.
WEFT_COLD void warn_once(std::atomic<bool> &warned, const char *format, ...) noexcept
    __attribute__((format(printf, 2, 3)));

[[noreturn]] WEFT_COLD void check_failed(const char *condition, const char *file, int line,
                                         const char *sentence) noexcept;

} // namespace rt
} // namespace weft::inline v0

/// Stops the program with `sentence` when `condition` is false; in every build.
#define WEFT_CHECK(condition, sentence)                                                            \
  ((condition) ? static_cast<void>(0)                                                              \
               : ::weft::rt::check_failed(#condition, __FILE__, __LINE__, sentence))

/// Stops the program in the same way, in debug builds only.
#ifdef NDEBUG
#define WEFT_ASSERT(condition, sentence) static_cast<void>(sizeof((condition) ? 1 : 0))
#else
#define WEFT_ASSERT(condition, sentence) WEFT_CHECK(condition, sentence)
#endif
