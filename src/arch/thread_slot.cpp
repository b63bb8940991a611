// SPDX-License-Identifier: Apache-2.0
#include "arch/thread_slot.hpp"

namespace weft::inline v0 {
namespace rt {

// hidden, and named for the assembly of thread_slot.hpp
extern thread_local void *t_slot asm("weft_thread_slot");
[[gnu::visibility("hidden")]] constinit thread_local void *t_slot = nullptr;

void set_thread_slot(void *p) noexcept {
  asm volatile("" ::: "memory");
  t_slot = p;
}

#if !(defined(__x86_64__) && defined(__LP64__)) && !defined(__aarch64__)
void *thread_slot() noexcept {
  asm volatile("" ::: "memory");
  return t_slot;
}
#endif

} // namespace rt
} // namespace weft::inline v0
