// SPDX-License-Identifier: Apache-2.0
// What layers need: lightweight threads, which are not tasks, and tasks that the layer runs by
// itself.
#include "api/cpp/regions.hpp"
#include "api/layer/external_body.hpp"
#include "base/clock.hpp"
#include "base/error.hpp"
#include "deps/access.hpp"
#include "deps/messages.hpp"
#include "deps/regions/region_scope.hpp"
#include "deps/registration.hpp"
#include "monitor/suspend_word.hpp"
#include "os/program_mask.hpp"
#include "os/thread_state.hpp"
#include "task/complete.hpp"
#include "task/tracing.hpp"
#include "topo/machine.hpp"
#include "ult/light_thread.hpp"
#include "ult/suspension_check.hpp"
#include "worker/last_thread.hpp"
#include "worker/phase.hpp"
#include "worker/runtime.hpp"

#include <weft/layer/environment.hpp>
#include <weft/layer/external_task.hpp>
#include <weft/layer/external_thread.hpp>
#include <weft/layer/function.hpp>
#include <weft/layer/own_thread.hpp>
#include <weft/layer/pool_thread.hpp>
#include <weft/layer/signal_mask.hpp>
#include <weft/layer/task_source.hpp>
#include <weft/layer/thread.hpp>
#include <weft/task.hpp>

#include <algorithm>
#include <atomic>
#include <new>

