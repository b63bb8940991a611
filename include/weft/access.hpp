// SPDX-License-Identifier: Apache-2.0
// How a task says what data it touches.
#pragma once

#include <cstdint>
#include <type_traits>
#include <utility>

namespace weft::inline v0 {

/// Says what a task does with the data at an address. In the weak modes only the task's children
/// touch the data. A weak access never delays the task itself; it connects the task's children to
/// what came before.
enum class access_mode : std::uint8_t {
  in,
  out,
  inout,
  weak_in,
  weak_out,
  weak_inout,
  concurrent,
  commutative,
  weak_concurrent,
  weak_commutative,
  reduction, // the address is that of a specification: made by weft::reduction() only
  weak_reduction
};

/// Names the data that a task touches: an address and a mode. Two accesses concern the same data
/// when their addresses are equal. The size of the object does not matter, so a block of an array
/// is named by its first element. A null address is ignored.
struct access {
  const void *address = nullptr; ///< of the object
  access_mode mode = access_mode::inout; ///< what the task does with it
  std::uint32_t bytes =
      1; ///< of the object; read only where accesses are ordered as regions (<weft/region.hpp>)
};

namespace detail {
template <class T>
[[nodiscard]] const void *address_of(T &object) noexcept { // std::addressof, without its header
  return &const_cast<const char &>(reinterpret_cast<const volatile char &>(object));
}
template <class T>
constexpr std::uint32_t bytes_of() noexcept { // 1: the type is incomplete
  if constexpr (requires { sizeof(T); })
    return sizeof(T) < UINT32_MAX ? static_cast<std::uint32_t>(sizeof(T)) : UINT32_MAX;
  else
    return 1;
}

template <class V>
concept has_data_and_size = requires(V &v) {
  *v.data();
  v.size();
};
/// Returns whether the elements of a container have other addresses than the object itself. The
/// elements of std::array do not: like a C array it has the address of its first element and the
/// bytes of all.
template <class V>
constexpr bool elements_are_elsewhere() noexcept {
  if constexpr (!has_data_and_size<V>)
    return false;
  else if constexpr (requires { std::tuple_size<V>::value; })
    return std::tuple_size<V>::value != 0 &&
           std::tuple_size<V>::value * sizeof(*std::declval<V &>().data()) != sizeof(V);
  else
    return true;
}
template <class T>
[[nodiscard]] access access_to(T &object, access_mode mode) noexcept {
  return {address_of(object), mode, bytes_of<T>()};
}
template <class T>
[[nodiscard]] access access_to_checked(T &object, access_mode mode) noexcept {
  static_assert(
      !elements_are_elsewhere<
          std::remove_const_t<T>>(), // in() adds a const that data() need not allow
      "this access names the address of the container, which is not that of its elements: write weft::region(v) for the elements, or "
      "weft::object(v) for the container itself");
  return access_to(object, mode);
}
} // namespace detail

/// Names an object itself, whatever its elements are: `in(object(v))` is ordered with all other
/// accesses to `object(v)`, and with none to `v[0]` or `region(v)`.
///
///     weft::spawn([&] { v = read(); }, weft::out(weft::object(v)));
///     weft::spawn([&] { print(v); }, weft::in(weft::object(v)));
///
/// It names a container that tasks fill, resize, move or replace; an empty one, too. The clauses
/// refuse a container with data() and size() without object() or region() (<weft/region.hpp>). Of
/// anything else `object(x)` means what `x` means.
///
/// An `object` is a value of one pointer. Every clause takes it in place of an object; so does
/// reduction(). Among regions it has the bytes of the container, not those of its elements. A
/// temporary is refused.
///
/// Cost. None: it does not touch the object.
/// Errors. None.
template <class T>
class object {
 public:
  explicit object(T &named) noexcept
      : m_named(named) {} ///< the object must outlive the tasks that name it
  object(const T &&) = delete; ///< no other task could name a temporary
  [[nodiscard]] T &get() const noexcept { return m_named; } ///< the object that was named

