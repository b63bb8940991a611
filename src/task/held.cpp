// SPDX-License-Identifier: Apache-2.0
#include "task/held.hpp"

#include "queue/spin_lock.hpp"

#include <mutex>
#include <new>

namespace weft::inline v0 {
namespace rt {
namespace {

/// One lock for all: two short holds per task with events, which something outside of the process has waited for anyhow.
struct held_list {
  spin_lock<> lock;
  task_extra *first = nullptr;
};
held_list g_held;

} // namespace

void note_held(task &t, task_extra &x, held_until how) noexcept {
  std::lock_guard guard(g_held.lock);
  x.held = &t;
  x.until = how;
  x.next_held = g_held.first;
  x.previous_held = nullptr;
  if (x.next_held)
    x.next_held->previous_held = &x;
  g_held.first = &x;
}

void forget_held(task_extra &x) noexcept {
  std::lock_guard guard(g_held.lock);
  (x.previous_held ? x.previous_held->next_held : g_held.first) = x.next_held;
  if (x.next_held)
    x.next_held->previous_held = x.previous_held;
}

void for_each_held(void (*f)(task &, void *), void *context) {
  std::lock_guard guard(g_held.lock);
  for (task_extra *x = g_held.first; x; x = x->next_held)
    f(*x->held, context);
}

void forget_held_in_child() noexcept { ::new (&g_held) held_list; }

} // namespace rt
} // namespace weft::inline v0
