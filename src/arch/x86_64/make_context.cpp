// SPDX-License-Identifier: Apache-2.0
#include "arch/context.hpp"

#include <cstdint>
#include <new>

extern "C" void weft_context_start();

namespace weft::inline v0 {
namespace rt {

namespace {

/// Lays out the registers that context.S keeps on a suspended stack.
struct saved {
  std::uint32_t mxcsr;
  std::uint16_t x87_control;
  std::uint64_t r12, r13, r14, r15;
  void (*rbx)(void *);
  std::uint64_t rbp;
  void (*resume)();
};
static_assert(sizeof(saved) == 64);

} // namespace

context make_context(void *low, std::size_t bytes, void (*entry)(void *)) noexcept {
  const auto top = (reinterpret_cast<std::uintptr_t>(low) + bytes) & ~std::uintptr_t{15};
  auto *s = new (reinterpret_cast<void *>(top - 16 - sizeof(saved))) saved{};
  // The creator's rounding and exception masks: the same words a new thread would inherit.
  asm volatile("stmxcsr %0\n\tfnstcw %1" : "=m"(s->mxcsr), "=m"(s->x87_control));
  s->rbx = entry;
  s->rbp = 0; // ends chains of frame pointers
  s->resume = weft_context_start;
  return {s};
}

} // namespace rt
} // namespace weft::inline v0
