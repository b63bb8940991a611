// SPDX-License-Identifier: Apache-2.0
// Reductions of `#pragma oss`: the operations that it knows, declared ones, and the copies in a task.
#pragma once

#include <weft/error.hpp>
#include <weft/layer/reduction_origin.hpp>
#include <weft/oss/items.hpp>
#include <weft/reduction.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <span>
#include <type_traits>
#include <utility>

namespace weft::inline v0 {
namespace oss {

/// Marks calls that find an operation: by the name of the reduction, and the type of the elements.
struct known_operation {};
/// Names an operation; void: there is none for the type.
template <class Op>
struct picked {
  using type = Op; ///< the operation
};

namespace detail {
template <class T>
inline constexpr bool is_number = std::is_arithmetic_v<T>;
template <class T>
inline constexpr bool is_whole = std::is_integral_v<T>;
} // namespace detail

/// @{ Are the operations that OmpSs-2 knows, by the names that the plugin gives to them.
template <class T>
  requires detail::is_number<T>
sum_op weft_oss_reduction_plus(T *, known_operation);
template <class T>
  requires detail::is_number<T>
product_op weft_oss_reduction_times(T *, known_operation);
template <class T>
  requires detail::is_number<T>
minimum_op weft_oss_reduction_min(T *, known_operation);
template <class T>
  requires detail::is_number<T>
maximum_op weft_oss_reduction_max(T *, known_operation);
template <class T>
  requires detail::is_whole<T>
bit_and_op weft_oss_reduction_bit_and(T *, known_operation);
template <class T>
  requires detail::is_whole<T>
bit_or_op weft_oss_reduction_bit_or(T *, known_operation);
template <class T>
  requires detail::is_whole<T>
bit_xor_op weft_oss_reduction_bit_xor(T *, known_operation);
template <class T>
  requires detail::is_number<T>
logical_and_op weft_oss_reduction_and(T *, known_operation);
template <class T>
  requires detail::is_number<T>
logical_or_op weft_oss_reduction_or(T *, known_operation);
/// @}

namespace detail {

/// Holds for the class that stands for a `declare reduction`.
template <class Op>
concept declared_operation = requires { &Op::weft_oss_fill; };

/// Makes and combines copies as a `declare reduction` says. `how` is the object that is reduced.
template <class T, class Op>
struct declared_kind {
  static T *at(void *copy, std::size_t i) { return static_cast<T *>(copy) + i; }
  static void fill(void *copy, std::size_t count, const void *how) {
    std::size_t made = 0;
    try {
      for (; made != count; ++made)
        Op::weft_oss_fill(at(copy, made), static_cast<T *>(const_cast<void *>(how))[made]);
    } catch (...) {
      destroy(copy, made);
      throw;
    }
  }
  static void combine(void *into, const void *copy, std::size_t count, const void *) {
    for (std::size_t i = 0; i != count; ++i)
      Op::weft_oss_combine(*at(into, i), *at(const_cast<void *>(copy), i));
  }
  static void destroy(void *copy, std::size_t count) noexcept {
    for (std::size_t i = 0; i != count; ++i)
      at(copy, i)->~T();
  }
  static void *keep(const void *how) { return const_cast<void *>(how); }
  static void drop(void *) noexcept {}

