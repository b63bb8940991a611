// SPDX-License-Identifier: Apache-2.0
// What the layer has to say to the user, in a line on standard error.
#pragma once

namespace weft_omp {

/// An error that ends the program.
[[noreturn, gnu::format(printf, 1, 2)]] void fatal(const char *format, ...) noexcept;
[[gnu::format(printf, 1, 2)]] void warn(const char *format, ...) noexcept;

} // namespace weft_omp
