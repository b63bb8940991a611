// SPDX-License-Identifier: Apache-2.0
#include "depend.hpp"

#include "team.hpp"

#include <algorithm>

namespace weft_omp {

void access_list::grow() {
  auto *const more = new (std::nothrow) weft::access[2 * m_room];
  if (!more)
    fatal("no memory for the dependences of a task");
  std::copy_n(m_data, m_count, more);
  if (m_data != m_few)
    delete[] m_data;
  m_data = more;
  m_room *= 2;
}

void access_list::add_all_before(thread &creator) {
  in_core(&creator, [&] {
    weft::layer::visit_addresses(
        *creator.task->held,
        [](void *list, const void *address) { static_cast<access_list *>(list)->append({address, weft::access_mode::inout, 1}); }, this);
  });
}

void access_list::finish(thread &creator) {
  omp_task &parent = *creator.task;
  if (m_all) {
    m_count = 0; // it covers the others
    g_orders_all.store(true, std::memory_order_relaxed);
    if (std::exchange(parent.has_unmarked, false))
      add_all_before(creator);
    return append({&g_orders_all, weft::access_mode::inout, 1});
  }
  if (m_count == 0)
    return;
  if (g_orders_all.load(std::memory_order_relaxed))
    append({&g_orders_all, weft::access_mode::in, 1});
  else
    parent.has_unmarked = true;
}

namespace {

/// GCC 13 writes omp_all_memory as the null address.
void add_named(access_list &into, const void *address, weft::access_mode mode) {
  if (address)
    into.add(address, mode);
  else
    into.add_all();
}

} // namespace

std::size_t count_of(void *const *depend) noexcept { return reinterpret_cast<std::size_t>(depend[0] ? depend[0] : depend[1]); }

void read_depend(void *const *depend, access_list &into) {
  const std::size_t all = count_of(depend);
  if (depend[0]) {
    const auto out = reinterpret_cast<std::size_t>(depend[1]);
    for (std::size_t i = 0; i < all; ++i)
      add_named(into, depend[2 + i], i < out ? weft::access_mode::inout : weft::access_mode::in);
    return;
  }
  const auto out = reinterpret_cast<std::size_t>(depend[2]), exclusive = reinterpret_cast<std::size_t>(depend[3]),
             in = reinterpret_cast<std::size_t>(depend[4]);
  for (std::size_t i = 0; i < all; ++i) {
    void *const entry = depend[5 + i];
    if (i < out)
      add_named(into, entry, weft::access_mode::inout);
    else if (i < out + exclusive)
      add_named(into, entry, weft::access_mode::commutative);
    else if (i < out + exclusive + in)
      add_named(into, entry, weft::access_mode::in);
    else { // a depend object: an address and a kind
      void *const *const object = static_cast<void **>(entry);
      add_named(into, object[0], mode_of(static_cast<int>(reinterpret_cast<std::uintptr_t>(object[1]))));
    }
  }
}

} // namespace weft_omp
