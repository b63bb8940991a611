// SPDX-License-Identifier: Apache-2.0
#include "arch/sanitizer.hpp"

#if defined(WEFT_TSAN) || defined(WEFT_ASAN)

#include <pthread.h>

// Declared here: not every compiler ships the headers.
extern "C" {
#ifdef WEFT_TSAN
void *__tsan_get_current_fiber();
void *__tsan_create_fiber(unsigned flags);
void __tsan_destroy_fiber(void *fiber);
void __tsan_switch_to_fiber(void *fiber, unsigned flags);
#endif
#ifdef WEFT_ASAN
void __asan_unpoison_memory_region(const volatile void *low, std::size_t bytes);
void __sanitizer_start_switch_fiber(void **fake_stack_save, const void *bottom, std::size_t size);
void __sanitizer_finish_switch_fiber(void *fake_stack_save, const void **bottom_old,
                                     std::size_t *size_old);
#endif
}

namespace weft::inline v0 {
namespace rt {

void announce_stack(sanitized_stack &stack, const void *low, std::size_t bytes) noexcept {
  stack.low = low;
  stack.bytes = bytes;
  stack.fake_stack = nullptr;
#ifdef WEFT_ASAN
  __asan_unpoison_memory_region(low,
                                bytes); // frames that were left for good have kept their red zones
#endif
#ifdef WEFT_TSAN
  stack.fiber = __tsan_create_fiber(0);
#endif
}

void announce_thread_stack(sanitized_stack &stack) noexcept {
#ifdef WEFT_TSAN
  stack.fiber = __tsan_get_current_fiber();
#endif
  pthread_attr_t attributes;
  if (pthread_getattr_np(pthread_self(), &attributes) != 0)
    return;
  void *low = nullptr;
  pthread_attr_getstack(&attributes, &low, &stack.bytes);
  pthread_attr_destroy(&attributes);
  stack.low = low;
}

void forget_stack([[maybe_unused]] sanitized_stack &stack) noexcept {
#ifdef WEFT_TSAN
  __tsan_destroy_fiber(stack.fiber);
  stack.fiber = nullptr;
#endif
}

WEFT_UNINSTRUMENTED void stack_entered([[maybe_unused]] sanitized_stack &stack) noexcept {
#ifdef WEFT_ASAN
  __sanitizer_finish_switch_fiber(stack.fake_stack, nullptr, nullptr);
#endif
}

WEFT_UNINSTRUMENTED void *switch_stack(context *from, [[maybe_unused]] sanitized_stack &from_stack,
                                       context to, [[maybe_unused]] sanitized_stack &to_stack,
                                       void *value, [[maybe_unused]] leave how,
                                       [[maybe_unused]] unsigned flags) noexcept {
#ifdef WEFT_ASAN
  __sanitizer_start_switch_fiber(how == leave::for_good ? nullptr : &from_stack.fake_stack,
                                 to_stack.low, to_stack.bytes);
#endif
#ifdef WEFT_TSAN
  __tsan_switch_to_fiber(to_stack.fiber, flags);
#endif
  void *received = weft_context_switch(from, to, value);
#ifdef WEFT_ASAN
  __sanitizer_finish_switch_fiber(from_stack.fake_stack, nullptr, nullptr);
#endif
  return received;
}

} // namespace rt
} // namespace weft::inline v0

#endif
