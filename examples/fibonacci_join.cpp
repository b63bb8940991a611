// SPDX-License-Identifier: Apache-2.0
// Divide and conquer: join() runs two calls, possibly in parallel, and allocates nothing.
#include <weft/weft.hpp>

#include <cstdio>

static long fibonacci(int n) {
  if (n < 2)
    return n;
  long left = 0, right = 0;
  weft::join([&] { left = fibonacci(n - 1); }, [&] { right = fibonacci(n - 2); });
  return left + right;
}

int main() {
  const long result = fibonacci(25);
  std::printf("fibonacci(25) = %ld\n", result);
  return result == 75025 ? 0 : 1;
}
