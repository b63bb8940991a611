// SPDX-License-Identifier: Apache-2.0
// Counts what a superstep waits for. Messages come before and after their number is known, and in parts,
// of which the last to leave says how many there are besides.
//
// Roles       A receiver: message, part. The one that knows the number: expect, then close. The ender is
//             the thread whose call returns true.
// Word        m_left: 2^32 for each message that is missing, 1 for each part that is missing, and 2^62
//             until close(). What comes early makes it smaller than that.
// Invariants  I1  The count is 0 only after close(), and then once.
//             I2  It is 0 when all messages have come, with all of their parts: while a message is
//                 missing, the parts, fewer than 2^31, cannot make up for it.
// Orders      O1  acq_rel: the ender sees what all receivers have seen before their calls.
// Progress    Wait-free.
// Checked by  tests/model/layers/lpf_models.cpp: lpf_completion_*, lpf_halves_*
#pragma once

#include "weft_lpf/sync/atomics.hpp"
#include "weft_lpf/sync/mutant.hpp"

#include <cstdint>

namespace weft_lpf {

template <class P = real_atomics>
class completion_count {
 public:
  /// Adds messages to those that must come.
  void expect(std::uint64_t messages) noexcept {
    m_left.fetch_add(weight_of(messages), std::memory_order_relaxed);
  }
  /// Adds the last messages that must come. Returns whether all have.
  [[nodiscard]] bool close(std::uint64_t messages) noexcept {
    return add(weight_of(messages) - k_open);
  }
  /// Notes that a message has come, but for `parts` of it. Returns whether this was all.
  [[nodiscard]] bool message(std::uint32_t parts = 0) noexcept {
    return add(unless(bug::lpf_parts_uncounted, std::int64_t{parts}) - k_message);
  }
  /// Notes that a part has come. Returns whether this was all.
  [[nodiscard]] bool part() noexcept { return add(unless(bug::lpf_parts_uncounted, -1)); }

 private:
  static constexpr std::int64_t k_message = std::int64_t{1} << 32;
  static constexpr std::int64_t k_open = std::int64_t{1} << 62;
  static std::int64_t weight_of(std::uint64_t messages) noexcept {
    return static_cast<std::int64_t>(messages) * k_message;
  }
  bool add(std::int64_t value) noexcept {
    const auto order = order_unless(bug::lpf_end_unseen, std::memory_order_acq_rel);
    const std::int64_t left = m_left.fetch_add(value, order) + value; // O1
    return left == 0 || unless(bug::lpf_ends_unasked, false, left == k_open);
  }

  typename P::template atomic<std::int64_t> m_left{k_open};
};

} // namespace weft_lpf
