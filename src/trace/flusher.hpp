// SPDX-License-Identifier: Apache-2.0
// The thread that writes the trace, for those who see to it that such work ends.
#pragma once

#include <cstdint>

namespace weft::inline v0 {
namespace rt {

/// Called by it when it begins to work, and with 0 when it naps.
inline void (*g_flusher_works)(std::uint64_t now) noexcept = nullptr; // written before it starts

} // namespace rt
} // namespace weft::inline v0
