// SPDX-License-Identifier: Apache-2.0
// Reductions in C: operations, items, declarations.
struct point {
  int x, y;
};
void f(int n, int *p, struct point q, double d, double _Complex c) {
  struct point two = {1, 2}, *w = &two;
#pragma oss task reduction(+ : two.x)
  two.x += two.y; // error 12: variable 'two' leads to the task's copy of 'two.x' alone; name that by a variable of its own, and reduce it
#pragma oss task reduction(+ : w->x) shared(two)
  w->x += (n < w->x) + two.x + w[0].x; // error 32: variable 'w' leads to the task's copy of 'w->x' alone; name that by a variable of its own, and reduce it
#pragma oss task weakreduction(+ : two.x)
  n += two.y + q.x;
#pragma oss task reduction(n) // error 18: clause 'reduction' needs an operation: reduction(+: x)
  ++n;
#pragma oss task reduction(% : n) // error 28: the operation of a reduction must be one of + - * & | ^ && || min max, or the name of a declared one
  ++n;
#pragma oss task reduction(sum : n) // error 34: reduction 'sum' is not declared for type 'int'; write '#pragma oss declare reduction(sum : int : combiner)'
  ++n;
#pragma oss task reduction(one : n) // error 34: reduction 'one' is not declared for type 'int'; write '#pragma oss declare reduction(one : int : combiner)'
  ++n;
#pragma oss task reduction(+ : q) // error 32: reduction '+' is not declared for type 'struct point'; write '#pragma oss declare reduction(+ : struct point : combiner)'
  ++q.x;
#pragma oss task in(n) reduction(| : d) // error 38: reduction '|' is not declared for type 'double'; write '#pragma oss declare reduction(| : double : combiner)'
  ++d;
#pragma oss task weakreduction(max : c) // error 38: reduction 'max' is not declared for type '_Complex double'; write '#pragma oss declare reduction(max : _Complex double : combiner)'
  ++n;
#pragma oss task reduction(+ : p) // error 32: reduction '+' is not declared for type 'int *'; write '#pragma oss declare reduction(+ : int * : combiner)'
  ++p;
#pragma oss task reduction(+ : n) reduction(* : n) // error 49: variable 'n' begins two items of reductions of one task
  ++n;
#pragma oss task reduction(+ : {p[i], i = 0; 4}) // error 33: an item of clause 'reduction' has no iterators: name an array section, v[a;n]
  ++n;
#pragma oss task reduction(+ : n) firstprivate(n) // error 48: variable 'n' is firstprivate and an item of a dependence, which must be shared
  ++n;
#pragma oss task reduction(+ : n + 1) // error 32: an item of a dependence of '#pragma oss' must be an lvalue: an object that has an address
  ++n;
#pragma oss task weakreduction(max : absent) // error 38: use of undeclared identifier 'absent'
  ++n;
#pragma oss taskwait reduction(+ : n) // error 22: clause 'reduction' does not belong to '#pragma oss taskwait'
#pragma oss declare reduction(inner : int : omp_out += omp_in) // error 13: '#pragma oss declare reduction' must be outside of functions in C
#pragma oss task reduction(+ : n) reduction(+ : *p) in(q)
  n += *p;
#pragma oss task reduction(+ : n) default(none)
  n += *p; // error 9: variable 'p' is in no clause of '#pragma oss task', which has default(none)
  _Alignas(32) int aligned[8];
#pragma oss task reduction(+ : aligned[1; 7])
  aligned[1] += n; // error 3: variable 'aligned' has an alignment of 32 bytes, and a task's copy of its elements has theirs: reduce it through a pointer
}
struct links {
  int *q, v[2];
  struct links *next;
};
void paths(int **rows, struct links *s, struct links t, int *p, int i) {
#pragma oss task reduction(+ : rows[i][0;4]) // error 32: an item of a reduction leads through one pointer at most, the variable that it begins with; name a pointer behind that by a variable of its own, and reduce what it points to
  rows[i][0] += 1;
#pragma oss task reduction(+ : *rows[i]) // error 33: an item of a reduction leads through one pointer at most, the variable that it begins with; name a pointer behind that by a variable of its own, and reduce what it points to
  *rows[i] += 1;
#pragma oss task reduction(+ : s->q[0]) // error 32: an item of a reduction leads through one pointer at most, the variable that it begins with; name a pointer behind that by a variable of its own, and reduce what it points to
  s->q[0] += 1;
#pragma oss task reduction(+ : *(t.q + 1)) // error 34: an item of a reduction leads through one pointer at most, the variable that it begins with; name a pointer behind that by a variable of its own, and reduce what it points to
  t.q[1] += 1;
#pragma oss task reduction(+ : [4] s->q) // error 32: an item of a reduction leads through one pointer at most, the variable that it begins with; name a pointer behind that by a variable of its own, and reduce what it points to
  s->q[0] += 1;
#pragma oss task reduction(+ : s->next->v[1]) // error 32: an item of a reduction leads through one pointer at most, the variable that it begins with; name a pointer behind that by a variable of its own, and reduce what it points to
  s->next->v[1] += 1;
#pragma oss task reduction(+ : *(s->v + 1)) reduction(+ : *(int *)t.v)
  *(s->v + 1) += *(int *)t.v;
#pragma oss task reduction(+ : (i ? p : t.q)[0]) // error 32: an item of a reduction leads through one pointer at most, the variable that it begins with; name a pointer behind that by a variable of its own, and reduce what it points to
  p[0] += i;
#pragma oss task reduction(+ : s->v[1]) reduction(+ : t.v[0;2]) reduction(+ : (*(p + 2)))
  s->v[1] += t.v[0] + *(p + 2);
#pragma oss task weakreduction(+ : rows[i][0;4])
  {
    int *row = rows[i];
#pragma oss task reduction(+ : row[0;4]) reduction(+ : *(int *)s->v)
    row[0] += 1;
  }
}
int total;
#pragma oss task reduction(+ : count) // error 32: an item of a task function must be what a pointer among its parameters refers to, and 'count' is a copy
void g(int count);
#pragma oss task reduction(+ : total) // error 32: an item of a reduction of a task function must begin with a parameter: the function would not find the copy of 'total'
void h(int count);
#pragma oss task weakreduction(+ : total)
void k(int count);
#pragma oss declare reduction // error 13: '#pragma oss declare reduction' needs a bracket: it is declare reduction(name : type : combiner)
#pragma oss declare reduction(sum : int, : omp_out += omp_in) // error 30: '#pragma oss declare reduction' has an empty type
#pragma oss declare reduction(sum : int : out += in) // error 43: use of undeclared identifier 'out' // error 50: use of undeclared identifier 'in'
#pragma oss declare reduction(product : int : omp_out *= omp_in) initializer(omp_priv = one) // error 89: use of undeclared identifier 'one'
#pragma oss declare reduction(product : int : omp_out *= omp_in) // error 41: this reduction is declared already for type 'int'
#pragma oss declare reduction(product : struct nothing : omp_out *= omp_in) // error 41: field has incomplete type 'weft_oss_type_30' (aka 'struct nothing')
