// SPDX-License-Identifier: Apache-2.0
// The accesses of one task's children, by address: which access came last, so that the next one follows it.
#pragma once

#include "task/task.hpp"

#include <cstddef>

namespace weft::inline v0 {
namespace rt {

/// An open-addressing table from address to the last access. Only the frame of the parent task touches it. An entry whose
/// lowest bit is set names the parent's own access: no child has used that address yet; one whose second bit is set a cohort that
/// takes members.
class domain {
public:
  explicit domain(task &parent);
  /// Of children whose accesses are regions: the base of region_scope. Knows no address.
  domain() noexcept : m_entries(s_no_entries), m_mask(1), m_shift(63), m_parent(nullptr) {}
  [[nodiscard]] bool regional() const noexcept { return !m_parent; }
  ~domain();
  domain(const domain &) = delete;
  domain &operator=(const domain &) = delete;

  /// Makes room for `count` new addresses; may drop entries that nobody needs. Throws std::bad_alloc, with nothing changed.
  void reserve(std::size_t count);
  /// The slot of an address, for which room was reserved: null when it is new. Valid until the next call.
  data_access *&slot(const void *address) noexcept {
    entry &e = entry_of(address);
    return e.address ? e.last : add(e, address);
  }
  /// Null when the address is new, or no address.
  [[nodiscard]] data_access **find_slot(const void *address) const noexcept {
    entry &e = entry_of(address);
    return e.address ? &e.last : nullptr;
  }
  [[nodiscard]] data_access *find(const void *address) const noexcept;
  void erase(const void *address) noexcept;

  template <class F>
  void for_each_address(F &&f) const {
    for (std::size_t i = 0; i <= m_mask; ++i)
      if (m_entries[i].address && m_entries[i].last)
        f(m_entries[i].address);
  }

  /// Forgets every address whose last access has released; their tasks' memory becomes free.
  void prune();
  /// The same, when that many have come since the last time that it may be worth it.
  void prune_when_grown();

  template <class F>
  void for_each(F &&f) {
    for (std::size_t i = 0; i <= m_mask; ++i)
      if (m_entries[i].address && m_entries[i].last)
        f(m_entries[i].last);
  }

  /// f(last) for the cohorts that take members; what f returns is the last access from now on.
  template <class F>
  void replace_cohorts(F &&f) {
    if (!m_has_cohorts)
      return;
    m_has_cohorts = false;
    for (std::size_t i = 0; i <= m_mask; ++i)
      if (entry &e = m_entries[i]; e.address && is_cohort(e.last)) {
        e.last = f(e.last);
        m_has_cohorts = m_has_cohorts || is_cohort(e.last);
      }
  }
  data_access *tagged(cohort &c) noexcept {
    m_has_cohorts = true;
    return reinterpret_cast<data_access *>(reinterpret_cast<std::uintptr_t>(&c) | 2);
  }
  static bool is_cohort(const data_access *a) noexcept { return (reinterpret_cast<std::uintptr_t>(a) & 2) != 0; }
  /// Null when it is none.
  static cohort *cohort_of(const data_access *a) noexcept {
    return is_cohort(a) ? reinterpret_cast<cohort *>(reinterpret_cast<std::uintptr_t>(a) & ~std::uintptr_t{3}) : nullptr;
  }
  static bool is_plain(const data_access *a) noexcept { return (reinterpret_cast<std::uintptr_t>(a) & 3) == 0; }

  static data_access *own(data_access *a) noexcept {
    return reinterpret_cast<data_access *>(reinterpret_cast<std::uintptr_t>(a) | 1);
  }
  static bool is_own(const data_access *a) noexcept { return (reinterpret_cast<std::uintptr_t>(a) & 1) != 0; }
  static data_access *plain(data_access *a) noexcept {
    return reinterpret_cast<data_access *>(reinterpret_cast<std::uintptr_t>(a) & ~std::uintptr_t{1});
  }

private:
  struct entry {
    const void *address;
    data_access *last; // null: erased
  };
  [[nodiscard]] std::size_t home(const void *address) const noexcept {
    return static_cast<std::size_t>((reinterpret_cast<std::uintptr_t>(address) * 0x9E3779B97F4A7C15u) >> m_shift);
  }
  /// Of the address, or the free one where it belongs.
  [[nodiscard]] entry &entry_of(const void *address) const noexcept {
    std::size_t i = home(address);
    while (m_entries[i].address != address && m_entries[i].address)
      i = (i + 1) & m_mask;
    return m_entries[i];
  }
  data_access *&add(entry &e, const void *address) noexcept {
    ++m_used;
    e.address = address;
    return e.last;
  }
  static constexpr std::size_t k_first_capacity = 16;
  [[nodiscard]] std::size_t half() const noexcept { return m_mask < 2 * k_first_capacity ? k_first_capacity : (m_mask + 1) / 2; }
  void rebuild(std::size_t room, std::size_t capacity);
  std::size_t sweep() noexcept;
  bool drop_if_released(entry &e) noexcept;
  void fetch(std::size_t i) const noexcept;

  static entry s_no_entries[2]; // never written
  entry *m_entries = nullptr;
  std::size_t m_mask = 0;
  std::size_t m_used = 0; // slots that hold an address, erased ones too
  std::size_t m_kept = 0; // of them, when the table was made
  unsigned m_shift = 0;
  bool m_has_cohorts = false; // some entry may name one
  task *m_parent; // null: the children's accesses are regions
};

/// Enters the accesses of a new task into its parent's domain. True: all are satisfied, the task may run; false:
/// the delivery that satisfies the last one will put it on a ready list. Throws std::bad_alloc before anything is linked.
bool enter_accesses(task &t, const access *first, std::size_t first_count, const access *second,
                    std::size_t second_count);

/// Called by the parent's frame when no child is left: ends cohorts, and frees what the domain still holds.
void children_are_complete(task &parent) noexcept;

/// Called by the parent's frame after a wait for some children: ends the cohorts that have no member left, so that what
/// they reduce is combined.
void end_cohorts(task &parent) noexcept;

/// Called when memory is short: frees what finished children hold; `all` of it, or when it may be much.
void trim_domain(task &parent, bool all) noexcept;

} // namespace rt
} // namespace weft::inline v0
