// SPDX-License-Identifier: Apache-2.0
// Seeded bugs of this layer, like those of src/base/mutant.hpp. They leave no code,
// except in builds with WEFT_MUTANTS.
#pragma once

#include <atomic>
#include <type_traits>

#if defined(WEFT_MUTANTS)
namespace weft::inline v0 {
namespace rt {
int chosen_mutant() noexcept;
} // namespace rt
} // namespace weft::inline v0
#endif

namespace weft_omp {

enum class bug : int {
#define WEFT_MUTANT(number, name, place, breaks, killers) name = number,
#include "sync/mutants.def"
#undef WEFT_MUTANT
};

#if defined(WEFT_MUTANTS)

/// Says whether `b` is the bug of this run. Only the wrappers below ask.
inline bool mutant(bug b) noexcept { return weft::rt::chosen_mutant() == static_cast<int>(b); }
/// Returns `order`, or relaxed if `b` is the bug of this run.
inline std::memory_order order_unless(bug b, std::memory_order order) noexcept {
  return mutant(b) ? std::memory_order_relaxed : order;
}
/// Returns what `x` returns if it is a callable, else `x`.
template <class X>
auto value_of(X &x) {
  if constexpr (std::is_invocable_v<X &>)
    return x();
  else
    return x;
}
/// Returns `right`, or its zero (false, null) if `b` is the bug of this run.
/// `right` may be a lambda: it is called, and the bug leaves the call out.
template <class Right>
auto unless(bug b, Right right) {
  using result = decltype(value_of(right));
  return mutant(b) ? result() : value_of(right);
}
/// Returns `right`, or `wrong` if `b` is the bug of this run. Either may be a lambda: only the one
/// that is needed is called. A lambda in the place of `wrong` may take the value of `right`.
template <class Right, class Wrong>
auto unless(bug b, Right right, Wrong wrong) {
  using result = decltype(value_of(right));
  if (!mutant(b))
    return value_of(right);
  if constexpr (std::is_invocable_v<Wrong &, result>)
    return static_cast<result>(wrong(value_of(right)));
  else
    return static_cast<result>(value_of(wrong));
}

#else

consteval std::memory_order order_unless(bug, std::memory_order order) noexcept { return order; }
template <class Right>
[[gnu::always_inline]] constexpr auto unless(bug, Right right) {
  if constexpr (std::is_invocable_v<Right &>)
    return right();
  else
    return right;
}
template <class Right, class Wrong>
[[gnu::always_inline]] constexpr auto unless(bug b, Right right, Wrong) {
  return unless(b, right);
}

#endif

} // namespace weft_omp
