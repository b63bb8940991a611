// SPDX-License-Identifier: Apache-2.0
#include "task/wait/hold.hpp"

#include "task/wait/claim_word.hpp"
#include "task/wait/listed_states.hpp"

#include <cstddef>

namespace weft::inline v0 {
namespace rt {

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

bool attach_further(detail::after_node &node) noexcept {
  task &before = *node.before;
  if (before.parent || !is_state(before))
    return task_waiters::attach(before.done_word, node);
  enter_state(before); // before the node is there, so that the state's ender finds it
  if (task_waiters::attach(before.done_word, node))
    return true;
  remove_state(before); // it has ended, and its ender may have looked before
  return false;
}

std::uint32_t attach_all(task &held, detail::after_node *nodes, std::size_t count,
                         std::atomic<std::uint32_t> &left) noexcept {
  std::uint32_t ended = 0;
  for (detail::after_node *n = nodes; n != nodes + count; ++n) {
    ended += !attach_after(*n, held, left);
  }
  return ended;
}

task *held_by(const waiter &waiting) noexcept {
  return waiting.fire == &fire_after ? static_cast<const detail::after_node &>(waiting).held
                                     : nullptr;
}

namespace {

/// Returns how many of its futures a task still waits for.
std::uint32_t awaited_by(const task &t) noexcept {
  if (t.children.settled()) // its body is over, or waits: the word may count messages of its end
    return 0;
  const task_extra *const extra = peek_extra(t);
  const std::uint32_t accesses = t.unsatisfied.load(std::memory_order_relaxed);
  if (!extra || !extra->gated) // without accesses, and counted in their place
    return t.extent == 0 && accesses < k_open ? accesses : 0;
  return extra->gate.load(std::memory_order_relaxed) - (accesses != 0 ? 1 : 0);
}

/// Calls f(node) for each word of the closure that is the beginning of a node. They are behind the
/// closure, whose size is not known here.
template <class F>
void for_each_node(const task &t, F f) {
  const char *const storage = static_cast<const char *>(detail::storage(&const_cast<task &>(t)));
  for (std::size_t at = 0; at + sizeof(detail::after_node) <= t.ops->bytes; at += sizeof(void *)) {
    const auto &node = *reinterpret_cast<const detail::after_node *>(storage + at);
    if (node.fire == &fire_after && node.held == &t)
      f(node);
  }
}

} // namespace

holding for_each_holder(task &held, void (*f)(task &, void *), void *context) {
  const std::uint32_t awaited = awaited_by(held);
  if (awaited == 0)
    return holding::nothing;
  std::uint32_t nodes = 0;
  for_each_node(held, [&](const detail::after_node &) { ++nodes; });
  if (nodes != awaited)
    return holding::unknown;
  for_each_node(held, [&](const detail::after_node &n) { f(*n.before, context); });
  return holding::known;
}

} // namespace rt
} // namespace weft::inline v0
