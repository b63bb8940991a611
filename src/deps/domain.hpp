// SPDX-License-Identifier: Apache-2.0
// The accesses of one task's children, by address: which access came last to each address, so that
// the next access follows it.
#pragma once

#include "deps/state/pending_registrations.hpp"
#include "task/task.hpp"

#include <cstddef>

namespace weft::inline v0 {
namespace rt {

struct outbox;
struct cohort;

/// A task has its accesses in the order in which it names them; if they are more than that, by
/// address.
inline constexpr std::uint32_t k_most_unsorted = 12;
/// Returns the access of `t` to the address, or null. Not for recorded tasks.
[[nodiscard]] data_access *find_record(task &t, const void *address) noexcept;

/// Maps each address to its last access, in an open-addressing table. Only the frame of the parent
/// task touches the table. While messages about children are queued, only the managers that apply
/// them do. An entry whose lowest bit is set names the parent's own access: no child uses that
/// address yet, or those that did have released it. An address without an entry means the same. An
/// entry whose second bit is set names a cohort that takes members.
class domain {
 public:
  explicit domain(task &parent) : m_parent(&parent) { rebuild(0, k_first_capacity); }
  /// Makes the domain of children whose accesses are regions: the base of region_scope. This domain
  /// knows no address.
  domain() noexcept : m_table(no_table()), m_seen(no_table()), m_parent(nullptr) {}
  [[nodiscard]] bool regional() const noexcept { return !m_parent; }
  ~domain();
  domain(const domain &) = delete;
  domain &operator=(const domain &) = delete;

  /// Makes room for `count` new addresses, and may drop entries that no task needs. Throws
  /// std::bad_alloc, with nothing changed.
  void reserve(std::size_t count);
  /// Returns the slot of an address, for which room was reserved. If the address is new, the slot
  /// holds the parent's own access, or null if it has none. The slot is valid until the next call.
  data_access *&slot(const void *address) noexcept {
    entry &e = m_table.entry_of(address);
    return e.address ? e.last : add(e, address);
  }
  /// Returns the slot of an address, or null if the address is new, or null itself.
  [[nodiscard]] data_access **find_slot(const void *address) const noexcept {
    return m_table.slot_of(address);
  }
  /// Does the same for the parent's frame alone; returns null also while the entries are hidden
  /// from the frame.
  [[nodiscard]] data_access **find_slot_in_sight(const void *address) const noexcept {
    return m_seen.slot_of(address);
  }
  [[nodiscard]] data_access *find(const void *address) const noexcept;
  void erase(const void *address) noexcept;

  template <class F>
  void for_each_address(F &&f) const {
    for (std::size_t i = 0; i <= m_table.mask; ++i)
      if (m_table.entries[i].address && m_table.entries[i].last)
        f(m_table.entries[i].address);
  }

  /// Forgets every address whose last access has released, so that the memory of the accesses'
  /// tasks becomes free.
  void prune();
  /// Does the same if so many addresses have come since the last time that it may be worthwhile.
  void prune_when_grown();

  template <class F>
  void for_each(F &&f) {
    for (std::size_t i = 0; i <= m_table.mask; ++i)
      if (m_table.entries[i].address && m_table.entries[i].last)
        f(m_table.entries[i].last);
  }

  cohort *open_cohorts = nullptr; // those that take members: the cohorts that entries name
  static data_access *tagged(cohort &joined) noexcept {
    return reinterpret_cast<data_access *>(reinterpret_cast<std::uintptr_t>(&joined) | 2);
  }
  static bool is_cohort(const data_access *a) noexcept {
    return (reinterpret_cast<std::uintptr_t>(a) & 2) != 0;
  }
  /// Returns the cohort that `a` names, or null if it names none.
  static cohort *cohort_of(const data_access *a) noexcept {
    return is_cohort(a) ? reinterpret_cast<cohort *>(reinterpret_cast<std::uintptr_t>(a) &
                                                     ~std::uintptr_t{3})
                        : nullptr;
  }
  static bool is_plain(const data_access *a) noexcept {
    return (reinterpret_cast<std::uintptr_t>(a) & 3) == 0;
  }

