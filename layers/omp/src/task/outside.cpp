// SPDX-License-Identifier: Apache-2.0
// Offers OpenMP tasks to another layer, for task-aware libraries (layers/alpi). That layer lets a
// task wait for something that
// is no task, and delays the end of the task until then.
#include "config/once.hpp"
#include "team/team.hpp"

#include <weft/layer/task_source.hpp>

namespace weft_omp {
namespace {

omp_task &task_at(void *p) noexcept { return *static_cast<omp_task *>(p); }

/// Returns whether the thread is one of the program's outside of regions. Such a thread, and a task
/// of Weft's own, is reported by
/// Weft itself, as in a program without OpenMP.
bool is_outside(const thread &self) noexcept {
  return !self.light && !self.task->is_explicit && self.team->level == 0;
}

class tasks_of_openmp final : public weft::layer::task_source {
 public:
  void *running() noexcept override {
    const thread *const self = self_if_any();
    return self && !is_outside(*self) ? self->task : nullptr;
  }
  void call_in_weft(void (*f)(void *), void *argument) override {
    in_core(calling_record(), [f, argument] { f(argument); });
  }

  void pin(void *, bool pinned) noexcept override { self().pinned = pinned; }
  void block(void *task) noexcept override {
    thread &self = weft_omp::self();
    basic_block_state<thread> &state = task_at(task).block;
    if (state.begin_block(self))
      while (state.is_blocked(self))
        self.own_parker.wait(self, 0);
  }
  bool unblock(void *task) noexcept override {
    const auto [accepted, sleeps] = task_at(task).block.unblock();
    if (sleeps)
      sleeps->own_parker.signal(calling_record());
    return accepted;
  }
  bool increase_events(void *task, std::uint64_t n) noexcept override {
    if (n > basic_hold_state<>::k_most >> 8) // so at least that many calls fit
      return false;
    if (n != 0)
      add_events(self(), task_at(task), n);
    return true;
  }
  bool decrease_events(void *task, std::uint64_t n) noexcept override {
    return n == 0 || remove_events(task_at(task), n);
  }
  bool has_events(void *task) noexcept override { return task_at(task).holds.any(); }
};

tasks_of_openmp g_tasks;
const once g_offered([] { weft::layer::offer_tasks(g_tasks); }); // when the library is loaded

} // namespace
} // namespace weft_omp
