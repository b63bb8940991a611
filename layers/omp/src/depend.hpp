// SPDX-License-Identifier: Apache-2.0
// depend clauses as compilers pass them, as accesses.
#pragma once

#include <weft/access.hpp>

#include "task.hpp"

#include <atomic>
#include <cstddef>
#include <memory>
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

/// Whether the program has used omp_all_memory. From then on each task with dependences reads this place, and who names all memory writes it; the first to do
/// so among its siblings writes all places that those made before have named.
inline std::atomic<bool> g_orders_all{false};

/// A list that is mostly short. An address that is named twice stands in it once, with the stronger meaning.
class access_list {
 public:
  explicit access_list(std::size_t most) : m_room(most >= k_few ? most + 1 : k_few), m_data(m_room > k_few ? new weft::access[m_room] : m_few) {}
  ~access_list() {
    if (m_data != m_few)
      delete[] m_data;
  }
  access_list(const access_list &) = delete;
  access_list &operator=(const access_list &) = delete;

  void add(const void *address, weft::access_mode mode) {
    for (std::size_t i = 0; i < m_count && m_count <= k_searched; ++i)
      if (m_data[i].address == address) {
        if (m_data[i].mode != mode)
          m_data[i].mode = weft::access_mode::inout;
        return;
      }
    append({address, mode, 1});
  }
  /// omp_all_memory: ordered with all siblings that have dependences, whatever these name.
  void add_all() noexcept { m_all = true; }
  /// To be called once everything is added, by the task that creates the one with these accesses.
  void finish(thread &creator);
  [[nodiscard]] const weft::access *data() const noexcept { return m_data; }
  [[nodiscard]] std::size_t count() const noexcept { return m_count; }

 private:
  static constexpr std::size_t k_few = 8;
  static constexpr std::size_t k_searched = 256; // beyond, repetitions are left to the dependency system
  void append(const weft::access &a) {
    if (m_count == m_room)
      grow();
    m_data[m_count++] = a;
  }
  void grow();
  void add_all_before(thread &creator);

  bool m_all = false;
  std::size_t m_room;
  weft::access m_few[k_few]; // written when they are added
  weft::access *m_data;
  std::size_t m_count = 0;
};

/// libgomp's array: number, number of out, addresses; or 0, number, out, mutexinoutset, in, addresses, and behind these depend objects.
[[nodiscard]] std::size_t count_of(void *const *depend) noexcept;
void read_depend(void *const *depend, access_list &into);

} // namespace weft_omp
