// SPDX-License-Identifier: Apache-2.0
// How a unit ends before its function returns: by an exception, which unwinds its stack.
#pragma once

#include "misuse.hpp"

#include <cxxabi.h>
#include <exception>
#include <typeinfo>

namespace weft_glt {

/// Unwinds the stack of a unit that ends early.
struct unit_ends {};

/// Returns whether destructors of the caller run because of an exception: a further one would end
/// the process.
[[nodiscard]] inline bool is_unwound() noexcept { return std::uncaught_exceptions() != 0; }

/// Returns whether the caller ends early already: it is unwound, or handles the exception by which
/// it ends.
[[nodiscard]] inline bool ends_already() noexcept {
  const std::type_info *const handled = abi::__cxa_current_exception_type();
  return is_unwound() || (handled && *handled == typeid(unit_ends));
}

/// Ends the unit. `has_ended`: its function has, and its values are destroyed.
[[noreturn]] inline void end_early(const char *call, bool has_ended) {
  if (has_ended || is_unwound())
    misuse(call, "the caller ends already, and runs destructors; return from the destructor");
  throw unit_ends{};
}

} // namespace weft_glt
