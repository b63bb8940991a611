// SPDX-License-Identifier: Apache-2.0
// The functionality dispatcher: callbacks of modules and users, run where time is to spare.
#pragma once

#include "task/task.hpp"
#include "ult/executor.hpp"

#include <weft/service.hpp>

#include <atomic>
#include <mutex>
#include <vector>

namespace weft::inline v0 {
namespace rt {

/// The services of one place. One thread polls at a time; a second one that comes does not wait.
class service_list {
 public:
  struct entry {
    const char *name;
    bool (*f)(void *);
    void *context;
    place where;
  };

  void add(entry *e);
  /// Returns when no call of `e` is running, but for one that removes itself.
  void remove(entry *e);
  /// True when a service did something.
  bool poll(executor &e);
  [[nodiscard]] bool empty() const noexcept {
    return m_count.load(std::memory_order_relaxed) == 0; // a hint: a late look polls one round later
  }
  /// True while tasks that services have spawned are incomplete. Reports what the others have thrown.
  [[nodiscard]] bool has_tasks();
  /// fork(): the child has the services of its parent, and nobody is calling them.
  void before_fork() { m_changing.lock(); }
  void after_fork_in_parent() { m_changing.unlock(); }
  void forget_after_fork();

 private:
  static constexpr const char *k_root_label = "service";
  [[nodiscard]] bool polled_by_this_thread() const noexcept;
  [[nodiscard]] bool settle();

  std::mutex m_mutex;    // held over calls, so fork() does not wait for it
  std::mutex m_changing; // within m_mutex: the list is being changed
  std::vector<entry *> m_entries; // null: ended by a service while they are polled
  std::atomic<std::size_t> m_count{0};
  std::atomic<executor *> m_poller{nullptr};
  task m_root{k_root_label}; // parent of what services spawn; of who holds the mutex
};

service_list &services(place where) noexcept;

} // namespace rt
} // namespace weft::inline v0
