// SPDX-License-Identifier: Apache-2.0
// The register through which thread_local variables, errno and the exception globals are found.
#pragma once

#include "arch/context.hpp"

namespace weft::inline v0 {
namespace rt {

inline void *thread_pointer() noexcept {
  void *tp = nullptr;
#if defined(__x86_64__)
  asm volatile("movq %%fs:0, %0" : "=r"(tp)); // the block's first word points to itself
#elif defined(__aarch64__)
  asm volatile("mrs %0, tpidr_el0" : "=r"(tp));
#elif defined(__riscv)
  asm volatile("mv %0, tp" : "=r"(tp));
#endif
  return tp;
}

/// Returns false on processors for which Weft has no code to switch the register.
[[nodiscard]] bool can_switch_thread_pointer() noexcept;

/// Calls weft_context_switch() to a stack that has a thread-local block of its own, or from such a
/// stack to another: loads `tp` first. What is cached of thread_local variables on the caller's
/// stack stays right if the thread that continues that stack passes the thread_pointer() that the
/// stack had. Requires can_switch_thread_pointer().
void *context_switch_with_tp(context *from, context to, void *value, void *tp) noexcept;

} // namespace rt
} // namespace weft::inline v0
