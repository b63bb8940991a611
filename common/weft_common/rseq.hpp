// SPDX-License-Identifier: Apache-2.0
// The place of restartable sequences in a thread-local block, as the C library tells it from 2.35
// on. The names are weak and declared here, so that a library that is built with an older C library
// finds them where it runs with a newer one, which registers every thread.
#pragma once

#include <cstddef>

#include <sys/syscall.h>
#include <unistd.h>

extern "C" {
extern const std::ptrdiff_t __rseq_offset __attribute__((weak)); // NOLINT(bugprone-reserved-identifier)
extern const unsigned __rseq_size __attribute__((weak));         // NOLINT(bugprone-reserved-identifier)
}

namespace weft_common {

/// Whether the C library registers its threads.
inline bool has_rseq() noexcept {
  return &__rseq_size != nullptr && __rseq_size != 0;
}

/// The thread's area, which begins with two words of the kernel's: cpu_id_start, cpu_id. Only where
/// has_rseq().
inline void *rseq_of(void *block) noexcept {
  return static_cast<char *>(block) + __rseq_offset;
}

/// Unregisters the area of the calling thread, whose block is `block`. Returns 0, or -1 with errno.
inline long unregister_rseq(void *block) noexcept {
#if defined(SYS_rseq)
  constexpr unsigned k_least_bytes = 32;
  constexpr long k_unregister = 1;
#if defined(__aarch64__)
  constexpr unsigned k_signature = 0xd428bc00;
#else
  constexpr unsigned k_signature = 0x53053053;
#endif
  return syscall(SYS_rseq, rseq_of(block), __rseq_size < k_least_bytes ? k_least_bytes : __rseq_size,
                 k_unregister, k_signature);
#else
  (void)block;
  return -1;
#endif
}

} // namespace weft_common
