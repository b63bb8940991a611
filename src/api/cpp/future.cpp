// SPDX-License-Identifier: Apache-2.0
// What futures, coroutines and other waiters use of the core: waiters that are attached, records
// that are posted, states without a body, and tasks that begin when they are waited for.
#include "api/cpp/wait_limits.hpp"
#include "base/error.hpp"
#include "base/mutant.hpp"
#include "deps/sharing/reduction.hpp"
#include "diagnose/hang.hpp"
#include "task/complete.hpp"
#include "task/failure.hpp"
#include "task/pending.hpp"
#include "task/ready.hpp"
#include "task/recorded.hpp"
#include "task/groups/stop_relay.hpp"
#include "task/tracing.hpp"
#include "task/wait/choice.hpp"
#include "task/wait/claim_word.hpp"
#include "task/wait/listed_states.hpp"
#include "task/wait/signal_word.hpp"
#include "task/wait/waiters.hpp"
#include "worker/idle_workers.hpp"
#include "worker/runtime.hpp"

#include <weft/block.hpp>
#include <weft/detail/future.hpp>
#include <weft/future.hpp>

#include <new>
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
WEFT_NOINLINE void fork(task &t) { // the other policies need no frame
  worker &w = this_worker();
  task &parent = *t.parent;
  if (w.in_callback || parent.has(k_final) || parent.confinement() != 0)
    return task_submit(&t);
  if (w.trace) [[unlikely]]
    trace_creation(*w.trace, t, {}, created_for::one_run);
  ++parent.owned_children;
  count(w.counts->without_accesses);
  w.handoff = &t;
  w.forks = true;
  try {
    suspend(
        [](thread_context &e, frame &suspended, void *) {
          if (suspended.home)
            return make_ready(suspended);
          confine_frame(suspended);
          enqueue(static_cast<worker *>(&e), suspended, origin::fresh);
        },
        nullptr);
  } catch (const error &) { // no stack to go on with: the task is queued, as for launch::async
  }
}

[[nodiscard]] constexpr bool is(unsigned policy, launch flag) noexcept {
  return policy == static_cast<unsigned>(flag);
}

[[noreturn]] WEFT_COLD void refuse_policy(unsigned how) {
  throw_error(
      errc::invalid_argument,
      "launch policy %u is none; pass launch::async, deferred, fork, sync, or async and deferred together",
      how);
}

void defer(task &t) noexcept {
  t.references.store(1, std::memory_order_relaxed); // O1 of countdown.hpp: not shared yet
  t.unsatisfied.store(k_deferred, std::memory_order_relaxed);
}

/// Refuses to start a deferred task where its submission would fail, and so free what the holders of
/// its handles have.
void refuse_start_below(const task &parent) {
  if (!parent.has(k_final)) [[likely]]
    return;
  if (iteration_of(parent))
    throw_error(
        errc::invalid_argument,
        "a deferred future is waited for while taskiter '%s' records, whose tasks run again and again; wait before the loop",
        label_of(parent));
  if (const task *const operation = operation_of(parent))
    throw_error(
        errc::not_a_task,
        "a deferred future is waited for in the operation of a reduction below task '%s', which is called between tasks; wait where the copies are filled",
        label_of(*operation->parent));
}

} // namespace

namespace {

/// Records that the running task ends after another one, if the node is in its closure: its result is that
/// of the other one then.
WEFT_COLD void trace_awaited_end(const task &before, const waiter &node) noexcept {
  const thread_context *const here = this_thread_context();
  if (!here || !here->current)
    return;
  const char *const closure = static_cast<const char *>(storage(here->current));
  const char *const at = reinterpret_cast<const char *>(&node);
  if (at >= closure && at < closure + here->current->ops->bytes)
    trace_after(*here->current, before, comes_after::ends);
}

} // namespace

