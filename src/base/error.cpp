// SPDX-License-Identifier: Apache-2.0
#include "base/error.hpp"

#include "base/log.hpp"

#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <new>

namespace weft::inline v0 {

constexpr int k_codes = static_cast<int>(errc::rank_lost);

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
  case errc::rank_lost:
    return "rank_lost";
  }
  return "unknown";
}

error::error(errc code, const std::string &what) : std::runtime_error(what), m_code(code) {}
error::~error() = default;

namespace rt {
namespace {

/// Returns an error to throw where there is no memory for an error's text: copying it takes none.
const error *spare_error(errc code) noexcept {
  static const error *const all = [] {
    auto *errors = static_cast<error *>(
        ::operator new(sizeof(error) * k_codes)); // never destroyed: threads may fail while we exit
    for (int i = 0; i < k_codes; ++i)
      ::new (static_cast<void *>(errors + i))
          error(static_cast<errc>(i + 1),
                "no memory is left, not even to say what failed; see the code of this error");
    return errors;
  }();
  return all + (static_cast<int>(code) - 1);
}
std::terminate_handler g_handler_before = nullptr; // written before ours is installed

/// Ends a program whose setting is wrong without abort and core, because the user can correct the
/// setting.
[[noreturn]] void end_for_bad_setting() noexcept {
  try {
    if (const std::exception_ptr uncaught = std::current_exception())
      std::rethrow_exception(uncaught);
  } catch (const error &e) {
    if (e.code() == errc::bad_setting) {
      std::fflush(nullptr);
      signal_safe_line().text("weft: error: ").text(e.what()).write();
      std::_Exit(1);
    }
  } catch (...) { // as before
  }
  if (g_handler_before)
    g_handler_before();
  std::abort();
}

void end_in_one_line_if_uncaught() noexcept {
  static const bool installed = [] {
    g_handler_before = std::get_terminate();
    std::set_terminate(&end_for_bad_setting);
    return true;
  }();
  static_cast<void>(installed);
}

[[maybe_unused]] const error *const g_made_at_load = spare_error(errc::out_of_resources);

} // namespace

void throw_error(errc code, const char *format, ...) {
  char text[1000];
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  if (code == errc::bad_setting)
    end_in_one_line_if_uncaught();
  try {
    throw error(code, text);
  } catch (const std::bad_alloc &) { // callers tell errors apart by code
    throw error(*spare_error(code));
  }
}

void throw_bad_setting(const std::string &what) {
  end_in_one_line_if_uncaught();
  throw error(errc::bad_setting, what);
}

} // namespace rt
} // namespace weft::inline v0
