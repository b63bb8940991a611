// SPDX-License-Identifier: Apache-2.0
// Functions that cannot be tasks, and items that are no data of the caller.
#pragma oss task in(*p)
int value(int *p); // error 5: '#pragma oss task' on a function that returns a value is not possible: nothing would wait for the value; return void, and write through a pointer
struct oss_coroutine;
#pragma oss task in(*p)
oss_coroutine suspending(int *p); // error 1: '#pragma oss task' on a coroutine ('oss_coroutine') is not possible: return void; a task that waits or blocks gives its worker away without it
#pragma oss task in(*p)
auto suspending_too(int *p) -> oss_coroutine; // error 32: '#pragma oss task' on a coroutine ('oss_coroutine') is not possible: return void; a task that waits or blocks gives its worker away without it
struct elements {
  double *data();
  unsigned long size();
};
#pragma oss task reduction(+ : v[0;2]) // error 32: static assertion failed due to requirement '!::weft::oss::has_elements<elements &>': an item of a reduction of a task function must not be in a container: the function takes that itself; pass a pointer to the elements // error 9: non-const lvalue reference to type 'elements' cannot bind to a value of unrelated type 'weft::oss::own_elements<double>'
void container(elements &v);
struct type;
#pragma oss task in(*p)
type *pointer_to(int *p); // error 7: '#pragma oss task' on a function that returns a value is not possible: nothing would wait for the value; return void, and write through a pointer
namespace in_namespace {
#pragma oss task in(*p)
const type &&reference_to(int *p); // error 14: '#pragma oss task' on a function that returns a value is not possible: nothing would wait for the value; return void, and write through a pointer
}
struct in_class {
#pragma oss task in(*p)
  type &reference_to(int *p); // error 9: '#pragma oss task' on a function that returns a value is not possible: nothing would wait for the value; return void, and write through a pointer
};
#pragma oss task
auto trailing(int *p) -> int *; // error 6: '#pragma oss task' on a function that returns a value is not possible: nothing would wait for the value; return void, and write through a pointer
#pragma oss task
auto deduced(int *p) { return 1; } // error 6: '#pragma oss task' on a function that returns a value is not possible: nothing would wait for the value; return void, and write through a pointer
#pragma oss task
void of_any_type(int n, const auto *p); // error 31: '#pragma oss task' on a function with an 'auto' parameter is not possible: write the template with a name for the type
#pragma oss task inout(*p)
void first(int *p) noexcept(true), second(int *p); // error 34: '#pragma oss task' is on one function; declare the others by declarations of their own
template <class Signature>
struct callable;
#pragma oss task
void of_signature(callable<auto(int)->int> *of, auto (*call)(int)->int, auto n); // error 73: '#pragma oss task' on a function with an 'auto' parameter is not possible: write the template with a name for the type
#pragma oss task
void annotated(int *p) [[clang::annotate_type("a"), clang::annotate_type("b")]], third(int *p); // error 80: '#pragma oss task' is on one function; declare the others by declarations of their own
#pragma oss task inout(n) // error 24: static assertion failed due to requirement '::weft::oss::is_data_of_caller<int, true>': an item of a task function must be what a pointer or a reference among its parameters refers to, and 'n' is a copy
void copied(int n);
#pragma oss task inout(p) // error 24: static assertion failed due to requirement '::weft::oss::is_data_of_caller<int *, true>': an item of a task function must be what a pointer or a reference among its parameters refers to, and 'p' is a copy
void pointer(int *p);
#pragma oss task inout(v[0]) // error 24: static assertion failed due to requirement '::weft::oss::is_data_of_caller<int, false>': an item of a task function must be what a pointer or a reference among its parameters refers to, and 'v' is a copy // error 24: subscripted value is not an array, pointer, or vector
template <class T>
void element(T v);
#pragma oss task in(*missing_one) // error 22: use of undeclared identifier 'missing_one'
void absent(int *p);
#pragma oss task shared(n) // error 9: clause 'shared' does not belong to a task on a function: its parameters say what is copied
void sharing(int &n);
#pragma oss task default(none) in(n) // error 9: clause 'default' does not belong to a task on a function: its parameters say what is copied
void defaults(int &n);
#pragma oss task
void unnamed(int *); // error 14: '#pragma oss task' needs the names of the function's parameters
#pragma oss task
template <int(int)> // error 11: '#pragma oss task' needs the names of the template's parameters
void unknown(int *p);
constexpr int k_two = 2;
#pragma oss task // error 9: '#pragma oss task' finds no '>' behind the parameters of the template: put a comparison by '<' into brackets
template <bool = k_two < 4>
void comparing(int *p);
#pragma oss task
void any(int n, ...); // error 17: '#pragma oss task' on a function with any number of arguments is not possible
#pragma oss task
template <class... T>
void pack(T... all); // error 12: '#pragma oss task' on a function with any number of arguments is not possible
struct s {
#pragma oss task
  virtual void may_differ(); // error 3: '#pragma oss task' on a virtual function is not possible: a call may reach another function
#pragma oss task
  void operator()(int n); // error 8: '#pragma oss task' on an operator, a constructor or a destructor is not possible: give a function that returns void
#pragma oss task
  friend void other(int n); // error 3: '#pragma oss task' on a friend function is not possible: a call may reach another function
#pragma oss task
  ~s(); // error 3: '#pragma oss task' on an operator, a constructor or a destructor is not possible: give a function that returns void
#pragma oss task
  void outside(int n);
#pragma oss task
  void gone() = delete; // error 8: '#pragma oss task' on a function without a body of its own is not possible
  int a;
#pragma oss task inout(b) // error 24: use of undeclared identifier 'b'
  void member();
};
#pragma oss task
void s::outside(int n) { a = n; } // error 9: '#pragma oss task' on a definition outside of its class or namespace is not possible: write the pragma at the declaration inside
#pragma oss taskloop
void loop(int n); // error 1: '#pragma oss taskloop' needs a for loop behind it

void use(int &n, int *p) {
  element(p);
  element(n);
  copied("text"); // error 3: no matching function for call to 'copied'
#pragma oss task inout(n)
  void(++n);
#pragma oss task
  return; // error 3: 'return' leaves the statement of '#pragma oss task'
}
#pragma oss task inout(*p)
static inline void defined(int *p) { absent_name(p); } // error 38: use of undeclared identifier 'absent_name'
