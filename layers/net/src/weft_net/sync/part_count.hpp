// SPDX-License-Identifier: Apache-2.0
// Counts the parts of an operation that have not ended: a long transfer has several.
//
// Roles       An ender of a part: end_one.
// Word        m_left: parts that have not ended.
// Orders      O1  acq_rel: the ender of the last part sees how the other parts have ended.
// Progress    Wait-free.
// Reclamation The ender of the last part owns the operation; the others no longer touch it.
// Checked by  tests/model/layers/net_models.cpp: net_parts_*
#pragma once

#include "weft_net/sync/atomics.hpp"
#include "weft_net/sync/mutant.hpp"

#include <cstdint>

namespace weft_net {

template <class P = real_atomics>
class part_count {
 public:
  explicit part_count(std::uint32_t parts) : m_left(parts) {}

  /// Ends a part. Returns whether it was the last one.
  [[nodiscard]] bool end_one() noexcept {
    return m_left.fetch_sub(1, order_unless(bug::net_parts_unseen, std::memory_order_acq_rel)) ==
           1; // O1
  }

 private:
  typename P::template atomic<std::uint32_t> m_left;
};

} // namespace weft_net
