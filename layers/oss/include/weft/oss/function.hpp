// SPDX-License-Identifier: Apache-2.0
// Functions each of whose calls is a task, for the code that stands for `#pragma oss`.
#pragma once

#include <weft/oss/items.hpp>

#include <memory>
#include <type_traits>
#include <utility>

namespace weft::inline v0 {
namespace oss {

/// Is the last parameter of the function that makes a task of a call; no caller gives it.
template <order Order>
struct call {};

/// Returns a callable that returns what a parameter of type T gives to the task: a reference as it
/// is, anything else as a copy.
template <class T, class Object>
[[nodiscard]] auto argument(Object &object) {
  if constexpr (std::is_lvalue_reference_v<T>)
    return [&object]() -> Object & { return object; };
  else if constexpr (std::is_copy_constructible_v<Object> && !std::is_rvalue_reference_v<T>)
    return [object]() mutable -> Object & { return object; };
  else
    return [object = std::move(object)]() mutable -> Object & { return object; };
}
/// Returns the argument of a parameter of type T.
template <class T, class Object>
[[nodiscard]] decltype(auto) pass(Object &object) noexcept {
  if constexpr (std::is_lvalue_reference_v<T> ||
                (!std::is_reference_v<T> && std::is_copy_constructible_v<Object>))
    return (object);
  else
    return std::move(object);
}

/// Says whether an item that begins with a parameter of type T names data of the caller.
template <class T, bool Plain>
inline constexpr bool is_data_of_caller =
    std::is_reference_v<T> || (!Plain && std::is_pointer_v<T>);

} // namespace oss
} // namespace weft::inline v0
