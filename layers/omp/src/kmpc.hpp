// SPDX-License-Identifier: Apache-2.0
// What the entry points of LLVM's ABI share. The number of a thread that they pass around is that of the OpenMP thread, never of a worker; it is not
// needed here, for the thread knows itself.
#pragma once

#include "event.hpp"
#include "team.hpp"

#include <cstdint>

#define KMP_API extern "C" __attribute__((visibility("default")))

namespace weft_omp {

struct location; // of the construct in the source; not used

/// microtask(&thread, &zero, arguments...)
extern "C" void weft_omp_call_microtask(void (*f)(), std::int32_t *thread, std::int32_t *zero, std::size_t count, void **arguments);

} // namespace weft_omp
