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

/// Notes, for reports, on which stack the coroutine runs, so that a mutex which it locks there, and
/// holds when it has left that stack, is not taken for one that a task on the stack holds.
WEFT_INLINE void note_stack(task_extra &extra) noexcept {
  const void *const here = __builtin_frame_address(0);
  if (extra.ran_at == here) [[likely]]
    return;
  extra.ran_at_several |= extra.ran_at != nullptr;
  extra.ran_at = here;
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
  task_extra &extra = *peek_extra(*static_cast<task *>(root.self));
  note_stack(extra);
  extra.instead_of_end = &leave_body;
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
