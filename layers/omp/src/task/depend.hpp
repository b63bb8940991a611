// SPDX-License-Identifier: Apache-2.0
// depend clauses as compilers pass them, as accesses.
#pragma once

#include <weft/access.hpp>

#include "task/task.hpp"
#include "thread/thread.hpp"

#include <atomic>
#include <cstddef>
#include <new>

namespace weft_omp {

enum depend_kind : int { k_depend_in = 1, k_depend_out = 2, k_depend_inout = 3, k_depend_mutexinoutset = 4, k_depend_inoutset = 5 };

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

/// Whether the program has used omp_all_memory. From then on each task with dependences reads this address, and who names all memory writes it; the first to do
/// so among its siblings writes all addresses that those made before have named.
inline std::atomic<bool> g_orders_all{false};

/// What a task waits for; mostly little. Addresses that are named twice are left to the dependency system.
class access_list {
 public:
  /// For `most`, to be added; then finish().
  explicit access_list(std::size_t most) : m_capacity(most + 1), m_data(most < k_few ? few() : new weft::access[most + 1]) {}
  /// libgomp's array: number, number of out, addresses; or 0, number, out, mutexinoutset, in, addresses, and behind these depend objects.
  access_list(thread &creator, void *const *depend);
  ~access_list() {
    if (m_data != few()) [[unlikely]]
      delete[] m_data;
  }
  access_list(const access_list &) = delete;
  access_list &operator=(const access_list &) = delete;

  void add(const void *address, weft::access_mode mode) noexcept { ::new (m_data + m_count++) weft::access{address, mode, 1}; }
  /// omp_all_memory: ordered with all siblings that have dependences, whatever these name.
  void add_all() noexcept { m_all = true; }
  /// To be called once everything is added, by the task that creates the one with these accesses.
  void finish(thread &creator);
  void enter_in(task_clauses &clauses) const noexcept {
    clauses.accesses = m_data;
    clauses.access_count = m_count;
  }

 private:
  static constexpr std::size_t k_few = 8;
  [[nodiscard]] weft::access *few() noexcept { return reinterpret_cast<weft::access *>(m_few); }
  /// GCC 13 writes omp_all_memory as the null address.
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
  alignas(weft::access) std::byte m_few[k_few * sizeof(weft::access)]; // written when they are added
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

[[nodiscard]] inline std::size_t count_of(void *const *depend) noexcept { return reinterpret_cast<std::size_t>(depend[0] ? depend[0] : depend[1]); }

[[gnu::always_inline]] inline access_list::access_list(thread &creator, void *const *depend) : access_list(count_of(depend)) {
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
void wait_for_accesses(thread &t, const access_list &accesses);

} // namespace weft_omp
