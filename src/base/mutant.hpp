// SPDX-License-Identifier: Apache-2.0
// Seeded bugs, to show that the tests would notice them (docs/design/proof.md). They exist in builds with WEFT_MUTANTS only,
// where the variable WEFT_MUTANT chooses one; elsewhere the functions below are constants, and no code is left of them.
#pragma once

#include <atomic>

namespace weft::inline v0 {
namespace rt {

enum class bug : int {
#define WEFT_MUTANT(number, name, place, breaks, killers) name = number,
#include "base/mutants.def"
#undef WEFT_MUTANT
};

#if defined(WEFT_MUTANTS)

/// Returns the number in WEFT_MUTANT, or 0; src/config/mutant.cpp.
int chosen_mutant() noexcept;

/// Says whether `b` is the bug of this run.
inline bool mutant(bug b) noexcept { return chosen_mutant() == static_cast<int>(b); }
/// Returns `order`, or relaxed if `b` is the bug of this run.
inline std::memory_order order_unless(bug b, std::memory_order order) noexcept {
  return mutant(b) ? std::memory_order_relaxed : order;
}

#else

consteval bool mutant(bug) noexcept { return false; }
consteval std::memory_order order_unless(bug, std::memory_order order) noexcept { return order; }

#endif

} // namespace rt
} // namespace weft::inline v0
