// SPDX-License-Identifier: Apache-2.0
// Thread-local blocks of OpenMP threads, and the register that names the one in use. docs/design/openmp.md says why.
#pragma once

#include <cstddef>

namespace weft_omp {

/// A fresh block, as the C library makes one for a thread, that describes [stack, stack + bytes) as its stack. Null: this C library or this machine
/// is not understood, or there is no memory.
[[nodiscard]] void *make_tls_block(void *stack, std::size_t bytes) noexcept;
/// The same of the block of a thread that has ended: variables have their initial values again. Only what the C library keeps there for its allocator
/// stays, for nothing else gives that back.
[[nodiscard]] void *renew_tls_block(void *block, void *stack, std::size_t bytes) noexcept;

/// All memory of a block that make_tls_block() gave.
struct block_range {
  void *low;
  std::size_t bytes;
};
[[nodiscard]] block_range range_of_block(void *block) noexcept;

/// Whether a block, of any thread, is one of these.
[[nodiscard]] bool is_made_block(const void *block) noexcept;

/// What the C library takes for the id of the block's thread: no kernel thread has it.
[[nodiscard]] int number_of_block(const void *block) noexcept;

/// Something that is to be done once with a fresh block in use.
void complete_tls_block() noexcept;

/// Runs the destructors of thread_local objects and of thread-specific data in the block in use. The block itself stays for renew_tls_block().
void end_tls_block() noexcept;

inline void *thread_pointer() noexcept {
  void *tp = nullptr;
#if defined(__x86_64__)
  asm volatile("movq %%fs:0, %0" : "=r"(tp));
#elif defined(__aarch64__)
  asm volatile("mrs %0, tpidr_el0" : "=r"(tp));
#endif
  return tp;
}

/// How the register is written: found out when the library is loaded.
extern bool g_has_wrfsbase;
void set_thread_pointer_by_call(void *tp) noexcept;

inline void set_thread_pointer(void *tp) noexcept {
#if defined(__x86_64__)
  if (g_has_wrfsbase) [[likely]] {
    asm volatile("wrfsbase %0" : : "r"(tp) : "memory");
    return;
  }
#elif defined(__aarch64__)
  asm volatile("msr tpidr_el0, %0" : : "r"(tp) : "memory");
  return;
#endif
  set_thread_pointer_by_call(tp);
}

} // namespace weft_omp
