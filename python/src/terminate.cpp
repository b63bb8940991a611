// SPDX-License-Identifier: Apache-2.0
// What ends a process in which nothing catches an exception of a library of the wheel. Each of these
// libraries has an archive of the C++ library inside. That one's own function names the exception,
// for which it takes 50 KiB to read the names of types.
#include <cstdlib>

#include <unistd.h>

namespace __gnu_cxx {

void __verbose_terminate_handler() { // NOLINT(bugprone-reserved-identifier)
  constexpr char text[] = "weft: an exception inside of Weft was not caught\n";
  if (write(STDERR_FILENO, text, sizeof text - 1) < 0) {
  }
  std::abort();
}

} // namespace __gnu_cxx
