// SPDX-License-Identifier: Apache-2.0
// A recursion without a cut-off: small tasks run in place, by what they cost.
#include <cstdio>
#include <weft/weft.hpp>

static long leaves(int depth) {
  if (depth == 0)
    return 1;
  long left = 0;
  weft::spawn([&left, depth] { left = leaves(depth - 1); }, weft::cost(1UL << depth),
              weft::may_inline);
  const long right = leaves(depth - 1);
  weft::taskwait();
  return left + right;
}

int main() {
  const long found = leaves(16);
  std::printf("%ld leaves\n", found);
  return found == 1L << 16 ? 0 : 1;
}
