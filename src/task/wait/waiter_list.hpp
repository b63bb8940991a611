// SPDX-License-Identifier: Apache-2.0
// A word that several waiters wait for: the end of a task, or the value of a promise. The nodes of
// the list live in the waiters, so waiting allocates nothing and can be undone.
//
// Roles       Waiter: attach, or attach_first and then, if it did nothing, attach; detach, by the waiter
//             or by a thread that acts for it (the clock, a stop callback). Any number.
//             Signaller: one at a time; it calls raise, and then fires each node; or raise_alone first,
//             after which, if it succeeds, it touches nothing; or raise_unshared.
//             Observer: is_raised.
// Word        null; the newest node; a token (1 or 2) once it was raised. Bit k_locked is set, with
//             the newest node, while a detach looks for its node.
// Invariants  I1  A node is taken away by one of detach and raise, never by both: the one that
//                 takes it decides, alone, what becomes of the waiter.
//             I2  While k_locked is set no other thread changes the word, nor a link of the list.
//                 So the detach that set it owns the whole list.
//             I3  A waiter whose detach fails stays until its node has been fired.
// Orders      O1  attach, compare-exchange release, with O3: the signaller and a detach see the
//                 node. Acquire on failure, and where it waits for a detach, with O3: a waiter that comes
//                 too late sees the result.
//             O2  is_raised, load acquire, with O3.
//             O3  raise, compare-exchange acq_rel. Release hands over what the signaller did
//                 before; acquire, with O1 and O5, makes the nodes visible. raise_alone finds none, and
//                 needs release alone.
//             O4  detach sets k_locked, compare-exchange acquire, with O1 and O5: it reads the
//                 links.
//             O5  detach clears k_locked, store release, with O3 and O4: the links are those that
//                 it left. A detach that finds the word raised needs no order: the signaller acts.
//             O6  raise_unshared, relaxed: a thread that learns of the word later learns of it from this one, by
//                 what hands the word on. What other threads did with the word before is over: the
//                 caller's look at the references (O1 of countdown.hpp) shows that.
// Progress    raise and attach are lock-free, except while a detach walks the list: then they spin.
//             A detach walks over the waiters that came after its own.
// Reclamation A signaller reads the next link of a node before it fires the node. To fire it is the
//             last touch.
// Source      Own; a stack after Treiber.
// Checked by  tests/model/claim_models.cpp: waiters_*
#pragma once

#include "atomic/atomic.hpp"
#include "base/mutant.hpp"

#include <cstdint>

namespace weft::inline v0 {
namespace rt {

/// Holds the operations for nodes of one type. Link::get and Link::set read and write the link.
template <class Node, class Link, class P = real_atomics>
struct waiter_list {
  using word = typename P::template atomic<void *>;
  static constexpr std::uintptr_t k_tokens = 3;
  static constexpr std::uintptr_t k_locked = 4;

  [[nodiscard]] static bool is_token(void *seen) noexcept { return (bits(seen) & k_tokens) != 0; }
  /// Says that a detach changes the list just now. For reports.
  [[nodiscard]] static bool is_changing(void *seen) noexcept {
    return (bits(seen) & k_locked) != 0;
  }

  /// Adds the node. False: the word was raised, and the caller does not wait.
  [[nodiscard]] static bool attach(word &list, Node &node) noexcept {
    void *seen = nullptr;
    for (;;) {
      if (is_token(seen))
        return false;
      if ((bits(seen) & k_locked) != 0) {
        seen = P::await(list, &is_unlocked, std::memory_order_acquire); // O1
        continue;
      }
      Link::set(node, static_cast<Node *>(seen));
      if (list.compare_exchange_weak(
              seen, &node, order_unless(bug::waiter_attach_relaxed, std::memory_order_release),
              std::memory_order_acquire)) // O1, else O3
        return true;
    }
  }

  /// Adds the first node, if the list is empty and was not raised. False: nothing was done, and attach() is called.
  [[nodiscard]] static bool attach_first(word &list, Node &node) noexcept {
    void *none = nullptr;
    Link::set(node, nullptr);
    return list.compare_exchange_strong(
        none, &node, order_unless(bug::waiter_attach_relaxed, std::memory_order_release),
        std::memory_order_relaxed); // O1
  }

  /// Takes an attached node back. True: no signaller fires it. False: a signaller has taken it.
  [[nodiscard]] static bool detach(word &list, Node &node) noexcept {
    void *seen = list.load(std::memory_order_relaxed);
    for (;;) {
      if (is_token(seen))
        return false;
      if ((bits(seen) & k_locked) != 0) {
        seen = P::await(list, &is_unlocked, std::memory_order_relaxed);
        continue;
      }
      if (list.compare_exchange_weak(seen, locked(seen), std::memory_order_acquire, // O4
                                     std::memory_order_relaxed))
        break;
    }
    auto *const newest = static_cast<Node *>(seen);
    Node *rest = newest;
    Node *before = nullptr;
    for (Node *n = newest; n != &node; n = Link::get(*n))
      before = n;
    if (before)
      Link::set(*before, Link::get(node));
    else
      rest = Link::get(node);
    list.store(rest, order_unless(bug::waiter_detach_relaxed, std::memory_order_release)); // O5
    return true;
  }

  /// Raises the token of a list without nodes, where no detach goes on. False: nothing was done, and
  /// raise() is called. For a signaller that keeps the word for raise() and the nodes only.
  [[nodiscard]] static bool raise_alone(word &list, void *token) noexcept {
    void *none = nullptr;
    return list.compare_exchange_strong(
        none, token, order_unless(bug::waiters_relaxed, std::memory_order_release),
        std::memory_order_relaxed); // O3
  }

  /// Raises the token of a list without nodes, for a thread that no other one knows the word of.
  static void raise_unshared(word &list, void *token) noexcept {
    list.store(token, std::memory_order_relaxed); // O6
  }

  /// Raises the token. Returns the nodes that were attached, the oldest first, for the caller to
  /// fire.
  [[nodiscard]] static Node *raise(word &list, void *token) noexcept {
    void *seen = list.load(std::memory_order_relaxed);
    for (;;) {
      if ((bits(seen) & k_locked) != 0)
        seen = P::await(list, &is_unlocked, std::memory_order_relaxed);
      else if (list.compare_exchange_weak(
                   seen, token, order_unless(bug::waiters_relaxed, std::memory_order_acq_rel),
                   std::memory_order_relaxed)) // O3
        break;
    }
    return is_token(seen) ? nullptr : reversed(static_cast<Node *>(seen));
  }

 private:
  static std::uintptr_t bits(const void *p) noexcept { return reinterpret_cast<std::uintptr_t>(p); }
  static void *locked(void *p) noexcept { return reinterpret_cast<void *>(bits(p) | k_locked); }
  static bool is_unlocked(void *seen) noexcept { return (bits(seen) & k_locked) == 0; }
  static Node *reversed(Node *newest) noexcept {
    Node *oldest = nullptr;
    while (newest) {
      Node *const next = Link::get(*newest);
      Link::set(*newest, oldest);
      oldest = newest;
      newest = next;
    }
    return oldest;
  }
};

} // namespace rt
} // namespace weft::inline v0
