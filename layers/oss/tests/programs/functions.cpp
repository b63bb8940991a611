// SPDX-License-Identifier: Apache-2.0
// Task functions: each call is a task. Declarations, definitions, members, templates, recursion.
#include "check.hpp"

#include <array>
#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace {
// Declared here, defined behind the calls, without the pragma.
#pragma oss task in(*from)out(*to) label("copy")
void copy(const int *from, int *to);

#pragma oss task inout(*p)
static inline void add(int *p, int n = 1) { *p += n; }

// The pragma twice: at the declaration and at the definition.
#pragma oss task inout([n] p)
void fill(int n, int *p, int value = 7);

void use() {
  int x = 1, y = 0, v[6] = {};
  add(&x);
  add(&x, 40);
  copy(&x, &y);
  add(&y);
  fill(6, v);
  fill(3, v, 8);
#pragma oss taskwait
  CHECK(x == 42 && y == 43 && v[0] == 8 && v[2] == 8 && v[3] == 7 && v[5] == 7);
  // Through a pointer a call is a call.
  void (*direct)(int *, int) = add;
  direct(&x, 1);
  CHECK(x == 43);
}
void copy(const int *from, int *to) {
  be_late();
  CHECK(std::string(weft::this_task::label()) == "copy");
  *to = *from;
}
#pragma oss task inout([n] p)
void fill(int n, int *p, int value) {
  for (int i = 0; i < n; ++i)
    p[i] = value;
}

// The condition, the priority and the rest belong to each call.
#pragma oss task final(depth == 0) priority(depth) cost(depth + 1) if (depth < 100) wait in(*result)
void depths(int depth, std::atomic<int> *result) {
  CHECK(weft::this_task::in_final() == (depth == 0));
  CHECK(weft::this_task::cost() == static_cast<unsigned>(depth) + 1);
  *result += depth;
}

#pragma oss task out(*result)
void fibonacci(int n, long *result) {
  if (n < 2) {
    *result = n;
    return;
  }
  long a, b;
  fibonacci(n - 1, &a);
  fibonacci(n - 2, &b);
#pragma oss taskwait
  *result = a + b;
}

// What is passed by value is copied when the task is created; a reference is one.
#pragma oss task inout(total) onready(++*ready)
void sum(std::string text, const std::array<int, 3> values, int &total, std::unique_ptr<int> owned,
         std::string &&moved, int (&row)[2], void (*call)(int),
         [[maybe_unused]] std::atomic<int> *ready) {
  be_late();
  total += static_cast<int>(text.size() + moved.size()) + values[2] + *owned + row[1];
  row[0] = total;
  call(total);
}
int g_called = 0;
void called(int n) { g_called = n; }
void arguments() {
  std::string text = "four", moved = "seventy";
  int total = 100, row[2] = {0, 1000};
  std::atomic<int> ready = 0;
  sum(text, {1, 2, 3}, total, std::make_unique<int>(20), std::move(moved), row, called, &ready);
  text = "changed";
  const int *const same = &total;
#pragma oss taskwait
  CHECK(*same == 1134 && row[0] == 1134 && g_called == 1134 && ready == 1);
}

#pragma oss task reduction(+ : *into) reduction(max : largest)
void reduce(int n, long *into, int &largest) {
  *into += n;
  largest = largest < n ? n : largest;
}
#pragma oss task weakinout(*p)
void nest(int *p) {
  for (int i = 0; i < 5; ++i)
    add(p);
}
void clauses() {
  long total = 1;
  int largest = -1, x = 0;
  for (int i = 0; i < 20; ++i)
    reduce(i, &total, largest);
  nest(&x);
  nest(&x);
#pragma oss task inout(x)
  x *= 3;
#pragma oss taskwait
  CHECK(total == 191 && largest == 19 && x == 30);
  std::atomic<int> depth = 0;
  for (int i = 0; i < 10; ++i)
    depths(i, &depth);
  depths(100, &depth);
  CHECK(depth >= 100);
#pragma oss taskwait
  CHECK(depth == 145);
}

// What the clauses say of a parameter is asked before the task has it.
struct job {
  int level;
  std::vector<int> data;
};
#pragma oss task priority(work->level) cost(work->level + 1) final(work->level > 5) label(work->level > 5 ? "last" : "first") inout(*seen)
void run(std::unique_ptr<job> work, int *seen) {
  CHECK(weft::this_task::cost() == static_cast<unsigned>(work->level) + 1);
  CHECK(std::string(weft::this_task::label()) == (work->level > 5 ? "last" : "first"));
  *seen += ++work->data[0];
}
#pragma oss task inout(v[0]) inout([v.size()] last)
void take(std::vector<int> &&v, int *last) {
  be_late();
  last[v.size() - 1] = v[0];
}
void moved() {
  int seen = 0, last[3] = {};
  run(std::make_unique<job>(job{3, {4, 5}}), &seen);
  run(std::make_unique<job>(job{8, {6}}), &seen);
  take({7, 8, 9}, last);
#pragma oss taskwait
  CHECK(seen == 12 && last[2] == 7);
}

