// SPDX-License-Identifier: Apache-2.0
#include "services/dispatcher.hpp"

#include "atomic/hooks.hpp"
#include "base/clock.hpp"
#include "base/log.hpp"
#include "deps/domain.hpp"
#include "deps/registration.hpp"
#include "task/failure.hpp"
#include "task/hooks.hpp"

#include <cerrno>
#include <cstring>
#include <new>
#include <pthread.h>
#include <utility>

namespace weft::inline v0 {
namespace rt {
namespace {

constexpr std::uint64_t k_between_reports_ns =
    10'000'000'000; // of one service: a user cannot read lines that scroll by
constexpr std::uint64_t k_between_looks_ns =
    10'000'000; // for calls that do not return: the watcher's longest nap
constexpr std::size_t k_stack_for_calls =
    24 << 10; // as for a task that runs in place: a service is no deeper

std::atomic<std::uint64_t> g_slow_call_ns{0};
std::atomic<std::uint64_t> g_next_look{0};
// O1: seq_cst; the turn of a list orders it with the calls that have the turn. See close_services().
std::atomic<bool> g_closed{false};

constexpr const char *k_poll_point_names[k_poll_points] = {"idle", "timer", "taskwait",
                                                           "scheduling_point"};

const char *name_of(poll_point where) noexcept {
  return k_poll_point_names[static_cast<std::size_t>(where)];
}

/// Returns true at most once per service and k_between_reports_ns.
bool may_report(service_entry &service, std::uint64_t now) noexcept {
  std::uint64_t last = service.reported.load(std::memory_order_relaxed);
  return (last == 0 || now - last >= k_between_reports_ns) &&
         service.reported.compare_exchange_strong(last, now, std::memory_order_relaxed);
}

void report_slow(service_entry &service, std::uint64_t ns, std::uint64_t now) noexcept {
  if (may_report(service, now))
    warn(
        "service '%s' (poll point %s) kept its thread for %llu ms in one call; let it do less per call, or raise "
        "poll.slow",
        service.name, name_of(service.where), static_cast<unsigned long long>(ns / 1'000'000));
}

bool invoke(const char *name, bool (*f)(void *), void *context) noexcept {
  try {
    return f(context);
  } catch (const std::exception &error) {
    fatal("service '%s' threw: %s; let it catch what it throws, because no caller waits for it",
          name, error.what());
  } catch (...) {
    fatal("service '%s' threw; let it catch what it throws, because no caller waits for it", name);
  }
}

} // namespace

/// Says whether this thread runs a call of `service`.
static bool runs_here(const service_entry &service) noexcept {
  const thread_context *here = this_thread_context();
  return here && here->serving == &service;
}

/// Says whether workers call `service` at its poll point rather than on demand.
static bool is_polled(const service_entry &service) noexcept { return !service.concurrent; }

void service_list::add(service_entry &service) {
  m_registry.add(service);
  if (is_polled(service))
    g_services_at[static_cast<std::size_t>(m_where)].fetch_add(1, std::memory_order_relaxed);
}

void service_list::remove(service_entry &service) {
  const bool own = runs_here(service);
  m_registry.remove(service, own ? 1 : 0);
  if (own)
    this_thread_context()->serving = nullptr; // call() does not touch it any more
  if (is_polled(service))
    g_services_at[static_cast<std::size_t>(m_where)].fetch_sub(1, std::memory_order_relaxed);
}

bool service_list::call(thread_context &e, service_entry &service, std::uint64_t &now) {
  const callback self{"service", service.name}; // the call may end its own service
  const std::uint64_t began = now;
  if (!service.concurrent)
    service.began.store(began, std::memory_order_relaxed);
  e.in_callback = &self;
  e.serving = &service;
  const bool did = invoke(service.name, service.f, service.context);
  e.in_callback = nullptr;
  now = now_ns();
  if (!std::exchange(e.serving, nullptr))
    return did; // the service has removed itself
  service.began.store(0, std::memory_order_relaxed);
  const std::uint64_t slow = g_slow_call_ns.load(std::memory_order_relaxed);
  if (slow != 0 && now - began >= slow && !service.concurrent)
      [[unlikely]] // concurrent ones are Weft's own
    report_slow(service, now - began, now);
  m_registry.end(service);
  return did;
}

bool service_list::call_round(thread_context &e, caller_gets which, std::uint64_t &now) {
  bool did = false;
  auto round = m_registry.begin_round();
  for (;;) {
    auto *const next =
        m_registry.begin_next(round, g_closed.load(std::memory_order_seq_cst) // O1
                                         ? caller_gets::concurrent
                                         : which);
    if (!next)
      return did;
    did |= call(e, static_cast<service_entry &>(*next), now);
  }
}

bool service_list::call_modules(thread_context &e) {
  std::uint64_t now = now_ns();
  return call_round(e, caller_gets::concurrent, now);
}

bool service_list::poll(thread_context &e) {
  std::unique_lock turn(m_turn, std::try_to_lock);
  const bool alone = turn.owns_lock();
  task *const outer = e.current;
  if (alone)
    e.current = &m_root;
  std::uint64_t now = now_ns();
  report_overdue_calls(now);
  const bool did = call_round(e, alone ? caller_gets::all : caller_gets::concurrent, now);
  e.current = outer;
  if (alone) {
    m_polled.store(now, std::memory_order_relaxed);
    static_cast<void>(settle());
  }
  return did;
}

bool service_list::settle() {
  if (!m_root.children.done(m_root.owned_children))
    return false;
  if (m_root.owned_children == 0 && !m_root.children_domain && !peek_extra(m_root)) [[likely]]
    return true; // nothing was ever spawned
  m_root.children.reset();
  m_root.owned_children = 0;
  children_are_complete(m_root);
  task_extra *x = peek_extra(m_root);
  if (x && x->children_error) {
    report_unasked("of a service", std::exchange(x->children_error, nullptr));
    x->failing.store(false, std::memory_order_relaxed); // no child is left that could fail
  }
  return true;
}

bool service_list::has_tasks() {
  std::lock_guard turn(m_turn);
  return !settle();
}

bool service_list::may_have_tasks() {
  std::unique_lock turn(m_turn, std::try_to_lock);
  return !turn.owns_lock() || !m_root.children.done(m_root.owned_children);
}

bool service_list::ends_by(std::uint64_t deadline_ns) {
  constexpr std::int64_t k_look_ns = 100'000;
  bool own = false;
  m_registry.visit([&](registration<> &service) noexcept {
    return own |= runs_here(static_cast<service_entry &>(service));
  });
  if (own) // the caller is in a call
    return true;
  while (!m_turn.try_lock()) {
    if (now_ns() > deadline_ns)
      return false;
    os_sleep(k_look_ns);
  }
  m_turn.unlock();
  return true;
}

/// Copies the name, because it writes the line without the lock: the owner of the service may
/// remove it meanwhile.
void service_list::report_overdue(std::uint64_t now) noexcept {
  const std::uint64_t slow = g_slow_call_ns.load(std::memory_order_relaxed);
  char name[100] = {};
  std::uint64_t runs_for = 0;
  m_registry.visit([&](registration<> &service) noexcept {
    auto &s = static_cast<service_entry &>(service);
    const std::uint64_t began = s.began.load(std::memory_order_relaxed);
    if (slow == 0 || began == 0 || began + slow > now || !may_report(s, now))
      return false;
    std::strncpy(name, s.name, sizeof name - 1);
    runs_for = now - began;
    return true;
  });
  if (runs_for != 0)
    warn(
        "service '%s' (poll point %s) has not returned for %llu ms; whatever else there is at its poll point may have "
        "to wait meanwhile",
        name, name_of(m_where), static_cast<unsigned long long>(runs_for / 1'000'000));
}

void service_list::forget_after_fork() {
  m_registry.after_fork(); // the thread that forked holds the lock
  m_registry.forget_calls();
  m_registry.visit([](registration<> &service) noexcept {
    static_cast<service_entry &>(service).began.store(0, std::memory_order_relaxed);
    return false;
  });
  ::new (static_cast<void *>(&m_turn)) std::mutex; // a thread that is not in the child may hold it
  ::new (static_cast<void *>(&m_root)) task(k_root_label);
}

service_list &services(poll_point where) noexcept {
  alignas(service_list) static unsigned char storage[k_poll_points][sizeof(service_list)];
  static const bool made = [] {
    for (std::size_t i = 0; i < k_poll_points;
         ++i) // never destroyed: services may outlive static destructors
      ::new (static_cast<void *>(storage[i])) service_list(static_cast<poll_point>(i));
    return true;
  }();
  static_cast<void>(made);
  return *std::launder(reinterpret_cast<service_list *>(storage[static_cast<std::size_t>(where)]));
}

namespace {

template <class F>
void for_all_poll_points(F &&f) {
  for (std::size_t i = 0; i < k_poll_points; ++i)
    f(services(static_cast<poll_point>(i)));
}

} // namespace

bool services_have_tasks() {
  bool any = false;
  for_all_poll_points([&](service_list &l) { any |= l.has_tasks(); });
  return any;
}

bool services_may_have_tasks() {
  bool any = false;
  for_all_poll_points([&](service_list &l) { any |= l.may_have_tasks(); });
  return any;
}

bool is_root_of_services(const task &t) noexcept {
  bool any = false;
  for_all_poll_points([&](service_list &l) { any |= l.is_root(t); });
  return any;
}

void close_services(std::uint64_t deadline_ns) {
  g_closed.store(true, std::memory_order_seq_cst); // O1
  for_all_poll_points([deadline_ns](service_list &l) { static_cast<void>(l.ends_by(deadline_ns)); });
}
void services_before_fork() {
  for_all_poll_points([](service_list &l) { l.before_fork(); });
}
void services_after_fork_in_parent() {
  for_all_poll_points([](service_list &l) { l.after_fork_in_parent(); });
}
void services_after_fork_in_child() {
  g_closed.store(false, std::memory_order_relaxed); // alone
  for_all_poll_points([](service_list &l) { l.forget_after_fork(); });
}

void set_slow_call_ns(std::uint64_t ns) noexcept {
  g_slow_call_ns.store(ns, std::memory_order_relaxed);
}

void report_overdue_calls(std::uint64_t now) noexcept {
  std::uint64_t due = g_next_look.load(std::memory_order_relaxed);
  if (now < due || !g_next_look.compare_exchange_strong(due, now + k_between_looks_ns,
                                                        std::memory_order_relaxed)) [[likely]]
    return;
  for_all_poll_points([now](service_list &l) { l.report_overdue(now); });
}

/// Runs on the stack of a task, or between tasks: so services neither change errno nor see a
/// pending cancellation of the thread.
void poll_services_now(poll_point where) noexcept {
  thread_context &e = *this_thread_context();
  if (e.in_callback || stack_left(e) < k_stack_for_calls)
    return;
  const int error_number = errno;
  int cancel_state = 0;
  pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel_state);
  services(where).poll(e);
  pthread_setcancelstate(cancel_state, nullptr);
  errno = error_number;
}

} // namespace rt
} // namespace weft::inline v0
