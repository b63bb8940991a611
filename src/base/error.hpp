// SPDX-License-Identifier: Apache-2.0
// Functions that throw out of line, so that the paths that may fail stay small.
#pragma once

#include <weft/error.hpp>

#include <string>

namespace weft::inline v0 {
namespace rt {

/// Throws weft::error with a printf-formatted sentence. A bad_setting that nothing catches ends the program with that sentence and exit code 1.
[[noreturn]] WEFT_COLD void throw_error(errc code, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/// Throws weft::error with a text of any length.
[[noreturn]] WEFT_COLD void throw_bad_setting(const std::string &what);

} // namespace rt
} // namespace weft::inline v0
