// SPDX-License-Identifier: Apache-2.0
// The pause of a spin.
#pragma once

namespace weft_common {

inline void cpu_pause() noexcept {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield" ::: "memory");
#endif
}

} // namespace weft_common
