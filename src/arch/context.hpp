// SPDX-License-Identifier: Apache-2.0
// Suspended stacks. One file per instruction set: <processor>/context.S; generic/context.cpp uses
// Boost.Context.
// Bodies: */context.cpp, */make_context.cpp
#pragma once

#include <cstddef>

namespace weft::inline v0 {
namespace rt {

/// Describes a suspended stack: everything a callee must save is on it, above `sp`.
struct context {
  void *sp = nullptr;
};

extern "C" {
/// Saves the caller's state on its stack, stores that stack in *from and continues `to`. Returns,
/// on `from`, the value of the switch that continues it. Callee-saved registers and the
/// floating-point control words are kept; status flags, the exception globals (exception_state.hpp)
/// and the thread pointer (thread_pointer.hpp) are not. No thread_local may be used in a function
/// that calls this: the stack may continue on another thread. `context` is one register: (from,
/// to.sp, value) are the first three arguments.
void *weft_context_switch(context *from, context to, void *value) noexcept;

/// Calls f(argument), on the caller's stack, so that an unwinder that starts in `f` comes to
/// `suspended` next. No thread may continue `suspended` meanwhile, and `f` must not throw. Does
/// nothing where Weft does not define the layout of suspended stacks (generic/).
void weft_context_walk(context suspended, void (*f)(void *), void *argument);
}

/// Makes a context that, when first switched to, calls `entry` with the value of that switch.
/// `entry` must neither return nor throw: unwinding and backtraces end below it. The stack is [low,
/// low + bytes).
context make_context(void *low, std::size_t bytes, void (*entry)(void *value)) noexcept;

} // namespace rt
} // namespace weft::inline v0
