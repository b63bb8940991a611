// SPDX-License-Identifier: Apache-2.0
// Waiting in a task: for its children, for a taskgroup, for its own dependences. The thread runs
// descendants of the task meanwhile.
#include "team/task_queue.hpp"
#include "team/team.hpp"

#include <new>

namespace weft_omp {
namespace {

/// Sleeps, unless there is a descendant to run. `settle` adds up what the thread has counted, and
/// returns whether there is something to wait for.
template <class Settle>
void sleep_in(thread &t, omp_task &x, wait_flag *also, Settle settle) {
  x.waits.raise();
  if (also)
    also->raise();
  omp_task *const next = take_below(t, x);
  if (!next && settle())
    t.own_parker.wait(t, spins_for(*t.team));
  x.waits.lower();
  if (also)
    also->lower();
  if (next)
    run_task(t, *next);
}

} // namespace

void wait_for_children(thread &t) {
  omp_task &x = *t.task;
  while (children_of(x) != 0) {
    if (omp_task *next = take_below(t, x)) {
      run_task(t, *next);
      continue;
    }
    sleep_in(t, x, nullptr, [&x] {
      settle_children(x);
      return children_of(x) != 0;
    });
  }
  settle_children(x); // to 0: see I1 of task_count.hpp
}

void begin_group(thread &t) {
  auto *g = new (std::nothrow) task_group;
  if (!g)
    fatal("no memory for a taskgroup");
  g->owner = &t;
  g->outer = t.task->group;
  g->reductions = g->outer ? g->outer->reductions : nullptr;
  t.task->group = g;
}

void end_group(thread &t) {
  task_group *const g = t.task->group;
  if (!g)
    return;
  omp_task &x = *t.task;
  while (tasks_of(*g) != 0) {
    if (omp_task *next = take_below(t, x)) {
      run_task(t, *next);
      continue;
    }
    bool biased = true;
    sleep_in(t, x, &g->waits, [g, &biased] {
      biased = false;
      return settle_group(*g);
    });
    if (!biased)
      unsettle_group(*g);
  }
  if (g->of_llvm)
    finish_reductions(t, *g);
  x.group = g->outer;
  delete g;
}

void wait_until_ready(thread &t, omp_task &x) {
  omp_task &creator = *t.task;
  while (!x.ready.load(std::memory_order_acquire)) { // O4 of task.hpp
    if (omp_task *next = take_below(t, creator)) {
      run_task(t, *next);
      continue;
    }
    sleep_in(t, creator, nullptr,
             [&x] { return !x.ready.load(std::memory_order_acquire); }); // O4 of task.hpp
  }
}

void wait_until_complete(thread &t, omp_task &x) {
  while (!x.complete.load(std::memory_order_acquire)) // O3 of task.hpp
    t.own_parker.wait(t, 0);
}

} // namespace weft_omp
