// SPDX-License-Identifier: Apache-2.0
// A queue from any threads to one: submissions (submissions.hpp) whose taker is inside for good. Packets of inproc go to
// their receiver by one inbox and come back to their sender by another, to be used again.
//
// Roles       A sender: push. The taker, one thread at a time: is_empty, take.
// Word        That of submissions.
// Invariants  I1  Each item that is pushed is taken once; those of one sender in their order.
// Orders      Those of submissions, O1: the taker of an item sees it as its sender left it. So a sender that takes its
//             packet back may write it, after the receiver's last use.
//             is_empty() orders nothing: take() does.
// Progress    push is lock-free, take wait-free.
// Reclamation An item belongs to its sender before push, and to the taker after take.
// Checked by  tests/model/layers/net_models.cpp: net_inbox_*
#pragma once

#include "weft_net/sync/submissions.hpp"

namespace weft_net {

template <class Item, class Link = plain_link<Item>, class P = real_atomics>
class inbox {
 public:
  inbox() noexcept { static_cast<void>(m_items.enter()); }
  void push(Item &item) noexcept { static_cast<void>(m_items.push(item)); }
  /// Returns whether there was nothing to take: a load, where take() would write.
  [[nodiscard]] bool is_empty() const noexcept { return m_items.is_empty(); }
  /// Takes all items out, linked from the oldest to the newest; null if there are none.
  [[nodiscard]] Item *take() noexcept { return m_items.take(); }

 private:
  submissions<Item, Link, P> m_items;
};

} // namespace weft_net
