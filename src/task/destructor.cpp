// SPDX-License-Identifier: Apache-2.0
#include "task/destructor.hpp"

#include "task/failure.hpp"
#include "task/hooks.hpp"
#include "task/locals.hpp"

#include <utility>

namespace weft::inline v0 {
namespace rt {
namespace {

/// Passes on what children of the body have thrown: a wait in the destructor must not rethrow it.
WEFT_COLD void hand_up_errors(task &self, task_extra &extra) noexcept {
  if (!extra.children_error)
    return;
  pass_on_children_error(self, extra);
  extra.failing.store(false, std::memory_order_relaxed); // nothing runs below the task
}

/// Lets a worker run the destructor, as if the task were ready once more. False: there is no memory
/// for that.
WEFT_COLD bool defer_destructor(task &self, std::uint32_t released_refs) {
  task_extra *const extra = try_extra_of(self);
  if (!extra)
    return false;
  extra->only_destructor = true;
  self.set(detail::k_special);
  if (released_refs)
    drop_references(self, released_refs);
  enqueue_ready(self);
  return true;
}

} // namespace

void run_destructor(task &self) noexcept {
  thread_context *const before = this_thread_context();
  task *const outer = before ? std::exchange(before->current, &self) : nullptr;
  if (task_extra *extra = peek_extra(self)) [[unlikely]]
    hand_up_errors(self, *extra);
  self.children.reset();
  self.owned_children = 0;
  self.set(detail::k_implicit);
  self.ops->destroy(detail::storage(&self));
  if (task_extra *extra = peek_extra(self)) [[unlikely]]
    end_locals(*extra);
  if (before)
    this_thread_context()->current = outer; // the thread may have changed
}

bool settle_children(task &self, std::uint32_t released_refs) {
  self.next = nullptr; // nothing waits any more
  if (self.children.settle(self.owned_children))
    return true;
  if (released_refs)
    drop_references(self, released_refs);
  return false;
}

bool destroy_closure_of(task &self, std::uint32_t released_refs, completed how) {
  if ((how == completed::by_others || this_thread_context()->in_callback) &&
      defer_destructor(self, released_refs)) [[unlikely]]
    return false;
  run_destructor(self);
  return self.children.done(self.owned_children) || settle_children(self, released_refs);
}

} // namespace rt
} // namespace weft::inline v0
