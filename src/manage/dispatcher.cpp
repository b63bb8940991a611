// SPDX-License-Identifier: Apache-2.0
#include "manage/dispatcher.hpp"

#include <algorithm>

namespace weft::inline v0 {
namespace rt {

void service_list::add(entry *e) {
  std::lock_guard guard(m_mutex);
  m_entries.push_back(e);
  m_count.store(m_entries.size(), std::memory_order_relaxed);
}

void service_list::remove(entry *e) {
  std::lock_guard guard(m_mutex);
  m_entries.erase(std::remove(m_entries.begin(), m_entries.end(), e), m_entries.end());
  m_count.store(m_entries.size(), std::memory_order_relaxed);
}

bool service_list::poll() {
  std::unique_lock guard(m_mutex, std::try_to_lock);
  if (!guard)
    return false;
  bool did = false;
  for (entry *e : m_entries)
    did |= e->f(e->context);
  return did;
}

service_list &services(place where) noexcept {
  static service_list *lists = new service_list[2]; // never destroyed: services may outlive static destructors
  return lists[where == place::idle ? 0 : 1];
}

} // namespace rt
} // namespace weft::inline v0