bool task_attach(task *t, waiter *waiting) noexcept {
  if (g_traces_readiness) [[unlikely]]
    trace_awaited_end(*t, *waiting);
  return task_waiters::attach(t->done_word, *waiting);
}

bool task_detach(task *t, waiter *waiting) noexcept {
  return task_waiters::detach(t->done_word, *waiting);
}

void post(call_record &call) {
  if (!is_started())
    this_worker();
  const gate_guard here;
  unless(bug::post_wakes_nobody, [&] { enqueue(this_worker_or_null(), call, origin::fresh); });
}

void fire_by_post(waiter *self, firing &) noexcept {
  enqueue_ready(static_cast<posting_waiter *>(self)->record);
}

namespace {

WEFT_NOINLINE void launch_otherwise(task *t, unsigned how) {
  if (is(how, launch::async | launch::deferred))
    how = static_cast<unsigned>(would_wake_a_worker(the_runtime()) ? launch::async
                                                                  : launch::deferred);
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
  refuse_policy(how);
}

} // namespace

void task_launch(task *t, unsigned how) { // tail calls: the common way needs no stack
  return is(how, launch::async) ? task_submit(t) : launch_otherwise(t, how);
}

bool continues_as_task(unsigned how, bool ready) {
  if (is(how, launch::async) || is(how, launch::async | launch::deferred))
    return true;
  if (is(how, launch::deferred))
    return false;
  if (is(how, launch::fork) || is(how, launch::sync))
    return !ready;
  refuse_policy(how);
}

void task_start(task *t) {
  if (t->unsatisfied.load(std::memory_order_relaxed) != k_deferred)
    return;
  worker &w = this_worker();
  refuse_start_below(*w.current);
  if (!start_deferred(t->unsatisfied))
    return;
  t->references.fetch_add(1, std::memory_order_relaxed); // O2 of countdown.hpp: of completion
  t->parent = w.current;
  task_submit_shared(t);
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
    const gate_guard here;
    ask_to_stop(*t, extra_of(*t));
  } catch (const std::bad_alloc &) {
    throw_error(errc::out_of_resources, "no memory to ask task '%s' to stop", label_of(*t));
  }
}

// ---- waits that may be given up

namespace {

/// Waits for the end of a task no longer than the limit says. The waiter goes on when the end or a
/// limit has taken the node.
class limited_wait : public frame_waiter {
 public:
  limited_wait(task &t, const wait_limit &limit) : m_task(t), m_limits(limit, &give_up, this) {}
  wait_end wait() {
    suspend(&publish, this, {waits_for::end_of_task, &m_task, m_limits.may_stop()});
    m_limits.disarm();
    return m_result;
  }

 private:
  static void publish(thread_context &, frame &suspended, void *p) {
    auto &self = *static_cast<limited_wait *>(p);
    self.left = &suspended;
    if (!task_waiters::attach(self.m_task.done_word, self))
      make_ready(suspended);
    self.m_limits.arm(); // the waiter goes on after that
  }
  static void give_up(void *p, wait_end why) noexcept {
    auto &self = *static_cast<limited_wait *>(p);
    frame *const waiting = self.left;
    if (!task_waiters::detach(self.m_task.done_word, self))
      return;
    self.m_result = why;
    make_ready(*waiting);
  }

  task &m_task;
  wait_end m_result = wait_end::granted; // written by the thread that takes the node
  wait_limits m_limits;
};

[[nodiscard]] wait_result status_of(wait_end how) noexcept {
  switch (how) {
  case wait_end::timed_out:
    return wait_result::timeout;
  case wait_end::stopped:
    return wait_result::stopped;
  default:
    return wait_result::ended;
  }
}

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
  wait_limit limit = ns < 0 ? wait_limit{} : limit_of_ns(ns);
  limit.stop = stop;
  if (const wait_end over = over_at_once(limit); over != wait_end::granted)
    return status_of(over);
  return status_of(limited_wait(*t, limit).wait());
}