  static constexpr weft::v0::detail::reduction_ops ops{
      alignof(T), &fill, &combine, std::is_trivially_destructible_v<T> ? nullptr : &destroy,
      &keep,      &drop, nullptr};
};

template <class T, class Op>
struct kind_of {
  static constexpr const weft::v0::detail::reduction_ops &ops =
      weft::v0::detail::reduction_kind<T, Op>::ops;
  static constexpr bool k_declared = false;
};
template <class T, declared_operation Op>
struct kind_of<T, Op> {
  static constexpr const weft::v0::detail::reduction_ops &ops = declared_kind<T, Op>::ops;
  static constexpr bool k_declared = true;
};

} // namespace detail

/// Says of the type of an expression whether it is a pointer.
template <class T>
inline constexpr bool is_pointer = std::is_pointer_v<std::remove_reference_t<T>>;

namespace detail {
/// Holds for containers that keep their elements elsewhere; those of an array are in it.
template <class T>
concept container = std::is_class_v<T> && requires(T &all) {
  { all.data() } -> std::convertible_to<const volatile void *>;
  all.size();
} && !requires { std::tuple_size<T>::value; };
} // namespace detail

/// Is what the name of a container means in a task that reduces a part of it: elements that are where the task's copy is.
template <class T>
class own_elements : public std::span<T> {
 public:
  using std::span<T>::span;
};
/// Says whether a type is own_elements, which a task copies as it does a pointer.
template <class T>
inline constexpr bool is_own_elements = false;
template <class T>
inline constexpr bool is_own_elements<own_elements<T>> = true;

/// Says of the type of a variable whether it is a container whose elements are elsewhere.
template <class T>
inline constexpr bool has_elements = detail::container<std::remove_reference_t<T>>;
/// @{ Say of the type of an operand whether its operator is a function, which may lead out of the operand; that of `v[i]` leads to
/// the elements of a container.
template <class T>
inline constexpr bool may_lead_out =
    std::is_class_v<std::remove_reference_t<T>> || std::is_union_v<std::remove_reference_t<T>>;
template <class T>
inline constexpr bool may_lead_out_by_index =
    may_lead_out<T> && !has_elements<T>;
/// @}
/// Throws where an operator has led out of its operand.
template <class T>
void must_hold(const T &operand, const volatile void *item) {
  if (reinterpret_cast<std::uintptr_t>(item) -
          reinterpret_cast<std::uintptr_t>(std::addressof(operand)) >=
      sizeof(T)) [[unlikely]]
    throw error(errc::invalid_argument,
                "the item of a reduction of '#pragma oss' is outside of the variable that it begins "
                "with; name it by a pointer or a reference of its own, and reduce that");
}

/// Throws for a static member, which is outside of the object that it is named through. A member without a size may be behind the others.
template <class T, class Member>
void must_hold_member(const T &operand, const Member &member) {
  if constexpr (!std::is_unbounded_array_v<Member>)
    if constexpr (sizeof(Member) > 0) {
      if constexpr (std::is_pointer_v<T>)
        must_hold(*operand, std::addressof(member));
      else
        must_hold(operand, std::addressof(member));
    }
}

/// Is what a task does with an item that it reduces: it works on a copy of the item, and finds the
/// copy by the variable that the item begins with.
class reduced_place {
 public:
  reduced_place(const void *first, const void *named, std::ptrdiff_t count, std::size_t bytes,
                bool in_place) noexcept
      : m_first(first), m_named(named), m_count(count), m_bytes(bytes), m_in_place(in_place) {
  } ///< of a clause, whose object is at `named` for the task's creator

  /// Returns the variable as if the item were where the copy is: a pointer moves, any other
  /// variable is a reference.
  template <class Base>
  [[nodiscard]] decltype(auto) of(Base &base) const {
    const std::uintptr_t away = distance();
    if constexpr (std::is_pointer_v<Base>)
      return reinterpret_cast<std::remove_cv_t<Base>>(reinterpret_cast<std::uintptr_t>(base) +
                                                      away);
    else
      return *reinterpret_cast<Base *>(reinterpret_cast<std::uintptr_t>(std::addressof(base)) +
                                       away);
  }

  /// Returns the same for an item that is an element, or a part, of the variable: of a container its elements.
  template <class Base>
  [[nodiscard]] decltype(auto) of_elements(Base &base) const {
    if constexpr (detail::container<Base>) {
      auto *const first = base.data();
      return own_elements<std::remove_pointer_t<std::remove_const_t<decltype(first)>>>(
          reinterpret_cast<decltype(base.data())>(reinterpret_cast<std::uintptr_t>(first) +
                                                  distance()),
          base.size());
    } else {
      return of(base);
    }
  }

