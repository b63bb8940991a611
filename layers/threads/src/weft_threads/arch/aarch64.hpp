// SPDX-License-Identifier: Apache-2.0
// AArch64: the block of a thread is what tpidr_el0 points to. The library makes no blocks here yet,
// because the descriptor lies in front of that address; so no lightweight thread starts.
#pragma once

#include <cstddef>
#include <cstdint>

#include <linux/futex.h>
#include <sys/syscall.h>
#include <ucontext.h>

namespace weft_threads {

inline void *thread_pointer() noexcept {
  void *tp = nullptr;
  asm volatile("mrs %0, tpidr_el0" : "=r"(tp));
  return tp;
}

inline void set_thread_pointer(void *tp) noexcept {
  asm volatile("msr tpidr_el0, %0" : : "r"(tp) : "memory");
}

inline std::uintptr_t stack_pointer() noexcept {
  std::uintptr_t sp;
  asm volatile("mov %0, sp" : "=r"(sp));
  return sp;
}

inline std::uintptr_t instruction_of(const ucontext_t &context) noexcept {
  return context.uc_mcontext.pc;
}

/// Returns whether the next instruction calls futex() to wait without a time limit. The kernel
/// leaves a thread there when it interrupts such a wait.
inline bool waits_for_word(const ucontext_t &context) noexcept {
  const auto *const at = reinterpret_cast<const unsigned char *>(instruction_of(context));
  const auto &r = context.uc_mcontext.regs;
  const bool calls =
      at[0] == 0x01 && at[1] == 0 && at[2] == 0 && at[3] == 0xd4 && r[8] == SYS_futex; // svc 0
  const auto what = r[1] & FUTEX_CMD_MASK;
  const bool unlimited = r[3] == 0;
  return calls && (what == FUTEX_WAIT || what == FUTEX_WAIT_BITSET) && unlimited;
}

} // namespace weft_threads