// ---- states without a body

namespace {

std::size_t state_bytes(const body_ops &ops) noexcept {
  return task::block_bytes(ops, 0) + sizeof(state_link);
}

WEFT_INLINE task *make_state(void *block, const body_ops &ops, const char *label) noexcept {
  auto *const t = ::new (block) task(ops, nullptr, nullptr, 0);
  t->label = label;
  return t;
}

/// Waits behind a promise that a trace numbers, and records when it is fired.
struct traced_promise : waiter {
  explicit traced_promise(task &of) noexcept : state(&of) {
    fire = [](waiter *self, firing &) noexcept { trace_given(*static_cast<traced_promise *>(self)->state); };
  }
  task *state;
};

/// Creates a state that a trace knows. It gets its memory where each state does that finds none at once.
WEFT_COLD task *state_create_traced(worker &w, const body_ops &ops, const char *label) noexcept {
  const bool is_promise = !ops.inputs;
  const std::size_t bytes = (state_bytes(ops) + alignof(traced_promise) - 1) & -alignof(traced_promise);
  void *const block = w.memory->allocate(is_promise ? bytes + sizeof(traced_promise) : bytes);
  if (!block)
    return nullptr;
  task *const t = make_state(block, ops, label);
  trace_state(*w.trace, *t);
  if (is_promise) // no other thread knows the word yet
    static_cast<void>(task_waiters::attach(
        t->done_word, *::new (static_cast<char *>(block) + bytes) traced_promise(*t)));
  return t;
}

WEFT_NOINLINE task *state_create_general(const body_ops &ops, const char *label) {
  worker &w = this_worker();
  if (w.trace && g_traces_readiness) [[unlikely]] {
    if (task *const t = state_create_traced(w, ops, label))
      return t;
  } else if (void *const block = w.memory->allocate(state_bytes(ops))) {
    return make_state(block, ops, label);
  }
  throw_error(errc::out_of_resources, "no memory for the state of a %s", label);
}

} // namespace

task *state_create(const body_ops &ops, const char *label) {
  const thread_context *const here = this_thread_context();
  void *const block = here ? here->memory->allocate_fast(state_bytes(ops)) : nullptr;
  if (!block) [[unlikely]]
    return state_create_general(ops, label); // a tail call: the other way needs no stack
  return make_state(block, ops, label);
}

bool state_begin(task *t) noexcept {
  std::uint32_t fresh = 0;
  return t->unsatisfied.compare_exchange_strong(fresh, k_started, std::memory_order_relaxed);
}

void state_give_up(task *t) noexcept { t->unsatisfied.store(0, std::memory_order_relaxed); }

void state_fail(task *t, std::exception_ptr error) noexcept {
  keep_own_error(*t, std::move(error));
}

namespace {

WEFT_NOINLINE void fire_from_anywhere(task &state, waiter *first) noexcept {
  const gate_guard here;
  remove_state(state);
  ready_list ready;
  fire_list(first, ready);
  enqueue_all(ready);
}

} // namespace

namespace {

/// Publishes a result for which tasks may wait. Keeps the state meanwhile: a thread that sees the result
/// may destroy the promise.
WEFT_NOINLINE void publish_to_waiters(task &state) noexcept {
  state.references.fetch_add(1, std::memory_order_relaxed); // O2 of countdown.hpp: of the promise
  if (waiter *const first = task_waiters::raise(state.done_word, k_done))
    fire_from_anywhere(state, first);
  drop_references(state, 1);
}

} // namespace

void state_publish(task *t) noexcept {
  if (!task_waiters::raise_alone(t->done_word, k_done))
    publish_to_waiters(*t);
}

void state_finish(task *t) noexcept {
  state_publish(t);
  drop_references(*t, 1);
}

void state_break(task *t) noexcept {
  try {
    throw std::future_error(std::future_errc::broken_promise);
  } catch (...) { // also what the error's own text needs
    state_fail(t, std::current_exception());
  }
  state_finish(t);
}

