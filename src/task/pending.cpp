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

void note_pending(task &t, task_extra &x, pending_until how) noexcept {
  std::lock_guard guard(g_pending.lock);
  x.pending = &t;
  x.until = how;
  x.next_pending = g_pending.first;
  x.previous_pending = nullptr;
  if (x.next_pending)
    x.next_pending->previous_pending = &x;
  g_pending.first = &x;
}

void forget_pending(task_extra &x) noexcept {
  std::lock_guard guard(g_pending.lock);
  (x.previous_pending ? x.previous_pending->next_pending : g_pending.first) = x.next_pending;
  if (x.next_pending)
    x.next_pending->previous_pending = x.previous_pending;
}

void for_each_pending(void (*f)(task &, void *), void *context) {
  std::lock_guard guard(g_pending.lock);
  for (task_extra *x = g_pending.first; x; x = x->next_pending)
    f(*x->pending, context);
}

void forget_pending_in_child() noexcept { ::new (&g_pending) pending_list; }

} // namespace rt
} // namespace weft::inline v0
