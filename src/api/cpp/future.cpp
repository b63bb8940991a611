// SPDX-License-Identifier: Apache-2.0
// What futures, coroutines and other waiters use of the core: waiters that are attached, records
// that are posted, states without a body, and tasks that begin when they are waited for.
#include "base/clock.hpp"
#include "base/error.hpp"
#include "base/mutant.hpp"
#include "diagnose/hang.hpp"
#include "task/claim_word.hpp"
#include "task/complete.hpp"
#include "task/failure.hpp"
#include "task/pending.hpp"
#include "task/ready.hpp"
#include "task/signal_word.hpp"
#include "task/waiters.hpp"
#include "worker/runtime.hpp"

#include <weft/block.hpp>
#include <weft/detail/future.hpp>
#include <weft/future.hpp>

#include <new>
#include <optional>
#include <utility>

namespace weft::inline v0 {

using namespace rt;

namespace detail {
namespace {

/// Destroys the closure of a task that was not submitted, and frees the task.
WEFT_COLD void discard(task &t) noexcept {
  if (t.ops->destroy)
    t.ops->destroy(storage(&t));
  task_abandon(&t);
}

/// Leaves the caller's frame to all workers, and runs the task first.
void fork(task &t) {
  worker &w = this_worker();
  task &parent = *t.parent;
  if (w.in_callback || parent.has(k_final) || parent.confinement() != 0)
    return task_submit(&t);
  ++parent.owned_children;
  count(w.counts->without_accesses);
  w.handoff = &t;
  w.forks = true;
  try {
    suspend(
        [](thread_context &e, frame &f, void *) {
          if (f.home)
            return make_ready(f);
          confine_frame(f);
          enqueue(static_cast<worker *>(&e), f, origin::fresh);
        },
        nullptr);
  } catch (const error &) { // no stack to go on with: the task is queued, as for launch::async
  }
}

void defer(task &t) noexcept {
  t.references.store(1, std::memory_order_relaxed); // O1 of countdown.hpp: not shared yet
  t.unsatisfied.store(k_deferred, std::memory_order_relaxed);
}

} // namespace

bool task_attach(task *t, waiter *w) noexcept { return task_waiters::attach(t->done_word, *w); }

bool task_detach(task *t, waiter *w) noexcept { return task_waiters::detach(t->done_word, *w); }

void post(call_record &r) {
  if (!is_started())
    this_worker();
  const gate_guard here;
  unless(bug::post_wakes_nobody, [&] { enqueue(this_worker_or_null(), r, origin::fresh); });
}

void fire_by_post(waiter *self, firing &) noexcept {
  enqueue_ready(static_cast<posting_waiter *>(self)->record);
}

task *task_create_tracked(const body_ops &ops) {
  task *const t = task_create(ops, 0, nullptr);
  t->set(k_tracked);
  t->references.store(2, std::memory_order_relaxed); // O1 of countdown.hpp: not shared yet
  t->unsatisfied.store(k_open, std::memory_order_relaxed); // O1 of claim_word.hpp: likewise
  return t;
}

void task_launch(task *t, unsigned how) {
  constexpr auto is = [](unsigned policy, launch l) { return policy == static_cast<unsigned>(l); };
  if (is(how, launch::async | launch::deferred))
    how =
        static_cast<unsigned>(the_runtime().idle.has_sleepers() ? launch::async : launch::deferred);
  if (is(how, launch::async))
    return task_submit(t);
  if (is(how, launch::deferred))
    return defer(*t);
  if (is(how, launch::fork))
    return fork(*t);
  if (is(how, launch::sync)) {
    t->set(k_undeferred);
    return task_submit(t);
  }
  discard(*t);
  throw_error(
      errc::invalid_argument,
      "launch policy %u is none; pass launch::async, deferred, fork, sync, or async and deferred together",
      how);
}

void task_start(task *t) {
  if (t->unsatisfied.load(std::memory_order_relaxed) != k_deferred)
    return;
  worker &w = this_worker();
  if (!start_deferred(t->unsatisfied))
    return;
  t->references.fetch_add(1, std::memory_order_relaxed); // O2 of countdown.hpp: of completion
  t->parent = w.current;
  open_to_waiters(t->unsatisfied); // O1 of claim_word.hpp
  task_submit(t);
}

void task_add_handle(task *t) noexcept {
  t->references.fetch_add(1, std::memory_order_relaxed); // the caller has one
}

std::exception_ptr task_exception(task *t) noexcept {
  task_extra *const extra = peek_extra(*t);
  if (!extra || !extra->own_error)
    return nullptr;
  extra->error_was_asked.store(true, std::memory_order_relaxed); // read with the last reference
  return extra->own_error;
}

bool task_has_failed(const task *t) noexcept {
  const task_extra *const extra = peek_extra(*t);
  return extra && extra->own_error;
}

void task_request_stop(task *t) {
  if (is_raised(t->done_word, k_done))
    return;
  try {
    extra_of(*t).stop.store(true, std::memory_order_relaxed); // a hint, as that of a group is
  } catch (const std::bad_alloc &) {
    throw_error(errc::out_of_resources, "no memory to ask task '%s' to stop", label_of(*t));
  }
}

// ---- waits that may be given up

namespace {

/// Waits for the end of a task, for the clock and for a stop request, whichever is first. The waiter
/// goes on when one of them has taken the node; it stays until the publisher has armed the others.
class limited_wait : public frame_waiter {
 public:
  limited_wait(task &t, std::int64_t ns, const std::stop_token *stop) : m_task(t), m_stop(stop) {
    if (ns < 0)
      return;
    m_deadline = now_ns() + static_cast<std::uint64_t>(ns);
    the_runtime().clock.prepare(m_call);
    m_timed = true;
  }
  wait_result wait() {
    suspend(&publish, this, {waits_for::end_of_task, &m_task});
    real_atomics::await(m_armed, [](bool armed) { return armed; }, std::memory_order_acquire); // O5
    if (m_timed)
      the_runtime().clock.cancel(m_call);
    m_callback.reset();
    return m_result;
  }

