// SPDX-License-Identifier: Apache-2.0
// Enters and releases the accesses of a task that has several, or whose children have some.
#include "deps/registration.hpp"
#include "base/error.hpp"
#include "deps/access.hpp"
#include "deps/check.hpp"
#include "deps/hooks.hpp"
#include "deps/messages.hpp"
#include "deps/regions/region_scope.hpp"
#include "deps/regions/regions.hpp"
#include "deps/sharing/cohort.hpp"
#include "deps/sharing/hooks.hpp"
#include "task/destructor.hpp"
#include "task/ready.hpp"

#include <algorithm>
#include <vector>

namespace weft::inline v0 {
namespace rt {
namespace {

/// Describes an access that a task names, before it is entered.
struct named {
  const void *address;
  std::uint32_t kind;
  sharing how;
  const detail::reduction_spec *wanted; // with sharing::reduction
};

named read_record(const data_access &a) noexcept {
  return {a.address, kind_of(a), a.shared, a.shared == sharing::reduction ? a.wanted : nullptr};
}

void set_record(data_access &a, const named &accesses) noexcept {
  a.address = accesses.address;
  a.flags.store(accesses.kind, std::memory_order_relaxed); // O4
  a.shared = accesses.how;
  if (accesses.how == sharing::reduction)
    a.wanted = accesses.wanted;
  else
    a.joined = nullptr;
}

} // namespace

void check_extent(const task &t, const detail::reduction_spec &spec) {
  constexpr auto k_most = std::size_t{1} << 47; // bytes of address space
  if (spec.count < 0)
    throw_error(errc::invalid_argument,
                "task '%s' reduces %td elements at %p; give the number of elements, 0 or more",
                label_of(t), spec.count, spec.address);
  std::size_t all = 0;
  if (__builtin_mul_overflow(static_cast<std::size_t>(spec.count), spec.bytes, &all) ||
      all > k_most)
    throw_error(
        errc::invalid_argument,
        "task '%s' reduces %td elements of %zu bytes at %p, which no memory holds; give the number "
        "of elements",
        label_of(t), spec.count, spec.bytes, spec.address);
}

void check_same(const task &t, const detail::reduction_spec &a, const detail::reduction_spec &b) {
  if (!is_same(a, b))
    throw_error(errc::invalid_argument,
                "task '%s' reduces %p by two operations, or with two extents; name one",
                label_of(t), a.address);
}

namespace {

/// Reads an access that a task names. The address of the result is null if the access is to be left
/// out.
named read_access(const task &t, const access &a) {
  named n{a.address, kind_of(a.mode) & k_kind, sharing_of(a.mode), nullptr};
  if (n.how != sharing::reduction || !a.address)
    return n;
  n.wanted = static_cast<const detail::reduction_spec *>(a.address);
  check_extent(t, *n.wanted);
  n.address = n.wanted->count > 0 ? n.wanted->address : nullptr;
  return n;
}

/// Merges two accesses of one task to one address. The result writes if either writes, and is weak
/// if both are. It shares if both share in the same way, else it does not share.
named merged(const task &t, const named &a, const named &b) {
  named both{a.address, a.kind & b.kind, a.how, a.wanted};
  if (a.how != b.how)
    return {a.address, both.kind & k_weak, sharing::none, nullptr};
  if (a.how == sharing::reduction)
    check_same(t, *a.wanted, *b.wanted);
  return both;
}

struct filled {
  std::uint32_t count = 0;
  std::uint32_t kinds = 0; // of all of them together
};

/// Fills the records of `t`, and leaves out null addresses.
WEFT_INLINE filled fill_records(task &t, const access *list, std::size_t count, filled so_far) {
  // children of a final task run in place and wait for nothing, so their parent waits for them
  const std::uint32_t mask = t.has(detail::k_final) ? ~std::uint32_t{k_weak} : ~std::uint32_t{0};
  for (const access *x = list, *const end = list + count; x != end; ++x) {
    const std::uint32_t kind = kind_of(x->mode) & mask;
    if (kind & k_shares) {
      named n = read_access(t, *x);
      n.kind &= mask;
      if (!n.address)
        continue;
      set_record(fill(t, so_far.count, n.address, n.kind), n);
    } else {
      if (!x->address)
        continue;
      fill(t, so_far.count, x->address, kind).shared = sharing::none;
    }
    ++so_far.count;
    so_far.kinds |= kind;
  }
  return so_far;
}

std::uint32_t merge_many(const task &t, data_access *a, std::uint32_t count) {
  std::vector<named> sorted(count);
  for (std::uint32_t i = 0; i < count; ++i)
    sorted[i] = read_record(a[i]);
  std::sort(sorted.begin(), sorted.end(), [](auto &x, auto &y) { return x.address < y.address; });
  std::uint32_t kept = 0;
  for (const named &n : sorted) {
    if (kept > 0 && a[kept - 1].address == n.address)
      set_record(a[kept - 1], merged(t, read_record(a[kept - 1]), n));
    else
      set_record(a[kept++], n);
  }
  return kept;
}

std::uint32_t merge_repetitions(const task &t, data_access *a, std::uint32_t count) {
  if (count > k_most_unsorted) // below, comparing every pair beats sorting
    return merge_many(t, a, count);
  for (std::uint32_t i = 1; i < count; ++i) {
    for (std::uint32_t j = 0; j < i; ++j) {
      if (a[i].address != a[j].address)
        continue;
      set_record(a[j], merged(t, read_record(a[j]), read_record(a[i])));
      --count;
      set_record(a[i], read_record(a[count]));
      --i;
      break;
    }
  }
  return count;
}

/// Makes the weak accesses of a task that takes a turn strong, and returns whether the task was
/// one. Such a task begins with all that its children may need. Else a child could wait, in that
/// turn, for an earlier task that waits for the turn: docs/design/sharing.md.
WEFT_COLD bool strengthen(data_access *a, std::uint32_t count) noexcept {
  const auto takes_turns = [](const data_access &x) {
    return x.shared == sharing::commutative && !(kind_of(x) & k_weak);
  };
  if (std::none_of(a, a + count, takes_turns))
    return false;
  for (data_access *x = a; x != a + count; ++x)
    x->flags.store(kind_of(*x) & ~std::uint32_t{k_weak}, std::memory_order_relaxed); // O4
  return true;
}

} // namespace

bool continue_entering(task &t, data_access &a, task &before, std::uint32_t bits) noexcept {
  ready_list none;
  mailbox box(none, &t);
  box.continue_delivery(before, deliver(a, bits));
  box.serve_cohorts();
  return box.own_satisfied() != 0;
}

runnable *continue_releasing(data_access &a, task &t, std::uint32_t bits) noexcept {
  ready_list ready;
  mailbox box(ready, nullptr);
  box.continue_delivery(a, t, deliver(a, bits));
  box.serve_cohorts();
  return first_of(ready);
}

void refuse_accesses_when_over(const task &parent) {
  if (is_over(parent))
    throw_error(
        errc::invalid_argument,
        "accesses are named in the destructor of the callable of task '%s', where nothing orders them: those of the task are released; "
        "name them in the body",
        label_of(parent));
}

domain &make_domain(task &parent) {
  refuse_accesses_when_over(parent);
  return *(parent.children_domain = new domain(parent));
}

namespace {

/// Enters the named accesses of `t`, at least one and of no other `kinds`. Throws std::bad_alloc
/// before anything is linked.
template <entered_by Who>
WEFT_INLINE bool enter_named(task &t, domain &home, std::uint32_t kinds) {
  const std::uint32_t count = t.extent;
  home.reserve(count);
  data_access *records = t.accesses();
  std::uint32_t strong = count;
  if (kinds & k_weak)
    strong = static_cast<std::uint32_t>(
        std::count_if(records, records + count, [](auto &a) { return !(kind_of(a) & k_weak); }));
  if (kinds & k_shares)
    find_cohorts(t, home);
  // O5: before the first link; each delivery to a linked access takes one away
  t.unsatisfied.store(strong + 1, std::memory_order_relaxed);
  add_references_of_accesses<Who>(t, count); // O5: likewise; each access that ends takes one away
  ready_list none; // entering can satisfy no task but this one
  mailbox box(none, &t);
  std::uint32_t satisfied = 0;
  bool linked = false;
  for (std::uint32_t i = 0; i < count; ++i) {
    data_access &a = records[i];
    const bool weak = (kind_of(a) & k_weak) != 0;
    data_access *&last = home.slot(a.address);
    if (a.shared == sharing::none ? enter(last, a, box) == entered::linked
                                  : !join_cohort(last, a, home, box))
      linked = true;
    else if (!weak)
      ++satisfied;
  }
  box.serve_cohorts();
  if (!linked)
    return true;
  const std::uint32_t mine = 1 + satisfied + box.own_satisfied();
  return take_away(
      t.unsatisfied,
      mine); // the thread that takes the last one sees the data of all predecessors, and the task as entered
}

/// Says whether the task waits for futures, too. A manager without memory would end it meanwhile.
bool is_gated(const task &t) noexcept {
  const task_extra *const extra = peek_extra(t);
  return extra && extra->gated;
}

/// Posts `t` to the managers if that is possible. Returns true if a manager will enter the accesses
/// of `t`. After false no thread but the caller uses the domain.
WEFT_COLD bool leave_to_managers(task &t, domain &home, std::uint32_t kinds) {
  // A task that has a domain before it runs is between addresses and regions: nothing comes behind
  // it before it is entered. So it is not posted.
  if (sends_messages() && !(kinds & k_shares) && !t.has(detail::k_undeferred) &&
      !t.children_domain && !is_gated(t) && post_new(t, home))
    return true;
  if (home.is_hidden())
    apply_registrations_of(home);
  return false;
}

} // namespace

bool enter_accesses(task &t, const access *first, std::size_t first_count, const access *second,
                    std::size_t second_count) {
  if (orders_regions(*t.parent)) [[unlikely]]
    return enter_regions(t, first, first_count, second, second_count);
  filled all = fill_records(t, first, first_count, {});
  if (second_count != 0)
    all = fill_records(t, second, second_count, all);
  const std::uint32_t count =
      all.count > 1 ? merge_repetitions(t, t.accesses(), all.count) : all.count;
  t.extent = count;
  if (count == 0)
    return true;
  constexpr std::uint32_t both = k_shares | k_weak;
  if ((all.kinds & both) == both && strengthen(t.accesses(), count)) [[unlikely]]
    all.kinds &= ~std::uint32_t{k_weak};
  domain &d = domain_of(*t.parent); // making a domain forgets what is noted below
  if (mailbox::checks()) [[unlikely]] {
    report_undeclared(t);
    report_overlaps(t, first, first_count);
    report_overlaps(t, second, second_count);
  }
  if ((sends_messages() || d.is_hidden()) && leave_to_managers(t, d, all.kinds)) [[unlikely]]
    return false;
  return enter_named<entered_by::creator>(t, d, all.kinds);
}

bool enter_posted(task &t) {
  domain &d = *t.parent->children_domain;
  data_access &only = t.accesses()[0];
  const std::uint32_t kind = kind_of(only);
  if (t.extent != 1 || kind & k_weak || mailbox::needs_general_path_without_messages())
    return enter_named<entered_by::manager>(t, d, k_weak);
  data_access **const last = d.find_slot(only.address);
  if (!last || !domain::is_plain(*last))
    return enter_named<entered_by::manager>(t, d, k_weak);
  const auto [behind, before, link] = enter_common<entered_by::manager>(t, only, kind, *last);
  if (behind)
    return link && continue_entering(t, *behind, *before, link);
  if (before)
    drop_references(*before, 1);
  return true;
}

namespace {

/// Gives up an access of the parent: no further child with its address can come. Delivers to the
/// children's last access to the address what follows.
void give_up(domain &home, data_access &own, mailbox &box) noexcept {
  data_access *last = home.find(own.address);
  if (cohort *c = domain::cohort_of(last))
    last = &close_cohort(*c, box);
  home.erase(own.address);
  if (!last || domain::is_own(last))
    return box.send(own, k_ended);
  last->successor.set(&own);
  box.send(*last, k_next_known | k_next_parent);
  box.send(own, k_finished);
}

/// Closes the domain of a task whose body has ended: no further child can come. Delivers to the
/// last access to each address what follows.
void close_domain(task &t, mailbox &box) noexcept {
  if (mailbox::checks()) [[unlikely]]
    forget_objects(t);
  domain *d = t.children_domain;
  t.children_domain = nullptr;
  data_access *records = t.accesses();
  for (std::uint32_t i = 0; i < t.extent; ++i)
    if (!is_finished(records[i]))
      give_up(*d, records[i], box);
    else if (domain::is_own(
                 d->find(records[i].address))) // the table was made, or pruned, after the release
      d->erase(records[i].address);
  d->for_each([&](data_access *last) {
    cohort *c = domain::cohort_of(last);
    box.send(c ? close_cohort(*c, box) : *last, k_next_known);
  });
  delete d;
}

} // namespace

namespace {

WEFT_NOINLINE std::uint32_t release_objects(task &t, ready_list &ready) {
  apply_registrations_below(t);
  mailbox box(ready, &t);
  if (t.children_domain) {
    give_back_copies(t);
    close_domain(t, box);
  } else {
    for (data_access *a = t.accesses(), *const end = a + t.extent; a != end; ++a)
      box.end(*a);
  }
  box.serve_cohorts();
  return box.own_released_refs();
}

} // namespace

std::uint32_t release_accesses(task &t, ready_list &ready) {
  if (t.children_domain && t.children_domain->regional())
    release_regions(t, ready);
  return t.extent == 0 && !t.children_domain ? 0 : release_objects(t, ready);
}

bool has_access(task &t, const access &a) noexcept {
  const auto low = reinterpret_cast<std::uintptr_t>(a.address);
  return find_record(t, a.address) || has_region(t, low, low + 1);
}

void release_some(task &t, const access *list, std::size_t count, ready_list &ready) {
  if (t.children_domain && t.children_domain->regional()) {
    for (std::size_t i = 0; i < count; ++i)
      if (const auto low = reinterpret_cast<std::uintptr_t>(list[i].address);
          low && !find_record(t, list[i].address))
        release_region(t, low, low + list[i].bytes, ready);
    return; // objects of a task whose children use regions go when the children are complete
  }
  apply_registrations_below(t);
  mailbox box(ready, &t);
  for (std::size_t i = 0; i < count; ++i) {
    data_access *own = list[i].address ? find_record(t, list[i].address) : nullptr;
    if (!own || is_finished(*own))
      continue;
    give_back_copy(*own);
    if (t.children_domain)
      give_up(*t.children_domain, *own, box);
    else
      box.send(*own, k_ended);
  }
  box.serve_cohorts();
  if (const std::uint32_t released_refs = box.own_released_refs())
    drop_references(t, released_refs);
}

void children_are_complete(task &parent) noexcept { trim_domain(parent, trim::all); }

void trim_domain(task &parent, trim how) noexcept {
  domain *d = parent.children_domain;
  if (!d)
    return;
  if (d->regional()) { // what finished regions hold is small, and is pruned as the map grows
    if (how == trim::all)
      prune_regions(parent);
    return;
  }
  apply_registrations_below(parent);
  try {
    if (how == trim::if_much)
      return d->prune_when_grown();
    if (mailbox::checks()) [[unlikely]]
      forget_objects(parent);
    end_cohorts(parent);
    d->prune();
  } catch (const std::bad_alloc &) { // the table stays as it is, and only keeps memory longer
  }
}

} // namespace rt
} // namespace weft::inline v0