 private:
  [[nodiscard]] std::uintptr_t distance() const { // modulo the size of the address space
    if (m_in_place || m_count == 0)
      return 0;
    return reinterpret_cast<std::uintptr_t>(
               weft::v0::detail::reduction_copy(m_first, m_count, m_bytes)) -
           reinterpret_cast<std::uintptr_t>(m_named);
  }
  const void *m_first;
  const void *m_named; // the copy that the creator of the task has, if it reduces the item, too
  std::ptrdiff_t m_count;
  std::size_t m_bytes;
  bool m_in_place; // ordered by bytes: the tasks come one after the other, and no loop is shared
};

/// Is the same for an item that is a variable as it is. It is two words, because a task keeps it.
template <order Order, class Object>
class reduced_variable {
 public:
  reduced_variable(Object &object, const void *first, const void *named) noexcept
      : m_first(Order == order::by_bytes ? std::addressof(object) : first),
        m_offset(Order == order::by_bytes
                     ? 0
                     : reinterpret_cast<std::uintptr_t>(std::addressof(object)) -
                           reinterpret_cast<std::uintptr_t>(named)) {} ///< as of reduced_place

  /// Returns the task's own variable.
  [[nodiscard]] Object &get() const {
    using element = std::remove_all_extents_t<Object>;
    if constexpr (Order == order::by_bytes)
      return *static_cast<Object *>(const_cast<void *>(m_first));
    else
      return *reinterpret_cast<Object *>(
          reinterpret_cast<std::uintptr_t>(weft::v0::detail::reduction_copy(
              m_first, sizeof(Object) / sizeof(element), sizeof(element))) +
          m_offset);
  }

 private:
  const void *m_first;
  std::uintptr_t m_offset; // of the variable, in what the creator of the task reduces
};

namespace detail {

template <class T>
struct reduced {
  T *first;
  std::ptrdiff_t count;
  const void *named; // the place of `first` for the creator of the task
};

/// Returns the whole item of a creator that reduces it, or more, by its own name.
template <class T>
[[gnu::noinline]] reduced<T> origin_in(T *named, layer::reduction_part part,
                                       const layer::reduced_object &object) {
  if (part == layer::reduction_part::beyond)
    throw error(errc::invalid_argument,
                "a reduction of '#pragma oss' reaches beyond the item that the task around it "
                "reduces; name that item, or a part of it");
  const auto away =
      reinterpret_cast<std::uintptr_t>(named) - reinterpret_cast<std::uintptr_t>(object.copy);
  if (object.element_bytes != sizeof(T) || away % sizeof(T) != 0)
    throw error(
        errc::invalid_argument,
        "a reduction of '#pragma oss' has other elements than the item that the task around "
        "it reduces; name whole elements of that item");
  return {static_cast<T *>(object.address), static_cast<std::ptrdiff_t>(object.bytes / sizeof(T)),
          object.copy};
}
/// Returns what a task reduces.
template <class T>
reduced<T> origin_of(T *named, std::ptrdiff_t count) {
  layer::reduced_object object;
  const std::size_t bytes = count > 0 ? static_cast<std::size_t>(count) * sizeof(T) : 0;
  const layer::reduction_part part = layer::reduction_origin(named, bytes, &object);
  if (part != layer::reduction_part::none) [[unlikely]]
    return origin_in(named, part, object);
  return {named, count, named};
}

} // namespace detail

/// Is a reduction among the clauses of a task. Without an operation it is no clause: see
/// is_reduction.
template <order Order, class T, class Op>
class reduction_item {
 public:
  reduction_item(T *named, std::ptrdiff_t count, access_mode mode)
      : reduction_item(detail::origin_of(named, count), mode, named) {} ///< of `count` elements
  [[nodiscard]] const void *item() const noexcept { return m_item; } ///< its first element
  [[nodiscard]] const auto &clause() const noexcept { return m_clause; } ///< for spawn
  /// @{ Returns what the task needs: for any item, and for one that is a variable.
  [[nodiscard]] reduced_place place() const noexcept {
    return {m_what.first, m_what.named, m_what.count, sizeof(T), Order == order::by_bytes};
  }
  template <class Object>
  [[nodiscard]] reduced_variable<Order, Object> variable(Object &object) const noexcept {
    return {object, m_what.first, m_what.named};
  }
  /// @}
  /// Throws where the item is the creator's copy: the children of a task without a copy would name that.
  void must_be_itself() const {
    if (m_what.first != m_what.named)
      throw error(errc::invalid_argument,
                  "a weakreduction or a taskiter of '#pragma oss' is below a reduction of the same "
                  "item; give the task that it is in weakreduction, or the one below it reduction");
  }

