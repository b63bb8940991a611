// SPDX-License-Identifier: Apache-2.0
// Jumps out of the statement behind a pragma, around pragmas of the compiler, attributes, and tasks inside.
int f(int n, int x) {
#pragma oss task inout(n)
  {
#pragma unroll
    for (int i = 0; i < 3; ++i) {
      ++n;
    }
    return 0; // error 5: 'return' leaves the statement of '#pragma oss task'
  }
#pragma oss taskloop
  for (int i = 0; i < 40; ++i) {
#pragma GCC unroll 2
    for (int j = 0; j < 2; ++j) {
      break;
    }
    if (i == 5)
      break; // error 7: 'break' leaves the statement of '#pragma oss taskloop'
#pragma oss task inout(n)
    for (;;) {
      ++n;
      break;
    }
    if (i == 6)
      break; // error 7: 'break' leaves the statement of '#pragma oss taskloop'
    __attribute__((nomerge)) if (f(n, x))
      goto out; // error 7: 'goto' leaves the statement of '#pragma oss taskloop'
  }
out:;
#pragma oss task
  {
    while (x)
      if (n)
        ++n;
      else
        break;
    for (;;)
    in:
      if (n)
        break;
      else if (x)
        goto in;
      else
        continue;
    switch (n)
    case 1:
      break;
    if (x)
      ++n;
    else
      break; // error 7: 'break' leaves the statement of '#pragma oss task' // error 7: 'break' statement not in loop or switch statement
  }
  return n;
}
