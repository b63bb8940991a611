// SPDX-License-Identifier: Apache-2.0
// Entering and releasing the accesses of a task that has several, or whose children have some.
#include "deps/access.hpp"
#include "task/lifecycle.hpp"

#include <algorithm>
#include <vector>

namespace weft::inline v0 {
namespace rt {
namespace {

/// Two accesses of one task to one address are one access: it writes if either writes, it is weak if both are.
std::uint32_t merged(std::uint32_t a, std::uint32_t b) noexcept { return a & b & k_kind; }

/// Fills the records of `t`; null addresses are left out. Returns how many there are.
std::uint32_t fill_records(task &t, const access *list, std::size_t count, std::uint32_t filled) noexcept {
  // children of a final task run in place and wait for nothing, so their parent waits for them
  const std::uint32_t mask = t.has(detail::k_final) ? ~std::uint32_t{k_weak} : ~std::uint32_t{0};
  for (std::size_t i = 0; i < count; ++i)
    if (list[i].address)
      fill(t, filled++, list[i].address, kind_of(list[i].mode) & mask);
  return filled;
}

constexpr std::uint32_t k_few = 12; // below, comparing every pair beats sorting

void set_record(data_access &a, const void *address, std::uint32_t kind) noexcept {
  a.address = address;
  a.flags.store(kind, std::memory_order_relaxed); // O4
}

std::uint32_t merge_many(data_access *a, std::uint32_t count) {
  std::vector<std::pair<const void *, std::uint32_t>> sorted(count);
  for (std::uint32_t i = 0; i < count; ++i)
    sorted[i] = {a[i].address, kind_of(a[i])};
  std::sort(sorted.begin(), sorted.end(), [](auto &x, auto &y) { return x.first < y.first; });
  std::uint32_t kept = 0;
  for (const auto &[address, kind] : sorted) {
    if (kept > 0 && a[kept - 1].address == address)
      set_record(a[kept - 1], address, merged(kind_of(a[kept - 1]), kind));
    else
      set_record(a[kept++], address, kind);
  }
  return kept;
}

std::uint32_t merge_repetitions(data_access *a, std::uint32_t count) {
  if (count > k_few)
    return merge_many(a, count);
  for (std::uint32_t i = 1; i < count; ++i) {
    for (std::uint32_t j = 0; j < i; ++j) {
      if (a[i].address != a[j].address)
        continue;
      set_record(a[j], a[j].address, merged(kind_of(a[j]), kind_of(a[i])));
      --count;
      set_record(a[i], a[count].address, kind_of(a[count]));
      --i;
      break;
    }
  }
  return count;
}

} // namespace

bool go_on_entering(task &t, task &before, const delivery<data_access> &d) noexcept {
  ready_list none;
  mailbox box(none, &t);
  box.go_on(before, d);
  return box.own_satisfied() != 0;
}

runnable *go_on_releasing(task &t, const delivery<data_access> &d) noexcept {
  ready_list ready;
  mailbox box(ready, nullptr);
  box.go_on(t, d);
  return first_of(ready);
}

namespace {

domain &domain_of(task &parent) {
  if (!parent.children_domain)
    parent.children_domain = new domain(parent);
  return *parent.children_domain;
}

} // namespace

bool enter_accesses(task &t, const access *first, std::size_t first_count, const access *second,
                    std::size_t second_count) {
  std::uint32_t count = fill_records(t, first, first_count, 0);
  count = fill_records(t, second, second_count, count);
  if (count > 1)
    count = merge_repetitions(t.accesses(), count);
  t.extent = count;
  if (count == 0)
    return true;
  domain &d = domain_of(*t.parent);
  d.reserve(count);
  data_access *records = t.accesses();
  std::uint32_t strong = 0;
  for (std::uint32_t i = 0; i < count; ++i)
    strong += kind_of(records[i]) & k_weak ? 0u : 1u;
  // O5: before the first link; each delivery to a linked access takes one away
  t.unsatisfied.store(strong + 1, std::memory_order_relaxed);
  // O5: likewise: each access that dies takes one away
  t.references.store(t.references.load(std::memory_order_relaxed) + count, std::memory_order_relaxed);
  ready_list none; // entering can satisfy no task but this one
  mailbox box(none, &t);
  std::uint32_t satisfied = 0;
  bool linked = false;
  for (std::uint32_t i = 0; i < count; ++i) {
    const bool weak = (kind_of(records[i]) & k_weak) != 0;
    if (enter(d.slot(records[i].address), records[i], box) == entered::linked)
      linked = true;
    else if (!weak)
      ++satisfied;
  }
  if (!linked)
    return true;
  const std::uint32_t mine = 1 + satisfied + box.own_satisfied();
  return take_away(t.unsatisfied, mine); // who takes the last one sees the data of all predecessors, and the task as it was entered
}

namespace {

/// Body ended: no further child can come. Tells the last access to each address what follows it.
void close_domain(task &t, mailbox &box) noexcept {
  domain *d = t.children_domain;
  t.children_domain = nullptr;
  data_access *records = t.accesses();
  for (std::uint32_t i = 0; i < t.extent; ++i) {
    data_access &own = records[i];
    data_access *last = d->find(own.address);
    d->erase(own.address);
    if (!last || domain::is_own(last)) {
      box.send(own, k_finished | k_kids_done);
      continue;
    }
    last->successor.set(&own);
    box.send(*last, k_next_known | k_next_parent);
    box.send(own, k_finished);
  }
  d->for_each([&](data_access *last) { box.send(*last, k_next_known); });
  delete d;
}

} // namespace

std::uint32_t release_accesses(task &t, ready_list &ready) {
  if (t.extent == 0 && !t.children_domain)
    return 0;
  mailbox box(ready, &t);
  if (t.children_domain) {
    close_domain(t, box);
  } else {
    data_access *records = t.accesses();
    for (std::uint32_t i = 0; i < t.extent; ++i)
      box.send(records[i], k_finished | k_kids_done);
  }
  return box.own_deaths();
}

void children_are_complete(task &parent) noexcept {
  if (parent.children_domain)
    trim_domain(parent);
}

void trim_domain(task &parent) noexcept {
  if (!parent.children_domain)
    return;
  try {
    parent.children_domain->prune();
  } catch (const std::bad_alloc &) { // the table stays as it is: it only keeps memory longer
  }
}

} // namespace rt
} // namespace weft::inline v0