template <class T, int N = 2>
struct box {
  T value{}, other{};
  static int calls;

#pragma oss task inout(value)
  void add(T n, int times = N);
#pragma oss task in(value)out(*to)
  void get(T *to) const {
    be_late();
    *to = value;
  }
#pragma oss task inout(*p)
  static void twice(T *p) {
    *p *= 2;
    ++calls;
  }
#pragma oss task inout(other)
  template <class U>
  void convert(U from) {
    other += static_cast<T>(from);
    if (from > 1)
      convert(from - 1);
  }
  void all(T n) { // a member calls its siblings
    add(n);
    twice(&value);
  }
};
template <class T, int N>
int box<T, N>::calls = 0;
template <class T, int N>
void box<T, N>::add(T n, int times) {
  be_late();
  value += n * static_cast<T>(times);
}
struct derived : box<long> {
  using box<long>::twice;
#pragma oss task inout(value) wait
  void again() {
#pragma oss task inout(value)
    value += 1;
  }
};
void members() {
  box<int> b;
  box<double, 3> d;
  int got = 0;
  b.add(5);
  b.get(&got);
  box<int>::twice(&b.value);
  b.all(1);
  box<int> *const p = &b;
  p->convert(3L);
  d.add(0.5);
  d.twice(&d.value);
#pragma oss taskwait
  CHECK(got == 10 && b.value == 44 && b.other == 6 && d.value == 3 && box<int>::calls == 2);
  derived e;
  e.again();
  e.twice(&e.value);
#pragma oss taskwait
  CHECK(e.value == 2);
}

#pragma oss task out([n] p)
template <class T, class... Ignored>
void set(T *p, int n, T value = T{}) {
  be_late();
  for (int i = 0; i < n; ++i)
    p[i] = value;
}
#pragma oss task inout(*p)
template <int N, typename T>
void plus(T *p);
template <int N, typename T>
void plus(T *p) {
  *p += N;
}
template <class T>
T templates(T start) {
  T v[3];
  set(v, 3, start);
  plus<4>(&v[0]);
  plus<5, T>(v);
#pragma oss taskwait
  return v[0];
}
} // namespace

// Constraints of templates, and return types behind the parameters.
template <class T>
concept number = std::is_arithmetic_v<T>;
namespace {
#pragma oss task inout(*p)
template <class T>
  requires(sizeof(T) > 1)
void one_more(T *p) {
  *p += 1;
}
#pragma oss task inout(*p)
template <class T = int, int N = 2>
  requires number<T> && (N > 1)
void some_more(T *p, const int *__restrict from = nullptr);
template <class T, int N>
  requires number<T> && (N > 1)
void some_more(T *p, const int *) {
  *p += N;
}
#pragma oss task inout(*p)
template <class T>
  requires requires(T t) { t + 1; } || ::number<T>
auto many_more(T *p) -> void
  requires(sizeof(T) < 16)
{
  *p += 10;
}
#pragma oss task inout(*p)
auto behind(int *p, bool (*call)(int)) noexcept -> void {
  *p += call(*p) ? 100 : 0;
}
void constrained() {
  int x = 0;
  one_more(&x);
  some_more(&x);
  some_more<int, 3>(&x, &x);
  many_more(&x);
  behind(&x, [](int n) { return n == 16; });
#pragma oss taskwait
  CHECK(x == 116);
}
} // namespace

