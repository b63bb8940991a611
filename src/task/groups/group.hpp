// SPDX-License-Identifier: Apache-2.0
// The inside of weft::task_group.
#pragma once

#include "queue/spin_lock.hpp"
#include "task/task.hpp"

#include <stop_token>
#include <vector>

namespace weft::inline v0 {

/// Holds the state of a group. The first line belongs to the task that made the group, the second
/// is shared by all threads.
struct alignas(64) task_group::state {
  rt::task *owner = nullptr;
  detail::runnable *waiter = nullptr; // the frame in wait(); written before settle
  std::uint32_t owned = 0;
  exception_policy policy = exception_policy::first_cancels;
  alignas(64) rt::completion_word<> word;
  std::atomic<bool> cancelled{false};
  rt::spin_lock<> lock; // guards the rest
  std::stop_source *stop = nullptr;
  std::exception_ptr first_error;
  std::vector<std::exception_ptr> *errors = nullptr; // further ones, with collect_all
};
static_assert(sizeof(task_group::state) <= 128);

namespace rt {

using group_state = task_group::state;

} // namespace rt
} // namespace weft::inline v0
