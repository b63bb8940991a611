// SPDX-License-Identifier: Apache-2.0
#include "task/hold.hpp"

namespace weft::inline v0 {
namespace rt {
namespace {

void fire_after(waiter *self, firing &all) noexcept {
  auto &node = *static_cast<detail::after_node *>(self);
  task &held = *node.held;
  const bool counts_accesses = node.left != &held.unsatisfied;
  if (!take_away(*node.left, 1))
    return;
  if (counts_accesses)
    peek_extra(held)->gated = false; // all others have passed
  all.ready.push_back(&held);
}

} // namespace

std::uint32_t attach_all(task &held, detail::after_node *nodes, std::size_t count,
                         std::atomic<std::uint32_t> &left) noexcept {
  std::uint32_t ended = 0;
  for (detail::after_node *n = nodes; n != nodes + count; ++n) {
    n->fire = &fire_after;
    n->held = &held;
    n->left = &left;
    if (!task_waiters::attach(n->before->done_word, *n))
      ++ended;
  }
  return ended;
}

} // namespace rt
} // namespace weft::inline v0
