// SPDX-License-Identifier: Apache-2.0
// Seeded bugs, to show that the tests would notice them (docs/design/proof.md). They exist in builds with WEFT_MUTANTS only,
// where the variable WEFT_MUTANT chooses one. Elsewhere the wrappers below are their right side, and no code is left of the bugs.
// A bug is an argument, never a statement of its own:
//   order_unless(bug::x, order)   a weaker order
//   unless(bug::x, value)         a value that is lost: a condition that does not hold, a null pointer
//   unless(bug::x, [&] { ... })   an action that is left out
//   unless(bug::x, right, wrong)  another value or another action
// tools/check/mutants_vanish cuts them out of the text, so a callable is written as a lambda. It captures a
// local variable by value: the address of one costs code.
// Each library has a table `bug` of its own, and the wrappers of here.
#pragma once

#include <atomic>
#include <type_traits>

#if defined(WEFT_MUTANTS)
namespace weft::inline v0 {
namespace rt {
/// Returns the number in WEFT_MUTANT, or 0; src/config/mutant.cpp.
int chosen_mutant() noexcept;
} // namespace rt
} // namespace weft::inline v0
#endif

namespace weft_common {

enum class bug : int {
#define WEFT_MUTANT(number, name, place, breaks, killers) name = number,
#include "weft_common/mutants.def"
#undef WEFT_MUTANT
};

#if defined(WEFT_MUTANTS)

/// Says whether `seed` is the bug of this run. Only the wrappers below ask.
template <class Bug>
bool mutant(Bug seed) noexcept {
  return weft::rt::chosen_mutant() == static_cast<int>(seed);
}
/// Returns `order`, or relaxed if `seed` is the bug of this run.
template <class Bug>
std::memory_order order_unless(Bug seed, std::memory_order order) noexcept {
  return mutant(seed) ? std::memory_order_relaxed : order;
}
/// Returns what `value` returns if it is a callable, else `value`.
template <class X>
auto value_of(X &value) {
  if constexpr (std::is_invocable_v<X &>)
    return value();
  else
    return value;
}
/// Returns `right`, or its zero (false, null) if `seed` is the bug of this run.
/// `right` may be a lambda: it is called, and the bug leaves the call out.
template <class Bug, class Right>
auto unless(Bug seed, Right right) {
  using result = decltype(value_of(right));
  return mutant(seed) ? result() : value_of(right);
}
/// Returns `right`, or `wrong` if `seed` is the bug of this run. Either may be a lambda: only the one
/// that is needed is called. A lambda in the place of `wrong` may take the value of `right`.
template <class Bug, class Right, class Wrong>
auto unless(Bug seed, Right right, Wrong wrong) {
  using result = decltype(value_of(right));
  if (!mutant(seed))
    return value_of(right);
  if constexpr (std::is_invocable_v<Wrong &, result>)
    return static_cast<result>(wrong(value_of(right)));
  else
    return static_cast<result>(value_of(wrong));
}

#else

template <class Bug>
consteval std::memory_order order_unless(Bug, std::memory_order order) noexcept {
  return order;
}
template <class Bug, class Right>
[[gnu::always_inline]] constexpr auto unless(Bug, Right right) {
  if constexpr (std::is_invocable_v<Right &>)
    return right();
  else
    return right;
}
template <class Bug, class Right, class Wrong>
[[gnu::always_inline]] constexpr auto unless(Bug seed, Right right, Wrong) {
  return unless(seed, right);
}

#endif

} // namespace weft_common
