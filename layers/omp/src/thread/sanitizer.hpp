// SPDX-License-Identifier: Apache-2.0
// What is different when the layer is built with ThreadSanitizer. docs/design/openmp.md says why.
#pragma once

#include <cstddef>

#if defined(__SANITIZE_THREAD__)
#define WEFT_OMP_TSAN 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define WEFT_OMP_TSAN 1
#endif
#endif

namespace weft_omp {

#if defined(WEFT_OMP_TSAN)
inline constexpr bool k_under_tsan = true;
/// ThreadSanitizer tells what runs by a thread-local word of its own. It is copied from the block in use to a fresh one that belongs to the stack in use.
void announce_to_sanitizer(void *block) noexcept;
#else
inline constexpr bool k_under_tsan = false;
inline void announce_to_sanitizer(void *) noexcept {}
#endif

/// LeakSanitizer's, in programs that have it, however this library was built.
extern "C" {
[[gnu::weak]] void __lsan_ignore_object(const void *object);
[[gnu::weak]] void __lsan_register_root_region(const void *low, std::size_t bytes);
[[gnu::weak]] void __lsan_unregister_root_region(const void *low, std::size_t bytes);
}

/// What this holds is never freed, on purpose.
inline void ignore_leak(const void *object) noexcept {
  if (__lsan_ignore_object)
    __lsan_ignore_object(object);
}
/// Memory that a lightweight thread refers to others from: its stack and its variables.
inline void begin_roots(const void *low, std::size_t bytes) noexcept {
  if (__lsan_register_root_region)
    __lsan_register_root_region(low, bytes);
}
inline void end_roots(const void *low, std::size_t bytes) noexcept {
  if (__lsan_unregister_root_region)
    __lsan_unregister_root_region(low, bytes);
}

} // namespace weft_omp
