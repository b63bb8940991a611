// SPDX-License-Identifier: Apache-2.0
// The worker loop: a ladder of sources of work, then a spin, then sleep.
#include "base/clock.hpp"
#include "base/log.hpp"
#include "base/mutant.hpp"
#include "deps/access.hpp"
#include "iter/iteration.hpp"
#include "manage/dispatcher.hpp"
#include "manage/managers.hpp"
#include "task/messages.hpp"
#include "task/signal_word.hpp"
#include "task/tracing.hpp"
#include "worker/runtime.hpp"

#include <algorithm>
#include <utility>

namespace weft::inline v0 {
namespace rt {
namespace {

constexpr int k_looks_per_clock_read = 4;
constexpr int k_most_pauses = 16; // between two looks: whoever looks takes cache lines from those who work
constexpr std::uint64_t k_linger_ns = 50'000'000; // that a spare waits for work: starting it again takes a look of the watcher
constexpr std::uint32_t k_own_in_a_row = 61; // then shared work gets a look; as in Go and tokio
constexpr std::size_t k_stack_reserve = 24 << 10; // a task is run in place only with this much stack left

runnable *own_frame(worker &w) noexcept {
  if (!w.own_frame.full()) [[likely]]
    return nullptr;
  return w.own_frame.take();
}

/// False: the branch of a task that the thief may not run goes to those who may.
bool may_run(worker &w, detail::join_job &job) {
  const unsigned set = job.parent->confinement();
  if (set == 0 || the_runtime().confined.serves(w.id, set)) [[likely]]
    return true;
  enqueue_job(w, job);
  return false;
}

runnable *steal_join(worker &w) {
  runtime &rt = the_runtime();
  const unsigned used = rt.used_slots.load(std::memory_order_acquire); // O2: pairs with adoption
  w.seed = w.seed * 1664525u + 1013904223u;
  unsigned v = (w.seed >> 16) % used;
  for (unsigned i = 0; i < used; ++i, v = v + 1 == used ? 0 : v + 1) {
    worker *victim = rt.slots[v].load(std::memory_order_acquire); // O2
    if (!victim || victim == &w)
      continue;
    for (;;) {
      auto s = victim->joins.steal();
      if (s && !may_run(w, *s.item)) [[unlikely]]
        continue;
      if (s) {
        count(w.counts->joins_stolen);
        return s.item;
      }
      if (s.outcome == steal_outcome::empty)
        break;
    }
  }
  return nullptr;
}

/// Where the worker must not change.
void tell_parent_at_once(worker &w) {
  if (w.counted == 0)
    return;
  static constexpr callback k_telling{"the end of tasks", "children"}; // what destructors and combiners do there must not suspend
  const callback *const outer = std::exchange(w.in_callback, &k_telling);
  tell_parent(w);
  w.in_callback = outer;
}

runnable *look_for_ready(worker &w) {
  if (runnable *f = own_frame(w)) [[unlikely]]
    return f;
  if (runnable *r = take_ready(w))
    return r;
  return steal_join(w);
}

void wake_one_of(unsigned set) noexcept {
  runtime &rt = the_runtime();
  for (const unsigned id : rt.confined.workers_of(set))
    if (rt.idle.notify_worker(id))
      return;
}

/// Confined work first, since few may run it; not always, so that other work does not starve.
WEFT_NOINLINE runnable *take_of_both(worker &w) {
  runtime &rt = the_runtime();
  if (++w.own_in_a_row >= k_own_in_a_row) {
    w.own_in_a_row = 0;
    if (runnable *r = rt.ready->get_shared_first(w.id)) {
      if (const unsigned set = rt.confined.waiting_for(w.id)) // the worker may have been woken for that
        wake_one_of(set);
      return r;
    }
  }
  if (runnable *r = rt.confined.get(w.id, w.last_set))
    return r;
  return rt.ready->get(w.id);
}

runnable *take_shared_first(worker &w) {
  runtime &rt = the_runtime();
  if (rt.confined.any()) [[unlikely]]
    if (runnable *r = rt.confined.get(w.id, w.last_set))
      return r;
  return rt.ready->get_shared_first(w.id);
}

/// One look at every source of work. What others handed on may make some.
runnable *look(worker &w) {
  if (has_managers() && the_runtime().manage.serves_itself_first(w)) [[unlikely]] {
    tell_parent_at_once(w);
    apply_messages(w, place::idle);
  }
  if (runnable *r = look_for_ready(w))
    return r;
  if (!has_managers() || !the_runtime().manage.may_serve(w)) [[likely]]
    return nullptr;
  tell_parent_at_once(w);
  return apply_messages(w, place::idle) ? look_for_ready(w) : nullptr;
}

/// Everything to be said to others before this worker stops working.
void tidy(worker &w) {
  if (!mutant(bug::idle_worker_keeps_count))
    tell_parent(w);
  w.memory->flush_remote();
  w.memory->flush_accounting();
}

runnable *spin(worker &w) {
  runtime &rt = the_runtime();
  runnable *r = nullptr;
  if (rt.spin_ns != 0 && rt.idle.begin_search(w.id, rt.most_searchers)) {
    const std::uint64_t until = now_ns() + rt.spin_ns;
    int pauses = 1;
    do {
      for (int i = 0; i < k_looks_per_clock_read && !r; ++i) {
        r = look(w);
        for (int k = 0; k < pauses && !r; ++k)
          cpu_pause();
        pauses = std::min(2 * pauses, k_most_pauses);
      }
    } while (!r && !rt.stopping.load(std::memory_order_relaxed) && now_ns() < until);
  }
  if (!r)
    rt.idle.end_search(w.id);
  return r;
}

/// Of an idle worker: it waits for a while, then it asks whether there is anything to wait for, once.
enum class mood { patient, asks, settled };

/// When a sleeper looks again by itself; 0 for never.
std::int64_t next_look(const worker &w, mood m) noexcept {
  const settings &cfg = the_runtime().cfg;
  std::uint64_t later = 0;
  if (anyone_at(place::idle))
    later = poll_period_ns(the_runtime());
  else if (w.stand_in)
    later = k_linger_ns;
  else if (m == mood::patient && cfg.watch_hang != hang_kind::off)
    later = static_cast<std::uint64_t>(cfg.watch_patience.count()) * 1000u;
  return later ? static_cast<std::int64_t>(now_ns() + later) : 0;
}

struct slept {
  runnable *found = nullptr;
  bool in_vain = false; // for as long as it was willing to
};

/// Sleeps until there may be work. Whatever it finds after it has announced itself it returns.
slept sleep(worker &w, mood m) {
  runtime &rt = the_runtime();
  rt.idle.prepare(w.id);
  // Messages are not applied here: what they call may wait, and the worker has announced that it sleeps.
  runnable *const r = look_for_ready(w);
  if (r || rt.producers.holds_any() || (has_managers() && rt.manage.may_serve(w))) {
    rt.idle.cancel_and_hand_on(w.id);
    rt.gate.pass();
    return {r ? r : look(w)};
  }
  if (rt.stopping.load(std::memory_order_acquire)) { // O3: pairs with stop_runtime
    rt.idle.cancel(w.id);
    rt.gate.pass();
    return {};
  }
  if (m == mood::asks)
    rt.watch.examine_soon();
  else
    count(w.counts->slept);
  const bool traced = w.trace && traces(trace_level::runtime);
  if (traced)
    w.trace->ring.put(trace_event::sleep, 0, 0);
  const bool chosen = rt.idle.commit(w.id, next_look(w, m));
  rt.gate.pass();
  if (traced)
    w.trace->ring.put(trace_event::wake, 0, 0);
  return {look(w), !chosen && !anyone_at(place::idle)};
}

/// Null when the thread is to go on with its own stack: the runtime stops, or a spare is not needed.
runnable *wait_for_some(worker &w) {
  runtime &rt = the_runtime();
  for (mood m = mood::patient;;) {
    tidy(w);
    if (rt.producers.let_go())
      if (runnable *r = look(w))
        return r;
    if (runnable *r = spin(w))
      return r;
    if (rt.stopping.load(std::memory_order_acquire)) // O3
      return look(w);
    if (rt.producers.holds_any())
      continue;
    if (anyone_at(place::idle) && services(place::idle).poll(w))
      continue;
    const slept s = sleep(w, m);
    if (s.found)
      return s.found;
    if (s.in_vain && w.stand_in && rt.crew.leaves(*w.stand_in))
      return nullptr;
    if (m == mood::asks)
      m = mood::settled;
    else if (m == mood::patient && s.in_vain)
      m = mood::asks;
  }
}

runnable *wait_for_work(worker &w) {
  enter_idle(*w.counts, w.time);
  if (w.trace)
    w.trace->ring.put(trace_event::idle, 0, 0);
  runnable *r = wait_for_some(w);
  if (w.trace)
    w.trace->ring.put(trace_event::busy, 0, 0);
  leave_idle(*w.counts, w.time);
  return r;
}

/// Between tasks: services may take long.
WEFT_INLINE void offer_time_between(worker &w) {
  if (!anyone_at(place::scheduling_point)) [[likely]]
    return;
  tell_parent(w);
  offer_time(place::scheduling_point);
}

runnable *find_work(worker &w) {
  offer_time_between(w);
  if (runnable *r = look(w)) [[likely]]
    return r;
  if (w.counted != 0 && !mutant(bug::idle_worker_keeps_count)) { // the end of the last of them may be what the thread's own stack waits for
    tell_parent(w);
    if (runnable *f = own_frame(w))
      return f;
  }
  runnable *r = wait_for_work(w);
  the_runtime().idle.found(w.id); // the user's code may never come back: whatever else there is, somebody sees to it
  return r;
}

/// The common case of look(): the newest own task, unless something goes before it.
WEFT_INLINE runnable *next_own(worker &w) {
  work_deque<runnable *> *const deque = w.own.deque;
  if (!deque || w.own.urgent->load(std::memory_order_relaxed) != 0 || w.own_frame.full()) [[unlikely]]
    return nullptr;
  if (++w.own_in_a_row < k_own_in_a_row) [[likely]]
    return deque->pop();
  w.own_in_a_row = 0;
  offer_time_between(w);
  return take_shared_first(w);
}

WEFT_NOINLINE bool goes_first_of_all(worker &w, const runnable &r) {
  runtime &rt = the_runtime();
  if (rt.has_priorities.load(std::memory_order_relaxed) && rt.ready->outranks(r.priority))
    return false;
  const std::uint32_t odds = rt.successor_odds;
  if (odds == UINT32_MAX)
    return true;
  w.seed = w.seed * 1664525u + 1013904223u;
  return w.seed <= odds && odds != 0;
}

/// Whether an immediate successor is to be run at once by the worker that made it ready.
WEFT_INLINE bool goes_first(worker &w, const runnable &r) {
  if (w.own_frame.full()) [[unlikely]] // it would wait for the whole chain of successors
    return false;
  return the_runtime().plain_odds.load(std::memory_order_relaxed) == UINT32_MAX || goes_first_of_all(w, r);
}

template <class F>
runnable *timed(worker &w, const task &body, F run) noexcept {
  const timed_task t = begin_timed(*w.counts, w.time, {body.label, body.ops ? body.ops->closure : nullptr});
  runnable *next = run();
  worker &now = *this_worker_or_null(); // the thread may have changed
  end_timed(t, *now.counts, now.time);
  return next;
}

WEFT_COLD runnable *execute_round_timed(worker &w, runnable &r) noexcept {
  auto &node = static_cast<recorded_node &>(r);
  return timed(w, *node.body, [&] { return execute_recorded(w, node); });
}

/// Runs a task, and its immediate successors.
WEFT_INLINE void run_task(worker &w, runnable *r) {
  worker *here = &w;
  for (;;) {
    r = execute_counted(*here, *static_cast<task *>(r), false);
    if (!r)
      return;
    here = this_worker_or_null(); // the thread may have changed
    count(here->counts->successors);
    if (!goes_first(*here, *r)) [[unlikely]]
      return enqueue(here, *r, origin::fresh);
  }
}

WEFT_NOINLINE void run_confined(worker &w, runnable *r) { run_task(w, r); }

/// Runs a round of a recorded task, and those that follow from it. That may go on for very long: other work gets a look as well.
void run_recorded(worker &w, runnable *r) {
  worker *here = &w;
  for (;;) {
    count(here->counts->rounds);
    r = --here->time.until == 0 ? execute_round_timed(*here, *r) : execute_recorded(*here, *static_cast<recorded_node *>(r));
    if (!r)
      return;
    here = this_worker_or_null(); // the thread may have changed
    count(here->counts->successors);
    if (!goes_first(*here, *r)) [[unlikely]]
      return enqueue(here, *r, origin::fresh);
    if (++here->own_in_a_row < k_own_in_a_row) [[likely]]
      continue;
    here->own_in_a_row = 0;
    offer_time(place::scheduling_point);
    if (runnable *other = take_shared_first(*here)) {
      here->handoff = other;
      return enqueue(here, *r, origin::fresh);
    }
  }
}

/// The newest own task when it may run on a frame that waits for `l`.
WEFT_INLINE runnable *newest_of(worker &w, const lineage &l) {
  if (!w.own.deque || w.own.urgent->load(std::memory_order_relaxed) != 0) [[unlikely]]
    return the_runtime().ready->take_newest(w.id, l);
  return w.own.take_newest(l);
}

void run(worker &w, runnable *r) {
  if (r->what == runnable::kind::task) [[likely]]
    return run_task(w, r);
  tell_parent(w);
  switch (r->base()) {
  case runnable::kind::frame:
    leave_for_frame(*static_cast<frame *>(r));
  case runnable::kind::join:
    end_gap(*w.counts, w.time);
    run_join(*static_cast<detail::join_job *>(r));
    return begin_gap(this_worker_or_null()->time);
  case runnable::kind::recorded:
    return run_recorded(w, r);
  case runnable::kind::task:
    return run_confined(w, r);
  }
}

} // namespace

runnable *take_ready(worker &w) {
  runtime &rt = the_runtime();
  return rt.confined.any() ? take_of_both(w) : rt.ready->get(w.id);
}

void enqueue_elsewhere(worker *here, runnable &r, origin from) {
  if (r.confinement() != 0) [[unlikely]]
    return enqueue_confined(r);
  runtime &rt = the_runtime();
  rt.ready->add(&r, here ? here->id : k_outside, from);
  if (!mutant(bug::enqueue_wakes_nobody))
    rt.idle.notify_one();
}

void enqueue_confined(runnable &r) {
  const unsigned set = r.confinement();
  the_runtime().confined.add(r);
  wake_one_of(set);
}

void enqueue_job(worker &w, detail::join_job &job) {
  job.confine(job.parent->confinement());
  enqueue(&w, job, origin::fresh);
}

runnable *execute_timed(worker &w, task &t, bool in_place) noexcept {
  return timed(w, t, [&] { return in_place ? execute_in_place(w, t) : execute(w, t); });
}

void enqueue_ready(runnable &r) { enqueue(this_worker_or_null(), r, origin::fresh); }
void enqueue_resumed(executor *here, runnable &r) {
  if (r.base() == runnable::kind::frame)
    confine_frame(static_cast<frame &>(r));
  enqueue(static_cast<worker *>(here), r, origin::resumed);
}
void wake_for_message() noexcept {
  runtime &rt = the_runtime();
  if (!rt.manage.is_restricted())
    return static_cast<void>(rt.idle.notify_one());
  for (const unsigned id : rt.manage.chosen())
    if (rt.idle.notify_worker(id))
      return;
}

bool somebody_idles() noexcept {
  runtime &rt = the_runtime();
  return rt.idle.idle() != 0 || rt.idle.searching() != 0;
}

std::uint64_t tasks_begun() noexcept {
  runtime &rt = the_runtime();
  std::uint64_t n = 0;
  const unsigned used = rt.used_slots.load(std::memory_order_acquire); // O2
  for (unsigned id = 0; id < used; ++id)
    if (const worker *w = rt.slots[id].load(std::memory_order_acquire)) // O2
      n += peek(w->counts->executed);
  return n;
}

std::size_t ready_at(const executor &e) noexcept {
  const own_queue &own = static_cast<const worker &>(e).own;
  return own.deque ? own.deque->size() : ~std::size_t{0};
}
void wake(executor &home) {
  if (!the_runtime().idle.notify_worker(static_cast<worker &>(home).id) && overstayers_are_asked()) [[unlikely]]
    the_runtime().watch.look_soon(); // what runs there may have to be asked
}

void worker_loop() {
  for (;;) {
    worker &w = *this_worker_or_null();
    runnable *r = w.handoff;
    if (r) [[unlikely]]
      w.handoff = nullptr;
    else
      r = next_own(w);
    if (!r)
      r = find_work(w);
    if (r)
      run(w, r);
    else if (w.thread_frame)
      leave_for_frame(*w.thread_frame);
  }
}

/// For a frame that is being suspended: what its worker goes on with. Join jobs of the stack that is left go to everybody.
runnable *pick(executor &e) {
  worker &w = static_cast<worker &>(e);
  if (!mutant(bug::suspension_keeps_count))
    tell_parent_at_once(w);
  offer_time(place::scheduling_point);
  while (detail::join_job *job = w.joins.pop())
    enqueue_job(w, *job);
  if (runnable *kept = std::exchange(w.handoff, nullptr))
    enqueue(&w, *kept, origin::fresh);
  if (runnable *f = own_frame(w))
    return f;
  return take_ready(w);
}

bool help(const lineage &waited_for, const completion_word<> &word, const std::int32_t &owned) {
  worker *w = this_worker_or_null();
  // On a thread's own stack a child that waits could be continued by that thread only, which another task may block.
  if (home_of(*w) || stack_left(*w) < k_stack_reserve) [[unlikely]]
    return false;
  runnable *r = newest_of(*w, waited_for);
  if (!r)
    return false;
  do {
    r = execute_counted(*w, *static_cast<task *>(r), true);
    w = this_worker_or_null(); // the thread may have changed
    if (!r) {
      if (word.done(owned)) // what comes next in the queue is older than the wait
        break;
      r = newest_of(*w, waited_for);
    } else if (count(w->counts->successors); !goes_first(*w, *r) || !waited_for.includes(*r)) [[unlikely]] {
      enqueue(w, *r, origin::fresh);
      break;
    }
  } while (r);
  end_gap(*w->counts, w->time);
  return true;
}

void get_by() {
  worker &w = *this_worker_or_null();
  runnable *r = nullptr;
  if (!w.in_callback && stack_left(w) >= k_stack_reserve) {
    r = take_ready(w);
    if (!r)
      r = steal_join(w);
  }
  if (!r)
    return has_managers() && apply_messages(w, place::idle) ? void() : os_yield();
  task *const waiting = w.current;
  switch (r->base()) {
  case runnable::kind::frame: // the next attempt to suspend finds it
    enqueue(&w, *r, origin::resumed);
    return os_yield();
  case runnable::kind::join:
    run_join(*static_cast<detail::join_job *>(r));
    break;
  case runnable::kind::recorded:
    count(w.counts->rounds);
    if (runnable *successor = execute_recorded_in_place(w, *static_cast<recorded_node *>(r)))
      enqueue(this_worker_or_null(), *successor, origin::fresh);
    break;
  case runnable::kind::task:
    if (runnable *successor = execute_counted(w, *static_cast<task *>(r), true))
      enqueue(this_worker_or_null(), *successor, origin::fresh);
    break;
  }
  this_worker_or_null()->current = waiting;
}

void run_join(detail::join_job &job) {
  task branch("join branch", job.parent);
  branch.confine(job.parent->confinement());
  branch.done_word.store(&job, std::memory_order_relaxed); // for reports: whose end it is
  worker &w = *this_worker_or_null();
  w.current = &branch;
  const std::uint32_t outer = w.trace ? trace_branch_begins(*w.trace, branch) : 0;
  try {
    job.invoke(&job);
  } catch (...) {
    job.error = std::current_exception();
  }
  try {
    wait_for_children(branch, exhausted::goes_on);
    rethrow_children_error(branch);
  } catch (...) {
    if (!job.error)
      job.error = std::current_exception();
  }
  if (tracer *x = this_worker_or_null()->trace)
    trace_branch_ends(*x, branch.trace_id, outer);
  give_back_copies_of_branch(branch);
  ready_list none;
  release_accesses(branch, none);
  delete branch.extra.load(std::memory_order_relaxed);
  this_worker_or_null()->current = nullptr;
  void *waiter = raise_signal(job.state, k_done); // the last touch of the job
  if (waiter && !mutant(bug::join_done_missed))
    make_ready(*static_cast<frame *>(waiter));
}

} // namespace rt
} // namespace weft::inline v0
