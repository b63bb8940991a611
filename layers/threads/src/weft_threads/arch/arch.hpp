// SPDX-License-Identifier: Apache-2.0
// What differs between instruction sets, a file for each: the registers of a thread, the pause of a
// spin, and where a signal has found a thread.
#pragma once

#if defined(__x86_64__)
#include "weft_threads/arch/x86_64.hpp"
#elif defined(__aarch64__)
#include "weft_threads/arch/aarch64.hpp"
#else
namespace weft_threads { // for what needs no more than a pause
inline void cpu_pause() noexcept {}
} // namespace weft_threads
#endif
