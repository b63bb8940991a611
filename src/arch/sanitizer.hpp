// SPDX-License-Identifier: Apache-2.0
// Reports to ThreadSanitizer and AddressSanitizer which stack runs. In other builds all of this is
// empty, and switch_stack() is the bare context switch.
//
//   stack made                 announce_stack(s, low, bytes)
//   a thread's own stack       announce_thread_stack(s), on that thread
//   every switch               switch_stack(from, from_s, to, to_s, value); a stack that will never be continued passes
//                              leave::for_good
//   first line of an entry     stack_entered(s)
//   stack given back           forget_stack(s), from another stack
#pragma once

#include "arch/context.hpp"

#include <cstddef>

#if defined(__SANITIZE_THREAD__)
#define WEFT_TSAN 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define WEFT_TSAN 1
#endif
#endif
#if defined(__SANITIZE_ADDRESS__)
#define WEFT_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define WEFT_ASAN 1
#endif
#endif

/// Marks functions that run across a switch: ThreadSanitizer's entry and exit hooks would go to two
/// different stacks.
#if !defined(WEFT_TSAN)
#define WEFT_UNINSTRUMENTED
#elif defined(__clang__)
#define WEFT_UNINSTRUMENTED __attribute__((disable_sanitizer_instrumentation, noinline))
#else
#define WEFT_UNINSTRUMENTED __attribute__((no_sanitize_thread, noinline))
#endif

namespace weft::inline v0 {
namespace rt {

enum class leave { and_return, for_good };

#if defined(WEFT_TSAN) || defined(WEFT_ASAN)

struct sanitized_stack {
  void *fiber = nullptr; // ThreadSanitizer's
  void *fake_stack = nullptr; // AddressSanitizer's, while suspended
  const void *low = nullptr;
  std::size_t bytes = 0;
};

/// Says whether a switch orders what the two stacks did. 0: it does, because they ran on one
/// thread. 1: it does not, so that only what the runtime itself orders counts: then accesses that
/// no dependence orders are reported as races.
inline constexpr unsigned k_switch_orders = 0;
inline constexpr unsigned k_switch_orders_nothing = 1;

void announce_stack(sanitized_stack &stack, const void *low, std::size_t bytes) noexcept;
void announce_thread_stack(sanitized_stack &stack) noexcept;
void forget_stack(sanitized_stack &stack) noexcept;
void stack_entered(sanitized_stack &stack) noexcept;
void *switch_stack(context *from, sanitized_stack &from_stack, context to,
                   sanitized_stack &to_stack, void *value, leave how = leave::and_return,
                   unsigned flags = k_switch_orders) noexcept;

#else

struct sanitized_stack {};
inline constexpr unsigned k_switch_orders = 0;
inline constexpr unsigned k_switch_orders_nothing = 1;

inline void announce_stack(sanitized_stack &, const void *, std::size_t) noexcept {}
inline void announce_thread_stack(sanitized_stack &) noexcept {}
inline void forget_stack(sanitized_stack &) noexcept {}
inline void stack_entered(sanitized_stack &) noexcept {}
inline void *switch_stack(context *from, sanitized_stack &, context to, sanitized_stack &,
                          void *value, leave = leave::and_return,
                          unsigned = k_switch_orders) noexcept {
  return weft_context_switch(from, to, value);
}

#endif

} // namespace rt
} // namespace weft::inline v0
