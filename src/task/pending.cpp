// SPDX-License-Identifier: Apache-2.0
#include "task/pending.hpp"

#include "queue/spin_lock.hpp"

#include <mutex>
#include <new>

namespace weft::inline v0 {
namespace rt {
namespace {

/// Guards all pending tasks by one lock: two short holds per task with events. Something outside of
/// the process has made such a task wait anyhow.
struct pending_list {
  spin_lock<> lock;
  task_extra *first = nullptr;
};
pending_list g_pending;

} // namespace

void note_pending(task &t, task_extra &extra, pending_until how) noexcept {
  std::lock_guard guard(g_pending.lock);
  extra.pending = &t;
  extra.until = how;
  extra.next_pending = g_pending.first;
  extra.previous_pending = nullptr;
  if (extra.next_pending)
    extra.next_pending->previous_pending = &extra;
  g_pending.first = &extra;
}

void forget_pending(task_extra &extra) noexcept {
  std::lock_guard guard(g_pending.lock);
  (extra.previous_pending ? extra.previous_pending->next_pending : g_pending.first) =
      extra.next_pending;
  if (extra.next_pending)
    extra.next_pending->previous_pending = extra.previous_pending;
}

void for_each_pending(void (*f)(task &, void *), void *context) {
  std::lock_guard guard(g_pending.lock);
  for (task_extra *x = g_pending.first; x; x = x->next_pending)
    f(*x->pending, context);
}

void forget_pending_in_child() noexcept { ::new (&g_pending) pending_list; }

} // namespace rt
} // namespace weft::inline v0
