// SPDX-License-Identifier: Apache-2.0
// x86-64: the block of a thread is what fs points to.
#pragma once

#include <weft_threads/light_thread.hpp>

#include <cstddef>
#include <cstdint>

#include <linux/futex.h>
#include <sys/syscall.h>
#include <ucontext.h>

namespace weft_threads {

/// Says whether an instruction can write the register. Each library that swaps blocks has a copy,
/// which it sets when it is loaded (door.cpp).
extern bool g_has_wrfsbase __attribute__((visibility("hidden")));
/// Returns what g_has_wrfsbase is on this machine.
[[nodiscard]] WEFT_THREADS_API bool has_wrfsbase() noexcept;
WEFT_THREADS_API void set_thread_pointer_by_call(void *tp) noexcept;

inline void *thread_pointer() noexcept {
  void *tp = nullptr;
  asm volatile("movq %%fs:0, %0" : "=r"(tp));
  return tp;
}

inline void set_thread_pointer(void *tp) noexcept {
  if (g_has_wrfsbase) [[likely]] {
    asm volatile("wrfsbase %0" : : "r"(tp) : "memory");
    return;
  }
  set_thread_pointer_by_call(tp);
}

inline std::uintptr_t stack_pointer() noexcept {
  std::uintptr_t sp;
  asm volatile("mov %%rsp, %0" : "=r"(sp));
  return sp;
}

inline std::uintptr_t instruction_of(const ucontext_t &context) noexcept {
  return static_cast<std::uintptr_t>(context.uc_mcontext.gregs[REG_RIP]);
}

/// Returns whether the next instruction calls futex() to wait without a time limit. The kernel
/// leaves a thread there when it interrupts such a wait.
inline bool waits_for_word(const ucontext_t &context) noexcept {
  const auto *const at = reinterpret_cast<const unsigned char *>(instruction_of(context));
  const auto &r = context.uc_mcontext.gregs;
  const bool calls = at[0] == 0x0f && at[1] == 0x05 && r[REG_RAX] == SYS_futex; // syscall
  const auto what = r[REG_RSI] & FUTEX_CMD_MASK;
  const bool unlimited = r[REG_R10] == 0;
  return calls && (what == FUTEX_WAIT || what == FUTEX_WAIT_BITSET) && unlimited;
}

#if defined(__GLIBC__)
#define WEFT_THREADS_MAKES_BLOCKS 1
#endif
/// Words of the descriptor that each thread of a process has alike: stack guard, pointer guard,
/// control-flow features. They are part of the compilers' ABI.
inline constexpr std::size_t k_header_words[] = {0x28, 0x30, 0x48};
/// The words that hold the descriptor's own address, and the flag of more than one thread.
inline constexpr std::size_t k_own_addresses[] = {0, 0x10};
inline constexpr std::size_t k_multiple_threads = 0x18;

} // namespace weft_threads
