// SPDX-License-Identifier: Apache-2.0
#if defined(__x86_64__)
#include "weft_threads/arch/x86_64.hpp"

#include <asm/prctl.h>
#include <sys/auxv.h>
#include <unistd.h>

namespace weft_threads {

bool has_wrfsbase() noexcept {
  constexpr unsigned long k_fsgsbase = 1u << 1; // AT_HWCAP2
  return (getauxval(AT_HWCAP2) & k_fsgsbase) != 0;
}

void set_thread_pointer_by_call(void *tp) noexcept { syscall(SYS_arch_prctl, ARCH_SET_FS, tp); }

} // namespace weft_threads
#endif
