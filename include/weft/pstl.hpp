// SPDX-License-Identifier: Apache-2.0
// std::execution::par on Weft: the backend of the parallel algorithms of GCC's standard library, and
// of libc++ 19's.
//
// Include it before every other header, in every file of the program: `-include weft/pstl.hpp`, which
// the CMake target weft::pstl and the package weft-pstl of pkg-config add. Files that were compiled
// without it have the same functions with another body, which the linker cannot tell apart.
//
// It takes the place of GCC's <pstl/parallel_backend.h>: it defines that file's guard, and gives the
// namespace that the algorithms call. weft/detail/pstl_libcxx.hpp does so for libc++. As the standard says, an exception that leaves an
// element function ends the program.
#pragma once

/// @cond

#if (defined(_PSTL_PARALLEL_BACKEND_H) || defined(_LIBCPP___PSTL_BACKENDS_STD_THREAD_H)) &&        \
    !defined(WEFT_PSTL)
#error "weft/pstl.hpp comes after <execution>; compile with -include weft/pstl.hpp"
#endif
#define WEFT_PSTL 1
#define _PSTL_PARALLEL_BACKEND_H
#define _LIBCPP___PSTL_BACKENDS_STD_THREAD_H
#undef _GLIBCXX_USE_TBB_PAR_BACKEND
#define _GLIBCXX_USE_TBB_PAR_BACKEND 0 // no -ltbb

#include <version>
#if defined(_LIBCPP_HAS_NO_INCOMPLETE_PSTL)
#error "libc++ has its parallel algorithms behind an option; compile with -fexperimental-library"
#endif

#include <weft/detail/skeletons.hpp>

#include <algorithm>
#include <iterator>
#include <memory>
#include <utility>

#if !defined(_GLIBCXX_RELEASE) && !defined(_LIBCPP_VERSION)
#error "weft/pstl.hpp is for GCC's standard library and libc++; weft/algorithm.hpp works with any"
#endif

