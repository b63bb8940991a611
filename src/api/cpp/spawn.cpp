// SPDX-License-Identifier: Apache-2.0
#include "api/cpp/regions.hpp"
#include "base/error.hpp"
#include "deps/access.hpp"
#include "deps/messages.hpp"
#include "iter/iteration.hpp"
#include "task/parent_process.hpp"
#include "task/ready.hpp"
#include "task/recorded.hpp"
#include "task/signal_word.hpp"
#include "task/spawn_site.hpp"
#include "task/tracing.hpp"
#include "worker/runtime.hpp"

#include <algorithm>
#include <new>

namespace weft::inline v0 {
namespace {

using namespace rt;

/// Refuses a group after fork(): the group is open in the parent process, whose tasks bring it to
/// an end.
[[noreturn]] WEFT_COLD void refuse_group_of_parent_process(task &t) {
  if (t.ops->destroy)
    t.ops->destroy(detail::storage(&t));
  detail::task_abandon(&t);
  throw_error(
      errc::invalid_argument,
      "a task is spawned into a group that was made before fork(): its tasks belong to the parent process; make a group in the child");
}

/// Counts a child in the word that its waiter reads. Throws weft::error, and the task is gone, when
/// that is not possible.
WEFT_INLINE void count_child(task &t, task &parent) {
  if (!t.group) {
    ++parent.owned_children;
    return;
  }
  group_state &g = t.group->internals();
  if (g.owner == &parent) {
    ++g.owned;
  } else { // not the owner: the task's own parent has to outlive the task as well
    if (g.owner->label == k_parent_process) [[unlikely]]
      refuse_group_of_parent_process(t);
    g.word.add_by_non_owner();
    ++parent.owned_children;
  }
}

void uncount_child(task &t, task &parent) noexcept {
  group_state *g = t.group ? &t.group->internals() : nullptr;
  if (g && g->owner == &parent) {
    --g->owned;
    return;
  }
  if (g)
    g->word.add_by_non_owner(-1);
  --parent.owned_children;
}

void put_options(task &t, const detail::spawn_options &o) {
  t.label = o.label;
  t.priority = static_cast<std::int16_t>(std::clamp(o.priority, -32768, 32767));
  t.set(o.flags);
  if (o.flags & detail::k_tracked)
    t.references.store(2, std::memory_order_relaxed); // O1: no other thread knows the task yet
  if (t.priority < 0)
    t.set(detail::k_special); // the task is never an immediate successor
  else if (t.priority > 0)
    expect_priorities();
  if (!o.onready && !o.stack_bytes && !o.cost)
    return;
  if (o.stack_bytes > (std::size_t{1} << 40))
    throw_error(errc::invalid_argument,
                "stack_bytes(%zu) is more than any machine has; give the number of bytes",
                o.stack_bytes);
  task_extra &x = extra_of(t);
  x.onready = o.onready;
  x.onready_context = o.onready_context;
  x.stack_bytes = o.stack_bytes;
  x.cost = o.cost;
  if (o.cost)
    count(this_worker().counts->cost, o.cost);
  if (o.onready || o.stack_bytes)
    t.set(detail::k_special);
}

/// Runs the task on the creator's own stack.
void run_here(task &t) {
  worker &w = *this_worker_or_null();
  count(w.counts->successors); // the task was in no queue
  if (runnable *successor = execute_counted(w, t, body_on::frame))
    enqueue(this_worker_or_null(), *successor, origin::fresh);
}

/// Runs a child of a final task. Its accesses are not entered, so its creator waits until the task
/// would have released them.
void run_in_final(task &t) {
  t.set(detail::k_final);
  t.set(detail::k_undeferred); // its end signals the creator
  t.references.store(t.references.load(std::memory_order_relaxed) + 1,
                     std::memory_order_relaxed); // O1: not shared yet
  call_onready(t);
  run_here(t);
  wait_until_done(t, exhausted::goes_on);
  drop_references(t, 1);
}

void run_undeferred(task &t, bool ready) {
  // ready: onready is still to be called; otherwise the thread that made the task ready has called
  // it
  if (ready) {
    t.done_word.store(k_runnable_now, std::memory_order_relaxed); // O2: not shared yet
    call_onready(t);
    t.done_word.store(nullptr, std::memory_order_relaxed); // O2
  } else {
    wait_until_runnable(t);
  }
  run_here(t);
}

} // namespace

namespace detail {

namespace {

/// Creates a task whose memory does not come from a free list of the calling worker, or that a
/// trace or the spawn sites record.
WEFT_NOINLINE task *task_create_general(const body_ops &ops, std::size_t accesses,
                                        task_group *group) {
  worker &w = this_worker();
  void *block = w.memory->allocate(task::block_bytes(ops, accesses));
  if (!block)
    throw_error(errc::out_of_resources,
                "no memory for a task; spawn fewer at a time or lower throttle.bytes");
  task *const t = ::new (block) task(ops, w.current, group);
  if (w.trace && traces(trace_level::tasks)) [[unlikely]]
    trace_birth(*w.trace, *t);
  if (notes_spawn_sites()) [[unlikely]]
    note_spawn_site(*t);
  return t;
}

WEFT_COLD void destroy_closure(task *t) noexcept {
  if (t->ops->destroy)
    t->ops->destroy(storage(t));
  task_abandon(t);
}

WEFT_COLD void give_up(task *t, task &parent) noexcept {
  trace_abandoned(*t);
  uncount_child(*t, parent);
  destroy_closure(t);
}

/// Records a child of a taskiter: keeps it for later rounds, or refuses it.
WEFT_COLD void record(task *t, iteration &i, const access *first, std::size_t first_count,
                      const access *second, std::size_t second_count,
                      const checked_regions *regions) {
  try {
    i.record(*t, first, first_count, second, second_count, regions ? regions->data() : nullptr,
             regions ? regions->size() : 0);
  } catch (const std::bad_alloc &) {
    destroy_closure(t);
    throw_error(errc::out_of_resources, "no memory for the accesses of a task; name fewer of them");
  } catch (...) {
    destroy_closure(t);
    throw;
  }
}

void count_accesses(counter_block &c, std::size_t accesses, bool ready) noexcept {
  count(accesses == 0 ? c.without_accesses : ready ? c.free_at_once : c.waited);
  if (accesses > 1)
    count(c.more_accesses, accesses - 1);
}

WEFT_NOINLINE void trace_submission(task *t, const access *first, std::size_t first_count,
                                    const access *second, std::size_t second_count,
                                    const checked_regions *regions) noexcept {
  const bool recorded = t->parent->has(k_final) && iteration_of(*t->parent);
  trace_creation(*this_worker_or_null()->trace, *t,
                 {first, first_count, second, second_count, regions ? regions->data() : nullptr,
                  regions ? regions->size() : 0},
                 recorded);
}

/// Submits a task in every way but the common one.
WEFT_NOINLINE void submit_general(task *t, const access *first, std::size_t first_count,
                                  const access *second, std::size_t second_count,
                                  const checked_regions *regions = nullptr) {
  worker &w = *this_worker_or_null();
  task &parent = *t->parent;
  if (parent.confinement() != 0) [[unlikely]]
    t->confine(parent.confinement());
  if (w.trace && t->has(k_special)) [[unlikely]] // otherwise the trace has it already
    trace_submission(t, first, first_count, second, second_count, regions);
  if (parent.has(k_final))
    if (iteration *i = iteration_of(parent))
      return record(t, *i, first, first_count, second, second_count, regions);
  count_child(*t, parent);
  if (parent.has(k_final)) {
    count(w.counts->without_accesses);
    return run_in_final(*t);
  }
  const bool undeferred = t->has(k_undeferred);
  bool ready = true;
  try {
    if (regions)
      ready = enter_regions(*t, first, first_count, second, second_count, regions->data(),
                            regions->size());
    else
      ready = first_count + second_count == 0 ||
              enter_accesses(*t, first, first_count, second, second_count);
  } catch (const std::bad_alloc &) {
    give_up(t, parent);
    throw_error(errc::out_of_resources, "no memory for the accesses of a task; name fewer of them");
  } catch (...) { // an invalid access
    give_up(t, parent);
    throw;
  }
  count_accesses(*w.counts, first_count + second_count + (regions ? regions->size() : 0), ready);
  if (undeferred)
    return run_undeferred(*t, ready && take_exclusions(*t));
  if (ready && announce_ready(*t))
    enqueue(&w, *t, origin::fresh);
  if (the_runtime().producers.over()) [[unlikely]]
    the_runtime().producers.hold_back(w);
}

/// Returns whether nothing but a trace asks for the slow way; then the trace has recorded the
/// creation.
WEFT_INLINE bool is_traced_in_passing(task &t, const access *only) noexcept {
  tracer *const x = this_worker_or_null()->trace;
  return x && trace_common_creation(*x, t, only);
}

WEFT_NOINLINE void submit_no_access_general(task *t) {
  if (is_traced_in_passing(*t, nullptr))
    return task_submit(t);
  submit_general(t, nullptr, 0, nullptr, 0);
}

/// Returns whether nothing about the task or its parent asks for more than the common way.
WEFT_INLINE bool is_common(const task &t, const task &parent) noexcept {
  return t.is_plain(k_special | k_undeferred) && !parent.children_need_general_path();
}

WEFT_INLINE void count_spawn(worker &w, task &t, task &parent) {
  count_child(t, parent);
  count(w.counts->without_accesses);
}

/// Does the rare work after a spawn: wakes a worker, or holds the producer back.
WEFT_NOINLINE void after_spawn() {
  runtime &rt = the_runtime();
  unless(bug::enqueue_wakes_nobody, [&] { rt.idle.notify_one(); });
  if (rt.producers.over())
    rt.producers.hold_back(*this_worker_or_null());
}

WEFT_NOINLINE void offer_general(task *t) {
  enqueue(this_worker_or_null(), *t, origin::fresh);
  after_spawn();
}

/// Ends a common spawn. All calls here, and in the functions that end with this one, are tail
/// calls: no stack frame is needed.
WEFT_INLINE void end_spawn() {
  runtime &rt = the_runtime();
  if (rt.idle.has_sleepers() || rt.producers.over()) [[unlikely]]
    after_spawn();
}

WEFT_NOINLINE void hold_back() { the_runtime().producers.hold_back(*this_worker_or_null()); }

/// Ends the spawn of a task that waits: no worker is woken for the task.
WEFT_INLINE void end_waiting_spawn() {
  if (the_runtime().producers.over()) [[unlikely]]
    hold_back();
}

/// Gives a task without priority to the worker's queue.
WEFT_INLINE void offer(worker &w, task *t) {
  if (!w.own.deque || !w.own.deque->try_push(t)) [[unlikely]]
    return offer_general(t);
  end_spawn();
}

/// Offers a task that nothing holds; `before` is no longer referred to.
WEFT_NOINLINE void offer_after(task *t, task *before) {
  if (before)
    drop_references(*before, 1);
  offer(*this_worker_or_null(), t);
}

WEFT_NOINLINE void submit_one_access_general(task *t, const access &only);

/// Asks a cohort that was not known to be open to admit the task.
WEFT_NOINLINE void ask_for_admission(task *t, data_access &a, cohort &c) {
  if (c.members.admit_slow(a)) {
    a.flags.store(k_next_known | k_both_ok, std::memory_order_relaxed); // O4 of access_state.hpp
    if (announce_ready(*t))
      return offer(*this_worker_or_null(), t);
  }
  end_waiting_spawn();
}

WEFT_NOINLINE void take_turn(task *t) {
  if (take_exclusions(*t))
    offer(*this_worker_or_null(), t);
  else
    end_waiting_spawn();
}

/// Submits a common task whose access is not common: the access may be common among accesses that
/// share.
WEFT_NOINLINE void submit_sharing(task *t, const access &only) {
  task &parent = *t->parent;
  const auto [c, address] = cohort_for_common(parent, only);
  if (!c) [[unlikely]]
    return submit_one_access_general(t, only);
  worker &w = *this_worker_or_null();
  count_child(*t, parent);
  data_access &a = join_open_cohort(*t, *c, address);
  if (!c->members.admit_if_seen_open()) [[unlikely]] {
    count(w.counts->waited);
    return ask_for_admission(t, a, *c);
  }
  count(w.counts->free_at_once);
  a.flags.store(k_next_known | k_both_ok, std::memory_order_relaxed); // O4 of access_state.hpp
  if (c->how == sharing::commutative)
    return take_turn(t);
  offer(w, t);
}

WEFT_NOINLINE void continue_submitting(task *t, data_access *behind, task *before,
                                       std::uint32_t link) {
  if (continue_entering(*t, *behind, *before, link))
    offer(*this_worker_or_null(), t);
  else
    end_waiting_spawn();
}

WEFT_INLINE void submit_one_access(task *t, const access &only, data_access *&last) {
  counter_block &counts = *this_worker_or_null()->counts;
  count_child(*t, *t->parent);
  const auto [behind, before, link] = enter_common(*t, only, last);
  if (!behind) {
    count(counts.free_at_once);
    return offer_after(t, before);
  }
  count(counts.waited);
  if (link) [[unlikely]]
    return continue_submitting(t, behind, before, link);
  end_waiting_spawn();
}

void submit_one_access_general(task *t, const access &only) {
  if (is_traced_in_passing(*t, &only))
    return task_submit(t, only);
  task &parent = *t->parent;
  if (sends_messages() &&
      is_common(*t, parent)) // the common way is closed only to threads that post
    if (data_access **const last =
            slot_for_common(parent, only, mailbox::needs_general_path_without_messages()))
      if (acts_locally(*this_thread_context()))
        return submit_one_access(t, only, *last);
  submit_general(t, &only, 1, nullptr, 0);
}

} // namespace

void refuse_accesses(std::size_t count) {
  throw_error(errc::invalid_argument,
              "a list of %zu accesses is longer than any task's; a task has at most 2^31 - 1",
              count);
}

task *task_create(const body_ops &ops, std::size_t accesses, task_group *group) {
  thread_context *e = this_thread_context();
  void *block = e ? e->memory->allocate_fast(task::block_bytes(ops, accesses)) : nullptr;
  if (!block) [[unlikely]]
    return task_create_general(ops, accesses, group); // a tail call: the other way needs no stack
  return ::new (block) task(ops, e->current, group);
}

task *task_create_with(const body_ops &ops, std::size_t accesses, const spawn_options &options) {
  task *t = task_create(ops, accesses, options.group);
  try {
    put_options(*t, options);
  } catch (...) {
    task_abandon(t);
    throw;
  }
  return t;
}

void task_abandon(task *t) noexcept {
  delete t->extra.load(std::memory_order_relaxed);
  heap::deallocate(t, own_heap());
}

void task_submit(task *t) {
  worker &w = *this_worker_or_null();
  task &parent = *t->parent;
  if (!is_common(*t, parent)) [[unlikely]]
    return submit_no_access_general(t);
  count_spawn(w, *t, parent);
  offer(w, t);
}

void task_submit(task *t, const access &only) {
  task &parent = *t->parent;
  if (!is_common(*t, parent)) [[unlikely]]
    return submit_one_access_general(t, only);
  data_access **const last = slot_for_common(parent, only);
  if (!last) [[unlikely]]
    return submit_sharing(t, only);
  submit_one_access(t, only, *last);
}

void task_submit(task *t, const access *first, std::size_t first_count, const access *second,
                 std::size_t second_count) {
  submit_general(t, first, first_count, second, second_count);
}

namespace {

/// Makes the children of the task's parent order regions from now on, unless they run in place or
/// are recorded.
void order_regions(const task &t) {
  task &parent = *t.parent;
  if (parent.has(k_final) || orders_regions(parent))
    return;
  apply_registrations_below(parent);
  switch_to_regions(parent);
}

/// Submits, in the common way, a task that names one run of bytes; its parent orders regions.
WEFT_INLINE void submit_run(task *t, const region_run &run) {
  worker &w = *this_worker_or_null();
  task &parent = *t->parent;
  count_spawn(w, *t, parent);
  bool ready = false;
  try {
    ready = enter_run(*t, run);
  } catch (const std::bad_alloc &) {
    give_up(t, parent);
    throw_error(errc::out_of_resources, "no memory for the accesses of a task; name fewer of them");
  }
  if (ready)
    offer(w, t);
  else
    end_waiting_spawn();
}

WEFT_NOINLINE void submit_regions_general(task *t, const submission &s) {
  bool submitted = false;
  try {
    const checked_regions regions(s, label_of(*t));
    order_regions(*t);
    submitted = true;
    submit_general(t, s.named, s.named_count, s.list, s.list_count, &regions);
  } catch (const std::bad_alloc &) { // before the submission
    destroy_closure(t);
    throw_error(errc::out_of_resources, "no memory for the accesses of a task; name fewer of them");
  } catch (...) {
    if (!submitted)
      destroy_closure(t);
    throw;
  }
}

} // namespace

void task_submit_regions(task *t, const submission &s) {
  region_run run{};
  const domain *const d = t->parent->children_domain;
  const bool is_only =
      s.named_region_count == 1 && (s.named_count | s.list_count | s.region_list_count) == 0;
  if (!is_only || mailbox::checks() || !is_common(*t, *t->parent) || !d || !d->regional() ||
      !is_one_run(s.named_regions->part, run.low, run.end)) [[unlikely]]
    return submit_regions_general(t, s);
  run.mode = s.named_regions->mode;
  submit_run(t, run);
}

void task_wait_done(task *t) {
  if (!t)
    throw_error(errc::invalid_argument,
                "a handle without a task is waited for; it was moved from, or get() was called");
  this_worker();
  wait_until_done(*t);
  end_cohorts(*this_worker_or_null()->current);
}

bool task_is_done(const task *t) noexcept { return t && is_raised(t->done_word, k_done); }

std::exception_ptr task_take_exception(task *t) noexcept {
  task_extra *x = peek_extra(*t);
  return x ? std::exchange(x->own_error, nullptr) : nullptr;
}

void task_drop_handle(task *t) noexcept { drop_references(*t, 1); }

} // namespace detail
} // namespace weft::inline v0
