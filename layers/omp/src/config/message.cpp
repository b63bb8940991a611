// SPDX-License-Identifier: Apache-2.0
#include "config/message.hpp"

#include "abi/flavor.hpp"

#include <cstdarg>
#include <cstdio>
#include <cstdlib>

namespace weft_omp {
namespace {

void say(const char *what, const char *format, va_list arguments) noexcept {
  char text[512];
  std::vsnprintf(text, sizeof text, format, arguments);
  std::fprintf(stderr, "%s%s\n", what, text);
}

} // namespace

void fatal(const char *format, ...) noexcept {
  va_list arguments;
  va_start(arguments, format);
  say(is_of_llvm() ? "OMP: Error #0: weft-omp: " : "weft-omp: ", format, arguments);
  va_end(arguments);
  std::abort();
}

void warn(const char *format, ...) noexcept {
  va_list arguments;
  va_start(arguments, format);
  say(is_of_llvm() ? "OMP: Warning #0: weft-omp: " : "weft-omp: ", format,
      arguments); // users search for the first words
  va_end(arguments);
}

} // namespace weft_omp
