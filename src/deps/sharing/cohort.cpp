// SPDX-License-Identifier: Apache-2.0
#include "deps/sharing/cohort.hpp"

#include "deps/access.hpp"
#include "deps/domain.hpp"
#include "deps/mailbox.hpp"
#include "deps/messages.hpp"
#include "task/ready.hpp"

#include <new>
#include <utility>

namespace weft::inline v0 {
namespace rt {
namespace {

constexpr std::size_t k_arbiters =
    64; // a power of two; shared by domains whose tasks have nothing to do with each other

struct alignas(k_line) arbiter_line {
  task_arbiter guard;
};
arbiter_line g_arbiters[k_arbiters];

constexpr const char *k_names[] = {"", "concurrent tasks", "commutative tasks", "a reduction"};

void free_cohort(void *storage) noexcept {
  auto *c = static_cast<cohort *>(storage);
  if (c->combines)
    delete c->copies;
  c->~cohort();
}

data_access *access_of(task &t, const void *address) noexcept {
  for (std::uint32_t i = 0, count = known_accesses(t); i < count; ++i)
    if (t.accesses()[i].address == address)
      return &t.accesses()[i];
  return nullptr;
}

/// Returns the cohort that `t` belongs to by an access, or null.
cohort *joined_by(task &t, const void *address, sharing how) noexcept {
  data_access *a = access_of(t, address);
  return a && !is_finished(*a) && a->joined && a->joined->how == how ? a->joined : nullptr;
}

bool is_weak(const data_access &a) noexcept { return (kind_of(a) & k_weak) != 0; }

/// Returns the arbiter that guards all that a task may need together. The children of a weakly
/// commutative task may need what other tasks' children need, so they inherit its arbiter.
task_arbiter &arbiter_of_children(task &parent) noexcept {
  if (parent.has(detail::k_special))
    for (std::uint32_t i = 0; i < parent.extent; ++i) {
      const data_access &a = parent.accesses()[i];
      if (!is_finished(a) && a.joined && a.joined->how == sharing::commutative && is_weak(a))
        return *a.joined->guard;
    }
  return g_arbiters[(reinterpret_cast<std::uintptr_t>(&parent) * 0x9E3779B97F4A7C15u) >> 58].guard;
}
static_assert(k_arbiters == std::size_t{1} << (64 - 58));

void set_up(cohort &joined, task &below, const data_access &member) {
  if (joined.how == sharing::commutative) {
    task &parent = covering_task(below);
    cohort *above = joined_by(parent, member.address, joined.how);
    joined.guard = &arbiter_of_children(parent);
    if (above && is_weak(*access_of(parent, member.address)))
      joined.turns = above->turns;
  } else if (joined.how == sharing::reduction) {
    joined.copies = copies_below(below, *member.wanted);
    if (joined.copies)
      return;
    joined.copies = new reduction_store(*member.wanted);
    joined.combines = true;
  }
}

cohort &make_cohort(task &parent, const data_access &member) {
  void *block = own_heap()->allocate(task::block_bytes(k_cohort_ops, 1));
  if (!block)
    throw std::bad_alloc();
  auto *t = ::new (block) task(k_cohort_ops, &parent, nullptr);
  t->set(detail::k_special |
         detail::k_tracked); // looked at when it is ready, and freed by free_cohort
  t->extent = 1;
  t->label = k_names[static_cast<std::size_t>(member.shared)];
  auto *c = ::new (detail::storage(t)) cohort(member.shared);
  fill(*t, 0, member.address, 0); // its reference is the one that a task begins with
  try {
    set_up(*c, parent, member);
  } catch (...) {
    drop_references(*t, 1);
    throw;
  }
  return *c;
}

/// Returns the cohort at `last` if it takes `a`, else null.
cohort *open_to(const data_access *last, const data_access &a) noexcept {
  cohort *c = domain::cohort_of(last);
  if (!c || c->how != a.shared ||
      (c->how == sharing::reduction && !is_same(c->copies->how(), *a.wanted)))
    return nullptr;
  return c;
}

/// Lets the members go: the access that stands for them is satisfied.
void open_cohort(cohort &joined, mailbox &box) noexcept {
  for (data_access *a = joined.members.open(); a;) {
    data_access *const next = a->successor.get();
    a->successor.set(nullptr);
    box.send(*a, k_both_ok);
    a = next;
  }
}

/// Ends the cohort: all members have left, and no task joins any more.
void end_cohort(cohort &joined, mailbox &box) noexcept {
  if (joined.combines)
    combine_copies(*joined.copies, *joined.self().parent);
  box.send(joined.access(), k_ended);
}

} // namespace

const body_ops k_cohort_ops{nullptr, nullptr, &free_cohort, true, sizeof(cohort)};

reduction_store *copies_below(task &t, const detail::reduction_spec &how) noexcept {
  cohort *above = joined_by(covering_task(t), how.address, sharing::reduction);
  return above && is_same(above->copies->how(), how) ? above->copies : nullptr;
}

bool exclusion_traits::need_same(task &t, task &other) noexcept {
  for (std::uint32_t i = next_turn(t, 0), k = next_turn(other, 0);;
       i = next_turn(t, i + 1), k = next_turn(other, k + 1)) {
    if (i == t.extent || k == other.extent)
      return i == t.extent && k == other.extent;
    if (t.accesses()[i].joined->turns != other.accesses()[k].joined->turns)
      return false;
  }
}

std::size_t exclusion_traits::hash(task &t) noexcept {
  std::uint64_t h = 0;
  for_each(t, [&](const task_exclusion &object) {
    h = (h ^ reinterpret_cast<std::uintptr_t>(&object)) * 0x9E3779B97F4A7C15u;
    return true;
  });
  return h >> 32;
}

bool take_exclusions(task &t) noexcept {
  task_arbiter *guard = nullptr;
  bool handed_over = false;
  for (std::uint32_t i = 0; i < t.extent && !guard; ++i) {
    const data_access &a = t.accesses()[i];
    if (!a.joined || a.joined->how != sharing::commutative || is_weak(a))
      continue;
    guard = a.joined->guard;
    handed_over =
        a.joined->turns->holder.load(std::memory_order_relaxed) == &t; // O1 of exclusion.hpp
  }
  return !guard || handed_over || guard->take(t);
}

void forget_turns_in_child() noexcept {
  for (arbiter_line &a : g_arbiters)
    if (a.guard.was_used())
      ::new (&a.guard) task_arbiter;
}

void find_cohorts(task &t, domain &home) {
  data_access *const records = t.accesses();
  if (t.extent == 1)
    t.set(detail::k_special); // it does not end as one whose only access is in a chain
  for (std::uint32_t i = 0; i < t.extent; ++i) {
    data_access &a = records[i];
    if (a.shared == sharing::none)
      continue;
    if (a.shared == sharing::commutative)
      t.set(detail::k_special); // takes its turn when it is ready
    data_access **const slot = home.find_slot(a.address);
    data_access *const last = slot ? *slot : nullptr;
    try {
      cohort *c = open_to(last, a);
      a.joined = c ? c : &make_cohort(*t.parent, a);
    } catch (...) {
      while (i-- > 0) {
        data_access &made = records[i];
        if (made.shared != sharing::none &&
            made.joined != domain::cohort_of(home.find(made.address)))
          drop_references(made.joined->self(), 1);
      }
      throw;
    }
  }
}

namespace {

void enter_list(cohort &joined, domain &home) noexcept {
  joined.next_open = std::exchange(home.open_cohorts, &joined);
  joined.place = &home.open_cohorts;
  if (joined.next_open)
    joined.next_open->place = &joined.next_open;
}

void leave_list(const cohort &joined) noexcept {
  *joined.place = joined.next_open;
  if (joined.next_open)
    joined.next_open->place = joined.place;
}

} // namespace

bool join_cohort(data_access *&last, data_access &a, domain &home, mailbox &box) noexcept {
  cohort &c = *a.joined;
  if (domain::cohort_of(last) != &c) {
    c.self().unsatisfied.store(1, std::memory_order_relaxed); // O5: before the link
    if (enter(last, c.access(), box) == entered::satisfied)
      (void)c.members.open();
    last = domain::tagged(c);
    enter_list(c, home);
  }
  const std::uint32_t kind = kind_of(a) | k_next_known; // no access follows
  a.flags.store(kind, std::memory_order_relaxed);       // O4
  if (!c.members.admit(a))
    return false;
  a.flags.store(kind | k_both_ok, std::memory_order_relaxed); // O4
  return true;
}

data_access &close_cohort(cohort &joined, mailbox &box) noexcept {
  data_access &a = joined.access();
  leave_list(joined);
  if (joined.members.close())
    box.has_changed(joined.self());
  return a;
}

void serve_cohort(task &t) {
  ready_list ready;
  mailbox box(ready, nullptr);
  box.has_changed(t);
  box.serve_cohorts();
  enqueue_all(ready);
}

void mailbox::leave_cohort(data_access &a) noexcept {
  cohort &c = *a.joined;
  give_back_copy(a);
  if (c.how == sharing::commutative && !is_weak(a))
    c.guard->give_up(*c.turns, [this](task &t) { m_ready.push_back(&t); });
  if (c.members.leave())
    m_cohorts.push_back(&c.self());
}

void mailbox::serve_cohorts_slow() noexcept {
  while (runnable *r = m_cohorts.pop_front()) {
    cohort &c = *static_cast<cohort *>(detail::storage(static_cast<task *>(r)));
    if (c.members.was_opened())
      end_cohort(c, *this);
    else
      open_cohort(c, *this);
  }
}

void end_cohorts(task &parent) noexcept {
  domain *const home = parent.children_domain;
  if (!home)
    return;
  apply_registrations_below(parent);
  ready_list none; // whatever follows has closed its cohort already
  mailbox box(none, nullptr);
  for (cohort *c = home->open_cohorts; c;) {
    cohort &each = *std::exchange(c, c->next_open);
    if (each.members.is_over())
      home->slot(each.access().address) = &close_cohort(each, box);
  }
  box.serve_cohorts();
}

} // namespace rt
} // namespace weft::inline v0
