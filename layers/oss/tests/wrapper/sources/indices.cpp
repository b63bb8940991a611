// SPDX-License-Identifier: Apache-2.0
#include "indices.hpp"
#include <array>
#include <cstdio>
#include <vector>
namespace {
int g_at = 1, *g_pointer, g_row[2]{1, 1};
struct { int at; } g_place = {1};
}
namespace outer::inner { unsigned inside(1); }
extern "C" { long g_linked = 1; }
const int k_all = 2, k_more = 3;
constexpr int k_one = 1;
struct point { static int count; int k_size = 1; };
int point::count = 1;
enum class way { k_first, k_last };
template <class T> struct holder { T value; };
template <class T> T twice(T x) { return x + x; }
int same(int x) { return x; }
int (*g_function)(int) = same, (&g_rows)[2] = g_row;
int function_of(int g_size);
#define DECLARES(name) int name = 1
DECLARES(g_by_macro);
#define COMPARES(name) bool name =
#define END ;
COMPARES(k_less) k_one < k_all;
int g_after_macro = 1;
namespace compared { COMPARES(k_less) k_one < k_all END }
int g_after_namespace = 1;
alignas(8) int g_aligned{1};
[[maybe_unused]] int g_unused = 1;
int g_marked [[maybe_unused]] = 1;
__attribute__((aligned(8))) int g_attribute = 1;
decltype(g_unused) g_typed{1};
__typeof__(g_unused) g_gnu_typed{1};
struct alignas(8) { int at; } g_padded = {1};
std::array<int, int{2}> g_array = {1, 1};
int g_negative(-1), g_positive(+1);
namespace used { int by_using = 1; }
using namespace used;
namespace used_in_block { int by_block = 1; }
// The nearest declaration of a name tells whether it is a constant.
int g_scoped = 1, g_hidden = 1;
int scoped() { const int g_scoped = 5; return g_scoped; }
constexpr int k_outer = 2;
namespace other {
int l = 1, m = 1, n = 1, k_outer = 1;
int read_outer() {
  int v[3] = {0, 1, 2}, seen = 0;
#pragma oss task in(v[k_outer]) shared(seen)
  {
    weft::this_task::sleep_for_ns(2000000);
    seen = k_outer;
  }
  k_outer = 2;
#pragma oss taskwait
  return seen;
}
}
int sizes_of_constants() {
  const int l = 1;
  constexpr int m{1}, g_hidden = 1;
  constexpr std::array<int, 1> n = {1};
  int v[3] = {0, 1, 2}, seen = 0;
#pragma oss task in(v[l], v[m], v[n[0]], v[k_outer], v[g_hidden]) shared(seen)
  {
    std::array<int, l + m + n[0] + k_outer + g_hidden> all{};
    seen = static_cast<int>(all.size());
  }
#pragma oss taskwait
  return seen;
}
int main() {
  using namespace used_in_block;
  static int s_at = 1;
  static thread_local int t_at = 1;
  int v[3] = {0, 1, 2}, seen = 0, inside_of = 0, count = 1, k_size = 0;
  constexpr int g_size = 1;
  g_pointer = &g_at;
#pragma oss task in(v[g_at + s_at + g_place.at - 2], v[g_row[0]], v[outer::inner::inside]) in(v[g_linked]) in(v[count], v[by_using]) in(v[t_at]) shared(seen)
  {
    weft::this_task::sleep_for_ns(2000000);
    int sizes[k_one + k_all + k_more] = {1};
    seen = g_at + s_at * 10 + g_place.at * 100 + g_row[0] * 1000 + static_cast<int>(g_linked) * 10000 + count * 100000 + t_at * 1000000 + by_using * 10000000 + sizes[1];
  }
  long more = 0;
#pragma oss task in(v[g_after_operator], v[g_after_constructor], v[g_after_macro], v[g_after_namespace], v[g_aligned], v[g_unused]) \
  in(v[g_marked], v[g_attribute], v[g_typed], v[g_gnu_typed], v[g_padded.at], v[g_array[0]], v[g_negative + 2], v[g_positive]) \
  in(v[(*g_function)(1)], v[g_rows[0]], v[by_block], v[g_scoped]) shared(more)
  {
    weft::this_task::sleep_for_ns(2000000);
    for (const int each : {g_after_operator, g_after_constructor, g_after_macro, g_after_namespace, g_aligned, g_unused, g_marked, g_attribute, g_typed,
                           g_gnu_typed, g_padded.at, g_array[0], g_negative + 2, g_positive, (*g_function)(1), g_rows[0], by_block, g_scoped})
      more = more * 10 + each;
  }
#pragma oss task in({v[i], i = 0; k_all}, v[k_one], v[k_size], v[g_size]) shared(inside_of)
  {
    int sizes[k_all + k_one + g_size] = {4};
    inside_of = sizes[0] + k_size + twice(0);
  }
  g_at = s_at = g_place.at = g_row[0] = count = t_at = by_using = 2;
  g_linked = 2;
  for (int *each : {&g_after_operator, &g_after_constructor, &g_after_macro, &g_after_namespace, &g_aligned, &g_unused, &g_marked, &g_attribute, &g_typed,
                    &g_gnu_typed, &g_padded.at, &g_array[0], &g_negative, &g_positive, &by_block, &g_scoped})
    *each = 2;
  g_function = twice<int>;
#pragma oss taskwait
  std::printf("%d %d %ld %d %d\n", seen, inside_of, more, other::read_outer(), sizes_of_constants());
}