void state_finish_within(task *t, firing &all) noexcept { all.ended.push_back(t); }

void inputs_start(const input_list &inputs) {
  for (task *const *t = inputs.first; t != inputs.first + inputs.count; ++t) {
    if (!*t)
      throw_no_state();
    if ((*t)->unsatisfied.load(std::memory_order_relaxed) == k_deferred)
      task_start(*t);
  }
}

namespace {

WEFT_COLD void trace_inputs(const all_inputs &all) noexcept {
  for (std::size_t i = 0; i != all.inputs.count; ++i)
    trace_after(*all.whole, *all.inputs.first[i], comes_after::begins);
}

} // namespace

void state_finish_after_all(all_inputs &all) noexcept {
  if (all.whole->trace_id != 0) [[unlikely]]
    trace_inputs(all);
  all.fire = &fire_input;
  if (!attach_to_next(all))
    state_finish(all.whole);
}

namespace {

/// Records the inputs that have made the choice, whose numbers are all written.
void trace_winners(const choice &selection) noexcept {
  if (selection.whole->trace_id == 0) [[likely]]
    return;
  for (std::uint32_t i = 0; i != selection.needed; ++i)
    trace_after(*selection.whole, *selection.inputs.first[selection.winners[i]], comes_after::begins);
}

void fire_choice(waiter *self, firing &all) noexcept;

struct choice_of_inputs {
  using choice = detail::choice;
  static std::uint32_t count(const choice &selection) noexcept {
    return static_cast<std::uint32_t>(selection.inputs.count);
  }
  static bool attach(choice &selection, std::uint32_t i) noexcept {
    choice::node &n = selection.nodes[i];
    n.of = &selection;
    n.fire = &fire_choice;
    if (task_waiters::attach(selection.inputs.first[i]->done_word, n))
      return true;
    n.of = nullptr; // not in a list
    return false;
  }
  static bool detach(choice &selection, std::uint32_t i) noexcept {
    return selection.nodes[i].of && task_waiters::detach(selection.inputs.first[i]->done_word, selection.nodes[i]);
  }
  /// Asks a task that is not waited for any more to stop, if that is wished.
  static void forget(choice &selection, std::uint32_t i) noexcept {
    if (!selection.cancels)
      return;
    task &before = *selection.inputs.first[i];
    if (task_extra *const extra = try_extra_of(before)) // without memory it goes on
      ask_to_stop(before, *extra);
  }
  static void win(choice &selection, std::uint32_t rank, std::uint32_t i) noexcept { selection.winners[rank] = i; }
  static void keep(choice &selection) noexcept { task_add_handle(selection.whole); } // which has the nodes
  static void drop(choice &selection) noexcept { drop_references(*selection.whole, 1); }
};
using choices = choice_protocol<choice_of_inputs>;

void fire_choice(waiter *self, firing &all) noexcept {
  choice &c = *static_cast<choice::node *>(self)->of;
  choices::fire(c, static_cast<std::uint32_t>(static_cast<choice::node *>(self) - c.nodes), [&] {
    trace_winners(c);
    state_finish_within(c.whole, all);
  });
}

} // namespace

void state_finish_after_some(choice &selection) noexcept {
  choices::begin(selection, [&] {
    trace_winners(selection);
    state_finish(selection.whole);
  });
}

// ---- events of tasks whose result comes from another task

void task_add_event(task *t) { extra_of(*t).events.increase(1); }

void task_take_event(task *t) noexcept { decrease_events(task_ref(t)); }

void throw_no_state() { throw std::future_error(std::future_errc::no_state); }

void throw_no_exception() {
  throw_error(
      errc::invalid_argument,
      "a promise is given a null std::exception_ptr, which holds no exception; set a value, or pass std::current_exception() in a handler");
}

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
