// SPDX-License-Identifier: Apache-2.0
// LLVM's entry points: taskloop. The compiled code makes one task as a pattern; each chunk gets a
// copy of the pattern, with bounds of its own.
#include "abi/llvm/kmpc.hpp"
#include "task/task_record.hpp"
#include "team/task_queue.hpp"
#include "team/task_wait.hpp"
#include "team/taskloop.hpp"
#include "tool/tasks.hpp"

#include <algorithm>
#include <cstring>

using namespace weft_omp;

namespace {

enum split : std::int32_t { k_split_by_us, k_by_grainsize, k_by_number };
constexpr std::int32_t k_strict = 1;

using duplicate = void (*)(kmp_task *to, kmp_task *from, std::int32_t is_last);

struct task_loop {
  kmp_task *pattern;
  std::uint64_t *low, *high; // in the pattern
  std::int64_t step;
  duplicate copy;
  std::uint64_t trips, tasks, each, more; // the first `more` tasks have one more iteration
};

std::uint64_t trips_of(std::uint64_t low, std::uint64_t high, std::int64_t step) noexcept {
  const auto a = static_cast<std::int64_t>(low), b = static_cast<std::int64_t>(high);
  if (step == 1)
    return high - low + 1; // also if the variable is unsigned
  if (step > 0)
    return a > b ? 0 : (high - low) / static_cast<std::uint64_t>(step) + 1;
  return a < b ? 0 : (low - high) / (0 - static_cast<std::uint64_t>(step)) + 1;
}

void divide(task_loop &loop, const thread &self, std::int32_t how, std::uint64_t asked,
            bool strict) noexcept {
  if (how == k_by_grainsize && strict) {
    loop.each = std::min(std::max<std::uint64_t>(asked, 1), loop.trips);
    loop.tasks = (loop.trips - 1) / loop.each + 1;
    loop.more = 0; // the last task has the rest
    return;
  }
  const std::uint64_t wanted = how == k_by_grainsize
                                   ? loop.trips / std::max<std::uint64_t>(asked, 1)
                               : how == k_by_number ? asked
                                                    : tasks_of_loop(*self.team);
  loop.tasks = std::clamp<std::uint64_t>(wanted, 1, loop.trips);
  loop.each = loop.trips / loop.tasks;
  loop.more = loop.trips % loop.tasks;
}

/// Returns the variable of the copy that corresponds to one of the pattern.
std::uint64_t &in_copy(const task_loop &loop, kmp_task *task,
                       const std::uint64_t *address) noexcept {
  const auto offset =
      reinterpret_cast<const char *>(address) - reinterpret_cast<const char *>(loop.pattern);
  return *reinterpret_cast<std::uint64_t *>(reinterpret_cast<char *>(task) + offset);
}

omp_task *make_copy(thread &self, const task_loop &loop, const task_clauses &clauses,
                    std::uint64_t first, std::uint64_t count, bool is_last) {
  omp_task &from = task_of(loop.pattern);
  omp_task *const task = make_task(self, from.data_bytes, 16, clauses);
  task->kmp_entry = from.kmp_entry;
  task->destroys = from.destroys;
  task->data_bytes = from.data_bytes;
  auto *const k = static_cast<kmp_task *>(task->argument);
  std::memcpy(static_cast<void *>(k), loop.pattern, from.data_bytes);
  if (k->shareds)
    k->shareds = reinterpret_cast<char *>(k) + (static_cast<char *>(loop.pattern->shareds) -
                                                reinterpret_cast<char *>(loop.pattern));
  const std::uint64_t low = *loop.low + first * static_cast<std::uint64_t>(loop.step);
  in_copy(loop, k, loop.low) = low;
  in_copy(loop, k, loop.high) =
      is_last ? *loop.high : low + (count - 1) * static_cast<std::uint64_t>(loop.step);
  if (loop.copy)
    loop.copy(k, loop.pattern, is_last);
  return task;
}

template <class Report>
void make_tasks(thread &self, const task_loop &loop, bool deferred, const Report &report) {
  const omp_task &pattern = task_of(loop.pattern);
  task_clauses clauses;
  clauses.deferred = deferred && self.team->level != 0;
  clauses.is_final = pattern.is_final;
  clauses.priority = pattern.has_priority ? loop.pattern->data2.priority : 0;
  omp_task *later = nullptr,
           **end = &later; // undeferred tasks that may change data that the program copies: they run last
  std::uint64_t first = 0;
  for (std::uint64_t i = 0; i < loop.tasks; ++i) {
    const std::uint64_t count = std::min(loop.each + (i < loop.more), loop.trips - first);
    omp_task *const task = make_copy(self, loop, clauses, first, count, i + 1 == loop.tasks);
    report.created_chunk(self, *task, clauses,
                         *loop.low + first * static_cast<std::uint64_t>(loop.step), count);
    first += count;
    if (!task->undeferred) {
      submit(self, *task, clauses);
    } else if (!loop.copy) {
      run_undeferred(self, *task, clauses);
    } else {
      *end = task;
      end = &task->next_of_loop;
    }
  }
  while (later) {
    omp_task *const task = std::exchange(later, later->next_of_loop);
    run_undeferred(self, *task, clauses);
  }
}

struct loop_call {
  std::int32_t number;
  kmp_task *pattern;
  std::int32_t condition;
  std::uint64_t *low, *high;
  std::int64_t step;
  std::int32_t no_group, how;
  std::uint64_t asked;
  std::int32_t modifier;
  void *copy;
};

/// Runs a taskloop. `make(loop)` makes its tasks.
template <class Make>
void taskloop(thread &self, const loop_call &call, Make make) {
  if (!call.no_group)
    begin_group(self);
  task_loop l{call.pattern,
              call.low,
              call.high,
              call.step,
              reinterpret_cast<duplicate>(call.copy),
              trips_of(*call.low, *call.high, call.step),
              0,
              0,
              0};
  if (l.trips != 0 && !is_cancelled(*self.task)) {
    divide(l, self, call.how, call.asked, call.modifier == k_strict);
    make(l);
  }
  destroy_data(call.number, call.pattern);
  discard(self, task_of(call.pattern));
  if (!call.no_group)
    end_group(self);
}

[[gnu::always_inline]] inline void enter_taskloop(const loop_call &call) {
  const auto plain = [&call](thread &self) {
    taskloop(self, call, [&](const task_loop &l) {
      make_tasks(self, l, call.condition != 0, unwatched_creation());
    });
  };
  if (thread *const self = self_or_null()) [[likely]]
    return plain(*self);
  enter_slow(
      plain,
      [&call](thread &self, const call_site &at, auto) {
        in_reported_group(self, !call.no_group, at, [&](auto between) {
          taskloop(self, call, [&](const task_loop &loop) {
            watched_creation report{at.return_address, task_of(call.pattern).body == &untied_mark};
            report.bytes = task_of(call.pattern).data_bytes;
            report_taskloop(watched_self(self), loop.trips, at,
                            [&] { make_tasks(self, loop, call.condition != 0, report); });
            between();
          });
        });
      },
      this_call());
}

} // namespace

KMP_API void __kmpc_taskloop_5(location *, std::int32_t n, kmp_task *pattern,
                               std::int32_t condition, std::uint64_t *low, std::uint64_t *high,
                               std::int64_t step, std::int32_t no_group, std::int32_t how,
                               std::uint64_t asked, std::int32_t modifier, void *copy) {
  enter_taskloop({n, pattern, condition, low, high, step, no_group, how, asked, modifier, copy});
}
KMP_API void __kmpc_taskloop(location *, std::int32_t n, kmp_task *pattern, std::int32_t condition,
                             std::uint64_t *low, std::uint64_t *high, std::int64_t step,
                             std::int32_t no_group, std::int32_t how, std::uint64_t asked,
                             void *copy) {
  enter_taskloop({n, pattern, condition, low, high, step, no_group, how, asked, 0, copy});
}
