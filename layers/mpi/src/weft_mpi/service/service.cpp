// SPDX-License-Identifier: Apache-2.0
#include "weft_mpi/service/service.hpp"

#include "weft_mpi/service/errors.hpp"
#include "weft_mpi/service/message.hpp"

#include <weft/layer/environment.hpp>
#include <weft/layer/task.hpp>
#include <weft/layer/thread.hpp>
#include <weft/mpi.hpp>

#include <chrono>
#include <exception>
#include <memory>
#include <mutex>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include <pthread.h>
#include <sched.h>

namespace weft_mpi {
namespace {

std::uint64_t now_ns() noexcept {
  return static_cast<std::uint64_t>(
      std::chrono::nanoseconds(std::chrono::steady_clock::now().time_since_epoch()).count());
}

/// Returns the value of a setting that is a duration.
std::uint64_t ns_of_setting(const char *key) {
  const std::string text = weft::layer::setting(key);
  if (text == "off")
    return 0;
  std::size_t end = 0;
  const std::uint64_t number = std::stoull(text, &end);
  const std::string unit = text.substr(end);
  return number * (unit == "s"    ? 1'000'000'000U
                   : unit == "ms" ? 1'000'000U
                   : unit == "us" ? 1'000U
                                  : 1U);
}

} // namespace

std::size_t real_mpi::test_some(std::size_t n, MPI_Request *requests, int *indices,
                                MPI_Status *statuses) noexcept {
  int found = 0;
  for (std::size_t i = 0; i < n; ++i)
    statuses[i].MPI_ERROR = MPI_SUCCESS;
  const silence quiet;
  const int error = PMPI_Testsome(static_cast<int>(n), requests, &found, indices, statuses);
  if (found == MPI_UNDEFINED) {
    // None is active. A program that has ended a bound request itself gets the event back.
    for (std::size_t i = 0; i < n; ++i)
      indices[i] = static_cast<int>(i);
    return n;
  }
  if (error == MPI_SUCCESS)
    for (int i = 0; i < found; ++i)
      statuses[i].MPI_ERROR = MPI_SUCCESS; // MPI has not written it
  return found > 0 ? static_cast<std::size_t>(found) : 0;
}

void real_mpi::end(const bound_task &owner, const char *name, const MPI_Status &status,
                   MPI_Status *wanted) noexcept {
  const int error = status.MPI_ERROR;
  tell(MPI_COMM_WORLD, error); // MPICH does not say which communicator it was
  if (wanted)
    *wanted = status;
  if (owner.other) {
    if (error != MPI_SUCCESS && !wanted)
      warn_of_lost_error(name);
    weft::layer::offered_tasks()->decrease_events(owner.other, 1);
    return;
  }
  if (error != MPI_SUCCESS && !wanted)
    weft::layer::fail_task(owner.task, std::make_exception_ptr(weft::mpi::error(name, error)));
  weft::decrease_events(owner.task);
}

void warn_of_lost_error(const char *name) noexcept {
  warn("%s: a bound request has failed, and its task has no status for the error; pass one", name);
}

service &service::of_process() {
  static service *const all = new service; // never destroyed: it may run as the process ends
  return *all;
}

service::service() {
  // A process made by fork() has no MPI. What is in flight is its parent's, and a thread that is not
  // there may hold the locks of the lists.
  if (pthread_atfork(nullptr, nullptr, [] { s_is_child.store(true, std::memory_order_relaxed); }) != 0)
    throw std::bad_alloc();
  outside_waits::announce(); // not of the table
}

waiter waiter_of(const bound_task &task) {
  if (task.other)
    return {task.other, "a task of another layer"};
  return {weft::layer::waiter_of(task.task), weft::layer::name_of(task.task)};
}

bool service::exists() noexcept {
  const std::lock_guard lock(m_lock);
  return m_state != service_is::absent;
}

void service::announce(std::size_t n) {
  for (;;) {
    {
      const std::lock_guard lock(m_lock);
      if (m_state != service_is::being_made) {
        m_table.announce(n);
        if (m_state == service_is::present)
          return;
        m_state = service_is::being_made;
        break;
      }
    }
    sched_yield(); // another thread makes the service, which takes a moment
  }
  try {
    make_service();
  } catch (...) {
    m_table.withdraw(n);
    throw;
  }
}

/// The constructor of a service may start Weft, and the service may be called before it returns.
void service::make_service() {
  weft::service *made = nullptr;
  try {
    m_spin_ns = ns_of_setting("spin.us"); // now: the program may have set it since MPI_Init
    m_stall = stall_clock(ns_of_setting("net.stall"));
    made = new weft::service(
        "mpi", weft::poll_point::idle,
        [](void *self) { return static_cast<service *>(self)->poll(); }, this);
  } catch (...) {
    const std::lock_guard lock(m_lock);
    m_state = service_is::absent;
    throw;
  }
  const std::lock_guard lock(m_lock);
  m_service = made;
  m_state = service_is::present;
}

in_flight<real_mpi>::round service::poll_once() {
  const std::lock_guard inside(m_inside); // a signal handler and the watcher contend
  return m_table.poll(k_batch);
}

/// Says what tasks wait for.
void service::report_stall() noexcept {
  try {
    std::vector<std::string> all;
    {
      const std::lock_guard inside(m_inside);
      all = m_table.describe(k_most_described);
    }
    std::string text;
    for (const std::string &one : all)
      text += (text.empty() ? "" : "; ") + one;
    warn("no call of MPI has ended for %s (net.stall), and tasks wait in: %s",
         weft::layer::setting("net.stall").c_str(), text.c_str());
  } catch (const std::bad_alloc &) { // it is a warning
  }
}

/// Says what tasks wait for, to the watcher. It looks at no tasks while services exist, so each wait has the name of
/// its task, which waits while the poller is kept out.
void service::list_waits(std::vector<weft::layer::outside_wait> &to) {
  constexpr int k_tries = 100;
  if (s_is_child.load(std::memory_order_relaxed))
    return;
  for (int tries = 0; !m_inside.try_lock(); ++tries) {
    if (tries == k_tries)
      return;
    sched_yield();
  }
  const std::lock_guard inside(m_inside, std::adopt_lock);
  m_table.try_list([&to](const waiter &who, std::string what) {
    to.push_back({who.what, "the end of", std::move(what), who.name});
  });
}

/// Asks MPI again and again for as long as a worker without work looks for some, because a message
/// that is on its way comes within microseconds.
bool service::poll() {
  if (s_is_child.load(std::memory_order_relaxed)) {
    // Without m_lock, which a thread of the parent may have had: the child does not call MPI, so only this call uses it.
    delete std::exchange(m_service, nullptr);
    return false;
  }
  if (m_table.count() == 0) {
    end_if_quiet();
    return false;
  }
  m_quiet = 0;
  for (;;) {
    const auto found = poll_once();
    const std::uint64_t now = now_ns();
    const bool stalls = m_stall.note(found, now);
    if (found.ended != 0)
      return true;
    if (stalls)
      report_stall();
    if (now - m_stall.active_ns() >= m_spin_ns || weft::layer::work_is_ready())
      return false;
  }
}

void service::end_if_quiet() {
  std::unique_ptr<weft::service> ended;
  const std::lock_guard lock(m_lock);
  if (m_table.count() != 0)
    m_quiet = 0;
  else if (++m_quiet >= k_quiet_rounds && m_state == service_is::present) {
    m_state = service_is::absent;
    ended.reset(std::exchange(m_service, nullptr));
  }
}

} // namespace weft_mpi
