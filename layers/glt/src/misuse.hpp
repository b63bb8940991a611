// SPDX-License-Identifier: Apache-2.0
// What the functions say about a misuse, and how they call Weft.
#pragma once

#include <weft/error.hpp>

#include <new>

namespace weft_glt {

/// Prints "weft: CALL: ..." on standard error and aborts.
[[noreturn, gnu::cold, gnu::format(printf, 2, 3)]] void misuse(const char *call, const char *format,
                                                               ...) noexcept;
/// Prints "weft: note: CALL: ..." on standard error.
[[gnu::cold, gnu::format(printf, 2, 3)]] void note(const char *call, const char *format,
                                                   ...) noexcept;

/// Calls `f`, which may use Weft. An error of Weft is a misuse of `call`.
template <class F>
decltype(auto) in_weft(const char *call, F &&f) {
  try {
    return f();
  } catch (const weft::error &e) {
    misuse(call, "%s", e.what());
  } catch (const std::bad_alloc &) {
    misuse(call, "no memory is left; create fewer objects at a time");
  }
}

/// Refuses a null pointer argument.
inline void require(const char *call, const void *argument, const char *what) noexcept {
  if (!argument) [[unlikely]]
    misuse(call, "%s is NULL; pass the address of a variable", what);
}

} // namespace weft_glt
