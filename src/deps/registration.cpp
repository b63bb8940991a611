// SPDX-License-Identifier: Apache-2.0
// Entering and releasing the accesses of a task: messages between accesses, through a mailbox instead of recursion.
#include "base/log.hpp"
#include "deps/domain.hpp"
#include "queue/spin_lock.hpp"

#include <algorithm>
#include <cstring>
#include <new>
#include <vector>

namespace weft::inline v0 {
namespace rt {
namespace {

// ---- the ablation with locks --------------------------------------------------------------------------------------

bool g_locked = false;
constexpr std::size_t k_locks = 1024; // stripes; a power of two

struct alignas(k_line) striped_lock {
  spin_lock<> lock;
};
striped_lock g_locks[k_locks];

using access_delivery = delivery<data_access>;

/// The same transition as deliver(), made atomic by the lock of the address.
WEFT_COLD access_delivery deliver_locked(data_access &a, std::uint32_t bits) noexcept {
  auto &stripe = g_locks[(reinterpret_cast<std::uintptr_t>(a.address) * 0x9E3779B97F4A7C15u) >> 54];
  stripe.lock.lock();
  const std::uint32_t before = a.flags.load(std::memory_order_acquire); // O1: the domain's owner stores without the lock
  const std::uint32_t after = before | bits;
  const access_delivery d = consequences(a, before, after);
  a.flags.store(after, std::memory_order_release); // O2: pairs with loads outside of the lock
  stripe.lock.unlock();
  return d;
}

// ---- mailbox ------------------------------------------------------------------------------------------------------

struct message {
  data_access *to;
  std::uint32_t bits;
};

/// Messages that are still to be delivered by this thread, newest first; almost never more than a few.
class mailbox {
public:
  explicit mailbox(ready_list &ready, task *self) noexcept : m_ready(ready), m_self(self) {}
  mailbox(const mailbox &) = delete;
  mailbox &operator=(const mailbox &) = delete;

  /// Delivers `bits` to `a` and everything that follows from it.
  [[gnu::always_inline]] void send(data_access &a, std::uint32_t bits) noexcept { // the bits are constants: they fold
    apply(a, bits);
    while (m_count > 0) {
      const message m = m_count > k_inline ? take_overflow() : m_messages[--m_count];
      apply(*m.to, m.bits);
    }
  }

  [[nodiscard]] std::uint32_t own_deaths() const noexcept { return m_own_deaths; }
  [[nodiscard]] std::uint32_t own_satisfied() const noexcept { return m_own_satisfied; }

private:
  static constexpr std::size_t k_inline = 16;

  [[gnu::always_inline]] void apply(data_access &a, std::uint32_t bits) noexcept {
    task &t = *a.task;
    const access_delivery d = g_locked ? deliver_locked(a, bits) : deliver(a, bits);
    if (d.child_bits)
      post(d.child, d.child_bits);
    if (d.next_bits)
      post(d.next, d.next_bits);
    if (d.satisfied)
      satisfied(t);
    if (d.dead)
      dead(t);
  }

  void satisfied(task &t) noexcept {
    if (&t == m_self)
      ++m_own_satisfied;
    else if (t.unsatisfied.fetch_sub(1, std::memory_order_acq_rel) == 1) // O3: see enter_accesses
      m_ready.push_back(&t);
  }

  void dead(task &t) noexcept {
    if (&t == m_self)
      ++m_own_deaths;
    else
      drop_references(t, 1);
  }

  void post(data_access *to, std::uint32_t bits) noexcept {
    if (m_count < k_inline)
      m_messages[m_count] = {to, bits};
    else if (!keep(to, bits))
      return apply_now(*to, bits);
    ++m_count;
  }

  /// Without memory to put it off.
  WEFT_COLD void apply_now(data_access &to, std::uint32_t bits) noexcept { apply(to, bits); }

  bool keep(data_access *to, std::uint32_t bits) noexcept {
    try {
      m_overflow.push_back({to, bits});
      return true;
    } catch (const std::bad_alloc &) {
      return false;
    }
  }

  message take_overflow() noexcept {
    const message m = m_overflow.back();
    m_overflow.pop_back();
    --m_count;
    return m;
  }

