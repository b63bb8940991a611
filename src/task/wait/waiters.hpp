// SPDX-License-Identifier: Apache-2.0
// The waiters for the end of a task, or for its start: what is attached to task::done_word, and how
// it is fired.
#pragma once

#include "task/task.hpp"
#include "task/wait/waiter_list.hpp"

namespace weft::inline v0 {
namespace detail {

struct all_inputs;

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
  static waiter *get(const waiter &waiting) noexcept { return waiting.next; }
  static void set(waiter &waiting, waiter *next) noexcept { waiting.next = next; }
};
using task_waiters = waiter_list<waiter, waiter_link>;

/// Fires waiters that raise() returned. Appends tasks that may run now to `ready`.
void fire_list(waiter *first, ready_list &ready) noexcept;
/// Raises the token in the word, fires the waiters, and enqueues these tasks.
void fire_waiters(std::atomic<void *> &word, void *token) noexcept;

/// Attaches to the next input that has not ended. False: all have. True: another thread may have
/// gone on with `all` meanwhile.
[[nodiscard]] bool attach_to_next(detail::all_inputs &all) noexcept;
/// Goes on from an input that has ended, and ends the state behind the last one.
void fire_input(waiter *self, firing &all) noexcept;
/// Returns the state whose inputs the waiter waits for, or null. For reports.
[[nodiscard]] task *whole_of(const waiter &waiting) noexcept;

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
