// SPDX-License-Identifier: Apache-2.0
// What the plugin refuses in C: clauses, items, variables.
struct s {
  int a;
};
int g(void);
void f(int n, int *p, struct s *q) {
#pragma oss task lable("x") // error 18: unknown clause 'lable' of '#pragma oss task'; did you mean 'label'?
  ++n;
#pragma oss task in(n + 1) // error 21: an item of a dependence of '#pragma oss' must be an lvalue: an object that has an address
  ++n;
#pragma oss task in(g()) // error 21: an item of a dependence of '#pragma oss' must be an lvalue: an object that has an address
  ++n;
#pragma oss task in(absent[2]) // error 21: use of undeclared identifier 'absent'
  ++n;
#pragma oss task in(q->b) // error 24: no member named 'b' in 'struct s'
  ++n;
#pragma oss task in(n)
  n = absent; // error 7: use of undeclared identifier 'absent'
#pragma oss task in([]p) // error 21: a shape of clause 'in' needs an extent: [n]p
  ++n;
#pragma oss task shared(n) firstprivate(n) // error 41: variable 'n' is both shared and firstprivate
  ++n;
#pragma oss task default(none) shared(n)
  n += *p; // error 9: variable 'p' is in no clause of '#pragma oss task', which has default(none)
#pragma oss taskwait wait // error 22: clause 'wait' does not belong to '#pragma oss taskwait'
#pragma oss critical
  return; // error 3: 'return' leaves the statement of '#pragma oss critical'
#pragma oss task
  goto out; // error 3: 'goto' leaves the statement of '#pragma oss task'
out:;
  _Alignas(64) int aligned[16];
#pragma oss task
  aligned[0] = 1; // error 3: variable 'aligned' has an alignment of 64 bytes, and the copy of a task in C has 16: share it
#pragma oss task shared(aligned)
  aligned[0] = 1;
#pragma oss lint in(n) // warning 13: '#pragma oss lint' is ignored: it is a note to a checker; the statement behind it runs as it is
  n += 1;
#pragma oss task in({p[i], i=absent;n}, {p[k], k=n:absent}) // error 30: use of undeclared identifier 'absent' // error 52: use of undeclared identifier 'absent'
  ++n;
#pragma oss atomic compare
  n = n == absent ? 1 : n; // error 12: use of undeclared identifier 'absent'
  int grid[n][n];
  __auto_type rows = grid;
  __auto_type whole = &grid;
  int(*typed)[n] = grid;
#pragma oss task
  rows[1][0] = 1; // error 3: the type of variable 'rows' has an extent that is known at run time only, and of an '__auto_type' Clang takes none into a task: write the type
#pragma oss task shared(whole)
  (*whole)[1][0] = 1; // error 5: the type of variable 'whole' has an extent that is known at run time only, and of an '__auto_type' Clang takes none into a task: write the type
#pragma oss task
  typed[1][0] = 1;
#pragma oss task shared(grid)
  grid[1][0] = rows[2][0];
#pragma oss atomic read
  n += 1; // error 3: the statement of '#pragma oss atomic read' must be v = x
}
