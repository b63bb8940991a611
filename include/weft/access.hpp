// SPDX-License-Identifier: Apache-2.0
// How a task says what data it touches.
#pragma once

#include <cstdint>

namespace weft::inline v0 {

/// What a task does with the data at an address. The weak forms say that only the task's children touch it: they never
/// delay the task itself, they connect its children to what came before.
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

/// One access: an address and a mode. Two accesses concern the same data when their addresses are equal; the size of
/// the object does not matter, so a block of an array is named by its first element. A null address is ignored.
struct access {
  const void *address = nullptr; ///< of the object
  access_mode mode = access_mode::inout; ///< what the task does with it
  std::uint32_t bytes = 1; ///< of the object; read only where accesses are ordered as regions (<weft/region.hpp>)
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
} // namespace detail

/// @{
/// Each of these names an object; none costs anything, throws or touches it. A temporary is refused: it has no address that
/// another task could name.
template <class T>
[[nodiscard]] access in(const T &object) noexcept {
  return {detail::address_of(object), access_mode::in, detail::bytes_of<T>()};
}
template <class T>
access in(const T &&) = delete;
template <class T>
[[nodiscard]] access out(T &object) noexcept {
  return {detail::address_of(object), access_mode::out, detail::bytes_of<T>()};
}
template <class T>
[[nodiscard]] access inout(T &object) noexcept {
  return {detail::address_of(object), access_mode::inout, detail::bytes_of<T>()};
}
template <class T>
[[nodiscard]] access weak_in(const T &object) noexcept {
  return {detail::address_of(object), access_mode::weak_in, detail::bytes_of<T>()};
}
template <class T>
access weak_in(const T &&) = delete;
template <class T>
[[nodiscard]] access weak_out(T &object) noexcept {
  return {detail::address_of(object), access_mode::weak_out, detail::bytes_of<T>()};
}
template <class T>
[[nodiscard]] access weak_inout(T &object) noexcept {
  return {detail::address_of(object), access_mode::weak_inout, detail::bytes_of<T>()};
}
/// @}

/// The task writes the object together with its neighbours: consecutive siblings that name it `concurrent` are ordered with
/// all others, but not among themselves. They keep out of each other's way by themselves, with atomics or a lock.
template <class T>
[[nodiscard]] access concurrent(T &object) noexcept {
  return {detail::address_of(object), access_mode::concurrent, detail::bytes_of<T>()};
}
/// The task writes the object in turns with its neighbours: consecutive siblings that name it `commutative` run in any
/// order, one at a time. A task with several commutative accesses takes all of them at once, so such tasks never wait for each other in
/// a circle; the one that became ready first is tried first. The turn ends when the access is released. Cost: a
/// spin lock for a few instructions, before the body and after it.
template <class T>
[[nodiscard]] access commutative(T &object) noexcept {
  return {detail::address_of(object), access_mode::commutative, detail::bytes_of<T>()};
}
/// Only children touch the object, as `concurrent` tasks: they are ordered as if the children of all neighbours were siblings.
template <class T>
[[nodiscard]] access weak_concurrent(T &object) noexcept {
  return {detail::address_of(object), access_mode::weak_concurrent, detail::bytes_of<T>()};
}
/// Only children touch the object, as `commutative` tasks: the children of all neighbours take turns.
template <class T>
[[nodiscard]] access weak_commutative(T &object) noexcept {
  return {detail::address_of(object), access_mode::weak_commutative, detail::bytes_of<T>()};
}

} // namespace weft::inline v0
