// SPDX-License-Identifier: Apache-2.0
// Task reductions: tasks that add up into one object. Each task adds to a copy of its own, and Weft
// adds all copies to the object at the end.
#pragma once

#include <weft/access.hpp>
#include <weft/detail/reduction.hpp>

#include <cstddef>
#include <limits>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>

namespace weft::inline v0 {

/// Holds for an operation of a reduction: a function object without state, `into` being a T and
/// `from` a const T, called as `op(into, from)` to change `into`, or to return the new value. The
/// operation must be associative and commutative as far as the program cares, because the copy that
/// a task adds to differs from run to run. It must neither wait nor spawn.
template <class Op, class T>
concept reduces =
    !std::is_array_v<T> && std::is_empty_v<Op> && std::is_default_constructible_v<Op> &&
    (std::is_void_v<std::invoke_result_t<Op, T &, const T &>> ||
     std::is_assignable_v<T &, std::invoke_result_t<Op, T &, const T &>>);

namespace detail {

/// Holds for an operation that knows its identity.
template <class Op, class T>
concept has_identity = requires {
  { Op::template identity<T>() } -> std::convertible_to<T>;
};

template <class T, class Op>
struct reduction_kind {
  static T *at(void *copy, std::size_t i) { return static_cast<T *>(copy) + i; }

  static void fill(void *copy, std::size_t count, const void *how) {
    std::size_t made = 0;
    try {
      for (; made != count; ++made) {
        void *const place = at(copy, made);
        if constexpr (has_identity<Op, T>) {
          ::new (place) T(how ? *static_cast<const T *>(how) : Op::template identity<T>());
        } else {
          ::new (place) T(*static_cast<const T *>(how));
        }
      }
    } catch (...) {
      destroy(copy, made);
      throw;
    }
  }
  static void combine(void *into, const void *copy, std::size_t count, const void *) {
    T *to = static_cast<T *>(into);
    const T *from = static_cast<const T *>(copy);
    for (std::size_t i = 0; i != count; ++i)
      if constexpr (std::is_void_v<std::invoke_result_t<Op, T &, const T &>>)
        Op{}(to[i], from[i]);
      else
        to[i] = Op{}(to[i], from[i]);
  }
  static void destroy(void *copy, std::size_t count) noexcept {
    for (std::size_t i = 0; i != count; ++i)
      at(copy, i)->~T();
  }
  static void *keep(const void *how) { return new T(*static_cast<const T *>(how)); }
  static void drop(void *how) noexcept { delete static_cast<T *>(how); }

  static constexpr reduction_ops ops{
      alignof(T), &fill, &combine, std::is_trivially_destructible_v<T> ? nullptr : &destroy,
      &keep,      &drop, nullptr};
};

template <class T>
constexpr void refuse_container() noexcept {
  static_assert(
      !elements_are_elsewhere<T>(),
      "this reduction names the address of the container, which is not that of its elements: write weft::reduction(v.data(), count, op) for "
      "the elements, or weft::reduction(weft::object(v), op) for the container itself (there is no reduction of a weft::region(v))");
}

template <class T>
constexpr T lowest_of() noexcept {
  using limits = std::numeric_limits<T>;
  return limits::has_infinity ? static_cast<T>(-limits::infinity()) : limits::lowest();
}
template <class T>
constexpr T highest_of() noexcept {
  using limits = std::numeric_limits<T>;
  return limits::has_infinity ? limits::infinity() : limits::max();
}

} // namespace detail

/// Holds the operations that Weft knows, with their identities. `sum` and `product` are for every
/// type that has the operator and is made of 0 or 1, the others for numbers (`bit_*`: integers).
inline namespace operations {

struct sum_op {
  template <class T>
  static constexpr T identity() {
    return T(0);
  }
  template <class T>
  constexpr void operator()(T &into, const T &from) const {
    into = static_cast<T>(into + from);
  }
};
struct product_op {
  template <class T>
  static constexpr T identity() {
    return T(1);
  }
  template <class T>
  constexpr void operator()(T &into, const T &from) const {
    into = static_cast<T>(into * from);
  }
};
struct minimum_op {
  template <class T>
    requires std::numeric_limits<T>::is_specialized
  static constexpr T identity() {
    return detail::highest_of<T>();
  }
  template <class T>
  constexpr void operator()(T &into, const T &from) const {
    if (from < into)
      into = from;
  }
};
struct maximum_op {
  template <class T>
    requires std::numeric_limits<T>::is_specialized
  static constexpr T identity() {
    return detail::lowest_of<T>();
  }
  template <class T>
  constexpr void operator()(T &into, const T &from) const {
    if (into < from)
      into = from;
  }
};
struct bit_and_op {
  template <class T>
    requires std::is_integral_v<T>
  static constexpr T identity() {
    return static_cast<T>(~T(0));
  }
  template <class T>
  constexpr void operator()(T &into, const T &from) const {
    into = static_cast<T>(into & from);
  }
};
struct bit_or_op {
  template <class T>
    requires std::is_integral_v<T>
  static constexpr T identity() {
    return T(0);
  }
  template <class T>
  constexpr void operator()(T &into, const T &from) const {
    into = static_cast<T>(into | from);
  }
};
struct bit_xor_op {
  template <class T>
    requires std::is_integral_v<T>
  static constexpr T identity() {
    return T(0);
  }
  template <class T>
  constexpr void operator()(T &into, const T &from) const {
    into = static_cast<T>(into ^ from);
  }
};
struct logical_and_op {
  template <class T>
  static constexpr T identity() {
    return T(true);
  }
  template <class T>
  constexpr void operator()(T &into, const T &from) const {
    into = T(into && from);
  }
};
struct logical_or_op {
  template <class T>
  static constexpr T identity() {
    return T(false);
  }
  template <class T>
  constexpr void operator()(T &into, const T &from) const {
    into = T(into || from);
  }
};

inline constexpr sum_op sum{}; ///< addition; the identity is 0
inline constexpr product_op product{}; ///< multiplication; 1
inline constexpr minimum_op minimum{}; ///< the smaller of two; the largest value, or infinity
inline constexpr maximum_op maximum{}; ///< the larger of two; the lowest value, or minus infinity
inline constexpr bit_and_op bit_and{}; ///< `&`; all bits
inline constexpr bit_or_op bit_or{}; ///< `|`; no bit
inline constexpr bit_xor_op bit_xor{}; ///< `^`; no bit
inline constexpr logical_and_op logical_and{}; ///< `&&`; true
inline constexpr logical_or_op logical_or{}; ///< `||`; false

} // namespace operations

/// Holds what reduction() returns. A list of accesses holds the address of this clause: keep the
/// clause until spawn has returned.
///
///     auto r = weft::reduction(x, weft::sum);
///     std::vector<weft::access> list{weft::in(y), r};
template <class T>
class reduction_clause {
 public:
  /// Makes the clause; for reduction() and weak_reduction().
  reduction_clause(const T *first, std::ptrdiff_t count, const detail::reduction_ops &ops,
                   const T *identity, access_mode mode) noexcept
      : m_spec{first, &ops, count, sizeof(T), identity}, m_mode(mode) {}

