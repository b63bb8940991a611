// SPDX-License-Identifier: Apache-2.0
// What is different when the layer is built with ThreadSanitizer. docs/design/openmp.md gives the
// reasons.
#pragma once

#include <cstddef>

#if defined(__SANITIZE_THREAD__)
#define WEFT_THREADS_TSAN 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define WEFT_THREADS_TSAN 1
#endif
#endif

namespace weft_threads {

#if defined(WEFT_THREADS_TSAN)
inline constexpr bool k_under_tsan = true;
/// Copies ThreadSanitizer's word for what runs, which is thread-local, from the block in use to a
/// fresh one. The fresh block belongs to the stack in use.
void announce_to_sanitizer(void *block) noexcept;
#else
inline constexpr bool k_under_tsan = false;
inline void announce_to_sanitizer(void *) noexcept {}
#endif

/// LeakSanitizer's functions, in programs that have them, however this library was built.
extern "C" {
[[gnu::weak]] void __lsan_ignore_object(const void *object);
[[gnu::weak]] void __lsan_register_root_region(const void *low, std::size_t bytes);
[[gnu::weak]] void __lsan_unregister_root_region(const void *low, std::size_t bytes);
}

/// Tells LeakSanitizer that an object, and what it refers to, is never freed on purpose.
inline void ignore_leak(const void *object) noexcept {
  if (__lsan_ignore_object)
    __lsan_ignore_object(object);
}
/// Registers memory of a lightweight thread, its stack or its variables, in which LeakSanitizer
/// looks for references.
inline void begin_roots(const void *low, std::size_t bytes) noexcept {
  if (__lsan_register_root_region)
    __lsan_register_root_region(low, bytes);
}
inline void end_roots(const void *low, std::size_t bytes) noexcept {
  if (__lsan_unregister_root_region)
    __lsan_unregister_root_region(low, bytes);
}

} // namespace weft_threads
