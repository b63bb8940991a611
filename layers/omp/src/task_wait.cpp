// SPDX-License-Identifier: Apache-2.0
// Waiting in a task: for its children, for a taskgroup, for its own dependences. Meanwhile the thread runs descendants of the task.
#include "task_queue.hpp"
#include "team.hpp"

#include <new>

namespace weft_omp {
namespace {

/// Sleeps, unless there is a descendant to run; `settle` adds up what the thread has counted, and tells whether there is something to wait for.
template <class Settle>
void sleep_in(thread &t, omp_task &x, std::atomic<bool> *also, Settle settle) {
  x.waits.store(true, std::memory_order_seq_cst); // O6 of task.hpp
  if (also)
    also->store(true, std::memory_order_seq_cst); // O6 of task.hpp
  omp_task *const next = take_below(t, x);
  if (!next && settle())
    t.place_to_wait.wait(t, spins_for(*t.crew));
  x.waits.store(false, std::memory_order_relaxed);
  if (also)
    also->store(false, std::memory_order_relaxed);
  if (next)
    run_task(t, *next);
}

/// Children that are not over.
std::int64_t children_of(const omp_task &x) noexcept {
  const std::int64_t n = x.word.load(std::memory_order_acquire) & omp_task::k_number; // O5
  const std::int64_t elsewhere = n > omp_task::k_over / 2 ? n - omp_task::k_over : n; // negative while the task runs
  return x.open_here() + elsewhere;
}

void settle_children(omp_task &x) noexcept {
  if (const std::int64_t mine = x.open_here()) {
    x.made = x.ended_here = 0;
    x.word.fetch_add(mine, std::memory_order_acq_rel); // O5
  }
}

std::int64_t tasks_of(const task_group &g) noexcept { return g.here + g.others.load(std::memory_order_acquire) + task_group::k_bias; } // O1

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
  settle_children(x); // to 0: see I1
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
      const std::int64_t mine = std::exchange(g->here, 0) + task_group::k_bias;
      return g->others.fetch_add(mine, std::memory_order_acq_rel) + mine != 0; // O1
    });
    if (!biased)
      g->others.fetch_sub(task_group::k_bias, std::memory_order_relaxed);
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
    sleep_in(t, creator, nullptr, [&x] { return !x.ready.load(std::memory_order_acquire); }); // O4 of task.hpp
  }
}

void wait_until_complete(thread &t, omp_task &x) {
  while (!x.complete.load(std::memory_order_acquire)) // O3 of task.hpp
    t.place_to_wait.wait(t, 0);
}

} // namespace weft_omp
