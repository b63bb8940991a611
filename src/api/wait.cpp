// SPDX-License-Identifier: Apache-2.0
#include "base/clock.hpp"
#include "base/error.hpp"
#include "base/mutant.hpp"
#include "task/events.hpp"
#include "worker/runtime.hpp"

#include <weft/block.hpp>
#include <weft/join.hpp>
#include <weft/task.hpp>

namespace weft::inline v0 {

using namespace rt;

void taskwait() {
  worker &w = this_worker();
  task &t = *w.current;
  wait_for_children(t);
  rethrow_children_error(t);
}

void taskyield() {
  worker &w = this_worker();
  runnable *other = the_runtime().ready->get(w.id);
  if (!other && !w.own_frame.load(std::memory_order_relaxed)) // the thread's own stack stands in no queue
    return;
  // What was found goes first: it is what the worker does next.
  w.handoff = other;
  suspend(
      [](executor &e, frame &f, void *) {
        if (f.home)
          make_ready(f);
        else
          enqueue(static_cast<worker *>(&e), f, origin::yielded);
      },
      nullptr);
}

namespace this_task {

const char *label() noexcept {
  executor *e = this_executor();
  return e && e->current ? label_of(*e->current) : "";
}

bool in_final() noexcept {
  executor *e = this_executor();
  return e && e->current && e->current->has(detail::k_final);
}

bool cancelled() noexcept {
  executor *e = this_executor();
  for (task *t = e ? e->current : nullptr; t; t = t->parent)
    if (is_cancelled(*t))
      return true;
  return false;
}

namespace {

struct sleeper {
  std::uint64_t deadline;
  timer::call call;
};

} // namespace

void sleep_for_ns(std::int64_t ns) {
  this_worker();
  if (ns <= 0)
    return taskyield();
  sleeper s{now_ns() + static_cast<std::uint64_t>(ns), {}};
  suspend(
      [](executor &, frame &f, void *p) {
        auto &s = *static_cast<sleeper *>(p);
        s.call.f = [](void *frame_of_sleeper) { make_ready(*static_cast<frame *>(frame_of_sleeper)); };
        s.call.context = &f;
        the_runtime().clock.at(s.deadline, s.call);
      },
      &s);
}

} // namespace this_task

// ---- block and unblock: the word is null, k_done (an unblock came first) or the blocked frame --------------------

namespace {

void *const k_token = k_done;

/// O1: every change of the word is acq_rel, so the unblocked task sees what its unblocker did, and the unblocker the frame.
void publish_blocked(executor &, frame &f, void *word) {
  void *seen = nullptr;
  auto &w = *static_cast<std::atomic<void *> *>(word);
  if (!w.compare_exchange_strong(seen, &f, std::memory_order_acq_rel, std::memory_order_acquire)) { // O1
    w.store(nullptr, std::memory_order_relaxed); // the token is consumed; only the blocking task takes it
    make_ready(f);
  }
}

bool take_token(std::atomic<void *> &word) noexcept {
  void *seen = k_token;
  return word.compare_exchange_strong(seen, nullptr, std::memory_order_acq_rel, std::memory_order_relaxed); // O1
}

struct timed_block {
  std::atomic<void *> &word;
  std::uint64_t deadline;
  frame *blocked = nullptr;
  bool timed_out = false;
  std::atomic<bool> armed{false}; // the publisher touches the block no more
  timer::call call;
};

void time_is_over(void *p) {
  auto &b = *static_cast<timed_block *>(p);
  void *seen = b.blocked;
  if (b.word.compare_exchange_strong(seen, nullptr, std::memory_order_acq_rel, std::memory_order_relaxed)) { // O1
    b.timed_out = true;
    make_ready(*b.blocked);
  }
}

void publish_timed(executor &e, frame &f, void *p) {
  auto &b = *static_cast<timed_block *>(p);
  b.blocked = &f;
  b.call.f = &time_is_over;
  b.call.context = &b;
  // First the frame, then the clock: a deadline that passed before there was a frame would wake nobody.
  publish_blocked(e, f, &b.word);
  the_runtime().clock.at(b.deadline, b.call);
  b.armed.store(true, std::memory_order_release); // O2: pairs with block_for_ns, which keeps the block alive until then
}

} // namespace

namespace this_task {

task_ref self() { return task_ref(this_worker().current); }

void block() {
  task &t = *this_worker().current;
  std::atomic<void *> &word = extra_of(t).block_word;
  if (!take_token(word))
    suspend(&publish_blocked, &word);
}

bool block_for_ns(std::int64_t ns) {
  task &t = *this_worker().current;
  std::atomic<void *> &word = extra_of(t).block_word;
  if (take_token(word))
    return true;
  if (ns <= 0)
    return false;
  timed_block b{word, now_ns() + static_cast<std::uint64_t>(ns), nullptr, false, {}, {}};
  suspend(&publish_timed, &b);
  while (!b.armed.load(std::memory_order_acquire)) // O2: resumed before the publisher was done, which is rare and short
    os_yield();
  the_runtime().clock.cancel(b.call);
  return !b.timed_out;
}

void increase_events(std::uint32_t n) {
  task &t = *this_worker().current;
  if (t.has(detail::k_implicit))
    throw_error(errc::not_a_task, "increase_events() outside of a task: a thread has no end that events could hold; spawn a task");
  if (n > 0)
    increase(extra_of(t), n);
}

} // namespace this_task

void unblock(task_ref r) {
  if (!r)
    throw_error(errc::invalid_argument, "unblock() of no task; pass what this_task::self() returned in the blocked task");
  std::atomic<void *> &word = extra_of(*r.get()).block_word;
  void *seen = word.load(std::memory_order_acquire); // O1
  for (;;) {
    if (seen == k_token)
      throw_error(errc::no_block, "task '%s' is unblocked twice without a block in between; unblock it once per block",
                  label_of(*r.get()));
    void *next = seen ? nullptr : k_token;
    if (word.compare_exchange_weak(seen, next, std::memory_order_acq_rel, std::memory_order_acquire)) // O1
      break;
  }
  if (seen && !mutant(bug::unblock_wakes_nobody))
    make_ready(*static_cast<frame *>(seen));
}

void decrease_events(task_ref r, std::uint32_t n) {
  if (!r)
    throw_error(errc::invalid_argument, "decrease_events() of no task; pass what this_task::self() returned in the task");
  if (n == 0)
    return;
  task_extra *x = peek_extra(*r.get());
  switch (x ? decrease(*x, n) : decreased::underflow) {
  case decreased::underflow:
    throw_error(errc::event_underflow, "task '%s' has fewer than %u external events; decrease as often as you increase",
                label_of(*r.get()), n);
  case decreased::last:
    events_are_over(*r.get());
    break;
  case decreased::some_left:
    break;
  }
}

// ---- join ----------------------------------------------------------------------------------------------------------

namespace {

/// As if somebody had stolen the branch: it becomes work like a task, and may run before the other branch has begun.
WEFT_COLD void offer_join_jobs(worker &w) {
  const unsigned choice = the_runtime().ready->choose(3);
  if (choice == 0)
    return;
  while (detail::join_job *job = w.joins.pop()) // the outer ones as well: they lie below it
    enqueue(&w, *job, origin::fresh);
  if (choice == 1)
    return;
  try {
    taskyield();
  } catch (const error &) { // no stack to go on with: the first branch goes first
  }
}

} // namespace

namespace detail {

void join_push(join_job *job) {
  worker &w = this_worker();
  job->parent = w.current;
  w.joins.push(job);
  runtime &rt = the_runtime();
  if (rt.cfg.sched_seed != 0) [[unlikely]]
    return offer_join_jobs(w);
  rt.idle.notify_one();
}

bool join_pop(join_job *job) noexcept { return static_cast<worker *>(this_executor())->joins.pop() == job; }

void join_wait(join_job *job) noexcept {
  if (job->state.load(std::memory_order_acquire) == k_done) // O1: pairs with run_join
    return;
  try {
    suspend(
        [](executor &, frame &f, void *p) {
          void *seen = nullptr;
          if (!static_cast<std::atomic<void *> *>(p)->compare_exchange_strong(seen, &f, std::memory_order_acq_rel, // O1
                                                                             std::memory_order_acquire))
            make_ready(f);
        },
        &job->state);
  } catch (const error &) { // no stack to go on with: this worker has to wait with its core
    while (job->state.load(std::memory_order_acquire) != k_done) // O1
      os_yield();
  }
}

} // namespace detail
} // namespace weft::inline v0
