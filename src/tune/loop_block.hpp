// SPDX-License-Identifier: Apache-2.0
// The value of setting loop.block for loops, which also run before the runtime starts.
#pragma once

#include <atomic>

namespace weft::inline v0 {
namespace rt {

inline constinit std::atomic<float> g_loop_block_ns{4000};

} // namespace rt
} // namespace weft::inline v0
