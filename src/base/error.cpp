// SPDX-License-Identifier: Apache-2.0
#include "base/error.hpp"

#include <cstdarg>
#include <cstdio>
#include <new>

namespace weft::inline v0 {

const char *to_string(errc code) noexcept {
  switch (code) {
  case errc::invalid_argument:
    return "invalid_argument";
  case errc::bad_setting:
    return "bad_setting";
  case errc::out_of_resources:
    return "out_of_resources";
  case errc::not_a_task:
    return "not_a_task";
  case errc::no_block:
    return "no_block";
  case errc::event_underflow:
    return "event_underflow";
  case errc::shut_down:
    return "shut_down";
  case errc::deadlock:
    return "deadlock";
  case errc::already_started:
    return "already_started";
  case errc::cancelled:
    return "cancelled";
  case errc::not_supported:
    return "not_supported";
  }
  return "unknown";
}

error::error(errc code, const std::string &what) : std::runtime_error(what), m_code(code) {}
error::~error() = default;

const char *error::what() const noexcept {
  const char *const text = std::runtime_error::what();
  return *text ? text : to_string(m_code);
}

namespace rt {

void throw_error(errc code, const char *format, ...) {
  char text[1000];
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  try {
    throw error(code, text);
  } catch (const std::bad_alloc &) { // callers tell errors apart by code
    throw error(code);
  }
}

} // namespace rt
} // namespace weft::inline v0
