// SPDX-License-Identifier: Apache-2.0
// libgomp's entry points: tasks.
#include "abi/gnu/gomp.hpp"
#include "task/depend.hpp"
#include "task/task_record.hpp"
#include "team/task_queue.hpp"
#include "team/task_wait.hpp"

#include <cstring>

using namespace weft_omp;

namespace {

enum flag : unsigned {
  k_final = 1u << 1,
  k_depend = 1u << 3,
  k_priority = 1u << 4,
  k_up = 1u << 8,
  k_grainsize = 1u << 9,
  k_if = 1u << 10,
  k_nogroup = 1u << 11,
  k_reduction = 1u << 12,
  k_detach = 1u << 13,
  k_strict = 1u << 14
};

/// Returns whether a task is deferred here. Outside of a parallel region it is not, because there
/// is no other thread, and perhaps no later scheduling point.
bool deferred_here(const thread &self, bool deferred) noexcept {
  return deferred && self.team->level != 0;
}

/// Returns whether the thread makes no tasks, because the region or the group of its task is
/// cancelled.
bool makes_none(const thread &self) noexcept {
  return self.task->is_explicit ? is_cancelled(*self.task)
                                : self.team->cancelled.load(std::memory_order_relaxed);
}

void fill(thread &self, omp_task &task, void *data, void (*copy)(void *, void *),
          std::size_t bytes) {
  if (!copy) {
    if (bytes)
      std::memcpy(task.argument, data, bytes);
    return;
  }
  omp_task *const creator = std::exchange(self.task, &task);
  copy(task.argument, data);
  self.task = creator;
  task.is_copied = true;
}

struct creation {
  void (*body)(void *);
  void *data;
  void (*copy)(void *, void *);
  std::size_t bytes, alignment;
};

/// Creates a task of the most common kind, without any clause.
inline void create_plain(thread &self, const creation &how) {
  omp_task *const task = make_task(self, how.bytes, how.alignment, {});
  task->body = how.body;
  fill(self, *task, how.data, how.copy, how.bytes);
  submit_plain(self, *task);
}

[[gnu::always_inline]] inline void create(thread &self, const creation &how,
                                          const task_clauses &clauses, void *detach) {
  omp_task *const task = make_task(self, how.bytes, how.alignment, clauses);
  task->body = how.body;
  if (clauses
          .detachable) { // the creator gets the event, and the event is the first of the task's data
    *static_cast<void **>(detach) = task;
    if (how.data)
      *static_cast<void **>(how.data) = task;
  }
  if (task->undeferred && !how.copy)
    task->argument = how.data; // the creator's data
  else
    fill(self, *task, how.data, how.copy, how.bytes);
  if (task->undeferred)
    run_undeferred(self, *task, clauses);
  else
    submit(self, *task, clauses);
}

/// Creates a task with dependences. Not in line, because the list takes space on the stack.
[[gnu::noinline]] void create_dependent(thread &self, const creation &how, task_clauses &clauses,
                                        void **depend, void *detach) {
  const access_list accesses(self, depend);
  accesses.enter_in(clauses);
  create(self, how, clauses, detach);
}

} // namespace

extern "C" {

GOMP_API void GOMP_task(void (*body)(void *), void *data, void (*copy)(void *, void *), long bytes,
                        long alignment, bool if_clause, unsigned flags, void **depend, int priority,
                        void *detach) {
  thread &self = weft_omp::self();
  if (g_globals.cancellation && makes_none(self)) [[unlikely]]
    return;
  const bool deferred = deferred_here(self, if_clause);
  const creation how{body, data, copy, static_cast<std::size_t>(bytes),
                     static_cast<std::size_t>(alignment)};
  if (deferred && !self.task->is_final && !(flags & (k_final | k_depend | k_priority | k_detach)))
      [[likely]]
    return create_plain(self, how);
  if ((!deferred || self.task->is_final) && !copy && !(flags & (k_depend | k_detach)))
    return run_in_place(self, body, data, (flags & k_final) != 0);
  task_clauses clauses;
  clauses.deferred = deferred;
  clauses.is_final = (flags & k_final) != 0;
  clauses.detachable = (flags & k_detach) != 0;
  clauses.priority = flags & k_priority ? priority : 0;
  if (flags & k_depend)
    create_dependent(self, how, clauses, depend, detach);
  else
    create(self, how, clauses, detach);
}

GOMP_API void GOMP_taskwait() { wait_for_children(self()); }

GOMP_API void GOMP_taskwait_depend(void **depend) {
  thread &self = weft_omp::self();
  if (!self.task->external)
    return; // the task has no children with dependences
  wait_for_accesses(self, access_list(self, depend));
}

GOMP_API void GOMP_taskyield() { yield_now(self()); }
GOMP_API void GOMP_taskgroup_start() { begin_group(self()); }
GOMP_API void GOMP_taskgroup_end() { end_group(self()); }

} // extern "C"