// Commas, `auto`, `=` and `>>` in brackets, which are of no declaration of the function's own.
namespace {
#pragma oss task inout(*p)
void twice_said(int *p) [[clang::annotate_type("of"), clang::annotate_type("types")]];
void twice_said(int *p) { *p += 1; }
#pragma oss task inout(*p)
void calls(std::function<auto(int)->int> call, auto (*direct)(int)->int, int *p) { *p = call(direct(*p)); }
#pragma oss task inout(*p)
template <class T, class V = std::vector<long>>
void nested_default(T *p) {
  *p += static_cast<T>(V(2).size());
}
#pragma oss task inout(*p)
template <class T, class V = std::map<T, int>, int N = (3 > 2 ? 3 : 2), class W = std::map<T, std::vector<int>>>
void many_defaults(T *p, const std::map<int, int> more = std::map<int, int>{{1, 2}}, int (*of)(int) = [](int n) { return n < 2 ? n : 2; }, bool less = 2 < 3,
                   bool greater = 3 > 2) {
  *p += static_cast<T>(V{{T(1), 2}}.size()) + N + static_cast<T>(W().size()) + more.at(1) + of(1) + (less && greater ? 1000 : 0);
}
#pragma oss task inout(*p)
template <template <class, class = std::allocator<int>> class C = std::vector>
void of_template(int *p, C<int> from) {
  *p += from[0];
}
#pragma oss task inout(*p)
template <class T>
void required(T *p) noexcept(noexcept(T{}))
  requires requires(T t) { t + 1; } && (sizeof(T) > 1)
{
  *p += 100;
}
// A parameter of a template that has no name is passed on all the same.
int twofold(int n) { return 2 * n; }
#pragma oss task inout(*p)
template <class T, class = std::enable_if_t<(sizeof(T) > 2)>, std::enable_if_t<(sizeof(T) < 16), int> = 0, int (*f)(T) = twofold>
void unnamed(T *p) {
  *p += f(7);
}
#pragma oss task inout(*p)
template <typename T, typename T::value_type Value, typename T::value_type = Value, number U = int, number = U, template <class...> class = std::vector, auto = 1,
          int...>
void unnamed_too(T *p, const U factor) {
  p->front() += Value * factor;
}
int same(int n) { return n; }
int g_row[3] = {100, 200, 300};
#pragma oss task inout(*p)
template <class T, int (&)[3] = g_row, int (*)(T) = nullptr, void (std::vector<T>::*)() = nullptr, int[2] = nullptr, T (*const[])(int) = nullptr,
          int (*of)(T) = same, int (*... more)(T)>
void of_declarators(T *p) {
  *p += of(g_row[0]) + static_cast<T>(sizeof...(more));
}
#pragma oss task inout(*p)
template <class T, int N = 3, bool Less = N < 4, bool Small = sizeof(T) < 4, template <class> class C = std::atomic, class U = C<int>, bool First = 2 < N>
void of_comparisons(T *p) {
  *p += Less && !Small && First ? N * static_cast<T>(sizeof(U)) : 0;
}
void without_names() {
  int x = 1;
  std::array<int, 1> row{5};
  unnamed(&x);
  unnamed<int, void, 0, same>(&x);
  unnamed_too<std::array<int, 1>, 3>(&row, 2);
#pragma oss taskwait
  CHECK(x == 22 && row[0] == 11);
  of_declarators(&x);
  of_declarators<int, g_row, same, nullptr, nullptr, nullptr, twofold, same, twofold>(&x);
  of_comparisons(&x);
  of_comparisons<int, 5>(&x);
#pragma oss taskwait
  CHECK(x == 22 + 100 + 200 + 2 + 12);
}
void in_brackets() {
  int x = 1;
  twice_said(&x);
  calls([](int n) { return n + 1; }, [](int n) { return n * 10; }, &x);
  nested_default(&x);
  nested_default<int, std::vector<char>>(&x);
  required(&x);
  many_defaults(&x);
  of_template(&x, std::vector<int>{10000});
#pragma oss taskwait
  CHECK(x == 11132);
}
} // namespace

extern "C" {
#pragma oss task inout(*p)
void c_linkage(int *p);
}
#pragma oss task inout(*p)
extern "C" void c_alone(int *p) { *p *= 2; }
extern "C" void c_linkage(int *p) { *p += 10; }

namespace one {
struct key {
  int n;
};
#pragma oss task inout(k.n)
inline void touch(key &k) { ++k.n; }
} // namespace one
namespace two {
#pragma oss task inout(*n)
inline void touch(int *n) { ++*n; }
// Attributes behind the name are no part of it.
#pragma oss task inout(*n) label("attributed")
[[gnu::noinline]] void attributed [[maybe_unused]] [[gnu::cold]] (int *n) {
  CHECK(std::string(weft::this_task::label()) == "attributed");
  ++*n;
}
} // namespace two

int main() {
  in_brackets();
  without_names();
  constrained();
  use();
  long result = 0;
  fibonacci(12, &result);
#pragma oss taskwait
  CHECK(result == 144);
  arguments();
  moved();
  clauses();
  members();
  CHECK(templates(1) == 10 && templates(2.5) == 11.5);
  int x = 1;
  one::key k{1};
  c_linkage(&x);
  c_alone(&x);
  two::touch(&x);
  two::attributed(&x);
  touch(k); // found by its argument
#pragma oss taskwait
  CHECK(x == 24 && k.n == 2);
}
