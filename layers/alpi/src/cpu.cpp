// SPDX-License-Identifier: Apache-2.0
// Numbers of CPUs. Libraries keep one array element per number, and use it without a lock. So:
// - Two tasks that compute at once never have the same number.
// - Each number is less than the number of CPUs of the machine, although more kernel threads than
//   that may run tasks: threads of the program, spares, workers that the user has asked for.
//
// A caller is a kernel thread that asks for a number. It gets the number that it had last, if that
// is free. It keeps its number until another caller finds that the task that asked is done with it:
// the kernel thread has begun another task, or sleeps in the kernel, or has ended.
#include "guard.hpp"

#include <weft/layer/thread.hpp>
#include <weft/runtime.hpp>

#include <algorithm>
#include <memory>
#include <mutex>

#include <sched.h>
#include <unistd.h>

namespace {

using namespace weft_alpi;

/// Holds the assignment of one number, under its lock. The holder of the lock does not take another
/// lock.
struct alignas(64) cell {
  std::mutex lock;
  int assigned_to = 0; // a kernel thread; 0: none
  int worker = 0;
  std::uint64_t executed = 0; // tasks that the worker had begun when the number was assigned

  void assign(int tid, int to, std::uint64_t executed_then) noexcept {
    assigned_to = tid;
    worker = to;
    executed = executed_then;
  }
  [[nodiscard]] bool is_free() const noexcept {
    return assigned_to == 0 || weft::executed_by(worker) != executed ||
           weft::layer::has_gone_to_sleep(assigned_to);
  }
};

struct numbers {
  const std::uint64_t count =
      static_cast<std::uint64_t>(std::max(sysconf(_SC_NPROCESSORS_CONF), 1L));
  const std::unique_ptr<cell[]> cells = std::make_unique<cell[]>(count);
};
numbers &all_numbers() {
  static auto *const all = new numbers; // tasks may outlive static destructors
  return *all;
}

constexpr std::uint64_t k_none = ~std::uint64_t{0};
constinit thread_local std::uint64_t t_last = k_none; // the number that the kernel thread had last

/// Of a thread that has ended, whose number the kernel gave to this one: it would count as lent while this one runs.
void give_back_of_predecessor(numbers &all, int tid) {
  for (std::uint64_t n = 0; n < all.count; ++n) {
    const std::lock_guard guard(all.cells[n].lock);
    if (all.cells[n].assigned_to == tid)
      all.cells[n].assigned_to = 0;
  }
}

std::uint64_t take(numbers &all) {
  const int tid = gettid(), worker = weft::worker_id();
  if (t_last == k_none)
    give_back_of_predecessor(all, tid);
  const std::uint64_t executed = weft::executed_by(worker);
  const std::uint64_t first =
      t_last != k_none ? t_last : static_cast<std::uint64_t>(worker) % all.count;
  for (std::uint64_t i = 0; i < all.count; ++i) {
    const std::uint64_t n = (first + i) % all.count;
    cell &c = all.cells[n];
    const std::lock_guard guard(c.lock);
    if (c.assigned_to != tid && !c.is_free())
      continue;
    c.assign(tid, worker, executed);
    return t_last = n;
  }
  return k_none;
}

} // namespace

int alpi_cpu_count(uint64_t *count) {
  if (!count)
    return ALPI_ERR_PARAMETER;
  return guarded([&] {
    weft::start();
    *count = all_numbers().count;
  });
}

int alpi_cpu_logical_id(uint64_t *logical_id) {
  if (!logical_id)
    return ALPI_ERR_PARAMETER;
  alpi_task *self = nullptr;
  if (const int failed = find_caller(self))
    return failed;
  if (!self)
    return ALPI_ERR_OUTSIDE_TASK;
  if (owner_of(self) == owner::other_layer)
    weft::layer::offered_tasks()->pin(address_of(self), true);
  return guarded([&] {
    while ((*logical_id = take(all_numbers())) == k_none)
      sched_yield(); // as many tasks compute as there are CPUs
  });
}

int alpi_cpu_system_id(uint64_t *system_id) {
  if (!system_id)
    return ALPI_ERR_PARAMETER;
  if (const int wrong = require_caller())
    return wrong;
  const int cpu = sched_getcpu();
  if (cpu < 0)
    return ALPI_ERR_UNKNOWN;
  *system_id = static_cast<std::uint64_t>(cpu);
  return ALPI_SUCCESS;
}
