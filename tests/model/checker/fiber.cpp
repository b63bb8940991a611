// SPDX-License-Identifier: Apache-2.0
#include "fiber.hpp"

#include <cstdint>
#include <memory>

#if !defined(__x86_64__)
#include <ucontext.h>
#endif

#if defined(__has_include) && __has_include(<sanitizer/asan_interface.h>)
#include <sanitizer/asan_interface.h> // its macros do nothing in other builds
#else
#define ASAN_UNPOISON_MEMORY_REGION(from, bytes) ((void)0)
#endif

namespace weft_model {

namespace {
constexpr std::size_t k_stack_bytes = 256 * 1024;
constexpr int k_stacks = 8;

char *stack(int index) {
  static std::unique_ptr<char[]> stacks[k_stacks];
  if (!stacks[index])
    stacks[index] = std::make_unique<char[]>(k_stack_bytes);
  ASAN_UNPOISON_MEMORY_REGION(stacks[index].get(),
                              k_stack_bytes); // frames of an execution that was cut off
  return stacks[index].get();
}
} // namespace

#if defined(__x86_64__)

extern "C" void weft_model_switch(void **from, void *to);
asm(R"(
  .text
  .p2align 4
  .globl weft_model_switch
  .type weft_model_switch, @function
weft_model_switch:
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  movq %rsp, (%rdi)
  movq %rsi, %rsp
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  ret
  .size weft_model_switch, .-weft_model_switch
)");

void switch_fiber(void **from, void *to) { weft_model_switch(from, to); }

void *make_fiber(int index, void (*entry)()) {
  auto top = reinterpret_cast<std::uintptr_t>(stack(index) + k_stack_bytes) & ~std::uintptr_t{15};
  auto *words = reinterpret_cast<void **>(top);
  *--words = nullptr; // entry finds the alignment that a call would have left
  *--words = reinterpret_cast<void *>(entry);
  for (int saved = 0; saved < 6; ++saved)
    *--words = nullptr;
  return words;
}

#else

namespace {
struct context {
  ucontext_t at;
};
context g_contexts[k_stacks];
context g_main;
} // namespace

void switch_fiber(void **from, void *to) {
  if (*from == nullptr)
    *from = &g_main;
  auto *self = static_cast<context *>(*from);
  swapcontext(&self->at, &static_cast<context *>(to)->at);
}

void *make_fiber(int index, void (*entry)()) {
  context &c = g_contexts[index];
  getcontext(&c.at);
  c.at.uc_stack.ss_sp = stack(index);
  c.at.uc_stack.ss_size = k_stack_bytes;
  c.at.uc_link = nullptr;
  makecontext(&c.at, entry, 0);
  return &c;
}

#endif

} // namespace weft_model
