// SPDX-License-Identifier: Apache-2.0
// Translates depend clauses, as compilers pass them, to accesses.
#pragma once

#include <weft/access.hpp>

#include "task/task.hpp"
#include "thread/thread.hpp"

#include <atomic>
#include <cstddef>
#include <new>

namespace weft_omp {

enum depend_kind : int {
  k_depend_in = 1,
  k_depend_out = 2,
  k_depend_inout = 3,
  k_depend_mutexinoutset = 4,
  k_depend_inoutset = 5
};

[[nodiscard]] inline weft::access_mode mode_of(int kind) noexcept {
  switch (kind) {
  case k_depend_in:
    return weft::access_mode::in;
  case k_depend_mutexinoutset:
    return weft::access_mode::commutative;
  case k_depend_inoutset:
    return weft::access_mode::concurrent;
  default:
    return weft::access_mode::inout;
  }
}

/// Becomes true when the program first uses omp_all_memory. From then on:
/// - A task with dependences reads the address of this variable.
/// - A task that names omp_all_memory writes that address.
/// - The first such task among its siblings also writes all addresses that the siblings before it
///   have named.
inline std::atomic<bool> g_orders_all{false};

/// Holds the accesses of a task, mostly few. An address may occur twice: the dependency system
/// handles that.
class access_list {
 public:
  /// Creates an empty list for up to `most` accesses, which the caller adds; then it calls
  /// finish().
  explicit access_list(std::size_t most)
      : m_capacity(most + 1), m_data(most < k_few ? few() : new weft::access[most + 1]) {}
  /// Reads libgomp's array, which has one of two forms:
  /// - the number of all, the number of out, the addresses;
  /// - 0, the numbers of all, of out, of mutexinoutset and of in, the addresses, and behind these
  ///   the depend objects.
  access_list(thread &creator, void *const *depend);
  ~access_list() {
    if (m_data != few()) [[unlikely]]
      delete[] m_data;
  }
  access_list(const access_list &) = delete;
  access_list &operator=(const access_list &) = delete;

  void add(const void *address, weft::access_mode mode) noexcept {
    ::new (m_data + m_count++) weft::access{address, mode, 1};
  }
  /// Adds omp_all_memory: the task is ordered with all siblings that have dependences, whatever
  /// these name.
  void add_all() noexcept { m_all = true; }
  /// Completes the list. The creator of the task calls it once everything is added.
  void finish(thread &creator);
  void enter_in(task_clauses &clauses) const noexcept {
    clauses.accesses = m_data;
    clauses.access_count = m_count;
  }

 private:
  static constexpr std::size_t k_few = 8;
  [[nodiscard]] weft::access *few() noexcept { return reinterpret_cast<weft::access *>(m_few); }
  /// Adds an address of a clause. GCC 13 writes omp_all_memory as the null address.
  void add_named(const void *address, weft::access_mode mode) noexcept {
    if (address) [[likely]]
      add(address, mode);
    else
      add_all();
  }
  void read_kinds(void *const *depend) noexcept;
  void append(const weft::access &a);
  void add_all_before(thread &creator);
  [[gnu::cold]] void finish_with_all(thread &creator);

  bool m_all = false;
  std::size_t m_capacity;
  weft::access *m_data;
  std::size_t m_count = 0;
  alignas(
      weft::access) std::byte m_few[k_few * sizeof(weft::access)]; // written when they are added
};

inline void access_list::finish(thread &creator) {
  if (m_all) [[unlikely]]
    return finish_with_all(creator);
  if (m_count == 0)
    return;
  if (g_orders_all.load(std::memory_order_relaxed))
    add(&g_orders_all, weft::access_mode::in);
  else
    creator.task->has_unmarked = true;
}

[[nodiscard]] inline std::size_t count_of(void *const *depend) noexcept {
  return reinterpret_cast<std::size_t>(depend[0] ? depend[0] : depend[1]);
}

[[gnu::always_inline]] inline access_list::access_list(thread &creator, void *const *depend)
    : access_list(count_of(depend)) {
  if (depend[0]) [[likely]] {
    const std::size_t all = count_of(depend), out = reinterpret_cast<std::size_t>(depend[1]);
    for (std::size_t i = 0; i < all; ++i)
      add_named(depend[2 + i], i < out ? weft::access_mode::inout : weft::access_mode::in);
  } else {
    read_kinds(depend);
  }
  finish(creator);
}

/// Waits until tasks with such accesses could run.
void wait_for_accesses(thread &self, const access_list &accesses);

} // namespace weft_omp
