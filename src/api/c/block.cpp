// SPDX-License-Identifier: Apache-2.0
#include "api/c/guard.hpp"

using namespace weft::rt;

namespace {

weft::task_ref ref(weft_task *task) noexcept {
  return weft::task_ref(reinterpret_cast<weft::detail::task *>(task));
}

} // namespace

int weft_task_self(weft_task **task) {
  if (task)
    *task = nullptr;
  return guarded([&] {
    require(task, "weft_task_self", "task");
    *task = reinterpret_cast<weft_task *>(weft::this_task::self().get());
  });
}

int weft_task_block() {
  return guarded([] { weft::this_task::block(); });
}

int weft_task_block_for(int64_t ns) {
  bool unblocked = false;
  const int status = guarded([&] { unblocked = weft::this_task::block_for_ns(ns); });
  if (status != WEFT_OK)
    return status;
  return unblocked ? WEFT_OK
                   : report(WEFT_ERR_TIMED_OUT,
                            "weft_task_block_for: the task was not unblocked in time");
}

int weft_task_unblock(weft_task *task) {
  return guarded([&] {
    require(task, "weft_task_unblock", "task");
    weft::unblock(ref(task));
  });
}

int weft_task_increase_events(uint32_t n) {
  return guarded([&] { weft::this_task::increase_events(n); });
}

int weft_task_decrease_events(weft_task *task, uint32_t n) {
  return guarded([&] {
    require(task, "weft_task_decrease_events", "task");
    weft::decrease_events(ref(task), n);
  });
}
