// SPDX-License-Identifier: Apache-2.0
#include "thread_task.hpp"

#include <weft/task.hpp>
#include <weft/task_local.hpp>

#include <chrono>
#include <exception>
#include <thread>

namespace weft_alpi {

bool thread_task::decrease(std::uint64_t n) noexcept {
  std::uint64_t now = m_events.load(std::memory_order_relaxed);
  do {
    if (now < n)
      return false;
  } while (!m_events.compare_exchange_weak(now, now - n, std::memory_order_release,
                                           std::memory_order_relaxed)); // O1
  return true;
}

/// Waits for the thread's events. It reads their number each millisecond, because the thread that
/// takes the last event touches nothing afterwards, and so cannot wake this one.
thread_task::~thread_task() {
  constexpr std::chrono::milliseconds k_look(1);
  while (has_events()) {
    try {
      weft::this_task::sleep_for(k_look); // its worker goes on with tasks
    } catch (const std::exception &) { // there is no memory for a stack
      std::this_thread::sleep_for(k_look);
    }
  }
}

thread_task &this_thread_task() {
  static auto *const all =
      new weft::task_local<thread_task>; // threads may outlive static destructors
  return all->get();
}

} // namespace weft_alpi