namespace weft::inline v0 {
/// Holds what GCC's parallel algorithms call. Not for users.
namespace pstl_backend {

inline constexpr detail::loop_control k_control{0, false, exception_policy::first_cancels, 0};

template <class T>
class __buffer : detail::scratch<T> {
 public:
  explicit __buffer(std::size_t n) : detail::scratch<T>(n) {}
  operator bool() const { return this->data() != nullptr; }
  T *get() const { return this->data(); }
};

inline void __cancel_execution() {}

/// Returns the index `i` behind `first`: indices are iterators or integers.
template <class Index>
Index behind(Index first, std::uint64_t i) {
  using difference = decltype(first - first);
  return static_cast<Index>(first + static_cast<difference>(i));
}
template <class Index>
std::uint64_t width(Index first, Index last) {
  return static_cast<std::uint64_t>(last - first);
}

template <class Policy, class Index, class F>
void __parallel_for(Policy &&, Index first, Index last, F f) {
  detail::for_blocks<F>(k_control, width(first, last), [&](std::uint64_t i, std::uint64_t n) {
    f(behind(first, i), behind(first, i + n));
  });
}

template <class Policy, class Value, class Index, class Body, class Combine>
Value __parallel_reduce(Policy &&, Index first, Index last, const Value &identity, const Body &body,
                        const Combine &combine) {
  std::optional<Value> all = detail::reduce_blocks<Body, Value>(
      k_control, width(first, last),
      [&](std::uint64_t i, std::uint64_t n) {
        return body(behind(first, i), behind(first, i + n), identity);
      },
      [&](Value &value, std::uint64_t i, std::uint64_t n) {
        value = body(behind(first, i), behind(first, i + n), std::move(value));
      },
      [&](Value &&a, Value &&b) -> Value { return combine(std::move(a), std::move(b)); });
  return all ? std::move(*all) : identity;
}

/// Returns reduce(first, last, value). A function of its own, as detail::fold() is: a sum that lives
/// across the calls around it would lie in memory, and take more than twice the time per element.
template <class T, class Index, class Reduce>
[[gnu::noinline]] T reduce_block(Reduce &reduce, Index first, Index last, T value) {
  return reduce(first, last, std::move(value));
}

template <class Policy, class Index, class Transform, class T, class Combine, class Reduce>
T __parallel_transform_reduce(Policy &&, Index first, Index last, Transform transform, T init,
                              Combine combine, Reduce reduce) {
  std::optional<T> all = detail::reduce_blocks<Reduce, T>(
      k_control, width(first, last),
      [&](std::uint64_t i, std::uint64_t n) -> T {
        const Index begin = behind(first, i);
        if (n == 1)
          return T(transform(begin));
        T two(combine(transform(begin), transform(behind(begin, 1))));
        return reduce_block<T>(reduce, behind(begin, 2), behind(first, i + n), std::move(two));
      },
      [&](T &value, std::uint64_t i, std::uint64_t n) {
        value = reduce_block<T>(reduce, behind(first, i), behind(first, i + n), std::move(value));
      },
      [&](T &&a, T &&b) -> T { return combine(std::move(a), std::move(b)); });
  return all ? T(combine(std::move(init), std::move(*all))) : std::move(init);
}

/// Scans in two passes, and calls apex with the total between them.
template <class Policy, class Index, class T, class Reduce, class Combine, class Scan, class Apex>
void __parallel_strict_scan(Policy &&, Index size, T initial, Reduce reduce, Combine combine,
                            Scan scan, Apex apex) {
  const auto n = static_cast<std::uint64_t>(size);
  const auto index = [](std::uint64_t i) { return static_cast<Index>(i); };
  if (n == 0) {
    apex(initial);
    return;
  }
  const detail::pieces p = detail::cut(k_control, n, detail::k_least_piece);
  if (p.count == 1 || !detail::pays(k_control, detail::site_of<Scan>, static_cast<double>(n))) {
    detail::timed_call(detail::site_of<Scan>, static_cast<double>(n), [&] {
      apex(combine(initial, reduce(Index(0), size)));
      scan(Index(0), size, initial);
    });
    return;
  }
  const detail::shared_call timed(detail::site_of<Scan>, n);
  std::vector<std::optional<T>> before(p.count + 1);
  detail::for_pieces(k_control, p.count, [&](std::uint64_t i) {
    before[i + 1].emplace(reduce(index(p.bound(i)), index(p.bound(i + 1) - p.bound(i))));
  });
  before[0].emplace(initial);
  for (std::uint64_t i = 0; i < p.count; ++i) {
    T next(combine(*before[i], std::move(*before[i + 1])));
    before[i + 1].emplace(std::move(next));
  }
  apex(*before[p.count]);
  detail::for_pieces(k_control, p.count, [&](std::uint64_t i) {
    scan(index(p.bound(i)), index(p.bound(i + 1) - p.bound(i)), *before[i]);
  });
}

template <class Policy, class Index, class Transform, class T, class Combine, class Reduce,
          class Scan>
T __parallel_transform_scan(Policy &&, Index size, Transform transform, T init, Combine combine,
                            Reduce reduce, Scan scan) {
  const auto n = static_cast<std::uint64_t>(size);
  const auto index = [](std::uint64_t i) { return static_cast<Index>(i); };
  std::optional<T> carry(std::move(init));
  std::optional<T> last;
  detail::scan_blocks<Scan, T>(
      k_control, n, carry,
      [&](std::uint64_t i, std::uint64_t count) {
        T next(scan(index(i), index(i + count), *carry));
        carry.emplace(std::move(next));
      },
      [&](std::uint64_t i, std::uint64_t count) -> T {
        T first(transform(index(i)));
        return count == 1 ? first : T(reduce(index(i + 1), index(i + count), std::move(first)));
      },
      [&](std::uint64_t i, std::uint64_t count, std::optional<T> &&value) {
        T end(scan(index(i), index(i + count), std::move(*value)));
        if (i + count == n)
          last.emplace(std::move(end));
      },
      combine);
  return last ? std::move(*last) : std::move(*carry);
}

template <class Policy, class It, class Compare, class Leaf>
void __parallel_stable_sort(Policy &&, It first, It last, Compare comp, Leaf leaf,
                            std::size_t front = 0) {
  const std::uint64_t n = width(first, last);
  if (n == 1) { // the leaf may construct what it sorts
    leaf(first, last, comp);
    return;
  }
  if (front == 0 || front >= n) {
    detail::sort_range<Leaf>(k_control, first, n, comp, leaf);
    return;
  }
  const detail::pieces p = detail::cut(k_control, n, detail::k_least_piece);
  if (!detail::pays(k_control, detail::site_of<Leaf>, static_cast<double>(n))) {
    detail::timed_call(detail::site_of<Leaf>, static_cast<double>(n),
                       [&] { leaf(first, last, comp); });
    return;
  }
  const detail::shared_call timed(detail::site_of<Leaf>, n);
  auto part = [&leaf](It a, It b, std::uint64_t, Compare &c) { leaf(a, b, c); };
  detail::select_range(first, n, static_cast<std::uint64_t>(front), p.count, comp, part);
}

template <class Policy, class A, class B, class Out, class Compare, class Leaf>
void __parallel_merge(Policy &&, A a, A a_end, B b, B b_end, Out out, Compare comp, Leaf leaf) {
  const std::uint64_t na = width(a, a_end), nb = width(b, b_end), n = na + nb;
  if (!detail::pays(k_control, detail::site_of<Leaf>, static_cast<double>(n))) {
    detail::timed_call(detail::site_of<Leaf>, static_cast<double>(std::max<std::uint64_t>(n, 1)),
                       [&] { leaf(a, a_end, b, b_end, out, comp); });
    return;
  }
  const detail::shared_call timed(detail::site_of<Leaf>, n);
  const detail::pieces p = detail::cut(k_control, n, detail::k_least_merge);
  detail::merge_runs(a, na, b, nb, out, comp, leaf, std::max<std::uint64_t>(n / p.count, 2));
}

template <class Policy, class F, class G>
void __parallel_invoke(Policy &&, F &&f, G &&g) {
  join(f, g);
}

} // namespace pstl_backend
} // namespace weft::inline v0

#if defined(_LIBCPP_VERSION)
#include <weft/detail/pstl_libcxx.hpp>
#else
namespace __pstl {
namespace __par_backend = weft::pstl_backend;
} // namespace __pstl
#endif
/// @endcond
