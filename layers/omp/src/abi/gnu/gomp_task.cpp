// SPDX-License-Identifier: Apache-2.0
// libgomp's entry points: tasks.
#include "abi/gnu/gomp.hpp"
#include "task/depend.hpp"
#include "task/task_record.hpp"
#include "team/task_queue.hpp"
#include "team/task_wait.hpp"
#include "team/taskloop.hpp"
#include "tool/enter.hpp"
#include "tool/tasks.hpp"

#include <cstring>
#include <vector>

using namespace weft_omp;

namespace {

enum flag : unsigned {
  k_untied = 1u << 0,
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
template <class Report>
[[gnu::always_inline]] inline void create_plain(thread &self, const creation &how,
                                                const Report &report) {
  omp_task *const task = make_task(self, how.bytes, how.alignment, {});
  task->body = how.body;
  fill(self, *task, how.data, how.copy, how.bytes);
  report.created(self, *task, {});
  submit_plain(self, *task);
}

template <class Report>
[[gnu::always_inline]] inline void create(thread &self, const creation &how,
                                          const task_clauses &clauses, void *detach,
                                          const Report &report) {
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
  report.created(self, *task, clauses);
  if (task->undeferred)
    run_undeferred(self, *task, clauses);
  else
    submit(self, *task, clauses);
}

/// Creates a task with dependences. Not in line, because the list takes space on the stack.
template <class Report>
[[gnu::noinline]] void create_dependent(thread &self, const creation &how, task_clauses &clauses,
                                        void **depend, void *detach, const Report &report) {
  const access_list accesses(self, depend);
  accesses.enter_in(clauses);
  create(self, how, clauses, detach, report);
}

/// The dependences of a clause list as a tool sees them.
class reported_dependences {
 public:
  explicit reported_dependences(void *const *depend) {
    const std::size_t all = count_of(depend);
    m_list.reserve(all);
    if (depend[0]) {
      const auto out = reinterpret_cast<std::size_t>(depend[1]);
      for (std::size_t i = 0; i < all; ++i)
        add(depend[2 + i], i < out ? k_depend_inout : k_depend_in);
      return;
    }
    const auto out = reinterpret_cast<std::size_t>(depend[2]),
               exclusive = reinterpret_cast<std::size_t>(depend[3]),
               in = reinterpret_cast<std::size_t>(depend[4]);
    for (std::size_t i = 0; i < all; ++i) {
      void *const entry = depend[5 + i];
      if (i < out + exclusive + in) {
        add(entry, i < out               ? k_depend_inout
                   : i < out + exclusive ? k_depend_mutexinoutset
                                         : k_depend_in);
      } else { // a depend object: an address and a kind
        void *const *const object = static_cast<void **>(entry);
        add(object[0], static_cast<int>(reinterpret_cast<std::uintptr_t>(object[1])));
      }
    }
  }
  void enter_in(watched_creation &report) const noexcept {
    report.dependences = m_list.data();
    report.count = m_list.size();
  }

