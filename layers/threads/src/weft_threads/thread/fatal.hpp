// SPDX-License-Identifier: Apache-2.0
// The end of a program whose threads cannot go on.
#pragma once

#include <cstdio>
#include <cstdlib>

namespace weft_threads {

/// Prints an error and ends the program.
[[noreturn]] inline void fatal(const char *what) noexcept {
  std::fprintf(stderr, "weft: %s\n", what);
  std::abort();
}

} // namespace weft_threads
