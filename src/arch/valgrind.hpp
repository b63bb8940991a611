// SPDX-License-Identifier: Apache-2.0
// Announces stacks to Valgrind, which otherwise guesses when a program changes stacks. Costs a few
// instructions elsewhere.
#pragma once

#if defined(__has_include)
#if __has_include(<valgrind/valgrind.h>)
#include <valgrind/valgrind.h>
#endif
#endif

namespace weft::inline v0 {
namespace rt {

#ifdef VALGRIND_STACK_REGISTER
inline unsigned valgrind_stack(void *low, void *high) noexcept {
  return VALGRIND_STACK_REGISTER(low, high);
}
inline void valgrind_forget_stack(unsigned id) noexcept { VALGRIND_STACK_DEREGISTER(id); }
inline bool on_valgrind() noexcept { return RUNNING_ON_VALGRIND != 0; }
#else
inline bool on_valgrind() noexcept { return false; }
inline unsigned valgrind_stack(void *, void *) noexcept { return 0; }
inline void valgrind_forget_stack(unsigned) noexcept {}
#endif

} // namespace rt
} // namespace weft::inline v0
