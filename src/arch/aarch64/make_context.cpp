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
  double d8_to_d15[8];
  void (*x19)(void *);
  std::uint64_t x20_to_x28[9];
  std::uint64_t x29;
  void (*x30)();
  std::uint64_t fpcr;
  std::uint64_t unused;
};
static_assert(sizeof(saved) == 176);

} // namespace

context make_context(void *low, std::size_t bytes, void (*entry)(void *)) noexcept {
  const auto top = (reinterpret_cast<std::uintptr_t>(low) + bytes) & ~std::uintptr_t{15};
  auto *s = new (reinterpret_cast<void *>(top - 16 - sizeof(saved))) saved{};
  asm volatile("mrs %0, fpcr" : "=r"(s->fpcr)); // of the creator, as a new thread would inherit it
  s->x19 = entry;
  s->x29 = 0; // ends chains of frame pointers
  s->x30 = weft_context_start;
  return {s};
}

} // namespace rt
} // namespace weft::inline v0
