// SPDX-License-Identifier: Apache-2.0
// The atomic state machine of one access: when it may touch its data, and what it passes on.
//
// Roles       The registrar (the creator or a manager) links accesses: it stores a link, then
//             delivers the bit that makes the link valid. A deliverer, any thread, delivers
//             messages. No thread owns an access.
//             A message is a set of bits for one access. To deliver it is to set the bits in
//             `flags` in one step, and then to send the messages which that step causes.
// Word        `flags`: the kind, fixed before the access is entered (k_reads: the task only reads;
//             k_weak: a weak access; an access that is not weak is strong), and bits that are only
//             ever set:
//               R  satisfied for reading: all earlier writers have released
//               W  satisfied for writing: everything earlier has released
//               F  finished: the task gave the access up (end of body, or release)
//               C  its children's chain only reads from here on (set with F when there is none)
//               K  the chain of its children has released (set with F when there is none)
//               N  what comes next is known: `successor` is valid, or the chain is closed (null)
//               NR the successor only reads; set with N
//               NP `successor` is the parent's access: the chain ends there; set with N
//               L  `child` is valid: the first access of the children's chain, which waits for what
//                  this access gets; delivered before F, and only if R or W was missing when the
//                  registrar looked
// Transitions An access is released when R & W & F & C & K. It only reads from here on
//             (reads_on_only) when it is a reader with R, or has R & W & F & C. What it has given
//             is a function of its flags, tabulated as k_given, which only grows with the flags. A
//             delivery causes what the flags after it have given and the flags before it had not:
//               N, not NP:  the successor gets R and W when the access is released; a reading one
//                           gets R as soon as the access only reads from here on
//               N, NP:      the parent's access gets C as soon as the access only reads from here
//                           on, and K when it is released, so never without C
//               L:          the child gets R and W as this access gets them
//               R (reader) or W (writer) newly set: the task has one unsatisfied access less,
//                           unless the access is weak
//               R & W & F & C & K & N: dead, the task's block has one reference less
// Invariants  I1  Every bit is delivered at most once, because each message carries bits that no
//                 other message carries. So an access takes at most one delivery for each of its 9
//                 bits. A reader that the registrar links behind an access that only reads from
//                 here on begins with R (known_to_reader): no message has brought it. The registrar
//                 then delivers N and NR to the access before, and sends what that causes without
//                 R.
//             I2  The links that a delivery reads are valid, because the deliverer first loaded
//                 (acquire) the flags that say so, or stored the link itself.
//             I3  While a delivery has not published, its own bits are missing, so the access is
//                 not dead and the deliverer may read it. After publishing, the deliverer touches
//                 nothing of the access.
//             I4  In two cases no other delivery to the access is on its way (comes_alone), and the
//                 deliverer publishes with a store:
//                 - The access is dead after this delivery. All bits that a message could still
//                   bring are there; L has come before F or does not come.
//                 - A strong access with N gets R and W in one message. Its task has not run, so F,
//                   C, K and L come after this delivery.
// Orders      O1  load: acquire, pairs with O2's release: the deliverer sees links, and what
//                 earlier deliverers wrote. A registrar that sees R, W, F, C and K in an access
//                 without N knows that its deliverers do not touch it any more.
//             O2  publish: release for the same reason, and so that data written by a finished task
//                 reaches its successor. The publish need not acquire, because no value of the word
//                 comes twice (I1): O1 or O3 has acquired the very value that the publish replaces.
//             O3  failure: acquire, as O1. Relaxed in try_deliver, which has then delivered
//                 nothing: its caller begins anew with O1.
//             O4  relaxed: the first values of the word, which the delivery of the link to the
//                 access publishes; or a read of bits that no other thread changes; or a store to a
//                 member of a cohort, which is in no chain (cohort_state.hpp), by the registrar or
//                 by the thread that ends the member, while no deliverer can have a message for it.
//             O5  relaxed: the store of a delivery that came alone (I4). A dead access has no
//                 further delivery. Else the thread that runs the task reads the word next, and
//                 gets the task in order from the deliverer.
// Progress    Wait-free: a compare-exchange fails only when another message arrived (or spuriously,
//             where the machine allows that), at most 8 times (the paper's Lemma 2.3).
// Reclamation The deliverer that completes R & W & F & C & K & N drops the reference of the access. The
//             last access of a chain has no N before the domain closes. A registrar that finds it
//             released delivers no link, but takes its place in the chain, or its entry out of the
//             domain (drop_if_released), and drops that reference.
// Source      Alvarez, Sala, Maronas, Roca, Beltran: Advanced Synchronization Techniques for
//             Task-based Runtime Systems, PPoPP 2021, section 2. There a second message tells the
//             originator of a delivery. Here the deliverer reads the links before it publishes, so
//             the second message is not needed (I3). Nor has the paper C, which lets a reader go
//             on behind a writer whose children only read from here on.
// Checked by  tests/model/access_models.cpp
#pragma once

