// SPDX-License-Identifier: Apache-2.0
#include "team/cancel.hpp"

#include "team/barrier.hpp"
#include "team/team.hpp"

namespace weft_omp {
namespace {

bool is_cancelled(const thread &self, int which) noexcept {
  if (which & (k_cancel_loop | k_cancel_sections))
    return self.team->is_workshare_cancelled();
  return ((which & k_cancel_group) && is_cancelled(*self.task)) ||
         self.team->cancelled.load(std::memory_order_relaxed);
}

} // namespace

bool is_cancelled_here(thread &self, int which) noexcept {
  if (is_cancelled(self, which))
    return true;
  count_failed_test(self);
  return false;
}

bool cancel_here(thread &self, int which) noexcept {
  if (which & (k_cancel_loop | k_cancel_sections)) {
    self.team->cancel_workshare();
  } else if (which & k_cancel_group) {
    task_group *group = self.task->group;
    if (group && group->of_workshare && group->outer)
      group = group->outer;
    if (group)
      group->cancelled.store(true, std::memory_order_relaxed);
  } else {
    cancel_team(self);
  }
  return true;
}

} // namespace weft_omp
