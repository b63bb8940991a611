// SPDX-License-Identifier: Apache-2.0
// No exception leaves a C function: guarded() turns every exception into a code, and keeps its text
// for weft_last_error_message().
// Bodies: error.cpp, loop.cpp, reduction.cpp, task.cpp
#pragma once

#include "base/error.hpp"

#include <weft.h>
#include <weft/weft.hpp>

#include <algorithm>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <string>

namespace weft::inline v0 {
namespace rt {

/// Carries a C body's code on its way through the runtime.
class c_failure : public std::runtime_error {
 public:
  c_failure(int code, const char *what) : std::runtime_error(what), m_code(code) {}
  [[nodiscard]] int code() const noexcept { return m_code; }

 private:
  int m_code;
};

/// Throws c_failure with a sentence that names the running task.
[[noreturn]] WEFT_COLD void throw_body_failed(int code);

/// Returns the code of a failed body. Only a handler may call it.
[[nodiscard]] int code_of_current_exception() noexcept;

/// Keeps the text of the exception for this thread and returns the C function's result; sets `code`
/// when a body failed. Only a handler may call it.
[[nodiscard]] WEFT_COLD int report_current_exception(int *code) noexcept;

/// Keeps a text for weft_last_error_message() on this thread and returns `status`.
WEFT_COLD int report(int status, const char *text) noexcept;

template <class F>
int guarded_code(int *code, F &&f) noexcept {
  if (code)
    *code = 0;
  try {
    f();
    return WEFT_OK;
  } catch (...) {
    return report_current_exception(code);
  }
}
template <class F>
int guarded(F &&f) noexcept {
  return guarded_code(nullptr, static_cast<F &&>(f));
}

/// Refuses a null argument: "weft_group_wait: 'group' is NULL; ...".
inline void require(const void *pointer, const char *function, const char *parameter) {
  if (!pointer)
    throw_error(errc::invalid_argument, "%s: '%s' is NULL; it must point to an object", function,
                parameter);
}
/// Returns what the core knows of a reduction; the result refers to `reduction`.
[[nodiscard]] detail::reduction_spec c_reduction(const weft_reduction &reduction) noexcept;
/// Reads what the caller of weft_spawn() knows of the options, and refuses what this version does not know.
[[nodiscard]] weft_spawn_options known_spawn_options(const weft_spawn_options *from,
                                                     unsigned more_flags = 0);

/// Returns the options in the form of the core.
[[nodiscard]] detail::spawn_options core_options(const weft_spawn_options &from) noexcept;
/// Lets one worker at a time run the chunks of a prepared loop where reductions are in place; `t` may be another task.
void note_reduction(detail::task &t) noexcept;
/// Lets one worker run the chunks of a prepared loop, whose weak accesses order what they spawn; `t` may be another task.
void note_weak(detail::task &t) noexcept;

/// Returns enum weft_access_mode of a mode that may hold a size.
[[nodiscard]] constexpr int bare_mode(int mode) noexcept {
  return mode >= WEFT_SIZED ? mode & 0xff : mode;
}
/// Returns the size that the mode of an access holds; 1: it holds none.
[[nodiscard]] constexpr std::uint32_t size_in_mode(int mode) noexcept {
  if (mode < WEFT_SIZED)
    return 1;
  const std::uint64_t n = (static_cast<std::uint32_t>(mode) & ~std::uint32_t{WEFT_SIZED | WEFT_SIZED_IN_PAGES}) >> 8;
  return static_cast<std::uint32_t>(
      mode & WEFT_SIZED_IN_PAGES ? std::min<std::uint64_t>(n * 4096, UINT32_MAX) : n);
}

/// Says whether an access or a region of a list, which may be null, is weak.
template <class Named>
[[nodiscard]] bool has_weak(const Named *list, std::size_t count) noexcept {
  for (std::size_t i = 0; list && i != count; ++i)
    if (detail::is_weak(static_cast<access_mode>(bare_mode(list[i].mode))))
      return true;
  return false;
}

template <class Body>
void require_body(Body *body, const char *function) {
  if (!body)
    throw_error(errc::invalid_argument, "%s: the function to call is NULL", function);
}

/// Writes a text, cut to the buffer and ended by a zero.
inline void give_text(const char *function, const std::string &text, char *buffer, size_t size,
                      size_t *needed) {
  require(needed, function, "needed");
  if (size)
    require(buffer, function, "buffer");
  *needed = text.size() + 1;
  if (!size)
    return;
  const size_t n = std::min(size - 1, text.size());
  std::memcpy(buffer, text.data(), n);
  buffer[n] = '\0';
}

} // namespace rt
} // namespace weft::inline v0

struct weft_group {
  explicit weft_group(weft::exception_policy policy) : group(policy) {}
  weft::task_group group;
  std::exception_ptr failure; // what the last wait gave
};

struct weft_handle {
  ~weft_handle() {
    if (task)
      weft::detail::task_drop_handle(task);
  }
  weft::detail::task *task = nullptr;
  bool asked = false;
  std::exception_ptr failure; // of the task, once asked
};
