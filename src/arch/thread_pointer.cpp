// SPDX-License-Identifier: Apache-2.0
#include "arch/thread_pointer.hpp"

#include "arch/sanitizer.hpp"

#if defined(__x86_64__)
#include <asm/prctl.h>
#include <sys/auxv.h>
#include <sys/syscall.h>
#endif

namespace weft::inline v0 {
namespace rt {

#if defined(__x86_64__)

namespace {

constexpr unsigned long k_fsgsbase =
    2; // bit of AT_HWCAP2: the kernel lets programs write the register
const bool g_fsgsbase = (getauxval(AT_HWCAP2) & k_fsgsbase) !=
                        0; // until it is initialised, the system call is used, which is right too

/// Sets the register. It never uses the C library's syscall(), which would set errno in a block
/// that is just being exchanged.
[[gnu::always_inline]] inline void set_thread_pointer(void *tp) noexcept {
  if (g_fsgsbase) [[likely]] {
    asm volatile("wrfsbase %0" : : "r"(tp) : "memory");
    return;
  }
  long result = SYS_arch_prctl;
  asm volatile("syscall" : "+a"(result) : "D"(ARCH_SET_FS), "S"(tp) : "rcx", "r11", "memory");
}

} // namespace

bool can_switch_thread_pointer() noexcept { return true; }

#elif defined(__aarch64__) || defined(__riscv)

namespace {

[[gnu::always_inline]] inline void set_thread_pointer(void *tp) noexcept {
#if defined(__aarch64__)
  asm volatile("msr tpidr_el0, %0" : : "r"(tp) : "memory");
#else
  asm volatile("mv tp, %0" : : "r"(tp) : "memory");
#endif
}

} // namespace

bool can_switch_thread_pointer() noexcept { return true; }

#else

namespace {
inline void set_thread_pointer(void *) noexcept { __builtin_trap(); }
} // namespace

bool can_switch_thread_pointer() noexcept { return false; }

#endif

/// Sets the register and switches. No code between the two lines may use a thread_local, so nothing
/// may be instrumented.
WEFT_UNINSTRUMENTED void *context_switch_with_tp(context *from, context to, void *value,
                                                 void *tp) noexcept {
  set_thread_pointer(tp);
  return weft_context_switch(from, to, value);
}

} // namespace rt
} // namespace weft::inline v0
