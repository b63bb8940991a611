// SPDX-License-Identifier: Apache-2.0
// The backend of libc++ 19's parallel algorithms. It takes the place of <__pstl/backends/std_thread.h>,
// which runs them in order: weft/pstl.hpp defines that file's guard, and this file gives what the
// algorithms call. Not for users: it changes with the version.
//
// libweft is compiled with GCC's library, so no exception of the program may go through it: all that
// it calls is noexcept. The algorithms end the program by an exception in any case.
#pragma once

#include <weft/pstl.hpp>

#if defined(_LIBCPP_VERSION) // else it is empty
#if _LIBCPP_VERSION < 190000 || _LIBCPP_VERSION >= 200000
#error "weft/pstl.hpp is for libc++ 19: the backends of other versions have other names"
#endif
#if !defined(_LIBCPP_PSTL_BACKEND_STD_THREAD)
#error "this libc++ was built for another backend of parallel algorithms than std_thread"
#endif

#include <__pstl/backend_fwd.h>
#include <__pstl/cpu_algos/any_of.h>
#include <__pstl/cpu_algos/cpu_traits.h>
#include <__pstl/cpu_algos/fill.h>
#include <__pstl/cpu_algos/find_if.h>
#include <__pstl/cpu_algos/for_each.h>
#include <__pstl/cpu_algos/merge.h>
#include <__pstl/cpu_algos/stable_sort.h>
#include <__pstl/cpu_algos/transform.h>
#include <__pstl/cpu_algos/transform_reduce.h>
#include <__utility/empty.h>
#include <cstddef>
#include <new>
#include <optional>
#include <utility>

namespace weft::inline v0 {
namespace pstl_backend {

/// Calls f, and ends the program by an exception.
template <class F>
class without_exceptions {
 public:
  explicit without_exceptions(F f) : m_f(std::move(f)) {}
  template <class... Args>
  decltype(auto) operator()(Args &&...args) noexcept {
    return m_f(std::forward<Args>(args)...);
  }
  template <class... Args>
  decltype(auto) operator()(Args &&...args) const noexcept {
    return m_f(std::forward<Args>(args)...);
  }

 private:
  F m_f;
};

/// Returns what `call()` does, or nothing without memory for it, as the library's backends do.
template <class Result, class F>
std::optional<Result> with_memory(F call) noexcept {
  try {
    return std::optional<Result>(call());
  } catch (const std::bad_alloc &) {
    return std::nullopt;
  }
}

} // namespace pstl_backend
} // namespace weft::inline v0

_LIBCPP_BEGIN_NAMESPACE_STD
namespace __pstl {

template <>
struct __cpu_traits<__std_thread_backend_tag> {
  template <class It, class F>
  static optional<__empty> __for_each(It first, It last, F f) {
    weft::pstl_backend::__parallel_for(0, first, last,
                                       weft::pstl_backend::without_exceptions<F>(std::move(f)));
    return __empty{};
  }

  template <class It, class Transform, class T, class Combine, class Reduce>
  static optional<T> __transform_reduce(It first, It last, Transform transform, T init,
                                        Combine combine, Reduce reduce) {
    using weft::pstl_backend::without_exceptions;
    return weft::pstl_backend::__parallel_transform_reduce(
        0, first, last, without_exceptions<Transform>(std::move(transform)), std::move(init),
        without_exceptions<Combine>(std::move(combine)),
        without_exceptions<Reduce>(std::move(reduce)));
  }

  template <class It, class Compare, class Leaf>
  static optional<__empty> __stable_sort(It first, It last, Compare comp, Leaf leaf) {
    using weft::pstl_backend::without_exceptions;
    return weft::pstl_backend::with_memory<__empty>([&] {
      if (first != last)
        weft::pstl_backend::__parallel_stable_sort(
            0, first, last, without_exceptions<Compare>(comp),
            [leaf, comp](It a, It b, auto &) noexcept { leaf(a, b, comp); });
      return __empty{};
    });
  }

  template <class A, class B, class Out, class Compare, class Leaf>
  static optional<__empty> __merge(A a, A a_end, B b, B b_end, Out out, Compare comp, Leaf leaf) {
    weft::pstl_backend::__parallel_merge(
        0, a, a_end, b, b_end, out, weft::pstl_backend::without_exceptions<Compare>(comp),
        [leaf, comp](A first, A last, B other, B other_end, Out to, auto &) noexcept {
          return leaf(first, last, other, other_end, to, comp);
        });
    return __empty{};
  }

  static void __cancel_execution() {}
  static constexpr size_t __lane_size = 64; // bytes
};

// What the library's backends for CPUs take from the traits.
template <class Policy>
struct __find_if<__std_thread_backend_tag, Policy>
    : __cpu_parallel_find_if<__std_thread_backend_tag, Policy> {};
template <class Policy>
struct __for_each<__std_thread_backend_tag, Policy>
    : __cpu_parallel_for_each<__std_thread_backend_tag, Policy> {};
template <class Policy>
struct __merge<__std_thread_backend_tag, Policy>
    : __cpu_parallel_merge<__std_thread_backend_tag, Policy> {};
template <class Policy>
struct __stable_sort<__std_thread_backend_tag, Policy>
    : __cpu_parallel_stable_sort<__std_thread_backend_tag, Policy> {};
template <class Policy>
struct __transform<__std_thread_backend_tag, Policy>
    : __cpu_parallel_transform<__std_thread_backend_tag, Policy> {};
template <class Policy>
struct __transform_binary<__std_thread_backend_tag, Policy>
    : __cpu_parallel_transform_binary<__std_thread_backend_tag, Policy> {};
template <class Policy>
struct __transform_reduce<__std_thread_backend_tag, Policy>
    : __cpu_parallel_transform_reduce<__std_thread_backend_tag, Policy> {};
template <class Policy>
struct __transform_reduce_binary<__std_thread_backend_tag, Policy>
    : __cpu_parallel_transform_reduce_binary<__std_thread_backend_tag, Policy> {};
template <class Policy>
struct __any_of<__std_thread_backend_tag, Policy>
    : __cpu_parallel_any_of<__std_thread_backend_tag, Policy> {};
template <class Policy>
struct __fill<__std_thread_backend_tag, Policy>
    : __cpu_parallel_fill<__std_thread_backend_tag, Policy> {};

} // namespace __pstl
_LIBCPP_END_NAMESPACE_STD
#endif
