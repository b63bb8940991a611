// SPDX-License-Identifier: Apache-2.0
// The waiters for the end of a task, or for its start: what is attached to task::done_word, and how
// it is fired.
#pragma once

#include "task/task.hpp"
#include "task/waiter_list.hpp"

namespace weft::inline v0 {
namespace detail {

/// Collects the tasks that the end of another one makes ready, and the states without a body that
/// end with it. Both are linked here and not fired inside of each other, so that chains of any
/// length need no stack.
struct firing {
  rt::ready_list ready; // to be announced
  rt::ready_list ended;
};

} // namespace detail

namespace rt {

using detail::firing;
using detail::waiter;

struct waiter_link {
  static waiter *get(const waiter &w) noexcept { return w.next; }
  static void set(waiter &w, waiter *next) noexcept { w.next = next; }
};
using task_waiters = waiter_list<waiter, waiter_link>;

/// Raises the token in the word and fires the waiters. Appends tasks that may run now to `ready`.
void fire_waiters(std::atomic<void *> &word, void *token, ready_list &ready) noexcept;
/// Fires waiters that raise() returned.
void fire_list(waiter *first, ready_list &ready) noexcept;
/// Does the same as the first, and enqueues these tasks.
void fire_waiters(std::atomic<void *> &word, void *token) noexcept;

/// Waits with a frame.
struct frame_waiter : waiter {
  frame_waiter() noexcept {
    fire = [](waiter *self, firing &) noexcept {
      make_ready(*static_cast<frame_waiter *>(self)->left);
    };
  }
  frame *left = nullptr;
};

} // namespace rt
} // namespace weft::inline v0
