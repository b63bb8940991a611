// SPDX-License-Identifier: Apache-2.0
// Double buffers: which half a superstep writes, and between which processes an acknowledgement is needed so
// that no writer comes round to a half that is still read.
//
// A sender that has ended superstep k writes the half of superstep k + 1, which is that of k - 1. The receiver
// has read that half when it ends superstep k, because what reads comes before its talpf_sync. So a sender
// ends superstep k only after the receiver has begun to: it knows from a message of the receiver, or from an
// acknowledgement.
#pragma once

#include "weft_lpf/sync/mutant.hpp"

#include <cstdint>

namespace weft_lpf {

/// Returns the half that puts of a superstep write.
[[nodiscard]] inline unsigned half_of(std::uint64_t step) noexcept {
  return unless(bug::lpf_one_half, static_cast<unsigned>(step & 1));
}

/// Returns whether a process that has sent `sent` messages to another one, and got `come` from it, learns
/// nothing about it in the superstep without an acknowledgement.
[[nodiscard]] inline bool is_one_way(std::uint64_t sent, std::uint64_t come) noexcept {
  return unless(bug::lpf_unacknowledged, sent != 0 && come == 0);
}

} // namespace weft_lpf
