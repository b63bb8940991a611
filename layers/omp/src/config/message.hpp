// SPDX-License-Identifier: Apache-2.0
// Messages to the user: one line each, on standard error.
#pragma once

namespace weft_omp {

/// Prints an error and ends the program.
[[noreturn, gnu::format(printf, 1, 2)]] void fatal(const char *format, ...) noexcept;
/// Prints a warning.
[[gnu::format(printf, 1, 2)]] void warn(const char *format, ...) noexcept;

} // namespace weft_omp
