// SPDX-License-Identifier: Apache-2.0
// The functionality dispatcher: callbacks of modules and users, run where time is to spare.
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

/// How a callback comes to be called: whenever its poll point is reached, or when its module asks. Those on demand are for modules of the
/// runtime: several threads may be in one, it spawns nothing, and nobody polls because of it.
enum class called { at_its_poll_point, on_demand };

/// A callback of one poll point.
struct service_entry : registration<> {
  constexpr service_entry(const char *name, poll_point where, int priority, bool (*f)(void *), void *context, called how = called::at_its_poll_point)
      : registration(priority, how == called::on_demand), name(name), f(f), context(context), where(where) {}
  const char *const name;
  bool (*const f)(void *);
  void *const context;
  const poll_point where;
  std::atomic<std::uint64_t> began{0};    // ns; 0: no call runs. Not of a concurrent one
  std::atomic<std::uint64_t> reported{0}; // ns
};

/// The services of one poll point. Of those that are not concurrent one thread calls at a time; a second one that
/// comes does not wait.
class service_list {
 public:
  explicit service_list(poll_point where) noexcept : m_where(where) {}
  void add(service_entry &e);
  /// Returns when no call of `e` is running, but for one that removes itself.
  void remove(service_entry &e);
  /// A round of calls; true when one did something. Not from inside of a call.
  bool poll(thread_context &e);
  /// The same for those on demand.
  bool call_modules(thread_context &e);
  /// When the last round ended.
  [[nodiscard]] std::uint64_t polled_ns() const noexcept { return m_polled.load(std::memory_order_relaxed); }
  /// True while tasks that services have spawned are incomplete. Reports what the others have thrown.
  [[nodiscard]] bool has_tasks();
  /// The same from any thread, at once; true when in doubt.
  [[nodiscard]] bool may_have_tasks();
  /// Whether `t` is the parent of what services of this poll point spawn.
  [[nodiscard]] bool is_root(const task &t) const noexcept { return &t == &m_root; }
  /// Calls f(entry) for all that is registered until it returns true. f is short and registers nobody.
  template <class F>
  void for_each(F &&f) noexcept {
    m_registry.visit([&](registration<> &r) noexcept { return f(static_cast<service_entry &>(r)); });
  }
  /// Says which calls have not returned for too long.
  void report_overdue(std::uint64_t now) noexcept;
  /// fork(): the child has the services of its parent, and nobody is calling them.
  void before_fork() { m_registry.before_fork(); }
  void after_fork_in_parent() { m_registry.after_fork(); }
  void forget_after_fork();

 private:
  static constexpr const char *k_root_label = "service";
  bool call(thread_context &e, service_entry &s, std::uint64_t &now);
  bool call_round(thread_context &e, bool alone, std::uint64_t &now);
  [[nodiscard]] bool settle();

  registry<> m_registry;
  const poll_point m_where;
  std::mutex m_turn; // held over calls, so fork() does not wait for it
  std::atomic<std::uint64_t> m_polled{0};
  task m_root{k_root_label}; // parent of what services spawn; of who has the turn
};

service_list &services(poll_point where) noexcept;

/// For all poll points: has_tasks(), and what fork() needs.
[[nodiscard]] bool services_have_tasks();
[[nodiscard]] bool services_may_have_tasks();
[[nodiscard]] bool is_root_of_services(const task &t) noexcept;
void services_before_fork();
void services_after_fork_in_parent();
void services_after_fork_in_child();
/// Whether the timer is to call the services of a poll point.
[[nodiscard]] inline bool timer_has_services() noexcept { return has_services_at(poll_point::timer) || has_services_at(poll_point::idle); }

/// A call that runs longer is reported with its name; 0: none is.
void set_slow_call_ns(std::uint64_t ns) noexcept;
/// Reports calls that have not returned. Looks now and then only, however often it is called.
void report_overdue_calls(std::uint64_t now) noexcept;

} // namespace rt
} // namespace weft::inline v0
