// SPDX-License-Identifier: Apache-2.0
// The functionality dispatcher: calls callbacks of modules and users where threads have time to
// spare.
// docs/design/dispatcher.md
#pragma once

#include "services/registry.hpp"
#include "task/poll_hook.hpp"
#include "task/task.hpp"
#include "ult/thread_context.hpp"

#include <weft/service.hpp>

#include <atomic>
#include <mutex>

namespace weft::inline v0 {
namespace rt {

/// Says when a callback is called: whenever a thread reaches its poll point, or when its module
/// asks. Callbacks on demand are for modules of the runtime. Several threads may run one at the
/// same time, it spawns nothing, and no thread polls because of it.
enum class called { at_its_poll_point, on_demand };

/// Describes a callback of one poll point.
struct service_entry : registration<> {
  constexpr service_entry(const char *name, poll_point where, int priority, bool (*f)(void *),
                          void *context, called how = called::at_its_poll_point)
      : registration(priority, how == called::on_demand ? callable_by::several : callable_by::one),
        name(name), f(f), context(context), where(where) {}
  const char *const name;
  bool (*const f)(void *);
  void *const context;
  const poll_point where;
  std::atomic<std::uint64_t> began{0};    // ns; 0: no call runs. Not kept for concurrent ones
  std::atomic<std::uint64_t> reported{0}; // ns
};

/// Holds the services of one poll point. One thread at a time calls those that are not concurrent;
/// a second one skips them and does not wait.
class service_list {
 public:
  explicit service_list(poll_point where) noexcept : m_where(where) {}
  void add(service_entry &service);
  /// Removes `service`. Returns when no call of `service` is running, except the one that removes itself.
  void remove(service_entry &service);
  /// Makes a round of calls; returns true if one did something. Not from inside of a call.
  bool poll(thread_context &e);
  /// Makes a round of calls on demand; returns true if one did something.
  bool call_modules(thread_context &e);
  /// Returns when the last round ended.
  [[nodiscard]] std::uint64_t polled_ns() const noexcept {
    return m_polled.load(std::memory_order_relaxed);
  }
  /// Returns true while tasks that services have spawned are incomplete. Otherwise reports their
  /// exceptions.
  [[nodiscard]] bool has_tasks();
  /// Answers the same without waiting, on any thread; true when in doubt.
  [[nodiscard]] bool may_have_tasks();
  /// Says whether `t` is the parent of the tasks that services of this poll point spawn.
  [[nodiscard]] bool is_root(const task &t) const noexcept { return &t == &m_root; }
  /// Calls f(entry) for each registered service until f returns true. f is short and registers no
  /// service.
  template <class F>
  void for_each(F &&f) noexcept {
    m_registry.visit(
        [&](registration<> &r) noexcept { return f(static_cast<service_entry &>(r)); });
  }
  /// Reports calls that have not returned for too long.
  void report_overdue(std::uint64_t now) noexcept;
  /// Waits for a call that runs on another thread. Returns whether it has ended by `deadline_ns`.
  [[nodiscard]] bool ends_by(std::uint64_t deadline_ns);
  // For fork(): the child has the services of its parent, and no thread of the child is calling
  // them.
  void before_fork() { m_registry.before_fork(); }
  void after_fork_in_parent() { m_registry.after_fork(); }
  void forget_after_fork();

 private:
  static constexpr const char *k_root_label = "service";
  bool call(thread_context &e, service_entry &service, std::uint64_t &now);
  bool call_round(thread_context &e, caller_gets which, std::uint64_t &now);
  [[nodiscard]] bool settle();

  registry<> m_registry;
  const poll_point m_where;
  std::mutex m_turn; // held over calls, so fork() does not wait for it
  std::atomic<std::uint64_t> m_polled{0};
  task m_root{k_root_label}; // parent of what services spawn; for the holder of m_turn
};

service_list &services(poll_point where) noexcept;

// For all poll points: has_tasks(), and what fork() needs.
[[nodiscard]] bool services_have_tasks();
[[nodiscard]] bool services_may_have_tasks();
[[nodiscard]] bool is_root_of_services(const task &t) noexcept;
void services_before_fork();
void services_after_fork_in_parent();
void services_after_fork_in_child();
/// Ends the calls of the program's services, for good: begins none, and waits for those that run on
/// other threads until `deadline_ns` at most. For the end of the process.
void close_services(std::uint64_t deadline_ns);
/// Says whether there are services that the timer calls.
[[nodiscard]] inline bool timer_has_services() noexcept {
  return has_services_at(poll_point::timer) || has_services_at(poll_point::idle);
}

/// Sets after how long a call is reported with its name; 0: never.
void set_slow_call_ns(std::uint64_t ns) noexcept;
/// Reports calls that have not returned. Looks every 10 ms at most, however often it is called.
void report_overdue_calls(std::uint64_t now) noexcept;

} // namespace rt
} // namespace weft::inline v0