#include "atomic/atomic.hpp"
#include "base/mutant.hpp"
#include "weft/config.hpp"

#include <array>
#include <cstdint>

namespace weft::inline v0 {
namespace detail {
struct reduction_spec;
}
namespace rt {

enum access_flag : std::uint32_t {
  k_read_ok = 1, // R
  k_write_ok = 2, // W
  k_children_read = 4, // C
  k_children_done = 8, // K
  k_next_known = 16, // N
  k_next_reads = 32, // NR
  k_next_parent = 64, // NP
  k_child_link = 128, // L
  k_finished = 256, // F
  k_reads = 512, // only reads
  k_weak = 1024, // only for the children
  k_kind = k_reads | k_weak,
  k_both_ok = k_read_ok | k_write_ok,
  k_no_children = k_children_read | k_children_done,
  k_ended = k_finished | k_no_children, // the message of a task that leaves no child
  k_released = k_both_ok | k_ended,
  k_dead = k_released | k_next_known,
};

struct cohort;

/// Says how siblings share an address beyond reading and writing it; see cohort.hpp.
enum class sharing : std::uint32_t { none, concurrent, commutative, reduction };

template <class P, class Task>
struct basic_data_access {
  const void *address = nullptr;
  typename P::template atomic<std::uint32_t> flags{0};
  sharing
      shared; // written where accesses of a task with several kinds are entered; elsewhere never read
  typename P::template var<basic_data_access *>
      successor{}; // valid with N; written by the registrar before
  typename P::template var<basic_data_access *>
      child{}; // valid with L; written by the registrar before
  Task *task = nullptr;
  union {
    cohort *joined = nullptr; // null: the access is in the chain itself
    const detail::reduction_spec *wanted; // of a reduction that is not entered yet
  };
};

constexpr bool is_released(std::uint32_t flags) noexcept {
  return (flags & k_released) == k_released;
}

/// Returns whether the access and those of its children only read from here on, and may.
constexpr bool reads_on_only(std::uint32_t flags) noexcept {
  constexpr std::uint32_t k_written = k_both_ok | k_finished | k_children_read;
  return flags & k_reads ? (flags & k_read_ok) != 0 : (flags & k_written) == k_written;
}

/// Names what a delivery causes: first the bits of the successor, then those of the child.
enum caused : std::uint32_t {
  k_to_next = k_both_ok | k_no_children,
  k_child_shift = 4,
  k_to_child = k_both_ok << k_child_shift,
  k_satisfied = 64, // the task has one unsatisfied access less
  k_died = 128, // the access has no further use
};

/// Returns all that an access has caused whose word is `flags`.
constexpr std::uint32_t given(std::uint32_t flags) noexcept {
  std::uint32_t g = 0;
  if (flags & k_next_parent)
    g |= is_released(flags) ? k_no_children : reads_on_only(flags) ? k_children_read : 0u;
  else if (flags & k_next_known)
    g |= is_released(flags)                            ? k_both_ok
         : flags & k_next_reads && reads_on_only(flags) ? k_read_ok
                                                        : 0u;
  if (flags & k_child_link)
    g |= (flags & k_both_ok) << k_child_shift;
  if (!(flags & k_weak) && flags & (flags & k_reads ? k_read_ok : k_write_ok))
    g |= k_satisfied;
  if ((flags & k_dead) == k_dead)
    g |= k_died;
  return g;
}

inline constexpr auto k_given = [] {
  std::array<std::uint8_t, 2 * k_weak> table{};
  for (std::uint32_t flags = 0; flags < table.size(); ++flags)
    table[flags] = static_cast<std::uint8_t>(given(flags));
  return table;
}();

/// Returns what an access of this kind already has when it is linked behind one in this state, which
/// is not released: what the link will give.
constexpr std::uint32_t known_to_reader(std::uint32_t state, std::uint32_t kind) noexcept {
  return kind & k_reads ? k_given[state | k_next_known | k_next_reads] & k_read_ok : 0u;
}

/// Returns whether the bits of a message never take back what was given.
constexpr bool given_only_grows() noexcept {
  constexpr std::uint32_t messages[] = {k_read_ok,
                                        k_write_ok,
                                        k_finished,
                                        k_children_read,
                                        k_children_done,
                                        k_next_known,
                                        k_next_known | k_next_reads,
                                        k_next_known | k_next_parent,
                                        k_child_link};
  constexpr std::uint32_t next = k_next_known | k_next_reads | k_next_parent;
  for (std::uint32_t flags = 0; flags < k_given.size(); ++flags)
    for (const std::uint32_t bits : messages)
      if (!(flags & bits) && !(flags & next && bits & next) &&
          k_given[flags] & ~k_given[flags | bits])
        return false;
  return true;
}
static_assert(given_only_grows());

/// Returns what the bits of a message can cause at most: an end, for instance, satisfies no task.
constexpr std::uint32_t possible(std::uint32_t bits) noexcept {
  const bool grants = (bits & k_both_ok) != 0;
  std::uint32_t c = bits & ~std::uint32_t{k_child_link} ? k_to_next | k_died : 0u;
  if (grants)
    c |= k_satisfied;
  return grants || bits & k_child_link ? c | k_to_child : c;
}

template <class Access>
struct delivery {
  std::uint32_t caused;
  Access *next; // with bits of k_to_next; null: the chain is closed, no access follows
  Access *child; // with bits of k_to_child
};

/// Returns what the step from `before` to `after` by `bits` causes. Reads the links that `after`
/// makes valid.
template <class Access>
WEFT_INLINE delivery<Access> consequences(const Access &a, std::uint32_t before,
                                          std::uint32_t after, std::uint32_t bits) noexcept {
  std::uint32_t caused = unless(bug::access_child_forgotten,
                                k_given[after] ^ k_given[before], // k_given only grows
                                [](std::uint32_t all) { return all & ~std::uint32_t{k_to_child}; });
  if (__builtin_constant_p(possible(bits)))
    caused &= possible(bits); // folds what follows
  caused = unless(bug::access_dies_early, caused,
                  [&](std::uint32_t all) { return is_released(after) ? all | k_died : all; });
  caused = unless(bug::access_dead_without_c, caused, [&](std::uint32_t all) {
    return ((after | k_children_read) & k_dead) == k_dead ? all | k_died : all;
  });
  return {caused, caused & k_to_next ? a.successor.get() : nullptr,
          caused & k_to_child ? a.child.get() : nullptr};
}

/// Returns whether no other thread delivers to the access at the same time (I4).
constexpr bool comes_alone(std::uint32_t before, std::uint32_t bits,
                           std::uint32_t caused) noexcept {
  return caused & k_died ||
         ((bits & k_both_ok) == k_both_ok && (before & (k_next_known | k_weak)) == k_next_known);
}

/// Delivers `bits` to `a`, and returns what that causes.
template <class Access>
WEFT_INLINE delivery<Access> deliver(Access &a, std::uint32_t bits) noexcept {
  std::uint32_t before =
      a.flags.load(std::memory_order_acquire); // O1: pairs with the publish below
  for (;;) {
    const std::uint32_t after =
        unless(bug::access_ignores_children, before | bits,
               [&](std::uint32_t all) { return bits & k_finished ? all | k_no_children : all; });
    const auto [caused, next, child] = consequences(a, before, after, bits);
    if (comes_alone(before, bits, caused)) {
      a.flags.store(after, std::memory_order_relaxed); // O5
      return {caused, next, child};
    }
    // O2: publishes links and data, O3: sees what the other deliverer published
    if (a.flags.compare_exchange_weak(
            before, after, order_unless(bug::access_publish_relaxed, std::memory_order_release),
            std::memory_order_acquire))
      return unless(bug::access_read_after_publish, delivery<Access>{caused, next, child},
                    [&] { return consequences(a, before, after, bits); });
  }
}

/// Delivers `bits` to `a` if that causes exactly `likely`, of which no other access gets anything.
/// Returns false if nothing was delivered.
template <class Access>
WEFT_INLINE bool try_deliver(Access &a, std::uint32_t bits, std::uint32_t likely) noexcept {
  std::uint32_t before =
      a.flags.load(std::memory_order_acquire); // O1: what the task's end will follow
  const std::uint32_t after = before | bits;
  if ((k_given[after] ^ k_given[before]) != likely) [[unlikely]]
    return false;
  if (likely == k_satisfied && bits == k_both_ok &&
      before & k_next_known) { // as comes_alone() says: no weak access satisfies its task
    a.flags.store(after, std::memory_order_relaxed); // O5
    return true;
  }
  // O2: publishes links and data
  return a.flags.compare_exchange_weak(
      before, after, order_unless(bug::access_publish_relaxed, std::memory_order_release),
      std::memory_order_relaxed);
}

} // namespace rt
} // namespace weft::inline v0