  message m_messages[k_inline];
  std::size_t m_count = 0;
  std::vector<message> m_overflow;
  ready_list &m_ready;
  task *const m_self; // the task whose own counters the caller settles in one go
  std::uint32_t m_own_deaths = 0;
  std::uint32_t m_own_satisfied = 0;
};

// ---- entering -----------------------------------------------------------------------------------------------------

std::uint8_t kind_of(access_mode mode) noexcept {
  switch (mode) {
  case access_mode::in:
    return k_reads;
  case access_mode::weak_in:
    return k_reads | k_weak;
  case access_mode::out:
  case access_mode::inout:
    return 0;
  case access_mode::weak_out:
  case access_mode::weak_inout:
    return k_weak;
  }
  return 0;
}

/// Two accesses of one task to one address are one access: it writes if either writes, it is weak if both are.
std::uint8_t merged(std::uint8_t a, std::uint8_t b) noexcept {
  return static_cast<std::uint8_t>((a & b & k_reads) | (a & b & k_weak));
}

/// Fills the records of `t`; null addresses and repetitions are left out. Returns how many there are.
std::uint32_t fill_records(task &t, const access *list, std::size_t count, std::uint32_t filled) noexcept {
  data_access *records = t.accesses();
  for (std::size_t i = 0; i < count; ++i) {
    if (!list[i].address)
      continue;
    auto *a = ::new (static_cast<void *>(&records[filled])) data_access;
    a->address = list[i].address;
    // children of a final task run in place and wait for nothing, so their parent waits for them
    a->kind = static_cast<std::uint8_t>(kind_of(list[i].mode) & (t.has(detail::k_final) ? ~k_weak : ~0));
    a->task = &t;
    ++filled;
  }
  return filled;
}

constexpr std::uint32_t k_few = 12; // below, comparing every pair beats sorting

std::uint32_t merge_repetitions(data_access *a, std::uint32_t count) {
  if (count > k_few) {
    std::vector<std::pair<const void *, std::uint8_t>> sorted(count);
    for (std::uint32_t i = 0; i < count; ++i)
      sorted[i] = {a[i].address, a[i].kind};
    std::sort(sorted.begin(), sorted.end(), [](auto &x, auto &y) { return x.first < y.first; });
    std::uint32_t kept = 0;
    for (std::uint32_t i = 0; i < count; ++i) {
      if (kept > 0 && a[kept - 1].address == sorted[i].first) {
        a[kept - 1].kind = merged(a[kept - 1].kind, sorted[i].second);
        continue;
      }
      a[kept].address = sorted[i].first;
      a[kept++].kind = sorted[i].second;
    }
    return kept;
  }
  for (std::uint32_t i = 1; i < count; ++i) {
    for (std::uint32_t j = 0; j < i; ++j) {
      if (a[i].address != a[j].address)
        continue;
      a[j].kind = merged(a[j].kind, a[i].kind);
      --count;
      a[i].address = a[count].address;
      a[i].kind = a[count].kind;
      --i;
      break;
    }
  }
  return count;
}

enum class entered { satisfied, linked };

/// Makes `a` the last access to its address in `d`. `satisfied`: nothing holds it, and nobody else knows it yet.
entered enter(domain &d, data_access &a, mailbox &box) noexcept {
  data_access *&last = d.slot(a.address);
  data_access *before = last;
  last = &a;
  if (!before) {
    a.flags.store(k_both_ok, std::memory_order_relaxed); // O4: published with the access by later links
    return entered::satisfied;
  }
  if (domain::is_own(before)) {
    data_access &parent = *domain::plain(before);
    // O1: acquire, pairs with the delivery that satisfied the parent's access
    if ((parent.flags.load(std::memory_order_acquire) & k_both_ok) == k_both_ok) {
      a.flags.store(k_both_ok, std::memory_order_relaxed); // O4
      return entered::satisfied;
    }
    parent.child.set(&a);
    box.send(parent, k_child_link);
    return entered::linked;
  }
  // O1: acquire: once released, its deliverers touch it no more, and their data is visible
  if (is_released(before->flags.load(std::memory_order_acquire))) {
    a.flags.store(k_both_ok, std::memory_order_relaxed); // O4
    drop_references(*before->task, 1);
    return entered::satisfied;
  }
  before->successor.set(&a);
  box.send(*before, k_next_known | (a.kind & k_reads ? k_next_reads : 0u));
  return entered::linked;
}

/// The domain of a parent that has one child at most is not worth a table; but most parents have many.
domain &domain_of(task &parent) {
  if (!parent.children_domain)
    parent.children_domain = new domain(parent);
  return *parent.children_domain;
}

} // namespace

void use_locked_dependencies(bool on) noexcept { g_locked = on; }

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
    strong += records[i].kind & k_weak ? 0u : 1u;
  // O5: before the first link; each delivery to a linked access takes one away
  t.unsatisfied.store(strong + 1, std::memory_order_relaxed);
  // O5: likewise: each access that dies takes one away
  t.references.store(t.references.load(std::memory_order_relaxed) + count, std::memory_order_relaxed);
  ready_list none; // entering can satisfy no task but this one
  mailbox box(none, &t);
  std::uint32_t satisfied = 0;
  bool linked = false;
  for (std::uint32_t i = 0; i < count; ++i) {
    if (enter(d, records[i], box) == entered::linked)
      linked = true;
    else if (!(records[i].kind & k_weak))
      ++satisfied;
  }
  if (!linked)
    return true;
  const std::uint32_t mine = 1 + satisfied + box.own_satisfied();
  // O3: acq_rel: who takes the last one away sees the data of all predecessors, and the task as it was entered
  return t.unsatisfied.fetch_sub(mine, std::memory_order_acq_rel) == mine;
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
