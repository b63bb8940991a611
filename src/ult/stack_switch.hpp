// SPDX-License-Identifier: Apache-2.0
// Declarations that the files of this module share: how a thread switches to a stack, and where it
// goes next.
// Bodies: thread_context.cpp
#pragma once

#include "ult/thread_context.hpp"

#include <cstdint>

namespace weft::inline v0 {
namespace rt {

struct light_thread;
struct run_in_place;

/// Holds the data of a pool stack, at its top.
struct alignas(64) stack_root {
  sanitized_stack sanitized;
  frame *suspended = nullptr; // the suspended frame on it
  thread_context *home =
      nullptr; // the thread on whose own stack the caller of this stack's first function is
  light_thread *light = nullptr; // begins on this stack
  const run_in_place *runs = nullptr; // the newest on it; see task/wait/run_in_place.hpp
};

inline stack_root *root_of(stack &which) noexcept {
  auto top = reinterpret_cast<std::uintptr_t>(which.low) + which.bytes - sizeof(stack_root);
  return reinterpret_cast<stack_root *>(top & ~std::uintptr_t{63});
}

inline void set_stack(thread_context &e, stack *which, sanitized_stack *sanitized) noexcept {
  __atomic_store_n(&e.pool_stack, which, __ATOMIC_RELEASE); // O1 of publish/runtimes.cpp
  e.sanitized = sanitized;
  e.stack_low = which ? static_cast<const char *>(which->low) : e.thread_stack_low;
}

/// Calls `f` for the data of each pool stack that has ever been used. Nothing may run meanwhile.
void for_each_root(void (*f)(const stack_root &, void *), void *context);

/// Does what the stack that was left asked for. It is the first call on a stack to which a thread
/// has switched.
void arrived() noexcept;

/// Runs the worker loop on a stack on which nothing has run; the switch passes the stack's root.
void loop_entry(void *root);

/// Returns a stack, of `bytes` or of the common size for 0, that will run `entry`. Throws
/// weft::error, out_of_resources.
stack *fresh_stack(thread_context &e, std::size_t bytes, context &start, void (*entry)(void *));
/// Has a stack in the cache of the thread, for a suspension that must not fail. Throws out_of_resources.
void require_stack(thread_context &e);

struct destination {
  context state;
  stack *on;
  sanitized_stack *sanitized;
  void *value;
};

} // namespace rt
} // namespace weft::inline v0