 private:
  T &m_named;
};

/// @{
/// Names an object that the task reads (`in`), writes (`out`), or both (`inout`); the weak forms
/// name one that only the task's children touch.
///
/// - A temporary is refused, because it has no address that another task could name.
/// - A container with data() and size(), such as std::vector, std::string or std::span, is refused,
///   because its address is not that of its elements: `in(v)` and `out(v[0])` would not be ordered.
///   Write `region(v)` for the elements, or `object(v)` for the container itself.
/// - C arrays and std::array are accepted, because they have the address of their first element.
///
/// Cost. None: the object is not touched.
/// Errors. None.
template <class T>
[[nodiscard]] access in(const T &object) noexcept {
  return detail::access_to_checked(object, access_mode::in);
}
template <class T>
[[nodiscard]] access in(object<T> named) noexcept {
  return detail::access_to(named.get(), access_mode::in);
}
template <class T>
access in(const T &&) = delete;
template <class T>
[[nodiscard]] access out(T &object) noexcept {
  return detail::access_to_checked(object, access_mode::out);
}
template <class T>
[[nodiscard]] access out(object<T> named) noexcept {
  return detail::access_to(named.get(), access_mode::out);
}
template <class T>
[[nodiscard]] access inout(T &object) noexcept {
  return detail::access_to_checked(object, access_mode::inout);
}
template <class T>
[[nodiscard]] access inout(object<T> named) noexcept {
  return detail::access_to(named.get(), access_mode::inout);
}
template <class T>
[[nodiscard]] access weak_in(const T &object) noexcept {
  return detail::access_to_checked(object, access_mode::weak_in);
}
template <class T>
[[nodiscard]] access weak_in(object<T> named) noexcept {
  return detail::access_to(named.get(), access_mode::weak_in);
}
template <class T>
access weak_in(const T &&) = delete;
template <class T>
[[nodiscard]] access weak_out(T &object) noexcept {
  return detail::access_to_checked(object, access_mode::weak_out);
}
template <class T>
[[nodiscard]] access weak_out(object<T> named) noexcept {
  return detail::access_to(named.get(), access_mode::weak_out);
}
template <class T>
[[nodiscard]] access weak_inout(T &object) noexcept {
  return detail::access_to_checked(object, access_mode::weak_inout);
}
template <class T>
[[nodiscard]] access weak_inout(object<T> named) noexcept {
  return detail::access_to(named.get(), access_mode::weak_inout);
}
/// @}

/// @{
/// Names an object that the task writes together with its neighbours: consecutive siblings that
/// name it `concurrent` are ordered with all other siblings, but not among themselves. The tasks
/// keep out of each other's way by themselves, with atomics or a lock.
template <class T>
[[nodiscard]] access concurrent(T &object) noexcept {
  return detail::access_to_checked(object, access_mode::concurrent);
}
template <class T>
[[nodiscard]] access concurrent(object<T> named) noexcept {
  return detail::access_to(named.get(), access_mode::concurrent);
}
/// @}
/// @{
/// Names an object that the task writes one at a time with its neighbours: consecutive siblings
/// that name it `commutative` run in any order, one at a time.
///
/// A task with several commutative accesses takes all of them at once, so such tasks never wait for
/// each other in a circle. The task that became ready first is tried first. Its exclusive use ends
/// when the access is released.
///
/// Cost. A spin lock for a few instructions, before the body and after it.
template <class T>
[[nodiscard]] access commutative(T &object) noexcept {
  return detail::access_to_checked(object, access_mode::commutative);
}
template <class T>
[[nodiscard]] access commutative(object<T> named) noexcept {
  return detail::access_to(named.get(), access_mode::commutative);
}
/// @}
/// @{
/// Names an object that only the task's children touch, as `concurrent` tasks. The children are
/// ordered as if the children of all neighbours were siblings.
template <class T>
[[nodiscard]] access weak_concurrent(T &object) noexcept {
  return detail::access_to_checked(object, access_mode::weak_concurrent);
}
template <class T>
[[nodiscard]] access weak_concurrent(object<T> named) noexcept {
  return detail::access_to(named.get(), access_mode::weak_concurrent);
}
/// @}
/// @{
/// Names an object that only the task's children touch, as `commutative` tasks: of the children of
/// all neighbours one at a time runs.
template <class T>
[[nodiscard]] access weak_commutative(T &object) noexcept {
  return detail::access_to_checked(object, access_mode::weak_commutative);
}
template <class T>
[[nodiscard]] access weak_commutative(object<T> named) noexcept {
  return detail::access_to(named.get(), access_mode::weak_commutative);
}
/// @}

} // namespace weft::inline v0
