// SPDX-License-Identifier: Apache-2.0
// `#pragma oss atomic`: what its statements do, on objects of numbers and pointers.
#pragma once

#include <weft/mutex.hpp>

#include <type_traits>

namespace weft::inline v0 {
namespace oss {

/// @{ Are the orders of `atomic`.
inline constexpr int k_relaxed = __ATOMIC_RELAXED;
inline constexpr int k_acquire = __ATOMIC_ACQUIRE;
inline constexpr int k_release = __ATOMIC_RELEASE;
inline constexpr int k_acq_rel = __ATOMIC_ACQ_REL;
inline constexpr int k_seq_cst = __ATOMIC_SEQ_CST;
/// @}

namespace detail {

template <class T>
constexpr void check_atomic() noexcept {
  static_assert(std::is_scalar_v<T> && !std::is_const_v<T>,
                "#pragma oss atomic: the object must be a number or a pointer, and no constant");
}
constexpr int failure_order(int success) noexcept { // of an exchange that does not happen
  return success == __ATOMIC_RELEASE   ? __ATOMIC_RELAXED
         : success == __ATOMIC_ACQ_REL ? __ATOMIC_ACQUIRE
                                       : success;
}
template <class T>
struct replaced {
  T before, after;
};

/// Holds for objects that the processor changes at once; others have one lock.
template <class T>
inline constexpr bool is_small = sizeof(T) <= sizeof(void *);

/// Is that lock while it lives.
class atomic_section {
 public:
  atomic_section() : m_mutex(weft::v0::detail::critical_mutex("#pragma oss atomic")) {
    m_mutex.lock();
  }
  atomic_section(const atomic_section &) = delete;
  atomic_section &operator=(const atomic_section &) = delete;
  ~atomic_section() { m_mutex.unlock(); }

 private:
  mutex &m_mutex;
};

/// Replaces the value by f(value).
template <int Order, class T, class F>
replaced<std::remove_volatile_t<T>> replace(T &object, const F &f) {
  check_atomic<T>();
  using value = std::remove_volatile_t<T>;
  replaced<value> both;
  if constexpr (!is_small<T>) {
    const atomic_section only;
    both.before = object;
    both.after = static_cast<value>(f(both.before));
    object = both.after;
    return both;
  }
  __atomic_load(&object, &both.before, __ATOMIC_RELAXED);
  do {
    both.after = static_cast<value>(f(both.before));
  } while (!__atomic_compare_exchange(&object, &both.before, &both.after, true, Order,
                                      failure_order(Order)));
  return both;
}

} // namespace detail

/// Returns the value of the object: `v = x`.
template <int Order, class T>
[[nodiscard]] std::remove_cv_t<T> atomic_read(T &object) {
  detail::check_atomic<std::remove_const_t<T>>();
  if constexpr (detail::is_small<T>) {
    std::remove_cv_t<T> value;
    __atomic_load(const_cast<std::remove_const_t<T> *>(&object), &value, Order);
    return value;
  } else {
    const detail::atomic_section only;
    return object;
  }
}
/// Sets the object: `x = value`.
template <int Order, class T, class Value>
void atomic_write(T &object, const Value &value) {
  detail::check_atomic<T>();
  auto converted = static_cast<std::remove_volatile_t<T>>(value);
  if constexpr (detail::is_small<T>) {
    __atomic_store(&object, &converted, Order);
  } else {
    const detail::atomic_section only;
    object = converted;
  }
}
/// @{ Replaces the value by f(value, operand), and returns the new value or the old one. The operand
/// is evaluated once. `Sign` names an operation that the processor may know, or is a blank.
template <int Order, char Sign, class T, class Operand, class F>
std::remove_volatile_t<T> atomic_fetch(T &object, const Operand &operand, const F &f) {
  if constexpr (std::is_integral_v<T> && !std::is_same_v<std::remove_volatile_t<T>, bool> &&
                std::is_integral_v<Operand> && detail::is_small<T>) {
    detail::check_atomic<T>();
    const auto converted = static_cast<std::remove_volatile_t<T>>(operand);
    if constexpr (Sign == '+')
      return __atomic_fetch_add(&object, converted, Order);
    else if constexpr (Sign == '-')
      return __atomic_fetch_sub(&object, converted, Order);
    else if constexpr (Sign == '&' && sizeof(Operand) <= sizeof(T))
      return __atomic_fetch_and(&object, converted, Order);
    else if constexpr (Sign == '|' && sizeof(Operand) <= sizeof(T))
      return __atomic_fetch_or(&object, converted, Order);
    else if constexpr (Sign == '^' && sizeof(Operand) <= sizeof(T))
      return __atomic_fetch_xor(&object, converted, Order);
  }
  return detail::replace<Order>(object, [&](const auto &old) { return f(old, operand); }).before;
}
template <int Order, char Sign, class T, class Operand, class F>
std::remove_volatile_t<T> atomic_update(T &object, const Operand &operand, const F &f) {
  if constexpr (std::is_integral_v<T> && std::is_integral_v<Operand> && Sign != ' ')
    return static_cast<std::remove_volatile_t<T>>(
        f(atomic_fetch<Order, Sign>(object, operand, f), operand));
  else
    return detail::replace<Order>(object, [&](const auto &old) { return f(old, operand); }).after;
}
/// @}

/// Is what a comparison has found, and what the object is then.
template <class T>
struct comparison {
  T before, after; ///< the values
  bool changed; ///< whether the condition has held
};
/// Replaces the value by another one if compare(value, operand) holds. An object that does not change
/// is read with the order of a failed exchange.
template <int Order, class T, class Operand, class Compare, class Value>
[[nodiscard]] comparison<std::remove_volatile_t<T>>
atomic_compare(T &object, const Operand &operand, const Compare &compare, const Value &value) {
  detail::check_atomic<T>();
  using stored = std::remove_volatile_t<T>;
  auto converted = static_cast<stored>(value);
  comparison<stored> found{};
  if constexpr (detail::is_small<T>) {
    __atomic_load(&object, &found.before, detail::failure_order(Order));
    while (!found.changed && compare(found.before, operand))
      found.changed = __atomic_compare_exchange(&object, &found.before, &converted, true, Order,
                                                detail::failure_order(Order));
  } else {
    const detail::atomic_section only;
    found.before = object;
    found.changed = compare(found.before, operand);
    if (found.changed)
      object = converted;
  }
  found.after = found.changed ? converted : found.before;
  return found;
}
template <int Order, class T, class Operand, class Compare>
[[nodiscard]] auto atomic_compare(T &object, const Operand &operand, const Compare &compare) {
  return atomic_compare<Order>(object, operand, compare, operand);
}

} // namespace oss
} // namespace weft::inline v0
