// SPDX-License-Identifier: Apache-2.0
#include "manage/dispatcher.hpp"

#include "base/log.hpp"
#include "deps/domain.hpp"
#include "task/failure.hpp"
#include "task/lifecycle.hpp"

#include <algorithm>
#include <new>
#include <utility>

namespace weft::inline v0 {
namespace rt {
namespace {

bool call(executor &e, const service_list::entry &s) noexcept {
  const callback self{"service", s.name}; // the call may end its own service
  e.in_callback = &self;
  bool did = false;
  try {
    did = s.f(s.context);
  } catch (const std::exception &error) {
    fatal("service '%s' threw: %s; let it catch what it throws, nobody waits for it", self.name, error.what());
  } catch (...) {
    fatal("service '%s' threw; let it catch what it throws, nobody waits for it", self.name);
  }
  e.in_callback = nullptr;
  return did;
}

} // namespace

bool service_list::polled_by_this_thread() const noexcept {
  executor *e = this_executor();
  return e && m_poller.load(std::memory_order_relaxed) == e; // set and cleared by the thread itself
}

void service_list::add(entry *e) {
  std::unique_lock guard(m_mutex, std::defer_lock);
  if (!polled_by_this_thread())
    guard.lock();
  std::lock_guard changing(m_changing);
  m_entries.push_back(e);
  m_count.fetch_add(1, std::memory_order_relaxed);
}

void service_list::remove(entry *e) {
  const bool polled = polled_by_this_thread();
  std::unique_lock guard(m_mutex, std::defer_lock);
  if (!polled)
    guard.lock();
  std::lock_guard changing(m_changing);
  const auto found = std::find(m_entries.begin(), m_entries.end(), e);
  if (polled)
    *found = nullptr;
  else
    m_entries.erase(found);
  m_count.fetch_sub(1, std::memory_order_relaxed);
}

bool service_list::poll(executor &e) {
  std::unique_lock guard(m_mutex, std::try_to_lock);
  if (!guard)
    return false;
  m_poller.store(&e, std::memory_order_relaxed);
  task *const outer = std::exchange(e.current, &m_root);
  bool did = false;
  for (std::size_t i = 0; i < m_entries.size(); ++i) // a service may add and end services
    if (m_entries[i])
      did |= call(e, *m_entries[i]);
  {
    std::lock_guard changing(m_changing);
    std::erase(m_entries, nullptr);
  }
  e.current = outer;
  m_poller.store(nullptr, std::memory_order_relaxed);
  static_cast<void>(settle());
  return did;
}

bool service_list::settle() {
  if (m_root.owned_children == 0 && !m_root.children_domain && !peek_extra(m_root)) [[likely]]
    return true; // nothing was ever spawned
  if (!m_root.children.done(m_root.owned_children))
    return false;
  m_root.children.reset();
  m_root.owned_children = 0;
  children_are_complete(m_root);
  task_extra *x = peek_extra(m_root);
  if (x && x->children_error) {
    report_lost("of a service", std::exchange(x->children_error, nullptr));
    x->failing.store(false, std::memory_order_relaxed); // no child is left that could fail
  }
  return true;
}

bool service_list::has_tasks() {
  std::lock_guard guard(m_mutex);
  return !settle();
}

void service_list::forget_after_fork() {
  m_changing.unlock(); // the thread that forked has it
  ::new (static_cast<void *>(&m_mutex)) std::mutex; // perhaps held by a thread that is gone
  m_poller.store(nullptr, std::memory_order_relaxed);
  ::new (static_cast<void *>(&m_root)) task(k_root_label);
}

service_list &services(place where) noexcept {
  alignas(service_list) static unsigned char room[2][sizeof(service_list)];
  static const bool made = [] {
    for (auto &each : room) // never destroyed: services may outlive static destructors
      ::new (static_cast<void *>(each)) service_list;
    return true;
  }();
  static_cast<void>(made);
  return *std::launder(reinterpret_cast<service_list *>(room[where == place::idle ? 0 : 1]));
}

} // namespace rt
} // namespace weft::inline v0
