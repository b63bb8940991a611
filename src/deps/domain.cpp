// SPDX-License-Identifier: Apache-2.0
#include "deps/domain.hpp"

#include <algorithm>
#include <cstdlib>
#include <new>

namespace weft::inline v0 {
namespace rt {
namespace {

constexpr std::size_t k_ahead =
    8; // entries of a table: to fetch a line from another cache takes as long as to look at some of them

} // namespace

data_access *find_record(task &t, const void *address) noexcept {
  data_access *const first = t.accesses(), *const end = first + t.extent;
  data_access *at = first;
  if (t.extent <= k_most_unsorted)
    at = std::find_if(first, end, [=](const data_access &a) { return a.address == address; });
  else
    at = std::lower_bound(first, end, address, [](const data_access &a, const void *wanted) {
      return a.address < wanted;
    });
  return at != end && at->address == address ? at : nullptr;
}

domain::entry domain::s_no_entries[2];

domain::~domain() {
  if (!regional())
    std::free(m_table.entries);
}

data_access *domain::find(const void *address) const noexcept {
  const entry &e = m_table.entry_of(address);
  return e.address ? e.last : nullptr;
}

void domain::reserve(std::size_t count) {
  if ((m_used + count) * 4 > (m_table.mask + 1) * 3)
    rebuild(count, half()); // a table that fills again and again need not grow again and again
}

void domain::erase(const void *address) noexcept {
  if (entry &e = m_table.entry_of(address); e.address)
    e.last = nullptr;
}

/// Returns whether the entry says no more than that it were missing. An access that has released is
/// dropped for that, and may lose its last reference.
bool domain::drop_if_released(entry &slot) noexcept {
  if (!is_plain(slot.last))
    return is_own(slot.last);
  // O1: acquire: the thread that released the access touches it no more
  if (!is_released(slot.last->flags.load(std::memory_order_acquire)))
    return false;
  task &t = *slot.last->task;
  slot.last = own_access(slot.address); // the table stays as it is if there is no memory for the next
  drop_references(t, 1);
  return true;
}

/// Prefetches what drop_if_released() of an entry will read, and other threads wrote: the access,
/// and later its task.
void domain::fetch(std::size_t i) const noexcept {
  if (data_access *a = m_table.entries[(i + 2 * k_ahead) & m_table.mask].last; is_plain(a))
    __builtin_prefetch(a);
  if (data_access *a = m_table.entries[(i + k_ahead) & m_table.mask].last; a && is_plain(a))
    __builtin_prefetch(a->task, 1);
}

/// Drops entries that are not needed any more. Returns the number of entries left.
std::size_t domain::sweep() noexcept {
  std::size_t kept = 0;
  for (std::size_t i = 0; i <= m_table.mask; ++i) {
    fetch(i);
    if (entry &e = m_table.entries[i]; e.last && !drop_if_released(e))
      ++kept;
  }
  return kept;
}

/// Moves the entries that are still needed to a table of at least `capacity`, a power of two, with
/// room for `room` more.
void domain::rebuild(std::size_t room, std::size_t capacity) {
  const std::size_t kept = m_table.entries ? sweep() : 0;
  while (capacity < kept * 2 + room * 3 / 2 + 2)
    capacity *= 2;
  auto *fresh = static_cast<entry *>(std::calloc(capacity, sizeof(entry)));
  if (!fresh)
    throw std::bad_alloc();
  entry *const old = m_table.entries;
  m_table = {fresh, capacity - 1, static_cast<unsigned>(64 - __builtin_ctzll(capacity))};
  if (!is_hidden()) // else only the parent's frame may change what it sees
    show();
  m_used = m_kept = kept;
  const entry *next = old;
  for (std::size_t moved = 0; moved < kept; ++next)
    if (next->last && !is_own(next->last)) {
      m_table.entry_of(next->address) = *next;
      ++moved;
    }
  std::free(old);
}

void domain::prune() {
  if (m_used != 0)
    rebuild(0, k_first_capacity);
}

void domain::prune_when_grown() {
  if ((m_used - m_kept) * 8 > m_table.mask)
    rebuild(0, half());
}

} // namespace rt
} // namespace weft::inline v0