namespace weft::inline v0 {

using namespace rt;

namespace layer {

void start_thread(std::size_t bytes, void (*body)(void *), void *argument, client runs) {
  worker &w = this_worker();
  enqueue(&w, make_light_thread(bytes, body, argument, runs), origin::fresh);
  if (runtime &rt = the_runtime();
      runs != client::weft && !rt.serves_others.load(std::memory_order_relaxed)) // a hint
    rt.watch.look_soon(); // it samples from then on
}

client set_client(client runs) noexcept {
  const thread_context *const e = this_thread_context();
  if (!e || !e->pool_stack)
    return client::weft;
  stack &s = *e->pool_stack;
  const auto before = static_cast<client>(s.client.load(std::memory_order_relaxed));
  s.client.store(static_cast<std::uint8_t>(runs), std::memory_order_relaxed); // a sample
  return before;
}

namespace {

struct departure {
  void (*left)(detail::runnable &, void *);
  void *context;
};

void depart(thread_context &, frame &suspended, void *p) {
  const departure d = *static_cast<departure *>(p); // on the stack that may go on at once
  d.left(suspended, d.context);
}

} // namespace

void park(void (*left)(detail::runnable &, void *), void *context) {
  this_worker();
  departure d{left, context};
  suspend(&depart, &d);
}

void park_blocked(void (*left)(detail::runnable &, void *), void *context) {
  this_worker();
  departure d{left, context};
  suspend(&depart, &d, {waits_for::unblock, nullptr});
}

bool park_if_runnable(void (*left)(detail::runnable &, void *), void *context) {
  const worker &w = this_worker();
  const bool has_others =
      w.own_frame.full() || (w.own.deque ? !w.own.deque->empty() : the_runtime().ready->has_work());
  if (has_others)
    park(left, context);
  return has_others;
}

bool work_is_ready() noexcept {
  const worker *const w = this_worker_or_null();
  if (!w)
    return false;
  const runtime &rt = the_runtime();
  if (w->own_frame.full() || rt.confined.length() != 0)
    return true;
  return w->own.deque ? !w->own.deque->empty() || rt.ready->length(k_outside) != 0
                      : rt.ready->has_work();
}

void unpark(detail::runnable &parked) { make_ready(static_cast<frame &>(parked)); }

void yield_now() { taskyield(); }
void yield_to_pinned() {
  if (this_worker()
          .own_frame
          .full()) // that frame goes first; the caller stays on this kernel thread, where no other thread takes it
    park([](detail::runnable &self, void *) { unpark(self); }, nullptr);
}
void outlive_exit(bool (*threads_compute)()) noexcept { rt::outlive_exit(threads_compute); }
void call_at_suspensions(const suspension_calls &calls) noexcept { rt::call_at_suspensions(calls); }
void park_on_carriers(const carrier_calls &calls) noexcept { set_carrier(calls); }
void on_preempt(bool (*ask)(int tid)) { set_preempt(ask); }

void add_external_thread(external_thread &thread) noexcept { known_external_threads().add(thread); }
/// Suspends the longer, the more threads are suspended: together they get as much of the cpus as
/// one thread.
bool suspend_if_asked(external_thread &thread, std::uint64_t ns) noexcept {
  constexpr std::uint64_t k_longest_ns = 200'000'000;
  const unsigned n = suspended_external_threads().fetch_add(1, std::memory_order_relaxed) + 1;
  const bool asked = suspend_word<>::suspend(
      thread.suspend_request, static_cast<std::int64_t>(now_ns() + std::min(ns * n, k_longest_ns)));
  suspended_external_threads().fetch_sub(1, std::memory_order_relaxed);
  return asked;
}

void add_pool_thread(pool_thread &other) noexcept {
  known_pool_threads().add(other);
  if (is_started())
    the_runtime().watch.pool_threads_have_changed();
}
void pool_thread_waits(pool_thread &other) noexcept {
  other.waits.store(1, std::memory_order_relaxed); // a hint for the watcher
  if (is_started() && the_runtime().room.stepped_back() != 0)
    the_runtime().watch.pool_threads_have_changed();
}
void pool_thread_runs(pool_thread &other) noexcept {
  other.waits.store(0, std::memory_order_relaxed); // a hint for the watcher
  if (is_started())
    the_runtime().watch.pool_threads_have_changed();
}
bool makes_own_thread() noexcept { return rt::makes_own_thread(); }

int start_own_thread(const char *name, void (*run)(void *), void *argument) noexcept {
  return start_layer_thread(name, run, argument);
}

bool program_mask(sigset_t &mask) noexcept { return rt::program_mask(mask); }
void ask_for_masks(bool (*answer)(sigset_t &mask) noexcept) noexcept { rt::ask_for_masks(answer); }

namespace {

extern "C" [[gnu::weak]] void weft_attach_pool_threads(const pool_thread_calls *calls) noexcept;

/// Shows itself to the library that knows the program's threads, if that is preloaded.
[[gnu::constructor]] void attach_to_pools() {
  static constexpr pool_thread_calls calls{k_pool_thread_version, &add_pool_thread,
                                           &pool_thread_waits, &pool_thread_runs,
                                           &layer::makes_own_thread, &layer::program_mask};
  if (&weft_attach_pool_threads != nullptr)
    weft_attach_pool_threads(&calls);
}

} // namespace

unsigned workers() {
  this_worker();
  return the_runtime().workers;
}

worker_use use_of_workers() noexcept {
  if (!is_started())
    return {};
  const runtime &rt = the_runtime();
  worker_use use{rt.workers, 0, rt.ready->length(k_outside) + rt.confined.length()};
  const unsigned used = rt.used_slots.load(std::memory_order_acquire); // O2 of search.cpp
  for (unsigned id = 0; id < used; ++id) {
    if (!rt.slots[id].load(std::memory_order_acquire)) // O2 of search.cpp
      continue;
    use.idle += id < rt.workers && rt.idle.announced(id);
    use.ready += rt.ready->length(id);
  }
  return use;
}

stack_range own_stack() noexcept {
  if (g_phase.load(std::memory_order_relaxed) == phase::forked_in_task)
    return {nullptr, 0}; // Weft is not used any more, and handlers of fork() ask
  thread_context *e = this_thread_context();
  if (!e || !e->pool_stack)
    return {nullptr, 0};
  return {e->pool_stack->low, e->pool_stack->bytes};
}

bool has_gone_to_sleep(int tid) noexcept { return thread_waits_or_is_gone(tid); }

int effective_cpus() noexcept { return this_machine().effective_cpus(); }

namespace {

constinit std::atomic<task_source *> g_source{nullptr};

} // namespace

// O1: release and acquire, with each other: the caller of offered_tasks() sees what was written
// before the source was offered.
void offer_tasks(task_source &source) noexcept {
  g_source.store(&source, std::memory_order_release);
} // O1
task_source *offered_tasks() noexcept { return g_source.load(std::memory_order_acquire); } // O1

// ---- tasks without a body --------------------------------------------------------------------------------------------

namespace {

/// Returns the parent of the tasks that have no other parent. No task waits for its children.
task &root_of_external() {
  static task root("layer");
  return root;
}

WEFT_INLINE task *make_external(worker &w, task &parent, std::size_t accesses,
                                const detail::external_closure &closure) {
  void *block = w.memory->allocate(task::block_bytes(detail::k_external, accesses));
  if (!block)
    throw_error(errc::out_of_resources,
                "no memory for a task; spawn fewer at a time or lower throttle.bytes");
  task *t = ::new (block) task(detail::k_external, &parent, nullptr);
  ::new (detail::storage(t)) detail::external_closure(closure);
  t->trace_id = 0; // no trace records the task
  t->set(detail::k_special); // the task is announced, and enters no queue
  return t;
}

/// Makes a task without accesses: nothing holds it.
WEFT_NOINLINE task *make_held_by_nobody(worker &w) {
  task &root = root_of_external();
  task *const t = make_external(w, root, 0, {nullptr, nullptr});
  root.children.add_by_non_owner();
  return t;
}

/// Returns whether the task may run now. Otherwise it may have been announced meanwhile, and be
/// gone.
bool enter(task &t, const access *list, std::size_t count) {
  ++t.parent->owned_children;
  if (count == 1)
    if (data_access **last = slot_for_common(*t.parent, *list)) {
      const auto [behind, before, link] = enter_common(t, *list, *last);
      if (behind)
        return link && continue_entering(t, *behind, *before, link);
      if (before)
        drop_references(*before, 1);
      return true;
    }
  return (count == 0 || enter_accesses(t, list, count, nullptr, 0)) &&
         (!shares(t) || take_exclusions(t));
}

} // namespace

namespace {

/// Records the creation, before the task can run.
void trace_creation_of(task &t, noted_creation &noted, const checked_regions &named) {
  tracer *const x = noted.log ? noted.log->trace : nullptr;
  if (!x || !traces(trace_level::tasks))
    return;
  t.parent->trace_id = x->ring.running;
  t.trace_id = noted.number =
      trace_external_creation(*x, noted.what.label(noted.what.task), noted.what.group,
                              named.data(), named.size());
  note_spawn_site(*x, noted.what);
}

void count_creation(counter_block &counts, std::size_t accesses, bool ready) noexcept {
  count(ready ? counts.free_at_once : counts.waited);
  if (accesses > 1)
    count(counts.more_accesses, accesses - 1);
}

} // namespace

bool enter_external_task(external_task *parent, const access *list, std::size_t count,
                         void (*onready)(void *), void *context, external_task **self) {
  worker &w = this_worker();
  if (!parent) {
    *self = make_held_by_nobody(w);
    return true;
  }
  task *const t = make_external(w, *parent, count, {onready, context});
  *self = t;
  try {
    return enter(*t, list, count);
  } catch (const std::bad_alloc &) {
    throw_error(errc::out_of_resources, "no memory for the accesses of a task; name fewer of them");
  }
}

bool enter_external_regions(external_task &parent, const region_access *list, std::size_t count,
                            const char *label, void (*onready)(void *), void *context,
                            external_task **self, noted_creation *noted) {
  worker &w = this_worker();
  if (parent.children_domain && !orders_regions(parent))
    throw_error(errc::invalid_argument,
                "task '%s' names regions, and its siblings have named objects; name regions in all",
                label);
  detail::submission submitted;
  submitted.region_list = list;
  submitted.region_list_count = count;
  const checked_regions checked(submitted, label);
  task *const t = make_external(w, parent, 0, {onready, context});
  t->label = label;
  ++parent.owned_children;
  *self = t;
  if (noted)
    trace_creation_of(*t, *noted, checked);
  try {
    const bool ready = enter_regions(*t, nullptr, 0, nullptr, 0, checked.data(), checked.size());
    if (noted && noted->log)
      count_creation(*noted->log->counts, checked.size(), ready);
    return ready;
  } catch (...) {
    if (noted && noted->number)
      noted->log->trace->ring.put(trace_event::abandon, 0, noted->number);
    --parent.owned_children;
    detail::task_abandon(t);
    try {
      throw;
    } catch (const std::bad_alloc &) {
      throw_error(errc::out_of_resources,
                  "no memory for the accesses of a task; name fewer of them");
    }
  }
}

void visit_addresses(external_task &parent, void (*visit)(void *context, const void *address),
                     void *context) {
  apply_registrations_below(parent);
  domain *const d = parent.children_domain;
  if (!d)
    return;
  const auto tell = [&](const void *address) { visit(context, address); };
  if (!d->regional())
    return d->for_each_address(tell);
  auto &regions = static_cast<region_scope &>(*d);
  const tree_guard guard(regions.tree());
  regions.for_each_begin(tell);
}

void end_external_task(external_task &task, void (*ready)(void *, void *), void *receiver) {
  rt::end_external_task(task, ready, receiver);
}

} // namespace layer
} // namespace weft::inline v0
