// SPDX-License-Identifier: Apache-2.0
// A task whose body runs again in place of the task's end. Between two runs the task is in no queue:
// its own block word, the clock, or its event word holds it, and no stack is kept.
#include "base/clock.hpp"
#include "base/error.hpp"
#include "task/complete.hpp"
#include "task/hooks.hpp"
#include "task/pending.hpp"
#include "task/rerun_clock.hpp"
#include "worker/phase.hpp"
#include "worker/runtime.hpp"

#include <weft/layer/task.hpp>

#include <algorithm>

namespace weft::inline v0 {

using namespace rt;

namespace {

struct clock_of_task : rerun_clock {
  clock_of_task() noexcept {
    free = [](rerun_clock *c) noexcept { delete static_cast<clock_of_task *>(c); };
  }
  timer::call call;
  std::uint64_t ns = 0;
};

clock_of_task &clock_of(task &t) noexcept {
  return *static_cast<clock_of_task *>(peek_extra(t)->clock);
}

// The next run may overtake each of these: handing the task on is the last use of it.

void wait_for_unblock(task &t) {
  task_extra &x = *peek_extra(t);
  note_pending(t, x, pending_until::unblocked);
  if (x.block.publish(t))
    return;
  forget_pending(x);
  enqueue_ready(t);
}

/// Queues the task as from outside, behind ready work: a body that asks again and again would keep
/// all else from its worker.
void submit(task &t) { enqueue(nullptr, t, origin::fresh); }

void yield(task &t) { enqueue(this_worker_or_null(), t, origin::yielded); }

void wait_for_clock(task &t) {
  clock_of_task &c = clock_of(t);
  c.call.f = [](void *p) { enqueue_ready(*static_cast<task *>(p)); };
  c.call.context = &t;
  const std::uint64_t now = now_ns();
  the_runtime().clock.at(now + std::min(c.ns, ~now), c.call);
}

void wait_for_events(task &t) {
  task_extra &x = *peek_extra(t);
  x.again_when_over = true;
  note_pending(t, x, pending_until::it_may_run_again);
  if (x.events.end_body())
    events_are_over(t);
}

void prepare_clock(task_extra &extra, std::uint64_t ns) {
  if (!extra.clock)
    extra.clock = new clock_of_task;
  auto &c = static_cast<clock_of_task &>(*extra.clock);
  c.ns = ns;
  the_runtime().clock.prepare(c.call);
}

void refuse_unless_separate(const task &t) {
  if (t.has(detail::k_undeferred) || t.parent->has(detail::k_final))
    throw_error(
        errc::not_supported,
        "task '%s' cannot run again later: its creator or a taskiter runs it; spawn it without if_(false) and "
        "outside of a final task and of a taskiter",
        label_of(t));
  if (t.ops->destroy_result)
    throw_error(
        errc::not_supported,
        "task '%s' cannot run again: it returns a value to its handle; let it return nothing",
        label_of(t));
}

} // namespace

namespace layer {

task_ref running_task() noexcept {
  return who_calls() == caller::task ? task_ref(this_thread_context()->current) : task_ref();
}

std::string name_of(task_ref task) { return label_of(*task.get()); }

caller who_calls() noexcept {
  const thread_context *e = this_thread_context();
  if (!e || !e->current)
    return caller::unadopted;
  if (e->in_callback)
    return caller::between;
  if (!e->current->has(detail::k_implicit))
    return caller::task;
  return e->current->parent ? caller::between : caller::thread;
}

bool has_events() noexcept {
  const task_ref self = running_task();
  const task_extra *x = self ? peek_extra(*self.get()) : nullptr;
  return x && x->events.any();
}

void run_again(again when, std::uint64_t ns) {
  const task_ref self = running_task();
  if (!self)
    throw_error(errc::not_a_task,
                "run_again() outside of a task: only the body of a task can run again");
  task &t = *self.get();
  refuse_unless_separate(t);
  task_extra &x = extra_of(t);
  if (when == again::after)
    prepare_clock(x, ns);
  constexpr void (*k_ways[])(task &) = {&wait_for_unblock, &submit, &yield, &wait_for_clock,
                                        &wait_for_events};
  x.instead_of_end = k_ways[static_cast<std::size_t>(when)];
}

bool is_over() noexcept {
  return is_shut_down() || g_phase.load(std::memory_order_relaxed) == phase::forked_in_task;
}

} // namespace layer
} // namespace weft::inline v0
