// SPDX-License-Identifier: Apache-2.0
// The atomic state machine of one access: when it may touch its data, and what it passes on.
//
// Roles: the registrar (the parent's frame) links accesses; any thread delivers messages; nobody owns an access.
// Word: `flags`, bits only ever set:
//     R  satisfied for reading: all earlier writers have released
//     W  satisfied for writing: everything earlier has released
//     F  finished: the task gave the access up (end of body, or release)
//     K  the chain of its children has released (set with F when there is none)
//     N  what comes next is known: `successor` is valid, or the chain is closed (successor null)
//     NR the successor only reads          NP `successor` is the parent's access: the chain ends there
//     L  `child` is valid: the first access of the children's chain, waiting for what this access gets
// Transitions (released = R & W & F & K), each derived from the flags before and after a delivery:
//     N, not NP:  next gets R and W when released; a reader hands R to a reading successor as soon as it has R
//     N, NP:      the parent's access gets K when released
//     L:          the child gets R and W as this access gets them
//     R (reader) or W (writer) newly set: the task has one unsatisfied access less, unless the access is weak
//     R & W & F & K & N: dead, the task's block has one reference less
// Invariants: I1 every bit is delivered at most once (each message carries bits that no other message carries), so an access
//   takes at most 8 deliveries. I2 the links that a delivery reads are valid because the flags that say so were loaded (acquire)
//   first. I3 while a delivery has not published, its own bits are missing, so the access is not dead: it may be read. After
//   publishing, nothing of the access is touched.
// Orders: O1 load: acquire, pairs with O2's release: links and what earlier deliverers wrote are visible. O2 publish: release for
//   the same reason, and so that data written by a finished task reaches its successor; it need not acquire, because no value
//   of the word comes twice (I1): O1 or O3 has acquired the very one that it replaces. O3 failure: acquire, as O1.
// Progress: wait-free: a compare-exchange fails only when another message arrived, at most 7 times (the paper's Lemma 2.3).
// Reclamation: the deliverer that completes R & W & F & K & N.
// Source: Alvarez, Sala, Maronas, Roca, Beltran: Advanced Synchronization Techniques for Task-based Runtime Systems, PPoPP 2021,
//   section 2. There a delivery is followed by a second message that tells the originator; here links are read before
//   publishing and the second message is not needed (I3).
// Checked by: tests/model/access_models.cpp
#pragma once

#include "atomic/atomic.hpp"
#include "base/mutant.hpp"

#include <cstdint>

namespace weft::inline v0 {
namespace rt {

enum access_flag : std::uint32_t {
  k_read_ok = 1,      // R
  k_write_ok = 2,     // W
  k_finished = 4,     // F
  k_kids_done = 8,    // K
  k_next_known = 16,  // N
  k_next_reads = 32,  // NR
  k_next_parent = 64, // NP
  k_child_link = 128, // L
  k_both_ok = k_read_ok | k_write_ok,
  k_released = k_both_ok | k_finished | k_kids_done,
  k_dead = k_released | k_next_known,
};

/// What an access does with its data, fixed at creation.
enum access_kind : std::uint8_t { k_reads = 1, k_weak = 2 };

template <class P, class Task>
struct basic_data_access {
  const void *address = nullptr;
  typename P::template atomic<std::uint32_t> flags{0};
  std::uint8_t kind = 0;
  typename P::template var<basic_data_access *> successor{}; // valid with N; written by the registrar before
  typename P::template var<basic_data_access *> child{};     // valid with L; written by the registrar before
  Task *task = nullptr;
};

constexpr bool is_released(std::uint32_t flags) noexcept { return (flags & k_released) == k_released; }

/// The bits that the successor has a right to under `flags`.
constexpr std::uint32_t due_to_next(std::uint32_t flags, std::uint8_t kind) noexcept {
  if (!(flags & k_next_known))
    return 0;
  if (flags & k_next_parent)
    return is_released(flags) ? k_kids_done : 0u;
  if (is_released(flags))
    return k_both_ok;
  return (kind & k_reads) && (flags & k_next_reads) ? flags & k_read_ok : 0u;
}

constexpr std::uint32_t due_to_child(std::uint32_t flags) noexcept {
  return flags & k_child_link ? flags & k_both_ok : 0u;
}

/// The bit whose arrival lets a task of this kind of access go on.
constexpr std::uint32_t needed_by(std::uint8_t kind) noexcept { return kind & k_reads ? k_read_ok : k_write_ok; }

/// What one delivery causes.
template <class Access>
struct delivery {
  Access *next = nullptr;
  Access *child = nullptr;
  std::uint32_t next_bits = 0;
  std::uint32_t child_bits = 0;
  bool satisfied = false; // the task has one unsatisfied access less
  bool dead = false;      // the access has no further use
};

/// The consequences of going from `before` to `after`. Reads the links that `after` makes valid.
template <class Access>
[[gnu::always_inline]] inline delivery<Access> consequences(const Access &a, std::uint32_t before, std::uint32_t after) noexcept {
  delivery<Access> d;
  d.next_bits = due_to_next(after, a.kind) & ~due_to_next(before, a.kind);
  d.child_bits = due_to_child(after) & ~due_to_child(before);
  if (d.next_bits && !(d.next = a.successor.get()))
    d.next_bits = 0; // the chain is closed: nobody follows
  if (mutant(bug::access_child_forgotten))
    d.child_bits = 0;
  if (d.child_bits)
    d.child = a.child.get();
  d.satisfied = !(a.kind & k_weak) && (after & ~before & needed_by(a.kind)) != 0;
  const std::uint32_t all = mutant(bug::access_dies_early) ? k_released : k_dead;
  d.dead = (after & all) == all;
  return d;
}

/// Delivers `bits` to `a`.
template <class Access>
[[gnu::always_inline]] inline delivery<Access> deliver(Access &a, std::uint32_t bits) noexcept {
  std::uint32_t before = a.flags.load(std::memory_order_acquire); // O1: pairs with the publish below
  for (;;) {
    const bool kids_ignored = mutant(bug::access_ignores_children) && (bits & k_finished);
    const std::uint32_t after = before | bits | (kids_ignored ? k_kids_done : 0u);
    const delivery<Access> d = consequences(a, before, after);
    // O2: publishes links and data, O3: sees what the other deliverer published
    if (a.flags.compare_exchange_weak(before, after, order_unless(bug::access_publish_relaxed, std::memory_order_release),
                                      std::memory_order_acquire))
      return mutant(bug::access_read_after_publish) ? consequences(a, before, after) : d;
  }
}

} // namespace rt
} // namespace weft::inline v0
