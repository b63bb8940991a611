// SPDX-License-Identifier: Apache-2.0
// Enters and releases one access; inlined into the way of tasks that have no more.
#pragma once

#include "deps/domain.hpp"
#include "deps/mailbox.hpp"
#include "deps/registration.hpp"
#include "deps/sharing/cohort.hpp"
#include "task/ready.hpp"

#include <utility>

namespace weft::inline v0 {
namespace rt {

inline constexpr std::uint32_t k_shares =
    2048; // beside the flags of an access: its mode makes the access a member of a cohort

WEFT_INLINE std::uint32_t kind_of(access_mode mode) noexcept {
  static constexpr std::uint16_t kinds[] = {
      k_reads,           0,        0,
      k_reads | k_weak,  k_weak,   k_weak, // in the order of access_mode
      k_shares,          k_shares, k_shares | k_weak,
      k_shares | k_weak, k_shares, k_shares | k_weak};
  static_assert(static_cast<int>(access_mode::weak_reduction) == 11);
  return kinds[static_cast<std::size_t>(mode)];
}

WEFT_INLINE sharing sharing_of(access_mode mode) noexcept {
  using enum sharing;
  static constexpr sharing ways[] = {none,        none,        none,
                                     none,        none,        none, // in the order of access_mode
                                     concurrent,  commutative, concurrent,
                                     commutative, reduction,   reduction};
  return ways[static_cast<std::size_t>(mode)];
}

/// Fills record `i` of `t`, and returns it. The caller enters it.
WEFT_INLINE data_access &fill(task &t, std::uint32_t i, const void *address,
                              std::uint32_t kind) noexcept {
  auto *a = ::new (static_cast<void *>(t.accesses() + i)) data_access;
  a->address = address;
  a->flags.store(kind, std::memory_order_relaxed); // O4: published with the access by later links
  a->task = &t;
  return *a;
}

/// Returns the flags of an access that is not entered yet: its kind.
inline std::uint32_t kind_of(const data_access &a) noexcept {
  return a.flags.load(std::memory_order_relaxed);
} // O4

enum class entered { satisfied, linked };

/// Returns whether a running task's own access holds no child back: it has R and W, or the task
/// released it. What a released access still gets may come alone.
WEFT_NOINLINE inline bool holds_no_child(const data_access &parent) noexcept {
  const std::uint32_t held = parent.flags.load(
      std::memory_order_acquire); // O1: acquire, pairs with the delivery that satisfied it
  return (held & k_both_ok) == k_both_ok || held & k_finished;
}

/// Makes `a` the last access to its address, whose slot is `last`. Returns `satisfied` if the
/// access does not hold its task back; the caller must count that.
WEFT_INLINE entered enter(data_access *&last, data_access &a, mailbox &box) noexcept {
  data_access *before = last;
  last = &a;
  const std::uint32_t kind = kind_of(a);
  const auto satisfied_at_once = [&] {
    a.flags.store(kind | k_both_ok, std::memory_order_relaxed); // O4
    return entered::satisfied;
  };
  if (!before)
    return satisfied_at_once();
  if (domain::is_cohort(before)) [[unlikely]]
    before = &close_cohort(*domain::cohort_of(before), box);
  if (domain::is_own(before)) [[unlikely]] {
    data_access &parent = *domain::plain(before);
    if (holds_no_child(parent))
      return satisfied_at_once();
    parent.child.set(&a);
    box.send(parent, k_child_link);
    return entered::linked;
  }
  // O1: acquire: once released, its deliverers touch it no more, and their data is visible
  const std::uint32_t state = before->flags.load(std::memory_order_acquire);
  if (is_released(state)) {
    task &done = *before->task;
    satisfied_at_once();
    drop_references(done, 1);
    return entered::satisfied;
  }
  const std::uint32_t known = mailbox::locks() ? 0 : known_to_reader(state, kind);
  a.flags.store(kind | known, std::memory_order_relaxed); // O4
  before->successor.set(&a);
  // One message for both kinds: the table distinguishes them.
  box.link(*before, k_next_known | (kind & k_reads ? k_next_reads : 0u), known);
  return known ? entered::satisfied : entered::linked;
}

/// Returns the slot of an access that enter_common() can enter, else null. `general`: something is
/// to be done that enter_common() does not do.
WEFT_INLINE data_access **slot_for_common(const task &parent, const access &a,
                                          bool general = mailbox::needs_general_path()) noexcept {
  domain *d = parent.children_domain;
  if (!d || kind_of(a.mode) & (k_weak | k_shares) || general) [[unlikely]]
    return nullptr;
  data_access **last = d->find_slot_in_sight(a.address);
  return last && domain::is_plain(*last) ? last : nullptr;
}

/// Returns the cohort that a task with this one access, and nothing uncommon else, can join, and
/// the address. Returns null if no cohort takes the task.
struct common_cohort {
  cohort *joined;
  const void *address;
};
WEFT_INLINE common_cohort cohort_for_common(const task &parent, const access &only) noexcept {
  using enum sharing;
  static constexpr sharing ways[] = {none,       none,        none, none, none,      none,
                                     concurrent, commutative, none, none, reduction, none};
  domain *d = parent.children_domain;
  const sharing how = ways[static_cast<std::size_t>(only.mode)];
  if (!d || how == none || mailbox::needs_general_path_without_messages() || !only.address)
      [[unlikely]] // accesses that share are not posted
    return {};
  const detail::reduction_spec *const wanted =
      how == reduction ? static_cast<const detail::reduction_spec *>(only.address) : nullptr;
  const void *const address = wanted ? wanted->address : only.address;
  data_access **last = d->find_slot_in_sight(address);
  cohort *c = last ? domain::cohort_of(*last) : nullptr;
  if (!c || c->how != how || (wanted && !is_trivially_same(c->copies->how(), *wanted))) [[unlikely]]
    return {};
  return {c, address};
}

/// Makes such a task a member of an open cohort, or one that waits to be admitted. Returns its
/// access.
WEFT_INLINE data_access &join_open_cohort(task &t, cohort &joined, const void *address) noexcept {
  data_access &a = fill(t, 0, address, k_next_known); // no access follows
  a.shared = joined.how;
  a.joined = &joined;
  t.extent = 1;
  t.set(detail::k_special); // the task does not end as one whose access is in a chain
  t.unsatisfied.store(
      1, std::memory_order_relaxed); // O5: before the opener of the cohort knows the task
  t.references.store(t.references.load(std::memory_order_relaxed) + 1,
                     std::memory_order_relaxed); // O5
  return a;
}

/// Returns whether the one access of `t`, which has no domain, makes it a member of a cohort whose
/// tasks run at the same time.
WEFT_INLINE bool is_lone_member(task &t) noexcept {
  const data_access &a = t.accesses()[0];
  return t.extent == 1 && a.joined &&
         a.flags.load(std::memory_order_relaxed) == (k_next_known | k_both_ok) && // O4
         a.joined->how != sharing::commutative;
}

/// Says what came of entering a common access.
struct common_entry {
  data_access *
      behind; // null: the task may run; else continue_entering() delivers the link to this access, unless it was delivered
  task *
      before; // of the access before; null: the address was free. The caller drops a reference of it when the task may run
  std::uint32_t link; // to be delivered; 0: it was delivered
};

/// Tells how the accesses of a task are entered: by its creator, before it hands out a handle, or by the
/// manager of a task that was posted.
enum class entered_by { creator, manager };

/// Adds a reference for each access of a task.
template <entered_by Who>
WEFT_INLINE void add_references_of_accesses(task &t, std::uint32_t count) noexcept {
  if (Who == entered_by::manager)
    add_references(t, count);
  else
    t.references.store(t.references.load(std::memory_order_relaxed) + count,
                       std::memory_order_relaxed); // O5
}

/// Does what enter_accesses() does for a task with one strong access, `a`, to an address that is
/// known and not the parent's.
template <entered_by Who = entered_by::creator>
WEFT_INLINE common_entry enter_common(task &t, data_access &a, std::uint32_t kind,
                                      data_access *&last) noexcept {
  data_access *const before = std::exchange(last, &a);
  task *const task_before = before ? before->task : nullptr;
  t.extent = 1;
  add_references_of_accesses<Who>(t, 1);
  // O1: acquire: once released, its deliverers touch it no more, and their data is visible
  if (!before || is_released(before->flags.load(std::memory_order_acquire))) {
    a.flags.store(kind | k_both_ok, std::memory_order_relaxed); // O4
    return {nullptr, task_before, 0};
  }
  // As in enter_accesses, but without an extra count for entering: the registrar does nothing to
  // the task after its only link.
  t.unsatisfied.store(1, std::memory_order_relaxed); // O5
  before->successor.set(&a);
  const std::uint32_t link = k_next_known | (kind & k_reads ? k_next_reads : 0u);
  return {before, task_before, try_deliver(*before, link, 0) ? 0u : link};
}
WEFT_INLINE common_entry enter_common(task &t, const access &only, data_access *&last) noexcept {
  const std::uint32_t kind = kind_of(only.mode);
  return enter_common(t, fill(t, 0, only.address, kind), kind, last);
}

struct released {
  runnable *next; // may run now, and has been announced; or null
  std::uint32_t released_refs; // references of the task that ended with its access
};

/// Releases the access of a task that has one, in a chain, and no domain.
WEFT_INLINE released release_common(task &t) noexcept {
  const auto [caused, successor, nobody] = deliver(t.accesses()[0], k_ended);
  runnable *next = nullptr;
  if (successor) {
    task &u = *successor->task;
    if (try_deliver(*successor, caused & k_to_next, k_satisfied)) [[likely]]
      next = take_away(u.unsatisfied, 1) && announce_ready(u) ? &u : nullptr;
    else
      next = continue_releasing(*successor, u, caused & k_to_next);
  }
  return {next, caused & k_died ? 1u : 0u};
}

/// Releases all accesses of a task that has no domain, and looks at none of them more closely.
/// Returns what release_accesses() does.
WEFT_INLINE std::uint32_t release_records(task &t, ready_list &ready) noexcept {
  mailbox box(ready, &t);
  for (data_access *a = t.accesses(), *const end = a + t.extent; a != end; ++a)
    if (!a->joined) [[likely]]
      box.end_in_chain(*a);
    else
      box.end(*a);
  box.serve_cohorts();
  return box.own_released_refs();
}

} // namespace rt
} // namespace weft::inline v0
