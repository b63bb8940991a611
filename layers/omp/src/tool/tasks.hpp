// SPDX-License-Identifier: Apache-2.0
// Explicit tasks of a watched process. The layer runs such a task by a function of this folder,
// which reports and calls what the compiler has given.
#pragma once

#include "task/task.hpp"
#include "tool/enter.hpp"

#include <cstddef>

namespace weft_omp {

struct kmp_task;

/// What an entry point does with a task that it has created: nothing.
struct unwatched_creation {
  static constexpr bool reports = false;
  static void created(thread &, omp_task &, const task_clauses &) noexcept {}
  static void created_chunk(thread &, omp_task &, const task_clauses &, std::uint64_t,
                            std::uint64_t) noexcept {}
};

/// What an entry point does with a task that it has created in a watched process: reports it, and
/// makes the layer run it by run_watched_task().
struct watched_creation {
  static constexpr bool reports = true;
  const void *return_address;
  bool is_untied = false;
  /// The task's dependences, as the program has written them.
  const ompt::dependence *dependences = nullptr;
  std::size_t count = 0;
  std::size_t bytes = 0; // of the task's private data
  // Of a chunk of a taskloop.
  bool is_chunk = false;
  std::uint64_t first = 0, iterations = 0;

  void created(thread &self, omp_task &task, const task_clauses &clauses) const;
  /// The same for a chunk of a taskloop: the value of the loop's variable in its first iteration.
  void created_chunk(thread &self, omp_task &task, const task_clauses &clauses,
                     std::uint64_t first_value, std::uint64_t count_of_iterations) const;
};

/// The function by which the layer runs a task that was reported. Its argument is a watched_task.
void run_watched_task(void *task);
/// Returns what is kept of an explicit task. Null: it was not reported.
[[nodiscard]] watched_task *watched_part(const omp_task &task) noexcept;

/// Marks a task of LLVM's ABI as untied, in place of its body, from its allocation to its report.
void untied_mark(void *) noexcept;

/// Begins and ends a task that the compiled code runs itself. `creation` as of created().
void begin_watched_here(thread &self, omp_task &task, const watched_creation &creation,
                        void *frame_of_program);
void end_watched_here(thread &self);

/// Reports that the event of a detachable task is fulfilled, before it is.
void report_fulfillment(thread &self, omp_task &task);
void report_wait_begin(thread &self, watched_task &task, const watched_creation &creation);
void report_wait_end(watched_thread &me, watched_task &task);
/// Runs `wait`, which waits for the dependences of `creation`, and reports that as a task, which
/// ends where the wait does.
template <class Wait>
void wait_for_dependences(thread &self, const watched_creation &creation, Wait wait) {
  watched_thread &me = watched_self(self);
  watched_task task;
  report_wait_begin(self, task, creation);
  wait();
  report_wait_end(me, task);
}

/// Fulfils the event of a detachable task.
[[gnu::always_inline]] inline void fulfill_event(omp_task &task) {
  enter([&task](thread &self) { fulfill(self, task); },
        [&task](thread &self, const call_site &, auto plain) {
          report_fulfillment(self, task);
          plain(self);
        });
}

/// Events of a taskyield.
inline constexpr auto as_yield = [](thread &self, const call_site &, auto plain) {
  watched_thread &me = watched_self(self);
  me.yields = true;
  plain(self);
  me.yields = false;
};

/// Runs `run(between)`, which makes the tasks of a taskloop in a group, if it has one, calls
/// `between`, and waits for them.
template <class Run>
void in_reported_group(thread &self, bool has_group, const call_site &at, Run run) {
  watched_thread &me = watched_self(self);
  constexpr auto kind = ompt::sync_kind::taskgroup;
  if (!has_group)
    return run([] {});
  bool waits = false;
  report_sync(ompt::event::sync_region, me, kind, ompt::endpoint::begin, at.return_address);
  run([&] {
    waits = true;
    report_sync(ompt::event::sync_region_wait, me, kind, ompt::endpoint::begin, at.return_address);
  });
  if (waits)
    report_sync(ompt::event::sync_region_wait, me, kind, ompt::endpoint::end, at.return_address);
  report_sync(ompt::event::sync_region, me, kind, ompt::endpoint::end, at.return_address);
}
/// Runs `make`, which makes the tasks of a taskloop.
template <class Make>
void report_taskloop(watched_thread &me, std::uint64_t iterations, const call_site &at, Make make) {
  report_work(me, ompt::work_kind::taskloop, ompt::endpoint::begin, iterations, at.return_address);
  make();
  report_work(me, ompt::work_kind::taskloop, ompt::endpoint::end, iterations, at.return_address);
}

} // namespace weft_omp
