// SPDX-License-Identifier: Apache-2.0
#include "task/depend.hpp"

#include "task/task_record.hpp"
#include "team/team.hpp"

#include <algorithm>
#include <new>

namespace weft_omp {

void access_list::append(const weft::access &a) {
  if (m_count == m_capacity) {
    auto *const more = new (std::nothrow) weft::access[2 * m_capacity];
    if (!more)
      fatal("no memory for the dependences of a task");
    std::copy_n(m_data, m_count, more);
    if (m_data != few())
      delete[] m_data;
    m_data = more;
    m_capacity *= 2;
  }
  m_data[m_count++] = a;
}

void access_list::add_all_before(thread &creator) {
  in_core(&creator, [&] {
    weft::layer::visit_addresses(
        *creator.task->external,
        [](void *list, const void *address) {
          static_cast<access_list *>(list)->append({address, weft::access_mode::inout, 1});
        },
        this);
  });
}

void access_list::finish_with_all(thread &creator) {
  m_count = 0; // omp_all_memory covers the others
  g_orders_all.store(true, std::memory_order_relaxed);
  if (std::exchange(creator.task->has_unmarked, false))
    add_all_before(creator);
  append({&g_orders_all, weft::access_mode::inout, 1});
}

void access_list::read_kinds(void *const *depend) noexcept {
  const std::size_t all = count_of(depend);
  const auto out = reinterpret_cast<std::size_t>(depend[2]),
             exclusive = reinterpret_cast<std::size_t>(depend[3]),
             in = reinterpret_cast<std::size_t>(depend[4]);
  for (std::size_t i = 0; i < all; ++i) {
    void *const entry = depend[5 + i];
    if (i < out)
      add_named(entry, weft::access_mode::inout);
    else if (i < out + exclusive)
      add_named(entry, weft::access_mode::commutative);
    else if (i < out + exclusive + in)
      add_named(entry, weft::access_mode::in);
    else { // a depend object: an address and a kind
      void *const *const object = static_cast<void **>(entry);
      add_named(object[0], mode_of(static_cast<int>(reinterpret_cast<std::uintptr_t>(object[1]))));
    }
  }
}

void wait_for_accesses(thread &self, const access_list &accesses) {
  task_clauses clauses;
  accesses.enter_in(clauses);
  omp_task &task = *make_task(self, 0, 1, clauses);
  task.body = [](void *) {};
  run_undeferred(self, task, clauses);
}

} // namespace weft_omp