  static data_access *own(data_access *a) noexcept {
    return reinterpret_cast<data_access *>(reinterpret_cast<std::uintptr_t>(a) | 1);
  }
  // Children whose accesses managers will enter: docs/design/managers.md.
  pending_registrations<> queued;
  outbox *queued_in =
      nullptr; // used by the parent's frame: the outbox that the newest of them is in
  /// Hides the entries, which now belong to managers: the common way of a task, which only looks
  /// for an address, finds none. Called by the parent's frame.
  void hide() noexcept {
    if (m_hidden) // managers look, because of the message before
      return;
    m_seen = no_table();
    m_hidden = true;
  }
  /// Shows the entries again, when no child is queued any more.
  void show() noexcept {
    m_seen = m_table;
    m_hidden = false;
  }
  [[nodiscard]] bool is_hidden() const noexcept { return m_hidden; }
  /// Returns whether the parent's frame, and the common way, may touch the entries. Called by the
  /// parent's frame.
  [[nodiscard]] bool comes_into_sight() noexcept {
    if (m_hidden && queued.none())
      show();
    return !m_hidden;
  }

  static bool is_own(const data_access *a) noexcept {
    return (reinterpret_cast<std::uintptr_t>(a) & 1) != 0;
  }
  static data_access *plain(data_access *a) noexcept {
    return reinterpret_cast<data_access *>(reinterpret_cast<std::uintptr_t>(a) &
                                           ~std::uintptr_t{1});
  }

 private:
  struct entry {
    const void *address;
    data_access *last; // null: erased
  };
  struct table {
    entry *entries = nullptr;
    std::size_t mask = 0;
    unsigned shift = 0;
    [[nodiscard]] std::size_t home(const void *address) const noexcept {
      return static_cast<std::size_t>(
          (reinterpret_cast<std::uintptr_t>(address) * 0x9E3779B97F4A7C15u) >> shift);
    }
    /// Returns the entry of the address, or the free entry where the address belongs.
    [[nodiscard]] entry &entry_of(const void *address) const noexcept {
      std::size_t i = home(address);
      while (entries[i].address != address && entries[i].address)
        i = (i + 1) & mask;
      return entries[i];
    }
    [[nodiscard]] data_access **slot_of(const void *address) const noexcept {
      entry &e = entry_of(address);
      return e.address ? &e.last : nullptr;
    }
  };
  data_access *&add(entry &slot, const void *address) noexcept {
    ++m_used;
    slot.address = address;
    if (m_parent->extent != 0)
      slot.last = own_access(address);
    return slot.last;
  }
  static constexpr std::size_t k_first_capacity = 16;
  [[nodiscard]] std::size_t half() const noexcept {
    return m_table.mask < 2 * k_first_capacity ? k_first_capacity : (m_table.mask + 1) / 2;
  }
  void rebuild(std::size_t room, std::size_t capacity);
  std::size_t sweep() noexcept;
  bool drop_if_released(entry &slot) noexcept;
  [[nodiscard]] data_access *own_access(const void *address) const noexcept {
    data_access *const a = find_record(*m_parent, address);
    return a ? own(a) : nullptr;
  }
  void fetch(std::size_t i) const noexcept;

  static entry s_no_entries[2]; // never written
  static table no_table() noexcept { return {s_no_entries, 1, 63}; }
  table m_table;
  table m_seen; // what the common way sees: m_table, or none
  std::size_t m_used = 0; // slots that hold an address, erased ones too
  std::size_t m_kept = 0; // of these slots, when the table was made
  bool m_hidden = false; // used by the parent's frame
  task *m_parent; // null: the children's accesses are regions
};

} // namespace rt
} // namespace weft::inline v0
