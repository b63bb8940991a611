// SPDX-License-Identifier: Apache-2.0
// What is different when the layer is built with ThreadSanitizer. docs/design/openmp.md says why.
#pragma once

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
void tell_sanitizer(void *block) noexcept;
#else
inline constexpr bool k_under_tsan = false;
inline void tell_sanitizer(void *) noexcept {}
#endif

} // namespace weft_omp
