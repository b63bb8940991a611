// SPDX-License-Identifier: Apache-2.0
#include "misuse.hpp"

#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include <unistd.h>

namespace weft_glt {

namespace {

/// Writes one whole line by one call, so that lines of several threads do not mix.
void put(const char *prefix, const char *call, const char *format, va_list arguments) noexcept {
  char line[1000];
  std::snprintf(line, sizeof line, "weft: %s%s: ", prefix, call);
  const std::size_t begun = std::strlen(line);
  std::vsnprintf(line + begun, sizeof line - begun - 1, format, arguments);
  std::strcat(line, "\n");
  [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, line, std::strlen(line));
}

} // namespace

void misuse(const char *call, const char *format, ...) noexcept {
  va_list arguments;
  va_start(arguments, format);
  put("", call, format, arguments);
  va_end(arguments);
  std::abort();
}

void note(const char *call, const char *format, ...) noexcept {
  va_list arguments;
  va_start(arguments, format);
  put("note: ", call, format, arguments);
  va_end(arguments);
}

} // namespace weft_glt
