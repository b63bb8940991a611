// SPDX-License-Identifier: Apache-2.0
// An intrusive stack that many threads push to and one thread empties at once. Its uses: inboxes,
// and blocks that other workers freed.
//
// Roles       Any thread: push, push_chain, empty. One thread at a time, the taker: take_all.
// Word        m_head: the newest node, or null. A node's `next` (a P::var<Node *>) belongs to the
//             pusher until the node is in the stack, then to the taker that takes the node.
// Invariants  I1  Nodes leave only all together. So a compare-exchange that finds the same head
//                 finds the same stack: no ABA.
// Orders      O1  m_head compare-exchange release, with O2: the pusher writes the node and its
//                 `next` before the taker sees the node.
//             O2  m_head exchange acquire, with the O1 of every node in the stack: a later push
//                 continues the release sequence of the earlier ones.
// Progress    push lock-free, take_all wait-free.
// Reclamation The taker owns the nodes that it took.
// Source      Treiber 1986, without pop.
// Checked by  tests/model/queue_models.cpp: mpsc_stack_*
#pragma once

#include "atomic/atomic.hpp"
#include "base/mutant.hpp"

namespace weft::inline v0 {
namespace rt {

template <class Node, class P = real_atomics>
class mpsc_stack {
 public:
  mpsc_stack() = default;
  mpsc_stack(const mpsc_stack &) = delete;
  mpsc_stack &operator=(const mpsc_stack &) = delete;

  /// Pushes a node. Returns whether the stack was empty: the caller may then have to wake the
  /// taker.
  bool push(Node *node) noexcept { return push_chain(node, node); }

  /// Pushes nodes that are already linked from first to last; first becomes the newest.
  bool push_chain(Node *first, Node *last) noexcept {
    Node *head = m_head.load(std::memory_order_relaxed);
    do
      last->next.set(head);
    while (!m_head.compare_exchange_weak(
        head, first, order_unless(bug::mpsc_push_relaxed, std::memory_order_release), // O1
        std::memory_order_relaxed));
    return unless(bug::mpsc_reads_freed_node, head == nullptr,
                  [&] { return last->next.get() == nullptr; });
  }

  /// Takes all nodes. Returns the newest, linked to the older ones by `next`, or null if there is
  /// none.
  [[nodiscard]] Node *take_all() noexcept {
    if (m_head.load(std::memory_order_relaxed) == nullptr)
      return nullptr;
    return unless(
        bug::mpsc_take_in_two_steps,
        [&] { return m_head.exchange(nullptr, std::memory_order_acquire); }, // O2
        [&] {
          Node *seen = m_head.load(std::memory_order_acquire);
          m_head.store(nullptr, std::memory_order_relaxed);
          return seen;
        });
  }

  /// Takes all nodes. Returns the oldest, linked to the newer ones by `next`, or null if there is
  /// none.
  [[nodiscard]] Node *take_all_in_order() noexcept {
    Node *reversed = nullptr;
    for (Node *node = take_all(); node != nullptr;) {
      Node *older = node->next.get();
      node->next.set(reversed);
      reversed = node;
      node = older;
    }
    return reversed;
  }

  bool empty() const noexcept { return m_head.load(std::memory_order_relaxed) == nullptr; }

 private:
  typename P::template atomic<Node *> m_head{nullptr};
};

} // namespace rt
} // namespace weft::inline v0
