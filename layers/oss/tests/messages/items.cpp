// SPDX-License-Identifier: Apache-2.0
// Items: no lvalues, shapes, sections and iterators that are not complete. Errors of the compiler keep the user's line and column.
int g();
struct s {
  int a;
};
void f(int n, int *p, s *q) {
#pragma oss task in(n + 1) // error 21: an item of a dependence of '#pragma oss' must be an lvalue: an object that has an address
  ++n;
#pragma oss task in(g()) // error 21: an item of a dependence of '#pragma oss' must be an lvalue: an object that has an address
  ++n;
#pragma oss task in(absent[2]) // error 21: use of undeclared identifier 'absent'
  ++n;
#pragma oss task reduction(+ : absent) // error 32: use of undeclared identifier 'absent'
  ++n;
#pragma oss task in(p[absent;2], p[other:n]) // error 23: use of undeclared identifier 'absent' // error 36: use of undeclared identifier 'other'
  ;
#pragma oss task in(q->b) // error 24: no member named 'b' in 's'
  ++n;
#pragma oss task in(n)
  n = absent; // error 7: use of undeclared identifier 'absent'
#pragma oss task in([]p) // error 21: a shape of clause 'in' needs an extent: [n]p
  ++n;
#pragma oss task in([3]) // error 21: a shape of clause 'in' needs a pointer behind it: [n]p
  ++n;
#pragma oss task in(p[0;]) // error 22: the array section '[first;count]' needs a count
  ++n;
#pragma oss task in(p[]) // error 23: expected expression
  ++n;
#pragma oss task in(p[0;3].a) // error 27: nothing may follow the array section of an item
  ++n;
#pragma oss task in(p[0;3][0;3][0;3][0;3]) // error 21: an item has at most three dimensions
  ++n;
#pragma oss task in({p[n]}) // error 21: a multi-dependence needs an item and an iterator: {v[i], i=0;n}
  ++n;
#pragma oss task in({p[i], i=0}) // error 28: iterator 'i' needs a first value and a count or a last value: i=first;count or i=first:last
  ++n;
#pragma oss task in({p[i], 3}) // error 28: an iterator of a multi-dependence is 'i=first;count', 'i=first:last', 'i=first:last:step' or 'i={a, b}'
  ++n;
#pragma oss task in({p[i], i=0;n}.x) // error 21: a multi-dependence ends with its brace: {v[i], i=0;n}
  ++n;
}
// Arrays whose extent is known at run time only.
#pragma clang diagnostic ignored "-Wvla-extension"
void extents(int n) {
  double v[n];
#pragma oss task // error 9: a task of C++ cannot copy an array whose extent is known at run time only: share it, or use a pointer to its first element
  v[0] = 1;
#pragma oss task firstprivate(v) // error 31: a task of C++ cannot copy an array whose extent is known at run time only: share it, or use a pointer to its first element
  v[0] = 1;
#pragma oss task inout(v[0]) // error 24: in C++ an item of a dependence of '#pragma oss' must not be in an array whose extent is known at run time only: use a pointer to its first element
  v[0] = 1;
#pragma oss task inout(v) // error 24: in C++ an item of a dependence of '#pragma oss' must not be in an array whose extent is known at run time only: use a pointer to its first element
  v[0] = 1;
#pragma oss task shared(v)
  v[0] = 1;
}
template <class T>
void extents_of(T n) {
  double v[n];
#pragma oss task // error 9: a task of C++ cannot copy an array whose extent is known at run time only: share it, or use a pointer to its first element
  v[0] = 1;
}
template void extents_of(int);