 private:
  void add(void *address, int kind) {
    ompt::dependence d;
    d.variable.pointer = address;
    using enum ompt::dependence_kind;
    d.kind = !address                         ? inout_all_memory
             : kind == k_depend_in            ? in
             : kind == k_depend_mutexinoutset ? mutexinoutset
             : kind == k_depend_inoutset      ? inoutset
                                              : inout;
    m_list.push_back(d);
  }
  std::vector<ompt::dependence> m_list;
};

/// Holds the clauses of GOMP_task().
struct task_call {
  bool if_clause;
  unsigned flags;
  void **depend;
  int priority;
  void *detach;
};

template <class Report>
[[gnu::always_inline]] inline void create_task(thread &self, const creation &how,
                                               const task_call &call, const Report &report) {
  const unsigned flags = call.flags;
  if (is_cancelled(*self.task)) [[unlikely]] {
    if (flags & k_detach)
      *static_cast<void **>(call.detach) = &event_of_no_task();
    return;
  }
  const bool deferred = deferred_here(self, call.if_clause);
  if (deferred && !self.task->is_final && !(flags & (k_final | k_depend | k_priority | k_detach)))
      [[likely]]
    return create_plain(self, how, report);
  if (!Report::reports && (!deferred || self.task->is_final) && !how.copy &&
      !(flags & (k_depend | k_detach)))
    return run_in_place(self, how.body, how.data, (flags & k_final) != 0);
  task_clauses clauses;
  clauses.deferred = deferred;
  clauses.is_final = (flags & k_final) != 0;
  clauses.detachable = (flags & k_detach) != 0;
  clauses.priority = flags & k_priority ? call.priority : 0;
  if (flags & k_depend)
    create_dependent(self, how, clauses, call.depend, call.detach, report);
  else
    create(self, how, clauses, call.detach, report);
}

/// Creates a task and reports it.
void create_watched_task(thread &self, const creation &how, const task_call &call,
                         const call_site &at) {
  watched_creation report{at.return_address, (call.flags & k_untied) != 0};
  report.bytes = how.bytes;
  if (!(call.flags & k_depend))
    return create_task(self, how, call, report);
  const reported_dependences dependences(call.depend);
  dependences.enter_in(report);
  create_task(self, how, call, report);
}

} // namespace

extern "C" {

GOMP_API void GOMP_task(void (*body)(void *), void *data, void (*copy)(void *, void *), long bytes,
                        long alignment, bool if_clause, unsigned flags, void **depend, int priority,
                        void *detach) {
  const auto size = static_cast<std::size_t>(bytes), align = static_cast<std::size_t>(alignment);
  if (thread *const self = self_or_null()) [[likely]]
    return create_task(*self, {body, data, copy, size, align},
                       {if_clause, flags, depend, priority, detach}, unwatched_creation());
  enter_slow(
      [=](thread &self) {
        create_task(self, {body, data, copy, size, align},
                    {if_clause, flags, depend, priority, detach}, unwatched_creation());
      },
      [=](thread &self, const call_site &at, auto) {
        create_watched_task(self, {body, data, copy, size, align},
                            {if_clause, flags, depend, priority, detach}, at);
      },
      this_call());
}

GOMP_API void GOMP_taskwait() {
  enter([](thread &self) { wait_for_children(self); }, as_wait(ompt::sync_kind::taskwait));
}

GOMP_API void GOMP_taskwait_depend(void **depend) {
  enter(
      [=](thread &self) {
        if (!self.task->external)
          return; // the task has no children with dependences
        wait_for_accesses(self, access_list(self, depend));
      },
      [=](thread &self, const call_site &at, auto plain) {
        watched_creation report{at.return_address};
        const reported_dependences dependences(depend);
        dependences.enter_in(report);
        wait_for_dependences(self, report, [&] { plain(self); });
      });
}

GOMP_API void GOMP_taskyield() {
  enter([](thread &self) { yield_now(self); }, as_yield);
}
GOMP_API void GOMP_taskgroup_start() {
  enter([](thread &self) { begin_group(self); }, as_group_begin);
}
GOMP_API void GOMP_taskgroup_end() {
  enter([](thread &self) { end_group(self); }, as_group_end);
}

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
    std::uint64_t tasks = asked ? asked : tasks_of_loop(*self.team);
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

struct loop_call {
  void (*body)(void *);
  void *data;
  void (*copy)(void *, void *);
  long bytes, alignment;
  unsigned flags;
  unsigned long asked;
  int priority;
  std::uint64_t n;
};

/// Makes the tasks of a loop that has iterations, and runs those that are not deferred.
template <class T, class Report>
void make_loop(thread &self, const loop_call &call, T first, T step, const division &parts,
               const Report &report) {
  task_clauses clauses;
  clauses.deferred = deferred_here(self, (call.flags & k_if) != 0);
  clauses.is_final = (call.flags & k_final) != 0;
  clauses.priority = call.flags & k_priority ? call.priority : 0;
  omp_task *later =
      nullptr; // the undeferred tasks whose data the program copies: they run when all are copied
  omp_task **end = &later;
  for (std::uint64_t i = 0; i < parts.tasks; ++i) {
    const std::uint64_t length =
        parts.last && i + 1 == parts.tasks ? parts.last : parts.each + (i < parts.bigger);
    omp_task *const task = make_task(self, static_cast<std::size_t>(call.bytes),
                                     static_cast<std::size_t>(call.alignment), clauses);
    task->body = call.body;
    fill(self, *task, call.data, call.copy, static_cast<std::size_t>(call.bytes));
    auto *const mine = static_cast<head_of_data<T> *>(task->argument);
    mine->first = first;
    mine->end = first = static_cast<T>(first + static_cast<T>(length) * step);
    report.created_chunk(self, *task, clauses, static_cast<std::uint64_t>(mine->first), length);
    if (!task->undeferred) {
      submit(self, *task, clauses);
      continue;
    }
    if (!call.copy) { // no body can change the data that the others get
      run_undeferred(self, *task, clauses);
      continue;
    }
    *end = task;
    end = &task->next_of_loop;
  }
  while (later) {
    omp_task *const task = std::exchange(later, later->next_of_loop);
    run_undeferred(self, *task, clauses);
  }
}

/// Runs a taskloop. `make(self, division)` makes the tasks, between the begin and the end of the
/// loop's group, if it has one.
template <class T, class Make>
void taskloop(thread &self, const loop_call &call, Make make) {
  auto *const head = static_cast<head_of_data<T> *>(call.data);
  const bool group = !(call.flags & k_nogroup), reduces = (call.flags & k_reduction) != 0;
  if (call.n == 0 || self.team->cancelled.load(std::memory_order_relaxed)) {
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
  make(self, divide(self, call.n, call.asked, call.flags));
  if (group)
    end_group(self);
}

template <class T>
[[gnu::always_inline]] inline void run_taskloop(const loop_call &call, T first, T step) {
  const auto plain = [&](thread &self) {
    taskloop<T>(self, call, [&](thread &me, const division &d) {
      make_loop(me, call, first, step, d, unwatched_creation());
    });
  };
  if (thread *const self = self_or_null()) [[likely]]
    return plain(*self);
  enter_slow(
      plain,
      [&](thread &self, const call_site &at, auto) {
        const bool group = !(call.flags & k_nogroup);
        in_reported_group(self, group, at, [&](auto between) {
          taskloop<T>(self, call, [&](thread &me, const division &parts) {
            watched_creation report{at.return_address, (call.flags & k_untied) != 0};
            report.bytes = static_cast<std::size_t>(call.bytes);
            report_taskloop(watched_self(me), call.n, at,
                            [&] { make_loop(me, call, first, step, parts, report); });
            between();
          });
        });
      },
      this_call());
}

} // namespace

extern "C" {

GOMP_API void GOMP_taskloop(void (*body)(void *), void *data, void (*copy)(void *, void *),
                            long bytes, long alignment, unsigned flags, unsigned long asked,
                            int priority, long first, long last, long step) {
  run_taskloop<long>({body, data, copy, bytes, alignment, flags, asked, priority,
                      shape_of(first, last, step).total},
                     first, step);
}

GOMP_API void GOMP_taskloop_ull(void (*body)(void *), void *data, void (*copy)(void *, void *),
                                long bytes, long alignment, unsigned flags, unsigned long asked,
                                int priority, unsigned long long first, unsigned long long last,
                                unsigned long long step) {
  run_taskloop<unsigned long long>({body, data, copy, bytes, alignment, flags, asked, priority,
                                    shape_of((flags & k_up) != 0, first, last, step).total},
                                   first, step);
}

} // extern "C"
