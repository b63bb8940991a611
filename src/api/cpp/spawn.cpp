// SPDX-License-Identifier: Apache-2.0
// Creates tasks and submits them. The first row that applies says which path a task takes:
//
//   case                                                          path
//   its parent records a taskiter                                 submit_general, record_child
//   its parent is final                                           submit_general, run_in_final
//   it, or its parent, is not is_fast(), and not for a trace only submit_general
//   no access                                                     submit_without_access
//   one access in a chain, to an address that is known            submit_one_access
//   the same, while other workers post dependency work            submit_one_access_general
//   one access that shares, with a cohort that takes it           submit_sharing
//   one region, of one run of bytes, where regions are ordered    submit_one_run
//   anything else                                                 submit_general
//
// The entry points test for the common rows first. A path X tests what it needs; X_general is what
// it leaves to a call that is rarely made. Where only a trace asks for the general path, the trace
// records the creation, and the task starts anew on its own path.
#include "api/cpp/regions.hpp"
#include "base/error.hpp"
#include "deps/access.hpp"
#include "deps/messages.hpp"
#include "deps/regions/regions.hpp"
#include "deps/registration.hpp"
#include "deps/sharing/cohort.hpp"
#include "iter/iteration.hpp"
#include "task/parent_process.hpp"
#include "task/ready.hpp"
#include "task/recorded.hpp"
#include "task/spawn_site.hpp"
#include "task/tracing.hpp"
#include "task/wait/claim_word.hpp"
#include "task/wait/hold.hpp"
#include "task/wait/signal_word.hpp"
#include "worker/runtime.hpp"

#include <algorithm>
#include <new>

