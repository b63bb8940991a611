// SPDX-License-Identifier: Apache-2.0
// One pointer per kernel thread, read afresh each time. A compiler assumes that a thread_local
// variable is the same object throughout a function. On a stack that another thread continues it is
// not. So the address is never formed in C++.
#pragma once

#include "weft/config.hpp"

namespace weft::inline v0 {
namespace rt {

void set_thread_slot(void *p) noexcept;

#if defined(__x86_64__) && defined(__LP64__)
inline void *thread_slot() noexcept {
  void *p = nullptr;
  asm volatile("movq weft_thread_slot@gottpoff(%%rip), %0\n\tmovq %%fs:(%0), %0"
               : "=r"(p)
               :
               : "memory");
  return p;
}
#elif defined(__aarch64__)
inline void *thread_slot() noexcept {
  void *p = nullptr, *tp = nullptr;
  asm volatile(
      "adrp %0, :gottprel:weft_thread_slot\n\tldr %0, [%0, :gottprel_lo12:weft_thread_slot]\n\t"
      "mrs %1, tpidr_el0\n\tldr %0, [%1, %0]"
      : "=&r"(p), "=&r"(tp)
      :
      : "memory");
  return p;
}
#else
WEFT_NOINLINE void *thread_slot() noexcept;
#endif

} // namespace rt
} // namespace weft::inline v0
