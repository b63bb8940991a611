// SPDX-License-Identifier: Apache-2.0
// Throwing out of line, so that the paths that may fail stay small.
#pragma once

#include <weft/error.hpp>

namespace weft::inline v0 {
namespace rt {

/// Throws weft::error with a printf-formatted sentence.
[[noreturn]] WEFT_COLD void throw_error(errc code, const char *format, ...) __attribute__((format(printf, 2, 3)));

} // namespace rt
} // namespace weft::inline v0
