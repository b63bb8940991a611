// SPDX-License-Identifier: Apache-2.0
// Functions of C that cannot be tasks, and items that are no data of the caller.
struct s {
  int a[2];
};
typedef int size;
#pragma oss task in(*p)
int value(int *p); // error 5: '#pragma oss task' on a function that returns a value is not possible: nothing would wait for the value; return void, and write through a pointer
#pragma oss task inout(n) // error 24: an item of a task function must be what a pointer among its parameters refers to, and 'n' is a copy
void copied(int n);
#pragma oss task inout(p) // error 24: an item of a task function must be what a pointer among its parameters refers to, and 'p' is a copy
void pointer(int *p);
#pragma oss task inout(v.a[1]) // error 24: an item of a task function must be what a pointer among its parameters refers to, and 'v' is a copy
void member(struct s v);
#pragma oss task inout(v[0]) in([n]w)
void elements(int n, int v[], const int w[n]);
#pragma oss task in(*absent) // error 22: use of undeclared identifier 'absent'
void missing(int *p);
#pragma oss task
void unnamed(int *); // error 14: '#pragma oss task' needs the names of the function's parameters
#pragma oss task
void no_name_of_struct(struct s); // error 24: '#pragma oss task' needs the names of the function's parameters
#pragma oss task
void no_name_of_type(int *p, size); // error 30: '#pragma oss task' needs the names of the function's parameters
#pragma oss task
void no_name_of_function(void (*)(int)); // error 26: '#pragma oss task' needs the names of the function's parameters
#pragma oss task
_Bool truth(int *p); // error 7: '#pragma oss task' on a function that returns a value is not possible: nothing would wait for the value; return void, and write through a pointer
#pragma oss task inout(*p)
void first(int *p) __attribute__((nonnull(1), cold)), second(int *p); // error 53: '#pragma oss task' is on one function; declare the others by declarations of their own
#pragma oss task
void any(int n, ...); // error 17: '#pragma oss task' on a function with any number of arguments is not possible
#pragma oss task shared(p) // error 9: clause 'shared' does not belong to a task on a function: its parameters say what is copied
void sharing(int *p);
#pragma oss task inout(*p)
static inline void defined(int *p) { absent_name(p); } // error 38: call to undeclared function 'absent_name'; ISO C99 and later do not support implicit function declarations
void use(int *p) {
  defined(p);
  elements("text"); // error 18: too few arguments to function call, expected 3, have 1
}
