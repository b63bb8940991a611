// SPDX-License-Identifier: Apache-2.0
// What differs between instruction sets, a file for each: the registers of a thread, and where a
// signal has found a thread.
#pragma once

#include <weft_common/cpu_pause.hpp>

#if defined(__x86_64__)
#include "weft_threads/arch/x86_64.hpp"
#elif defined(__aarch64__)
#include "weft_threads/arch/aarch64.hpp"
#endif

namespace weft_threads {
using weft_common::cpu_pause;
} // namespace weft_threads
