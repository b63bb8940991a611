// SPDX-License-Identifier: Apache-2.0
// Blocking, events, suspension.
#include "guard.hpp"

#include <weft/task.hpp>
#include <weft/task_local.hpp>

#include <chrono>
#include <cstdint>
#include <unistd.h>

using namespace weft_alpi;

namespace {

struct plan {
  weft::layer::again when = weft::layer::again::when_unblocked;
  std::uint64_t ns = 0;
};

weft::task_local<plan> &plan_of_task() {
  static weft::task_local<plan> plans;
  return plans;
}

bool read_mode(alpi_suspend_mode_t mode, std::uint64_t args, plan &to) noexcept {
  switch (mode) {
  case ALPI_SUSPEND_NONE:
    to = {weft::layer::again::when_unblocked, 0};
    return true;
  case ALPI_SUSPEND_SUBMIT:
    to = {args == 0 ? weft::layer::again::at_once : weft::layer::again::yielding, 0};
    return args <= 1;
  case ALPI_SUSPEND_TIMEOUT_SUBMIT:
    to = {weft::layer::again::after, args};
    return true;
  case ALPI_SUSPEND_EVENT_SUBMIT:
    to = {weft::layer::again::without_events, 0};
    return true;
  }
  return false;
}

bool is_first_thread() noexcept { return gettid() == getpid(); }

/// Returns the task or thread that calls, of those that Weft knows; null: there is none.
alpi_task *caller_in_weft() {
  switch (weft::layer::who_calls()) {
  case weft::layer::caller::task:
    return handle(weft::layer::running_task().get(), owner::weft);
  case weft::layer::caller::thread:
    return handle(&this_thread_task(), owner::thread);
  case weft::layer::caller::between:
    return nullptr;
  case weft::layer::caller::unadopted:
    break;
  }
  return is_first_thread() && !weft::layer::is_over() ? handle(&this_thread_task(), owner::thread)
                                                      : nullptr;
}

weft::layer::task_source &others() noexcept { return *weft::layer::offered_tasks(); }

int code_unless(bool done) noexcept { return done ? ALPI_SUCCESS : ALPI_ERR_PARAMETER; }

} // namespace

int weft_alpi::find_caller(alpi_task *&task) noexcept {
  if (weft::layer::task_source *const layer = weft::layer::offered_tasks())
    if (void *const x = layer->running()) {
      task = handle(x, owner::other_layer);
      return ALPI_SUCCESS;
    }
  task = nullptr;
  return guarded([&task] { task = caller_in_weft(); });
}

int alpi_task_self(alpi_task **task) { return task ? find_caller(*task) : ALPI_ERR_PARAMETER; }

int alpi_task_block(alpi_task *task) {
  if (const int wrong = check_caller(task))
    return wrong;
  if (owner_of(task) != owner::other_layer)
    return guarded([] { weft::this_task::block(); });
  others().block(address_of(task));
  return ALPI_SUCCESS;
}

int alpi_task_unblock(alpi_task *task) {
  if (!task)
    return ALPI_ERR_PARAMETER;
  if (owner_of(task) == owner::other_layer)
    return code_unless(others().unblock(address_of(task)));
  return guarded([task] { weft::unblock(ref(task)); });
}

int alpi_task_waitfor_ns(uint64_t target_ns, uint64_t *actual_ns) {
  alpi_task *self = nullptr;
  if (const int failed = find_caller(self))
    return failed;
  if (!self)
    return ALPI_ERR_OUTSIDE_TASK;
  using clock = std::chrono::steady_clock;
  const clock::time_point start = clock::now();
  const int code = guarded([&] {
    weft::this_task::sleep_for_ns(target_ns > INT64_MAX ? INT64_MAX
                                                        : static_cast<std::int64_t>(target_ns));
  });
  if (owner_of(self) == owner::other_layer)
    others().pin(address_of(self), false);
  if (actual_ns)
    *actual_ns = static_cast<std::uint64_t>(std::chrono::nanoseconds(clock::now() - start).count());
  return code;
}

int alpi_task_events_increase(alpi_task *task, uint64_t increment) {
  if (const int wrong = check_caller(task))
    return wrong;
  if (increment > UINT32_MAX)
    return ALPI_ERR_PARAMETER;
  switch (owner_of(task)) {
  case owner::thread:
    thread_of(task).increase(increment);
    return ALPI_SUCCESS;
  case owner::other_layer:
    return code_unless(others().increase_events(address_of(task), increment));
  case owner::weft:
    break;
  }
  return guarded([&] { weft::this_task::increase_events(static_cast<std::uint32_t>(increment)); });
}

int alpi_task_events_test(alpi_task *task, uint64_t *has_events) {
  if (const int wrong = check_caller(task))
    return wrong;
  if (!has_events)
    return ALPI_ERR_PARAMETER;
  switch (owner_of(task)) {
  case owner::thread:
    *has_events = thread_of(task).has_events();
    return ALPI_SUCCESS;
  case owner::other_layer:
    *has_events = others().has_events(address_of(task));
    return ALPI_SUCCESS;
  case owner::weft:
    break;
  }
  return guarded([&] { *has_events = weft::layer::has_events() ? 1 : 0; });
}

int alpi_task_events_decrease(alpi_task *task, uint64_t decrement) {
  if (!task || decrement > UINT32_MAX)
    return ALPI_ERR_PARAMETER;
  switch (owner_of(task)) {
  case owner::thread:
    return code_unless(thread_of(task).decrease(decrement));
  case owner::other_layer:
    return code_unless(others().decrease_events(address_of(task), decrement));
  case owner::weft:
    break;
  }
  return guarded([&] { weft::decrease_events(ref(task), static_cast<std::uint32_t>(decrement)); });
}

int alpi_task_suspend_mode_set(alpi_task *task, alpi_suspend_mode_t suspend_mode, uint64_t args) {
  if (const int wrong = check_caller(task))
    return wrong;
  plan wanted;
  if (!read_mode(suspend_mode, args, wanted))
    return ALPI_ERR_PARAMETER;
  if (owner_of(task) != owner::weft)
    return ALPI_ERR_UNKNOWN; // Weft cannot run its body again
  return guarded([&] { *plan_of_task() = wanted; });
}

int alpi_task_suspend(alpi_task *task) {
  if (const int wrong = check_caller(task))
    return wrong;
  if (owner_of(task) != owner::weft)
    return ALPI_ERR_UNKNOWN;
  return guarded([] {
    const plan wanted = *plan_of_task();
    weft::layer::run_again(wanted.when, wanted.ns);
  });
}