  /// @{ Returns an entry for a list of accesses, which holds the address of this clause.
  [[nodiscard]] access as_access() const noexcept { return {&m_spec, m_mode}; }
  operator access() const & noexcept { return as_access(); }
  /// @}
  operator access() const && = delete; // the list would name a clause that is gone

 private:
  detail::reduction_spec m_spec;
  access_mode m_mode;
};

/// @{
/// Names an object to which the task adds by `op`, together with its neighbours: consecutive
/// siblings that name the object with the same operation run in any order, at once, and are ordered
/// with all others.
///
///     weft::spawn([&] { weft::reduction_local(total) += work(); }, weft::reduction(total, weft::sum));
///
/// - In its body the task adds only to reduction_local(object), a copy that begins with the
///   identity.
/// - The copies are added to the object when the last of these tasks has released it and one of
///   these has come: a sibling that names the object in another way, the parent's taskwait(),
///   group.wait() or handle.get(), or the end of the parent's body. So they are added before any
///   task or wait that is ordered behind these tasks.
/// - One thread adds the copies, oldest first. The result is exact for integers; a sum of floating
///   point may differ in its last digits from run to run.
/// - `op` is one of weft::sum, product, minimum, maximum, bit_and, bit_or, bit_xor, logical_and,
///   logical_or; or one of yours, with its identity, see `reduces`. T is any type that can be
///   copied.
/// - An exception from `op` counts as a failing child of the parent, whose taskwait() rethrows it;
///   copies that were not added are dropped.
/// - Below a task that itself reduces the object by the same operation, weakly or not, the copies
///   are that task's.
/// - A container with data() and size() is refused, as by the other accesses: name its elements
///   (`v.data()`, count), or with object(v) the container, which `op` combines as a whole.
///
/// Cost. A copy per worker that takes part (and per task that waits while it has one), made when a
/// task first asks for it.
/// Errors. From spawn: invalid_argument for a negative count, or for two operations on one address
/// in one task's list.
template <class T, reduces<T> Op>
  requires detail::has_identity<Op, T>
[[nodiscard]] reduction_clause<T> reduction(T &object, Op) noexcept {
  detail::refuse_container<T>();
  return {std::addressof(object), 1, detail::reduction_kind<T, Op>::ops, nullptr,
          access_mode::reduction};
}
template <class T, reduces<T> Op>
  requires detail::has_identity<Op, T>
[[nodiscard]] reduction_clause<T> reduction(object<T> named, Op) noexcept {
  return {std::addressof(named.get()), 1, detail::reduction_kind<T, Op>::ops, nullptr,
          access_mode::reduction};
}
/// @}
/// @{
/// Names an object to reduce, with an identity, which is copied before spawn returns.
template <class T, reduces<T> Op>
[[nodiscard]] reduction_clause<T> reduction(T &object, Op,
                                            const std::type_identity_t<T> &identity) noexcept {
  detail::refuse_container<T>();
  return {std::addressof(object), 1, detail::reduction_kind<T, Op>::ops, std::addressof(identity),
          access_mode::reduction};
}
template <class T, reduces<T> Op>
[[nodiscard]] reduction_clause<T> reduction(object<T> named, Op,
                                            const std::type_identity_t<T> &identity) noexcept {
  return {std::addressof(named.get()), 1, detail::reduction_kind<T, Op>::ops,
          std::addressof(identity), access_mode::reduction};
}
/// @}
/// Names `count` objects in a row to reduce; 0 names nothing. The address is that of the first.
template <class T, reduces<T> Op>
  requires detail::has_identity<Op, T>
[[nodiscard]] reduction_clause<T> reduction(T *first, std::ptrdiff_t count, Op) noexcept {
  return {first, count, detail::reduction_kind<T, Op>::ops, nullptr, access_mode::reduction};
}
/// Names `count` objects in a row to reduce, with an identity, which is copied before spawn
/// returns.
template <class T, reduces<T> Op>
[[nodiscard]] reduction_clause<T> reduction(T *first, std::ptrdiff_t count, Op,
                                            const std::type_identity_t<T> &identity) noexcept {
  return {first, count, detail::reduction_kind<T, Op>::ops, std::addressof(identity),
          access_mode::reduction};
}
/// Selects all elements of an array to reduce.
template <class T, std::size_t N, reduces<T> Op>
  requires detail::has_identity<Op, T>
[[nodiscard]] reduction_clause<T> reduction(T (&array)[N], Op op) noexcept {
  return reduction(&array[0], static_cast<std::ptrdiff_t>(N), op);
}

/// @{ Names an object that only the task's children add to; else as reduction().
template <class T, reduces<T> Op>
  requires detail::has_identity<Op, T>
[[nodiscard]] reduction_clause<T> weak_reduction(T &object, Op) noexcept {
  detail::refuse_container<T>();
  return {std::addressof(object), 1, detail::reduction_kind<T, Op>::ops, nullptr,
          access_mode::weak_reduction};
}
template <class T, reduces<T> Op>
  requires detail::has_identity<Op, T>
[[nodiscard]] reduction_clause<T> weak_reduction(object<T> named, Op) noexcept {
  return {std::addressof(named.get()), 1, detail::reduction_kind<T, Op>::ops, nullptr,
          access_mode::weak_reduction};
}
template <class T, reduces<T> Op>
[[nodiscard]] reduction_clause<T> weak_reduction(T &object, Op,
                                                 const std::type_identity_t<T> &identity) noexcept {
  detail::refuse_container<T>();
  return {std::addressof(object), 1, detail::reduction_kind<T, Op>::ops, std::addressof(identity),
          access_mode::weak_reduction};
}
template <class T, reduces<T> Op>
[[nodiscard]] reduction_clause<T> weak_reduction(object<T> named, Op,
                                                 const std::type_identity_t<T> &identity) noexcept {
  return {std::addressof(named.get()), 1, detail::reduction_kind<T, Op>::ops,
          std::addressof(identity), access_mode::weak_reduction};
}
template <class T, reduces<T> Op>
  requires detail::has_identity<Op, T>
[[nodiscard]] reduction_clause<T> weak_reduction(T *first, std::ptrdiff_t count, Op) noexcept {
  return {first, count, detail::reduction_kind<T, Op>::ops, nullptr, access_mode::weak_reduction};
}
template <class T, reduces<T> Op>
[[nodiscard]] reduction_clause<T> weak_reduction(T *first, std::ptrdiff_t count, Op,
                                                 const std::type_identity_t<T> &identity) noexcept {
  return {first, count, detail::reduction_kind<T, Op>::ops, std::addressof(identity),
          access_mode::weak_reduction};
}
template <class T, std::size_t N, reduces<T> Op>
  requires detail::has_identity<Op, T>
[[nodiscard]] reduction_clause<T> weak_reduction(T (&array)[N], Op op) noexcept {
  return weak_reduction(&array[0], static_cast<std::ptrdiff_t>(N), op);
}
/// @}

/// Returns the running task's copy of an object that it reduces. The copy is the task's until its
/// accesses are released. Afterwards it is the copy of other tasks, which go on where the task left
/// it. A branch of a join() that another worker runs has a copy of its own. In a task that has the
/// object for itself (inout, out, commutative, or below a final task) the object is returned.
///
/// Cost. The first call in a task takes a spin lock, and makes a copy if none is free. Call it
/// once, before a loop begins.
/// Errors. invalid_argument when the task does not reduce the object; not_a_task; out_of_resources;
/// what copying the identity throws.
template <class T>
[[nodiscard]] T &reduction_local(T &object) {
  return *static_cast<T *>(detail::reduction_copy(std::addressof(object), 1, sizeof(T)));
}
/// Returns the copies of `count` objects, at most as many as the clause has named.
template <class T>
[[nodiscard]] T *reduction_local(T *first, std::ptrdiff_t count) {
  return static_cast<T *>(detail::reduction_copy(first, count, sizeof(T)));
}

} // namespace weft::inline v0
