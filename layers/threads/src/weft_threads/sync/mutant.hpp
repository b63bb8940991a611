// SPDX-License-Identifier: Apache-2.0
// Seeded bugs of this layer, like those of src/base/mutant.hpp. They are constants without code,
// except in builds with WEFT_MUTANTS.
#pragma once

#include <atomic>

#if defined(WEFT_MUTANTS)
namespace weft::inline v0 {
namespace rt {
int chosen_mutant() noexcept;
} // namespace rt
} // namespace weft::inline v0
#endif

namespace weft_threads {

enum class bug : int {
#define WEFT_MUTANT(number, name, place, breaks, killers) name = number,
#include "weft_threads/sync/mutants.def"
#undef WEFT_MUTANT
};

#if defined(WEFT_MUTANTS)
inline bool mutant(bug b) noexcept { return weft::rt::chosen_mutant() == static_cast<int>(b); }
inline std::memory_order order_unless(bug b, std::memory_order order) noexcept {
  return mutant(b) ? std::memory_order_relaxed : order;
}
#else
consteval bool mutant(bug) noexcept { return false; }
consteval std::memory_order order_unless(bug, std::memory_order order) noexcept { return order; }
#endif

} // namespace weft_threads
