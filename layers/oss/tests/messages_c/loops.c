// SPDX-License-Identifier: Apache-2.0
// Loops that the directives for loops cannot take in C, and their clauses.
struct s {
  int a;
};
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
void f(int n, double d, int *v, struct s x) {
  int m[n];
#pragma oss taskloop
  ++n; // error 3: '#pragma oss taskloop' needs a for loop behind it
#pragma oss task for
  while (n > 0) // error 3: '#pragma oss task for' needs a for loop behind it
    --n;
#pragma oss taskloop for
  for (;;) // error 3: the loop of '#pragma oss taskloop for' must begin with one variable: i = first
    ++n;
#pragma oss taskloop
  for (int i = 0, j = 1; i < n; ++i) // error 8: the loop of '#pragma oss taskloop' must begin with one variable: i = first
    ;
#pragma oss taskloop
  for (int i = 0; i * 2 < n; ++i) // error 19: the condition of the loop of '#pragma oss taskloop' must compare 'i' with a limit by <, <=, >, >= or !=
    ;
#pragma oss taskloop
  for (int i = 0; i < n; i *= 2) // error 26: the loop of '#pragma oss taskloop' must step by ++i, --i, i += n or i -= n
    ;
#pragma oss taskloop
  for (int i = 0; i < n; --i) // error 26: the loop of '#pragma oss taskloop' steps away from its limit
    ;
#pragma oss taskloop
  for (double i = 0; i < n; ++i) // error 15: the variable of a loop of '#pragma oss', its limit and its step must be integers
    ;
#pragma oss task for
  for (int i = 0; i < d; ++i) // error 12: the variable of a loop of '#pragma oss', its limit and its step must be integers
    ;
#pragma oss taskloop for
  for (int i = 0; i < n; i += d) // error 12: the variable of a loop of '#pragma oss', its limit and its step must be integers
    ;
#pragma oss taskloop
  for (int *i = v; i < v + n; ++i) // error 13: the variable of a loop of '#pragma oss', its limit and its step must be integers
    ;
#pragma oss taskloop
  for (int i = absent; i < n; ++i) // error 16: use of undeclared identifier 'absent'
    ;
#pragma oss taskloop
  for (absent = 0; absent < n; ++absent) // error 8: use of undeclared identifier 'absent'
    ;
#pragma oss taskloop
  for (int i = 0; i < x; ++i) // error 23: invalid operands to binary expression ('struct s' and 'int')
    ;
#pragma oss task for
  for (int i = 0; i < n; ++i) {
    if (i == 3)
      break; // error 7: 'break' leaves the statement of '#pragma oss task for'
    if (i == 4)
      continue;
    if (i == 5)
      return; // error 7: 'return' leaves the statement of '#pragma oss task for'
  }
#pragma oss taskloop collapse(2)
  for (int i = 0; i < n; ++i)
    v[i] = 0; // error 5: clause 'collapse' of '#pragma oss taskloop' asks for 2 loops, one directly in the other
#pragma oss task for collapse(2)
  for (int i = 0; i < n; ++i)
    for (int j = i; j < n; ++j) // error 18: the loops of clause 'collapse' must not depend on each other: 'i'
      ;
#pragma oss taskloop grainsize(d) // error 32: grainsize, chunksize, unroll and update of '#pragma oss' count iterations: the expression must be an integer
  for (int i = 0; i < n; ++i)
    ;
#pragma oss task for chunksize(absent) // error 32: use of undeclared identifier 'absent'
  for (int i = 0; i < n; ++i)
    ;
#pragma oss task for grainsize(2) // error 22: clause 'grainsize' does not belong to '#pragma oss task for'
  for (int i = 0; i < n; ++i)
    ;
#pragma oss taskloop inout(w[i]) // error 28: use of undeclared identifier 'w'
  for (int i = 0; i < n; ++i)
    ;
#pragma oss taskloop in({w[i + k], k = 0; 2}) // error 26: use of undeclared identifier 'w'
  for (int i = 0; i < n; ++i)
    ;
#pragma oss taskloop shared(i) // error 29: variable 'i' counts the loop of '#pragma oss taskloop'; it is private without a clause
  for (int i = 0; i < n; ++i)
    ;
#pragma oss task for in(i) // error 25: variable 'i' counts the loop of '#pragma oss task for'; it is no data for an item
  for (int i = 0; i < n; ++i)
    ;
#pragma oss taskiter
  { // error 3: '#pragma oss taskiter' needs a for or a while loop behind it
  }
#pragma oss taskiter unroll(3) // warning 29: clause 'unroll' is ignored: the condition of a while loop is asked after each iteration
  while (n < 3)
    ++n;
#pragma oss taskiter collapse(2) // error 22: clause 'collapse' does not belong to '#pragma oss taskiter'
  while (n)
    ;
#pragma oss taskiter unroll(d) // error 29: grainsize, chunksize, unroll and update of '#pragma oss' count iterations: the expression must be an integer // warning 29: clause 'unroll' is ignored: the condition of a while loop is asked after each iteration
  while (n)
    ;
#pragma oss taskiter
  while (x) // error 10: used type 'struct s' where arithmetic or pointer type is required
    ;
#pragma oss taskiter
  while (absent) // error 10: use of undeclared identifier 'absent'
    ;
#pragma oss taskiter
  for (int i = 0; i < n; ++i)
    break; // error 5: 'break' leaves the statement of '#pragma oss taskiter'
#pragma oss taskiter default(none)
  while (n) // error 10: variable 'n' is in no clause of '#pragma oss taskiter', which has default(none)
    ;
#pragma oss taskloop default(none) inout(m[i])
  for (int i = 0; i < n; ++i)
    m[i] = n; // error 12: variable 'n' is in no clause of '#pragma oss taskloop', which has default(none)
}