namespace weft::inline v0 {
namespace {

using namespace rt;

/// Refuses a group after fork(): the group is open in the parent process, whose tasks bring it to
/// an end.
[[noreturn]] WEFT_COLD void refuse_group_of_parent_process(task &self) {
  if (self.ops->destroy)
    self.ops->destroy(detail::storage(&self));
  detail::task_abandon(&self);
  throw_error(
      errc::invalid_argument,
      "a task is spawned into a group that was made before fork(): its tasks belong to the parent process; make a group in the child");
}

/// Counts a child in the word that its waiter reads. Throws weft::error, and the task is gone, when
/// that is not possible.
WEFT_INLINE void count_child(task &self, task &parent) {
  if (!self.group) {
    ++parent.owned_children;
    return;
  }
  group_state &group = self.group->internals();
  if (group.owner == &parent) {
    ++group.owned;
  } else { // not the owner: the task's own parent has to outlive the task as well
    if (group.owner->label == k_parent_process) [[unlikely]]
      refuse_group_of_parent_process(self);
    group.word.add_by_non_owner();
    ++parent.owned_children;
  }
}

void uncount_child(task &self, task &parent) noexcept {
  group_state *group = self.group ? &self.group->internals() : nullptr;
  if (group && group->owner == &parent) {
    --group->owned;
    return;
  }
  if (group)
    group->word.add_by_non_owner(-1);
  --parent.owned_children;
}

void put_options(task &self, const detail::spawn_options &options) {
  self.label = options.label;
  self.priority = static_cast<std::int16_t>(std::clamp(options.priority, -32768, 32767));
  self.set(options.flags);
  if (options.flags & detail::k_tracked)
    self.references.store(2, std::memory_order_relaxed); // O1: no other thread knows the task yet
  if (self.priority < 0)
    self.set(detail::k_special); // the task is never an immediate successor
  else if (self.priority > 0)
    expect_priorities();
  if (!options.onready && !options.stack_bytes && !options.cost)
    return;
  if (options.stack_bytes > (std::size_t{1} << 40))
    throw_error(errc::invalid_argument,
                "stack_bytes(%zu) is more than any machine has; give the number of bytes",
                options.stack_bytes);
  task_extra &extra = extra_of(self);
  extra.onready = options.onready;
  extra.onready_context = options.onready_context;
  extra.stack_bytes = options.stack_bytes;
  extra.cost = options.cost;
  if (options.cost)
    count(this_worker().counts->cost, options.cost);
  if (options.onready || options.stack_bytes)
    self.set(detail::k_special);
}

/// Runs the task on the creator's own stack.
void run_in_place(task &self) {
  worker &here = *this_worker_or_null();
  count(here.counts->successors); // the task was in no queue
  if (runnable *successor = execute_counted(here, self, body_on::frame))
    enqueue(this_worker_or_null(), *successor, origin::fresh);
}

/// Runs a child of a final task. Its accesses are not entered, so its creator waits until the task
/// would have released them.
void run_in_final(task &self) {
  self.set(detail::k_final);
  self.set(detail::k_undeferred); // its end signals the creator
  add_references(self, 1); // a deferred task has handles
  call_onready(self);
  run_in_place(self);
  wait_until_done(self, exhausted::goes_on);
  drop_references(self, 1);
}

void run_undeferred(task &self, bool ready) {
  // ready: onready is still to be called; otherwise the thread that made the task ready has called
  // it
  if (ready) {
    self.done_word.store(k_runnable_now, std::memory_order_relaxed); // O2: not shared yet
    call_onready(self);
    self.done_word.store(nullptr, std::memory_order_relaxed); // O2
  } else {
    wait_until_runnable(self);
  }
  run_in_place(self);
}

} // namespace

namespace detail {

namespace {

/// Creates a task whose memory does not come from a free list of the calling worker, or that a
/// trace or the spawn sites record.
WEFT_NOINLINE task *task_create_general(const body_ops &ops, std::size_t accesses,
                                        task_group *group) {
  worker &here = this_worker();
  void *block = here.memory->allocate(task::block_bytes(ops, accesses));
  if (!block)
    throw_error(errc::out_of_resources,
                "no memory for a task; spawn fewer at a time or lower throttle.bytes");
  task *const self = ::new (block) task(ops, here.current, group);
  if (here.trace && traces(trace_level::tasks)) [[unlikely]]
    trace_birth(*here.trace, *self);
  if (notes_spawn_sites()) [[unlikely]]
    note_spawn_site(*self);
  return self;
}

WEFT_COLD void destroy_closure(task *self) noexcept {
  if (self->ops->destroy)
    self->ops->destroy(storage(self));
  task_abandon(self);
}

WEFT_COLD void give_up(task *self, task &parent) noexcept {
  trace_abandoned(*self);
  uncount_child(*self, parent);
  destroy_closure(self);
}

/// Records a child of a taskiter: keeps it for later rounds, or refuses it.
WEFT_COLD void record_child(task *self, iteration &graph, const access *first,
                            std::size_t first_count, const access *second, std::size_t second_count,
                            const checked_regions *regions) {
  try {
    graph.record(*self, first, first_count, second, second_count,
                 regions ? regions->data() : nullptr, regions ? regions->size() : 0);
  } catch (const std::bad_alloc &) {
    destroy_closure(self);
    throw_error(errc::out_of_resources, "no memory for the accesses of a task; name fewer of them");
  } catch (...) {
    destroy_closure(self);
    throw;
  }
}

void count_accesses(counter_block &counts, std::size_t accesses, bool ready) noexcept {
  count(accesses == 0 ? counts.without_accesses : ready ? counts.free_at_once : counts.waited);
  if (accesses > 1)
    count(counts.more_accesses, accesses - 1);
}

/// Refuses a child of the operation of a reduction: nothing would wait for the child.
[[noreturn]] WEFT_COLD void refuse_child_of_operation(task *self, const task &operation) {
  trace_abandoned(*self);
  destroy_closure(self);
  throw_error(
      errc::not_a_task,
      "a task is spawned in the operation of a reduction below task '%s', which is called between tasks; spawn where the copies are filled",
      label_of(*operation.parent));
}

WEFT_NOINLINE void trace_submission(task *self, const access *first, std::size_t first_count,
                                    const access *second, std::size_t second_count,
                                    const checked_regions *regions) noexcept {
  const bool recorded = self->parent->has(k_final) && iteration_of(*self->parent);
  trace_creation(*this_worker_or_null()->trace, *self,
                 {first, first_count, second, second_count, regions ? regions->data() : nullptr,
                  regions ? regions->size() : 0},
                 recorded ? created_for::rounds : created_for::one_run);
}

/// Submits a task in every way but the common one.
WEFT_NOINLINE void submit_general(task *self, const access *first, std::size_t first_count,
                                  const access *second, std::size_t second_count,
                                  const checked_regions *regions = nullptr) {
  worker &here = *this_worker_or_null();
  task &parent = *self->parent;
  if (parent.confinement() != 0) [[unlikely]]
    self->confine(parent.confinement());
  if (here.trace && self->has(k_special)) [[unlikely]] // otherwise the trace has it already
    trace_submission(self, first, first_count, second, second_count, regions);
  if (parent.has(k_final)) {
    if (const task *operation = operation_of(parent))
      refuse_child_of_operation(self, *operation);
    if (iteration *graph = iteration_of(parent))
      return record_child(self, *graph, first, first_count, second, second_count, regions);
  }
  count_child(*self, parent);
  if (parent.has(k_final)) {
    count(here.counts->without_accesses);
    return run_in_final(*self);
  }
  const bool undeferred = self->has(k_undeferred);
  bool ready = true;
  try {
    if (regions)
      ready = enter_regions(*self, first, first_count, second, second_count, regions->data(),
                            regions->size());
    else
      ready = first_count + second_count == 0 ||
              enter_accesses(*self, first, first_count, second, second_count);
  } catch (const std::bad_alloc &) {
    give_up(self, parent);
    throw_error(errc::out_of_resources, "no memory for the accesses of a task; name fewer of them");
  } catch (...) { // an invalid access
    give_up(self, parent);
    throw;
  }
  count_accesses(*here.counts, first_count + second_count + (regions ? regions->size() : 0), ready);
  if (undeferred)
    return run_undeferred(*self, ready && take_exclusions(*self));
  if (ready && announce_ready(*self))
    enqueue(&here, *self, origin::fresh);
  if (the_runtime().producers.over()) [[unlikely]]
    the_runtime().producers.hold_back(here);
}

/// Returns whether nothing but a trace asks for the slow way; then the trace has recorded the
/// creation.
WEFT_INLINE bool is_only_traced(task &self, const access *only) noexcept {
  tracer *const trace = this_worker_or_null()->trace;
  return trace && trace_common_creation(*trace, self, only);
}

WEFT_NOINLINE void submit_without_access_general(task *self) {
  if (is_only_traced(*self, nullptr))
    return task_submit(self);
  submit_general(self, nullptr, 0, nullptr, 0);
}

/// Returns whether nothing about the task or its parent asks for more than the common way.
WEFT_INLINE bool is_fast(const task &self, const task &parent,
                         std::uint8_t but = k_special | k_undeferred | k_tracked) noexcept {
  return self.is_plain(but) && !parent.children_need_general_path();
}

WEFT_INLINE void count_fast_spawn(worker &here, task &self, task &parent) {
  count_child(self, parent);
  count(here.counts->without_accesses);
}

/// Does the rare work after a spawn: wakes a worker, or holds the producer back.
WEFT_NOINLINE void after_spawn() {
  runtime &rt = the_runtime();
  unless(bug::enqueue_wakes_nobody, [&] { rt.idle.notify_one(); });
  if (rt.producers.over())
    rt.producers.hold_back(*this_worker_or_null());
}

WEFT_NOINLINE void offer_general(task *self) {
  enqueue(this_worker_or_null(), *self, origin::fresh);
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
WEFT_INLINE void offer(worker &here, task *self) {
  if (!here.own.deque || !here.own.deque->try_push(self)) [[unlikely]]
    return offer_general(self);
  end_spawn();
}

WEFT_INLINE void submit_without_access(worker &here, task *self, task &parent) {
  count_fast_spawn(here, *self, parent);
  offer(here, self);
}

/// Offers a task that nothing holds; `before` is no longer referred to.
WEFT_NOINLINE void offer_after(task *self, task *before) {
  if (before)
    drop_references(*before, 1);
  offer(*this_worker_or_null(), self);
}

WEFT_NOINLINE void submit_one_access_general(task *self, const access &only);

/// Asks a cohort that was not known to be open to admit the task.
WEFT_NOINLINE void ask_for_admission(task *self, data_access &entered, cohort &joined) {
  if (joined.members.admit_slow(entered)) {
    entered.flags.store(k_next_known | k_both_ok,
                        std::memory_order_relaxed); // O4 of access_state.hpp
    if (announce_ready(*self))
      return offer(*this_worker_or_null(), self);
  }
  end_waiting_spawn();
}

WEFT_NOINLINE void submit_commutative(task *self) {
  if (take_exclusions(*self))
    offer(*this_worker_or_null(), self);
  else
    end_waiting_spawn();
}

/// Submits a common task whose access is not common: the access may be common among accesses that
/// share.
WEFT_NOINLINE void submit_sharing(task *self, const access &only) {
  task &parent = *self->parent;
  const auto [joined, address] = cohort_for_common(parent, only);
  if (!joined) [[unlikely]]
    return submit_one_access_general(self, only);
  worker &here = *this_worker_or_null();
  count_child(*self, parent);
  data_access &entered = join_open_cohort(*self, *joined, address);
  if (!joined->members.admit_if_seen_open()) [[unlikely]] {
    count(here.counts->waited);
    return ask_for_admission(self, entered, *joined);
  }
  count(here.counts->free_at_once);
  entered.flags.store(k_next_known | k_both_ok,
                      std::memory_order_relaxed); // O4 of access_state.hpp
  if (joined->how == sharing::commutative)
    return submit_commutative(self);
  offer(here, self);
}

WEFT_NOINLINE void continue_one_access(task *self, data_access *behind, task *before,
                                       std::uint32_t link) {
  if (continue_entering(*self, *behind, *before, link))
    offer(*this_worker_or_null(), self);
  else
    end_waiting_spawn();
}

WEFT_INLINE void submit_one_access(task *self, const access &only, data_access *&last) {
  counter_block &counts = *this_worker_or_null()->counts;
  count_child(*self, *self->parent);
  const auto [behind, before, link] = enter_common(*self, only, last);
  if (!behind) {
    count(counts.free_at_once);
    return offer_after(self, before);
  }
  count(counts.waited);
  if (link) [[unlikely]]
    return continue_one_access(self, behind, before, link);
  end_waiting_spawn();
}

void submit_one_access_general(task *self, const access &only) {
  if (is_only_traced(*self, &only))
    return task_submit(self, only);
  task &parent = *self->parent;
  if (sends_messages() &&
      is_fast(*self, parent)) // the common way is closed only to threads that post
    if (data_access **const last =
            slot_for_common(parent, only, mailbox::needs_general_path_without_messages()))
      if (acts_locally(*this_thread_context()))
        return submit_one_access(self, only, *last);
  submit_general(self, &only, 1, nullptr, 0);
}

} // namespace

void refuse_accesses(std::size_t count) {
  throw_error(errc::invalid_argument,
              "a list of %zu accesses is longer than any task's; a task has at most 2^31 - 1",
              count);
}

namespace {

/// Allocates the block of a task in the common way, by which no trace is written. Returns null if the general way
/// has to be gone.
WEFT_INLINE void *allocate(const thread_context *here, const body_ops &ops, std::size_t accesses) {
  return here ? here->memory->allocate_fast(task::block_bytes(ops, accesses)) : nullptr;
}

WEFT_NOINLINE task *create_tracked_general(const body_ops &ops, task_group *group) {
  task *const t = task_create_general(ops, 0, group);
  t->set(k_tracked);
  t->references.store(2, std::memory_order_relaxed); // O1 of countdown.hpp: not shared yet
  t->unsatisfied.store(k_open, std::memory_order_relaxed); // O1 of claim_word.hpp: likewise
  return t;
}

} // namespace

task *task_create(const body_ops &ops, std::size_t accesses, task_group *group) {
  const thread_context *const here = this_thread_context();
  void *const block = allocate(here, ops, accesses);
  if (!block) [[unlikely]]
    return task_create_general(ops, accesses, group); // a tail call: the other way needs no stack
  return ::new (block) task(ops, here->current, group);
}

task *task_create_with(const body_ops &ops, std::size_t accesses, const spawn_options &options) {
  task *self = task_create(ops, accesses, options.group);
  try {
    put_options(*self, options);
    if (accesses == 0 && self->has(k_tracked)) // O1 of claim_word.hpp: it is not shared yet
      self->unsatisfied.store(k_open, std::memory_order_relaxed);
  } catch (...) {
    task_abandon(self);
    throw;
  }
  return self;
}

task *task_create_tracked(const body_ops &ops, task_group *group) {
  const thread_context *const here = this_thread_context();
  void *const block = allocate(here, ops, 0);
  if (!block) [[unlikely]]
    return create_tracked_general(ops, group);
  return ::new (block) task(ops, here->current, group, k_open);
}

void task_abandon(task *self) noexcept {
  delete self->extra.load(std::memory_order_relaxed);
  heap::deallocate(self, own_heap());
}

void task_submit(task *self) {
  worker &here = *this_worker_or_null();
  task &parent = *self->parent;
  if (!is_fast(*self, parent, k_special | k_undeferred)) [[unlikely]]
    return submit_without_access_general(self);
  submit_without_access(here, self, parent);
}

void task_submit(task *self, const access &only) {
  task &parent = *self->parent;
  if (!is_fast(*self, parent)) [[unlikely]]
    return submit_one_access_general(self, only);
  data_access **const last = slot_for_common(parent, only);
  if (!last) [[unlikely]]
    return submit_sharing(self, only);
  submit_one_access(self, only, *last);
}

void task_submit(task *self, const access *first, std::size_t first_count, const access *second,
                 std::size_t second_count) {
  submit_general(self, first, first_count, second, second_count);
}

namespace {

/// Makes the children of the task's parent order regions from now on, unless they run in place or
/// are recorded.
void order_regions(const task &self) {
  task &parent = *self.parent;
  if (parent.has(k_final) || orders_regions(parent))
    return;
  apply_registrations_below(parent);
  switch_to_regions(parent);
}

/// Submits, in the common way, a task that names one run of bytes; its parent orders regions.
WEFT_INLINE void submit_one_run(task *self, const region_run &run) {
  worker &here = *this_worker_or_null();
  task &parent = *self->parent;
  count_fast_spawn(here, *self, parent);
  bool ready = false;
  try {
    ready = enter_run(*self, run);
  } catch (const std::bad_alloc &) {
    give_up(self, parent);
    throw_error(errc::out_of_resources, "no memory for the accesses of a task; name fewer of them");
  }
  if (ready)
    offer(here, self);
  else
    end_waiting_spawn();
}

WEFT_NOINLINE void submit_regions_general(task *self, const submission &all) {
  bool submitted = false;
  self->unsatisfied.store(
      0, std::memory_order_relaxed); // O1 of claim_word.hpp: not open yet, nor shared
  try {
    const checked_regions regions(all, label_of(*self));
    order_regions(*self);
    submitted = true;
    submit_general(self, all.named, all.named_count, all.list, all.list_count, &regions);
  } catch (const std::bad_alloc &) { // before the submission
    destroy_closure(self);
    throw_error(errc::out_of_resources, "no memory for the accesses of a task; name fewer of them");
  } catch (...) {
    if (!submitted)
      destroy_closure(self);
    throw;
  }
}

} // namespace

void task_submit_regions(task *self, const submission &all) {
  region_run run{};
  const domain *const children = self->parent->children_domain;
  const bool is_only = all.named_region_count == 1 &&
                       (all.named_count | all.list_count | all.region_list_count) == 0;
  if (!is_only || mailbox::checks() || !is_fast(*self, *self->parent) || !children ||
      !children->regional() || !is_one_run(all.named_regions->part, run.low, run.end)) [[unlikely]]
    return submit_regions_general(self, all);
  run.mode = all.named_regions->mode;
  submit_one_run(self, run);
}

namespace {

/// Starts what is deferred, and waits for all if the creator of the task waits for it, or if its
/// parent runs it in place. Returns whether it has waited. Destroys the task on failure.
WEFT_NOINLINE bool start_or_wait(task &self, const after_node *nodes, std::size_t count) {
  try {
    for (const after_node *n = nodes; n != nodes + count; ++n)
      if (!n->before)
        throw_error(
            errc::invalid_argument,
            "task '%s' waits for a future without a state; it was moved from, or get() was called",
            label_of(self));
    if (iteration_of(*self.parent)) // before anything is started
      throw_error(
          errc::invalid_argument,
          "task '%s' waits for a future in a taskiter, whose tasks run again and again; wait before the loop",
          label_of(self));
    for (const after_node *n = nodes; n != nodes + count; ++n)
      if (n->before->unsatisfied.load(std::memory_order_relaxed) == k_deferred)
        task_start(n->before);
    if (!self.parent->has(k_final) && !self.has(k_undeferred))
      return false;
    for (const after_node *n = nodes; n != nodes + count; ++n)
      wait_until_done(*n->before);
    return true;
  } catch (...) {
    destroy_closure(&self);
    throw;
  }
}

/// Does the same where there mostly is nothing to be done.
bool prepare_waiting(task &self, const after_node *nodes, std::size_t count) {
  if (self.parent->has(k_final) || self.has(k_undeferred)) [[unlikely]]
    return start_or_wait(self, nodes, count);
  for (const after_node *n = nodes; n != nodes + count; ++n)
    if (!n->before || n->before->unsatisfied.load(std::memory_order_relaxed) == k_deferred)
        [[unlikely]]
      return start_or_wait(self, nodes, count);
  return false;
}

WEFT_COLD void trace_nodes(const task &self, const after_node *nodes, std::size_t count) noexcept {
  for (const after_node *n = nodes; n != nodes + count; ++n)
    trace_after(self, *n->before, comes_after::begins);
}

/// Submits a task that waits for others, and that may ask for anything.
WEFT_NOINLINE void submit_after_general(task *self, after_node *nodes, std::size_t count_of_nodes) {
  if (prepare_waiting(*self, nodes, count_of_nodes))
    return task_submit(self);
  worker &here = *this_worker_or_null();
  task &parent = *self->parent;
  if (parent.confinement() != 0) [[unlikely]]
    self->confine(parent.confinement());
  if (here.trace) [[unlikely]] {
    trace_submission(self, nullptr, 0, nullptr, 0, nullptr);
    trace_nodes(*self, nodes, count_of_nodes);
  }
  count_fast_spawn(here, *self, parent);
  const auto most = static_cast<std::uint32_t>(count_of_nodes) + 1;
  self->unsatisfied.store(most, std::memory_order_relaxed); // O1 of countdown.hpp: not shared yet
  const std::uint32_t ended = attach_all(*self, nodes, count_of_nodes, self->unsatisfied);
  if (!take_away(self->unsatisfied, ended + 1))
    return end_waiting_spawn();
  if (announce_ready(*self))
    enqueue(this_worker_or_null(), *self, origin::fresh);
  end_waiting_spawn();
}

/// Ends the submission of a task that waits for no other one any more.
WEFT_NOINLINE void submit_announced(task *self) {
  if (announce_ready(*self))
    enqueue(this_worker_or_null(), *self, origin::fresh);
  end_waiting_spawn();
}

} // namespace

void task_submit_after(task *self, after_node *nodes, std::size_t count_of_nodes) {
  worker &here = *this_worker_or_null();
  task &parent = *self->parent;
  const task *const before = count_of_nodes == 1 ? nodes->before : nullptr;
  if (!before || before->unsatisfied.load(std::memory_order_relaxed) == k_deferred ||
      !is_fast(*self, parent, k_special | k_undeferred) || here.trace) [[unlikely]]
    return submit_after_general(self, nodes, count_of_nodes);
  count_fast_spawn(here, *self, parent);
  self->unsatisfied.store(1, std::memory_order_relaxed); // O1 of countdown.hpp: not shared yet
  if (!attach_after(*nodes, *self, self->unsatisfied)) [[unlikely]]
    return submit_announced(self);
  end_waiting_spawn(); // the task may be gone
}

void task_submit_shared(task *self) {
  task &parent = *self->parent;
  if (parent.has(k_final)) [[unlikely]] // runs here, and is never open
    return task_submit(self);
  worker &here = *this_worker_or_null();
  if (parent.confinement() != 0) [[unlikely]]
    self->confine(parent.confinement());
  if (here.trace) [[unlikely]]
    trace_submission(self, nullptr, 0, nullptr, 0, nullptr);
  count_fast_spawn(here, *self, parent);
  open_to_waiters(self->unsatisfied); // O1 of claim_word.hpp: the task may be over from here on
  enqueue(&here, *self, origin::fresh);
  end_waiting_spawn();
}

bool task_hold(task *self, after_node *nodes, std::size_t count_of_nodes) {
  if (prepare_waiting(*self, nodes, count_of_nodes))
    return false;
  try {
    task_extra &extra = extra_of(*self);
    extra.gate.store(static_cast<std::uint32_t>(count_of_nodes) + 2, std::memory_order_relaxed);
    extra.gated = true;
  } catch (const std::bad_alloc &) {
    destroy_closure(self);
    throw_error(errc::out_of_resources, "no memory for a task that waits for futures");
  }
  self->set(k_special);
  self->unsatisfied.store(0, std::memory_order_relaxed); // O1 of claim_word.hpp: not open yet
  return true;
}

void task_release_held(task *self, after_node *nodes, std::size_t count_of_nodes) noexcept {
  task_extra &extra = *peek_extra(*self);
  if (g_traces_readiness) [[unlikely]]
    trace_nodes(*self, nodes, count_of_nodes);
  const std::uint32_t ended = attach_all(*self, nodes, count_of_nodes, extra.gate);
  if (!take_away(extra.gate, ended + 1))
    return;
  extra.gated = false; // all others have passed
  if (announce_ready(*self))
    enqueue(this_worker_or_null(), *self, origin::fresh);
}

namespace {

/// Does what follows a wait for a task, and returns whether the task may have failed.
WEFT_INLINE bool end_wait_for_task(const task &awaited, thread_context *here) {
  if (here->current->children_domain) [[unlikely]]
    end_cohorts(*here->current);
  return peek_extra(awaited) != nullptr;
}

WEFT_NOINLINE bool wait_for_result(task &awaited) {
  this_worker();
  if (awaited.unsatisfied.load(std::memory_order_relaxed) == k_deferred) [[unlikely]]
    task_start(&awaited);
  wait_until_done(awaited);
  return end_wait_for_task(awaited, this_thread_context());
}

} // namespace

bool task_wait_result(task *self) { // tail calls: the common way needs no stack here
  thread_context *const here = this_thread_context();
  if (here && is_raised(self->done_word, k_done))
    return end_wait_for_task(*self, here);
  if (here && is_open(self->unsatisfied) && !g_was_forked) [[likely]]
    return wait_as_holder(*here, *self);
  return wait_for_result(*self);
}

void task_wait_done(task *self) {
  if (!self)
    throw_error(errc::invalid_argument,
                "a handle without a task is waited for; it was moved from, or get() was called");
  thread_context *const here = this_thread_context();
  if (here && is_raised(self->done_word, k_done))
    static_cast<void>(end_wait_for_task(*self, here));
  else // others may wait as well: not as a holder
    static_cast<void>(wait_for_result(*self));
}

bool task_is_done(const task *self) noexcept { return self && is_raised(self->done_word, k_done); }

std::exception_ptr task_take_exception(task *self) noexcept {
  task_extra *extra = peek_extra(*self);
  return extra ? std::exchange(extra->own_error, nullptr) : nullptr;
}

void task_holds_no_closure(void *storage) noexcept {
  reinterpret_cast<task *>(static_cast<char *>(storage) - k_storage_offset)->clear(k_destroys);
}

void task_add_reference(task *self) noexcept {
  self->references.fetch_add(1, std::memory_order_relaxed); // O2 of countdown.hpp
}

void task_wait_undeferred(task *self) {
  if (self->has_meanwhile(k_undeferred))
    wait_until_done(*self, exhausted::goes_on);
  drop_references(*self, 1);
}

void task_drop_handle(task *self) noexcept { drop_references(*self, 1); }

} // namespace detail
} // namespace weft::inline v0