// ---- taskloop ------------------------------------------------------------------------------------------------------------

namespace {

/// Holds the number of iterations per task. The first `bigger` tasks have one more; or, if `last`
/// is not 0, all tasks but the last have the same number.
struct division {
  std::uint64_t tasks, each, bigger, last;
};

division divide(const thread &self, std::uint64_t n, std::uint64_t asked, unsigned flags) {
  if (!(flags & k_grainsize)) {
    std::uint64_t tasks = asked ? asked : self.team->size;
    tasks = tasks < n ? tasks : n;
    return {tasks, n / tasks, n % tasks, 0};
  }
  if (flags & k_strict) {
    const std::uint64_t tasks = (n - 1) / asked + 1;
    return {tasks, asked, 0, n - (tasks - 1) * asked};
  }
  const std::uint64_t tasks =
      n / asked ? n / asked
                : 1; // each task has at least `asked` iterations, and less than twice as many
  return {tasks, n / tasks, n % tasks, 0};
}

template <class T>
struct head_of_data {
  T first, end;
  std::uintptr_t *reductions;
};

template <class T>
void taskloop(void (*body)(void *), void *data, void (*copy)(void *, void *), long bytes,
              long alignment, unsigned flags, unsigned long asked, int priority, std::uint64_t n,
              T first, T step) {
  thread &self = weft_omp::self();
  auto *const head = static_cast<head_of_data<T> *>(data);
  const bool group = !(flags & k_nogroup), reduces = (flags & k_reduction) != 0;
  if (n == 0 || self.team->cancelled.load(std::memory_order_relaxed)) {
    if (group && reduces)
      head->reductions[2] = 0; // the reductions were never registered
    return;
  }
  if (!group && is_cancelled(*self.task))
    return;
  if (group)
    begin_group(self);
  if (group && reduces)
    register_reductions(self, head->reductions, nullptr);
  const division d = divide(self, n, asked, flags);
  task_clauses clauses;
  clauses.deferred = deferred_here(self, (flags & k_if) != 0);
  clauses.is_final = (flags & k_final) != 0;
  clauses.priority = flags & k_priority ? priority : 0;
  omp_task *later = nullptr; // the undeferred tasks, which run when all data are copied
  omp_task **end = &later;
  for (std::uint64_t i = 0; i < d.tasks; ++i) {
    const std::uint64_t length = d.last && i + 1 == d.tasks ? d.last : d.each + (i < d.bigger);
    omp_task *const task = make_task(self, static_cast<std::size_t>(bytes),
                                     static_cast<std::size_t>(alignment), clauses);
    task->body = body;
    fill(self, *task, data, copy, static_cast<std::size_t>(bytes));
    auto *const mine = static_cast<head_of_data<T> *>(task->argument);
    mine->first = first;
    mine->end = first = static_cast<T>(first + static_cast<T>(length) * step);
    if (!task->undeferred) {
      submit(self, *task, clauses);
      continue;
    }
    *end = task;
    end = &task->next_of_loop;
  }
  while (later) {
    omp_task *const task = std::exchange(later, later->next_of_loop);
    run_undeferred(self, *task, clauses);
  }
  if (group)
    end_group(self);
}

} // namespace

extern "C" {

GOMP_API void GOMP_taskloop(void (*body)(void *), void *data, void (*copy)(void *, void *),
                            long bytes, long alignment, unsigned flags, unsigned long asked,
                            int priority, long first, long last, long step) {
  taskloop<long>(body, data, copy, bytes, alignment, flags, asked, priority,
                 shape_of(first, last, step).total, first, step);
}

GOMP_API void GOMP_taskloop_ull(void (*body)(void *), void *data, void (*copy)(void *, void *),
                                long bytes, long alignment, unsigned flags, unsigned long asked,
                                int priority, unsigned long long first, unsigned long long last,
                                unsigned long long step) {
  taskloop<unsigned long long>(body, data, copy, bytes, alignment, flags, asked, priority,
                               shape_of((flags & k_up) != 0, first, last, step).total, first, step);
}

} // extern "C"
