// SPDX-License-Identifier: Apache-2.0
#include "deps/domain.hpp"

#include <cstdlib>
#include <new>

namespace weft::inline v0 {
namespace rt {
namespace {

constexpr std::size_t k_first_capacity = 16;
constexpr std::size_t k_ahead = 8;        // entries of a table: a line from another cache takes as long as some of them
constexpr std::size_t k_own_scanned = 16; // own accesses that prune() is willing to look through per entry

} // namespace

domain::domain(task &parent) : m_parent(parent) {
  rebuild(parent.extent);
  for (std::uint32_t i = 0; i < parent.extent; ++i) {
    data_access &a = parent.accesses()[i];
    slot(a.address) = own(&a);
  }
}

domain::~domain() { std::free(m_entries); }

data_access *domain::find(const void *address) const noexcept {
  const entry &e = entry_of(address);
  return e.address ? e.last : nullptr;
}

void domain::reserve(std::size_t count) {
  if ((m_used + count) * 4 > (m_mask + 1) * 3)
    rebuild(count);
}

void domain::erase(const void *address) noexcept {
  if (entry &e = entry_of(address); e.address)
    e.last = nullptr;
}

/// True when the entry has no use any more; its access then loses its last reference here.
bool domain::drop_if_released(entry &e) noexcept {
  if (!is_plain(e.last))
    return false;
  // O1: acquire: who released the access touches it no more
  if (!is_released(e.last->flags.load(std::memory_order_acquire)))
    return false;
  if (m_parent.extent > k_own_scanned)
    return false;
  task &t = *e.last->task;
  data_access *back_to = nullptr;
  for (std::uint32_t i = 0; i < m_parent.extent; ++i)
    if (m_parent.accesses()[i].address == e.address)
      back_to = own(&m_parent.accesses()[i]);
  e.last = back_to;
  drop_references(t, 1);
  return back_to == nullptr;
}

/// What drop_if_released() of an entry will read was written by others: the access, and later its task.
void domain::fetch(std::size_t i) const noexcept {
  if (data_access *a = m_entries[(i + 2 * k_ahead) & m_mask].last; is_plain(a))
    __builtin_prefetch(a);
  if (data_access *a = m_entries[(i + k_ahead) & m_mask].last; a && is_plain(a))
    __builtin_prefetch(a->task, 1);
}

/// Moves what is still needed to a table that has room for `room` more: prunes, then grows or shrinks.
void domain::rebuild(std::size_t room) {
  std::size_t kept = 0;
  if (m_entries)
    for (std::size_t i = 0; i <= m_mask; ++i) {
      fetch(i);
      if (entry &e = m_entries[i]; e.address && e.last && !drop_if_released(e))
        ++kept;
    }
  std::size_t capacity = k_first_capacity;
  while (capacity < kept * 2 + room * 3 / 2 + 2)
    capacity *= 2;
  auto *fresh = static_cast<entry *>(std::calloc(capacity, sizeof(entry)));
  if (!fresh)
    throw std::bad_alloc();
  entry *old = m_entries;
  const std::size_t old_capacity = old ? m_mask + 1 : 0;
  m_entries = fresh;
  m_mask = capacity - 1;
  m_shift = static_cast<unsigned>(64 - __builtin_ctzll(capacity));
  m_used = kept;
  for (std::size_t i = 0; i < old_capacity; ++i) {
    if (!old[i].address || !old[i].last)
      continue;
    std::size_t j = home(old[i].address);
    while (m_entries[j].address)
      j = (j + 1) & m_mask;
    m_entries[j] = old[i];
  }
  std::free(old);
}

void domain::prune() { rebuild(0); }

} // namespace rt
} // namespace weft::inline v0
