// SPDX-License-Identifier: Apache-2.0
// What the templates of <weft/reduction.hpp> and the library agree on. Not for users.
#pragma once

#include <weft/config.hpp>

#include <cstddef>

namespace weft::inline v0 {
namespace detail {

/// Says how copies of one kind are made and combined. `how` is the identity that a reduction_spec
/// names, or null.
struct reduction_ops {
  std::size_t alignment;
  void (*fill)(void *copy, std::size_t count, const void *how); // with the identity; may throw
  void (*combine)(void *into, const void *copy, std::size_t count, const void *how); // may throw
  void (*destroy)(void *copy, std::size_t count) noexcept; // null: nothing to do
  void *(*keep)(const void *how); // a copy of it; may throw
  void (*drop)(void *how) noexcept; // of what keep returned
  bool (*is_same)(const void *how, const void *other) noexcept; // null: always
};

/// Describes one reduction that a task names; the `access` holds the address of this object.
struct reduction_spec {
  const void *address;
  const reduction_ops *ops;
  std::ptrdiff_t count; // of elements; negative is refused, 0 names nothing
  std::size_t bytes; // of an element
  const void *how; // read before spawn returns
};

/// Returns the running task's copy of at least `count` elements.
WEFT_API void *reduction_copy(const void *address, std::ptrdiff_t count, std::size_t bytes);

} // namespace detail
} // namespace weft::inline v0
