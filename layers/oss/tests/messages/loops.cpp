// SPDX-License-Identifier: Apache-2.0
// Loops that the directives for loops cannot take, and their clauses.
void heads(int n, int i, int j) {
#pragma oss taskloop
  for (i = 0, ++j; i < n; ++i) // error 8: the loop of '#pragma oss taskloop' must begin with one variable: i = first
    ;
#pragma oss taskloop
  for (j = 0, i = 1; i < n; ++i) // error 8: the loop of '#pragma oss taskloop' must begin with one variable: i = first
    ;
#pragma oss taskloop
  for (++j, i = 1; i < n; ++i) // error 8: the loop of '#pragma oss taskloop' must begin with one variable: i = first
    ;
#pragma oss taskloop
  for (int i = 0, *q = &j; i < n; ++i) // error 8: the loop of '#pragma oss taskloop' must begin with one variable: i = first
    ;
#pragma oss taskloop
  for (int i = 0; i < n && !j; ++i) // error 19: the condition of the loop of '#pragma oss taskloop' must compare 'i' with a limit by <, <=, >, >= or !=
    ;
#pragma oss taskloop
  for (int i = 0; j && n > i; ++i) // error 19: the condition of the loop of '#pragma oss taskloop' must compare 'i' with a limit by <, <=, >, >= or !=
    ;
#pragma oss taskloop
  for (int i = 0; i < n == j; ++i) // error 19: the condition of the loop of '#pragma oss taskloop' must compare 'i' with a limit by <, <=, >, >= or !=
    ;
#pragma oss taskloop
  for (int i = 0; j == n > i; ++i) // error 19: the condition of the loop of '#pragma oss taskloop' must compare 'i' with a limit by <, <=, >, >= or !=
    ;
#pragma oss taskloop
  for (int i = 0; i < n ? j : 1; ++i) // error 19: the condition of the loop of '#pragma oss taskloop' must compare 'i' with a limit by <, <=, >, >= or !=
    ;
#pragma oss taskloop
  for (int i = 0; i < n, i < j; ++i) // error 19: the condition of the loop of '#pragma oss taskloop' must compare 'i' with a limit by <, <=, >, >= or != // warning 21: relational comparison result unused
    ;
#pragma oss taskloop
  for (int i = 0; i < n; i += 2, j += 2) // error 26: the loop of '#pragma oss taskloop' must step by ++i, --i, i += n or i -= n
    ;
#pragma oss taskloop
  for (int i = 0; i < n; i = i - j + 3) // error 26: the loop of '#pragma oss taskloop' must step by ++i, --i, i += n or i -= n
    ;
#pragma oss taskloop
  for (int i = 0; i < n; i = i + 1 << j) // error 26: the loop of '#pragma oss taskloop' must step by ++i, --i, i += n or i -= n // warning 32: operator '<<' has lower precedence than '+'; '+' will be evaluated first
    ;
#pragma oss taskloop
  for (int i = 0; i < n; i = j << 1 + i) // error 26: the loop of '#pragma oss taskloop' must step by ++i, --i, i += n or i -= n // warning 37: operator '<<' has lower precedence than '+'; '+' will be evaluated first
    ;
#pragma oss taskloop
  for (int i = 0; i < n; i = i + 1, ++j) // error 26: the loop of '#pragma oss taskloop' must step by ++i, --i, i += n or i -= n
    ;
#pragma oss taskloop
  for (int i = 0; i < n; i += j = 2) // error 26: the loop of '#pragma oss taskloop' must step by ++i, --i, i += n or i -= n
    ;
}
template <class T>
T least(T a, T b) {
  return a < b ? a : b;
}
template <int A, int B>
int k_sum = A + B;
void right(int n, long m) {
#pragma oss taskloop
  for (int i = least<int>(n, 3); i < static_cast<int>(m); i += n > 3 ? 2 : 1)
    ;
#pragma oss taskloop
  for (int i = k_sum<1, 2>; n - 1 > i; i = i + n - 1)
    ;
#pragma oss taskloop
  for (int i = 0; i != n << 1; i = n * 2 - 3 + i)
    ;
#pragma oss taskloop
  for (int i = n; n = 3, i > 0; i = i - n * 2) // error 19: the condition of the loop of '#pragma oss taskloop' must compare 'i' with a limit by <, <=, >, >= or !=
    ;
}
void f(int n, double d, int (&v)[8]) {
#pragma oss taskloop
  ++n; // error 3: '#pragma oss taskloop' needs a for loop behind it
#pragma oss task for
  while (n > 0) // error 3: '#pragma oss task for' needs a for loop behind it
    --n;
#pragma oss taskiter
  { // error 3: '#pragma oss taskiter' needs a for or a while loop behind it
    ++n;
  }
#pragma oss taskloop
  for (int x : v) // error 3: the loop of '#pragma oss taskloop' must be for (i = first; i < limit; ++i)
    n += x;
#pragma oss taskloop for
  for (;;) // error 3: the loop of '#pragma oss taskloop for' must begin with one variable: i = first
    ++n;
#pragma oss taskloop
  for (int i = 0, j = 1; i < n; ++i) // error 8: the loop of '#pragma oss taskloop' must begin with one variable: i = first
    ;
#pragma oss taskloop
  for (int i(0); i < n; ++i) // error 8: the loop of '#pragma oss taskloop' must begin with one variable: i = first
    ;
#pragma oss taskloop
  for (int i = 0; n; ++i) // error 19: the condition of the loop of '#pragma oss taskloop' must compare 'i' with a limit by <, <=, >, >= or != // warning 19: variable 'n' used in loop condition not modified in loop body
    ;
#pragma oss taskloop
  for (int i = 0; i * 2 < n; ++i) // error 19: the condition of the loop of '#pragma oss taskloop' must compare 'i' with a limit by <, <=, >, >= or !=
    ;
#pragma oss taskloop
  for (int i = 0; i < n; i *= 2) // error 26: the loop of '#pragma oss taskloop' must step by ++i, --i, i += n or i -= n
    ;
#pragma oss taskloop
  for (int i = 0; i < n; ++n) // error 26: the loop of '#pragma oss taskloop' must step by ++i, --i, i += n or i -= n
    ;
#pragma oss taskloop
  for (int i = 0; i < n; --i) // error 26: the loop of '#pragma oss taskloop' steps away from its limit
    ;
#pragma oss taskloop
  for (double x = 0; x < d; ++x) // error 15: static assertion failed due to requirement '!::std::is_same_v<const weft::oss::no_axis, const weft::oss::no_axis>': the variable of a loop of '#pragma oss', its limit and its step must be integers
    ;
#pragma oss taskloop
  for (int i = 0; i < n; ++i) {
    if (i == 3)
      break; // error 7: 'break' leaves the statement of '#pragma oss taskloop'
    if (i == 4)
      continue;
    if (i == 5)
      return; // error 7: 'return' leaves the statement of '#pragma oss taskloop'
    switch (i) {
    case 6:
      break;
    }
  }
#pragma oss taskiter
  while (n > 0) {
    if (n == 5)
      break; // error 7: 'break' leaves the statement of '#pragma oss taskiter'
  }
#pragma oss taskloop collapse(2)
  for (int i = 0; i < n; ++i)
    v[i] = 0; // error 5: clause 'collapse' of '#pragma oss taskloop' asks for 2 loops, one directly in the other
#pragma oss taskloop collapse(2)
  for (int i = 0; i < n; ++i) {
    ++n; // error 5: clause 'collapse' of '#pragma oss taskloop' asks for 2 loops, one directly in the other
    for (int j = 0; j < n; ++j)
      ;
  }
#pragma oss taskloop collapse(2)
  for (int i = 0; i < n; ++i)
    for (int j = i; j < n; ++j) // error 18: the loops of clause 'collapse' must not depend on each other: 'i'
      ;
#pragma oss taskloop collapse(n) // error 31: clause 'collapse' needs a number of loops from 1 to 9
  for (int i = 0; i < n; ++i)
    ;
#pragma oss taskloop collapse(0) // error 31: clause 'collapse' needs a number of loops from 1 to 9
  for (int i = 0; i < n; ++i)
    ;
#pragma oss taskloop grainsize(d) // error 32: grainsize, chunksize, unroll and update of '#pragma oss' count iterations: the expression must be an integer
  for (int i = 0; i < n; ++i)
    ;
#pragma oss taskloop grainsize(1) grainsize(2) // error 35: clause 'grainsize' appears twice in '#pragma oss taskloop'
  for (int i = 0; i < n; ++i)
    ;
#pragma oss task for grainsize(2) // error 22: clause 'grainsize' does not belong to '#pragma oss task for'
  for (int i = 0; i < n; ++i)
    ;
#pragma oss taskloop unroll(2) // error 22: clause 'unroll' does not belong to '#pragma oss taskloop'
  for (int i = 0; i < n; ++i)
    ;
#pragma oss taskiter unroll(3) // warning 29: clause 'unroll' is ignored: the condition of a while loop is asked after each iteration
  while (n < 3)
    ++n;
#pragma oss taskiter collapse(2) // error 22: clause 'collapse' does not belong to '#pragma oss taskiter'
  for (int i = 0; i < n; ++i)
    ;
#pragma oss taskiter update // error 22: clause 'update' needs an argument: update(...)
  for (int i = 0; i < n; ++i)
    ;
#pragma oss taskloop inout(w[i]) // error 28: use of undeclared identifier 'w'
  for (int i = 0; i < n; ++i)
    ;
#pragma oss taskloop shared(i) // error 29: variable 'i' counts the loop of '#pragma oss taskloop'; it is private without a clause
  for (int i = 0; i < n; ++i)
    ;
#pragma oss taskloop in(i) // error 25: variable 'i' counts the loop of '#pragma oss taskloop'; it is no data for an item
  for (int i = 0; i < n; ++i)
    ;
}
