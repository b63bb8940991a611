// SPDX-License-Identifier: Apache-2.0
#include "task/wait/coroutine.hpp"

#include "base/error.hpp"
#include "task/pending.hpp"
#include "task/recorded.hpp"
#include "ult/thread_context.hpp"

#include <coroutine>
#include <new>

namespace weft::inline v0 {
namespace rt {
namespace {

/// Takes the place of the end of a task that waits. It is the last touch of the task.
void leave_body(task &t) {
  const coro_root &root = *peek_extra(t)->coroutine;
  root.leave(root.context);
}

WEFT_COLD void end(const coro_root &root) noexcept {
  task_extra &extra = *peek_extra(*static_cast<task *>(root.self));
  forget_pending(extra);
  extra.coroutine = nullptr;
}

} // namespace
} // namespace rt

using namespace rt;

namespace detail {

bool coro_run(coro_root &root) {
  root.leave = nullptr;
  root.why = 0;
  do
    std::coroutine_handle<>::from_address(root.at->frame).resume();
  while (!root.leave); // I3
  if (root.leave == &coro_over) [[likely]] {
    if (root.self)
      end(root);
    return true;
  }
  peek_extra(*static_cast<task *>(root.self))->instead_of_end = &leave_body;
  return false;
}

void coro_over(void *) noexcept {}

void coro_prepare(coro_root &root) {
  task &t = *this_thread_context()->current;
  if (is_recorded(t))
    throw_error(
        errc::not_supported,
        "task '%s' of a taskiter is a coroutine that has to wait, but its rounds keep a stack each; spawn the coroutine outside of the taskiter",
        label_of(t));
  try {
    task_extra &extra = extra_of(t);
    extra.coroutine = &root;
    note_pending(t, extra, pending_until::coroutine_is_over);
  } catch (const std::bad_alloc &) {
    throw_error(errc::out_of_resources, "no memory for coroutine '%s' to wait", label_of(t));
  }
  t.set(k_special); // looked at before each run
  root.self = &t;
}

} // namespace detail
} // namespace weft::inline v0