 private:
  struct request {
    limited_wait *of;
    void operator()() const noexcept { of->give_up(wait_result::stopped); }
  };

  static void publish(thread_context &, frame &f, void *p) {
    auto &self = *static_cast<limited_wait *>(p);
    self.left = &f;
    if (!task_waiters::attach(self.m_task.done_word, self))
      make_ready(f);
    if (self.m_timed) {
      self.m_call.f = [](void *of) {
        static_cast<limited_wait *>(of)->give_up(wait_result::timeout);
      };
      self.m_call.context = &self;
      the_runtime().clock.at(self.m_deadline, self.m_call);
    }
    if (self.m_stop)
      self.m_callback.emplace(*self.m_stop, request{&self});
    self.m_armed.store(true, std::memory_order_release); // O5 of block_word.hpp: the last touch
  }
  void give_up(wait_result why) noexcept {
    frame *const waiting = left;
    if (!task_waiters::detach(m_task.done_word, *this))
      return;
    m_result = why;
    make_ready(*waiting);
  }

  task &m_task;
  const std::stop_token *m_stop;
  std::uint64_t m_deadline = 0;
  bool m_timed = false;
  wait_result m_result = wait_result::ended; // written by the thread that takes the node
  std::optional<std::stop_callback<request>> m_callback;
  timer::call m_call;
  std::atomic<bool> m_armed{false};
};

} // namespace

wait_result task_wait_for(task *t, std::int64_t ns, const std::stop_token *stop) {
  if (!t)
    throw_no_state();
  if (is_raised(t->done_word, k_done))
    return wait_result::ended;
  if (t->unsatisfied.load(std::memory_order_relaxed) == k_deferred) {
    if (ns >= 0)
      return wait_result::deferred;
    task_start(t);
  }
  this_worker();
  if (stop && stop->stop_requested())
    return wait_result::stopped;
  if (ns == 0)
    return wait_result::timeout;
  return limited_wait(*t, ns, stop && stop->stop_possible() ? stop : nullptr).wait();
}

// ---- states without a body

task *state_create(const body_ops &ops, const char *label) {
  void *const block = this_worker().memory->allocate(task::block_bytes(ops, 0));
  if (!block)
    throw_error(errc::out_of_resources, "no memory for the state of a %s", label);
  auto *const t = ::new (block) task(ops, nullptr, nullptr);
  t->label = label;
  t->set(k_tracked);
  t->references.store(2, std::memory_order_relaxed); // O1 of countdown.hpp: not shared yet
  return t;
}

bool state_begin(task *t) noexcept {
  std::uint32_t fresh = 0;
  return t->unsatisfied.compare_exchange_strong(fresh, k_started, std::memory_order_relaxed);
}

void state_give_up(task *t) noexcept { t->unsatisfied.store(0, std::memory_order_relaxed); }

void state_fail(task *t, std::exception_ptr error) noexcept {
  keep_own_error(*t, std::move(error));
}

void state_finish(task *t) noexcept {
  if (waiter *const first = task_waiters::raise(t->done_word, k_done)) {
    const gate_guard here;
    ready_list ready;
    fire_list(first, ready);
    enqueue_all(ready);
  }
  drop_references(*t, 1);
}

void state_finish_within(task *t, firing &all) noexcept { all.ended.push_back(t); }

void state_finish_after_all(task *whole, part_node *nodes, std::size_t count,
                            std::atomic<std::uint32_t> &left) noexcept {
  left.store(static_cast<std::uint32_t>(count) + 1, std::memory_order_relaxed);
  std::uint32_t ended = 1;
  for (part_node *n = nodes; n != nodes + count; ++n) {
    n->whole = whole;
    n->left = &left;
    n->fire = [](waiter *self, firing &all) noexcept {
      const part_node &part = *static_cast<part_node *>(self);
      if (take_away(*part.left, 1))
        state_finish_within(part.whole, all);
    };
    if (!task_waiters::attach(n->before->done_word, *n))
      ++ended;
  }
  if (take_away(left, ended))
    state_finish(whole);
}

namespace {

constexpr std::uint32_t k_all_attached = 1, k_decided = 2;

/// Drops shares of `left`; the last one drops the reference that keeps the nodes.
void drop_shares(choice &c, std::uint32_t n) noexcept {
  task &whole = *c.whole;
  if (n != 0 && take_away(c.left, n))
    drop_references(whole, 1);
}

/// Takes the nodes back that have not been fired, and asks their tasks to stop if that is wished.
void forget_rest(choice &c, std::uint32_t attached) noexcept {
  std::uint32_t back = 0;
  for (std::uint32_t i = 0; i != attached; ++i) {
    choice::node &n = c.nodes[i];
    if (!n.of || !task_waiters::detach(n.before->done_word, n))
      continue;
    ++back;
    if (!c.cancels)
      continue;
    if (task_extra *const extra = try_extra_of(*n.before)) // without memory it goes on
      extra->stop.store(true, std::memory_order_relaxed);
  }
  drop_shares(c, back);
}

/// Notes that an awaited task has ended. Returns whether the choice is made by that: then the caller
/// forgets the rest and ends the state.
bool note_end(choice &c, std::uint32_t i) noexcept {
  const std::uint32_t rank = c.fired.fetch_add(1, std::memory_order_relaxed);
  if (rank >= c.needed)
    return false;
  c.winners[rank] = i;
  // Acquire and release: the last one sees the numbers that the others have written.
  return c.written.fetch_add(1, std::memory_order_acq_rel) + 1 == c.needed;
}

void fire_choice(waiter *self, firing &all) noexcept {
  choice &c = *static_cast<choice::node *>(self)->of;
  if (note_end(c, static_cast<std::uint32_t>(static_cast<choice::node *>(self) - c.nodes))) {
    // The creator that has not attached all nodes ends the choice when it has.
    if (c.phase.fetch_or(k_decided, std::memory_order_acq_rel) & k_all_attached) {
      forget_rest(c, c.count);
      state_finish_within(c.whole, all);
    }
  }
  drop_shares(c, 1);
}

} // namespace

void state_finish_after_some(choice &c) noexcept {
  task_add_handle(c.whole); // keeps the nodes
  c.left.store(c.count + 1, std::memory_order_relaxed);
  std::uint32_t attached = 0, ended = 0;
  bool decided = c.needed == 0;
  for (; attached != c.count && !decided; ++attached) {
    choice::node &n = c.nodes[attached];
    n.of = &c;
    n.fire = &fire_choice;
    if (!task_waiters::attach(n.before->done_word, n)) {
      n.of = nullptr; // not in a list
      ++ended;
      decided = note_end(c, attached);
    }
  }
  const bool by_another = (c.phase.fetch_or(k_all_attached, std::memory_order_acq_rel) & k_decided);
  drop_shares(c, ended + (c.count - attached)); // the creator's own share remains
  if (decided || by_another) {
    if (c.cancels)
      for (std::uint32_t i = attached; i != c.count; ++i)
        if (task_extra *const extra = try_extra_of(*c.nodes[i].before))
          extra->stop.store(true, std::memory_order_relaxed);
    forget_rest(c, attached);
    state_finish(c.whole);
  }
  drop_shares(c, 1);
}

// ---- events of tasks whose result comes from another task

void task_add_event(task *t) { extra_of(*t).events.increase(1); }

void task_take_event(task *t) noexcept { decrease_events(task_ref(t)); }

void throw_no_state() { throw std::future_error(std::future_errc::no_state); }

void throw_stopped() {
  throw_error(errc::cancelled, "a wait for a future was given up: its stop token was requested");
}

void throw_too_many(std::size_t wanted, std::size_t given) {
  throw_error(errc::invalid_argument,
              "when_some() is to wait for %zu of %zu futures; ask for as many as there are at most",
              wanted, given);
}

} // namespace detail
} // namespace weft::inline v0