 private:
  using clause_type =
      std::conditional_t<Order == order::by_address, reduction_clause<T>, region_access>;
  static clause_type clause_of_kind(const detail::reduced<T> &what, access_mode mode) noexcept {
    if constexpr (Order == order::by_address)
      return {what.first, what.count, detail::kind_of<T, Op>::ops,
              detail::kind_of<T, Op>::k_declared ? what.first : nullptr, mode};
    else
      return {region(what.first, what.count), mode};
  }
  reduction_item(const detail::reduced<T> &what, access_mode mode, const T *item) noexcept
      : m_what(what), m_item(item), m_clause(clause_of_kind(what, mode)) {}

  detail::reduced<T> m_what;
  const void *m_item;
  clause_type m_clause;
};
template <order Order, class T>
class reduction_item<Order, T, void> {
 public:
  reduction_item(T *first, std::ptrdiff_t, access_mode) noexcept
      : m_access(weft::v0::detail::access_to(*first, access_mode::inout)) {} ///< of nothing
  [[nodiscard]] const weft::access &clause() const noexcept { return m_access; } ///< an access
  [[nodiscard]] const void *item() const noexcept { return nullptr; } ///< none
  [[nodiscard]] reduced_place place() const noexcept {
    return {nullptr, nullptr, 0, 0, true};
  } ///< none
  template <class Object>
  [[nodiscard]] reduced_variable<order::by_bytes, Object> variable(Object &object) const noexcept {
    return {object, nullptr, nullptr};
  } ///< none
  void must_be_itself() const noexcept {} ///< nothing is reduced

 private:
  weft::access m_access;
};

/// Says whether there is an operation for the type of a reduction's item.
template <class Item>
inline constexpr bool is_reduction = true;
template <order Order, class T>
inline constexpr bool is_reduction<const reduction_item<Order, T, void>> = false;

namespace detail {
template <class T>
struct elements {
  T *first;
  std::ptrdiff_t count;
};
template <class T>
elements<std::remove_all_extents_t<T>> elements_of(T &object) noexcept {
  return {reinterpret_cast<std::remove_all_extents_t<T> *>(std::addressof(object)),
          static_cast<std::ptrdiff_t>(sizeof(T) / sizeof(std::remove_all_extents_t<T>))};
}
} // namespace detail

/// @{ Returns the reduction of an item: of an object, or of a part of an array without gaps.
template <access_mode Mode, order Order, class T, class Pick>
[[nodiscard]] auto reduce(T &object, Pick) {
  static_cast<void>(&detail::k_noted<Order>);
  const auto all = detail::elements_of(object);
  using element = std::remove_pointer_t<decltype(all.first)>;
  using op = typename decltype(Pick{}(static_cast<element *>(nullptr)))::type;
  return reduction_item<Order, element, op>(all.first, all.count, Mode);
}
template <access_mode Mode, order Order, class T, class Pick>
  requires(!std::is_lvalue_reference_v<T> && !is_array_part<T>)
reduction_item<Order, int, sum_op> reduce(T &&, Pick)
#ifdef __clang__
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wgcc-compat"
    __attribute__((diagnose_if(true,
                               "an item of a reduction of '#pragma oss' must be an lvalue: an "
                               "object that has an address",
                               "error")))
#pragma clang diagnostic pop
#endif
    ;
template <access_mode Mode, order Order, class T, class Pick>
[[nodiscard]] auto reduce(const array_part<T> &section, Pick) {
  const region &part = section.get();
  static_cast<void>(&detail::k_noted<Order>);
  std::ptrdiff_t count = 1;
  bool whole = true; // of the dimensions behind
  for (unsigned i = part.dimensions(); i-- > 0;) {
    const auto &d = part.dimension(i);
    if (!whole && d.count != 1)
      throw error(errc::invalid_argument,
                  "an item of a reduction of '#pragma oss' has gaps: name a part of an array whose "
                  "elements follow each other");
    count *= d.count;
    whole = whole && (i == 0 || d.count == d.extent);
  }
  using op = typename decltype(Pick{}(static_cast<T *>(nullptr)))::type;
  return reduction_item<Order, T, op>(const_cast<T *>(static_cast<const T *>(section.first())),
                                      count, Mode);
}
/// @}

} // namespace oss
} // namespace weft::inline v0
