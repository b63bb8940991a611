// SPDX-License-Identifier: Apache-2.0
// How a worker finds work: a ladder of sources, then a spin, then sleep.
#include "worker/search.hpp"

#include "base/clock.hpp"
#include "base/mutant.hpp"
#include "deps/hooks.hpp"
#include "deps/messages.hpp"
#include "managers/managers.hpp"
#include "task/tracing.hpp"

#include <algorithm>
#include <utility>

namespace weft::inline v0 {
namespace rt {
namespace {

/// Returns whether the worker is an external thread that takes no work of others: sleep_apart.hpp. A
/// thread that parks need not help, because its worker does.
bool keeps_to_own(const worker &w) noexcept {
  return w.keeps_to_own && (w.is_carried || !the_runtime().apart.all_help());
}

/// Returns where the worker searches and sleeps.
eventcount<> &bed_of(const worker &w) noexcept {
  runtime &rt = the_runtime();
  return keeps_to_own(w) ? rt.apart.bed() : rt.idle;
}

constexpr int k_looks_per_clock_read = 4;
constexpr int k_most_pauses =
    16; // between two looks: a searcher takes cache lines from working threads
// Older work may be a producer, which makes 64 KiB of tasks and more until it is held. During a run
// of this length, more tasks than that end.
constexpr std::uint32_t k_in_depth_in_a_row = 4096;
constexpr std::uint64_t k_linger_ns =
    50'000'000; // the longest time that a spare waits for work: only the watcher can wake it again

/// Returns whether the thief may run the branch. If not, the branch goes to the workers that may.
bool may_run(worker &w, detail::join_job &job) {
  const unsigned set = job.parent->confinement();
  if (set == 0 || the_runtime().confined.serves(w.id, set)) [[likely]]
    return true;
  enqueue_job(w, job);
  return false;
}

/// Takes confined work first, because few workers may run it; but not always, so that other work
/// does not starve.
WEFT_NOINLINE runnable *take_of_both(worker &w) {
  runtime &rt = the_runtime();
  if (++w.own_in_a_row >= k_own_in_a_row) {
    w.own_in_a_row = 0;
    if (runnable *r = rt.ready->get_shared_first(w.id)) {
      if (const unsigned set =
              rt.confined.waiting_for(w.id)) // the worker may have been woken for that
        wake_one_of(set);
      return r;
    }
  }
  if (runnable *r = rt.confined.get(w.id, w.last_set))
    return r;
  return rt.ready->get(w.id);
}

} // namespace

runnable *steal_join(worker &w) {
  runtime &rt = the_runtime();
  if (keeps_to_own(w)) [[unlikely]]
    return nullptr;
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

void flush_child_count_now(worker &w) {
  if (w.counted == 0)
    return;
  static constexpr callback k_flushing{"the end of tasks",
                                       "children"}; // combiners that run there must not suspend
  const callback *const outer = std::exchange(w.in_callback, &k_flushing);
  flush_child_count(w);
  w.in_callback = outer;
}

void wake_one_of(unsigned set) noexcept {
  runtime &rt = the_runtime();
  const std::vector<unsigned> &ids = rt.confined.workers_of(set);
  unless(bug::set_wakes_nobody, [&] {
    if (wake_first_of(rt, ids))
      return;
    for (const unsigned id : ids) // a worker that sleeps with a frame may not have known of the set
      if (worker *const each = rt.slots[id].load(std::memory_order_acquire)) // O2
        each->nap.leave();
  });
}

runnable *take_shared_first(worker &w) {
  runtime &rt = the_runtime();
  if (keeps_to_own(w)) [[unlikely]]
    return nullptr;
  if (rt.confined.any()) [[unlikely]]
    if (runnable *r = rt.confined.get(w.id, w.last_set))
      return r;
  return rt.ready->get_shared_first(w.id);
}

namespace {

/// Takes the newest work while producers are held back, because a recursion in breadth needs
/// unbounded memory. Not always, so that older work does not starve.
runnable *take_in_depth(worker &w) {
  if (++w.own_in_a_row < k_in_depth_in_a_row)
    return the_runtime().ready->take_newest(w.id, k_all_lineages);
  w.own_in_a_row = 0;
  return nullptr;
}

/// Wakes a worker for what a thread that keeps to its own leaves in its queue: a frame that it has
/// made ready, for example. The thread takes the newest item out, and puts it back when it may not run
/// it. Meanwhile the item is in no queue, and a worker that looks for the last time before it sleeps
/// does not see it.
void wake_for_others(worker &w) {
  if (w.own.deque && !w.own.deque->empty())
    the_runtime().idle.notify_one();
}

} // namespace

runnable *take_ready(worker &w) {
  runtime &rt = the_runtime();
  if (keeps_to_own(w)) [[unlikely]] {
    runnable *const own = rt.ready->take_newest(w.id, {&w.root, nullptr, true});
    if (!own)
      wake_for_others(w);
    return own;
  }
  if (rt.confined.any())
    return take_of_both(w);
  if (!w.own.deque && rt.producers.holds_any()) [[unlikely]]
    if (runnable *r = take_in_depth(w))
      return r;
  return rt.ready->get(w.id);
}

namespace {

runnable *look_for_ready(worker &w) {
  if (runnable *f = own_frame(w)) [[unlikely]]
    return f;
  if (runnable *r = take_ready(w))
    return r;
  return steal_join(w);
}

/// Looks once at every source of work. Applying what other workers posted may make some.
runnable *look(worker &w) {
  if (has_managers() && the_runtime().manage.serves_own_messages_first(w)) [[unlikely]] {
    flush_child_count_now(w);
    apply_messages(w, poll_point::idle);
  }
  if (runnable *r = look_for_ready(w))
    return r;
  if (!has_managers() || !the_runtime().manage.may_serve(w)) [[likely]]
    return nullptr;
  flush_child_count_now(w);
  return apply_messages(w, poll_point::idle) ? look_for_ready(w) : nullptr;
}

/// Flushes what other threads must see before this worker stops working.
void tidy(worker &w) {
  unless(bug::idle_worker_keeps_count, [&] { flush_child_count(w); });
  w.memory->flush_remote();
  w.memory->flush_accounting();
}

runnable *spin(worker &w) {
  runtime &rt = the_runtime();
  eventcount<> &bed = bed_of(w);
  runnable *r = nullptr;
  const std::uint64_t spin_ns = rt.spin_ns.load(std::memory_order_relaxed);
  if (spin_ns != 0 && bed.begin_search(w.id, rt.most_searchers)) {
    const std::uint64_t until = now_ns() + spin_ns;
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
    bed.end_search(w.id);
  return r;
}

/// Names the stages of an idle worker: it waits for a while, then asks the watcher once whether
/// there is anything to wait for.
enum class idle_stage { waiting, checking, settled };

/// Returns when a sleeper looks again by itself; 0 for never.
std::int64_t next_look(const worker &w, idle_stage stage) noexcept {
  const settings &cfg = the_runtime().cfg;
  std::uint64_t later = 0;
  if (has_services_at(poll_point::idle))
    later = poll_period_ns(the_runtime());
  else if (w.stand_in)
    later = std::min(k_linger_ns, kept_ns(cfg));
  else if (stage == idle_stage::waiting && cfg.watch_hang != hang_kind::off)
    later = hang_patience_ns(cfg);
  return later ? static_cast<std::int64_t>(now_ns() + later) : 0;
}

struct sleep_result {
  runnable *found = nullptr;
  bool found_nothing = false; // for as long as the worker was willing to wait
};

/// Sleeps until there may be work. Returns what it finds after it has announced itself.
sleep_result sleep(worker &w, idle_stage stage) {
  runtime &rt = the_runtime();
  const bool apart = keeps_to_own(w);
  eventcount<> &bed = apart ? rt.apart.bed() : rt.idle;
  bed.prepare(w.id);
  // Messages are not applied here: what they call may wait, although the worker has announced that
  // it sleeps.
  runnable *const r = look_for_ready(w);
  if (r || apart != keeps_to_own(w) || rt.producers.holds_any() ||
      (has_managers() && rt.manage.may_serve(w))) {
    bed.cancel_and_relay(w.id);
    rt.gate.pass();
    return {r ? r : look(w)};
  }
  if (rt.stopping.load(std::memory_order_acquire)) { // O3: pairs with stop_runtime
    bed.cancel(w.id);
    rt.gate.pass();
    return {};
  }
  if (stage == idle_stage::checking)
    rt.watch.examine_soon();
  else
    count(w.counts->slept);
  const bool traced = w.trace && traces(trace_level::runtime);
  if (traced)
    w.trace->ring.put(trace_event::sleep, 0, 0);
  const bool chosen = bed.commit(w.id, next_look(w, stage));
  rt.gate.pass();
  if (traced)
    w.trace->ring.put(trace_event::wake, 0, 0);
  return {look(w), !chosen && !has_services_at(poll_point::idle)};
}

/// Returns whether the thread leaves the loop to park on its own stack. A thread whose own stack is
/// not what waits, as a task with a stack of its own that runs there, sleeps in the loop.
bool leaves_to_park(worker &w) noexcept {
  w.leaves_loop =
      w.is_carried && w.suspended && !(has_managers() && the_runtime().manage.may_serve(w));
  return w.leaves_loop;
}

/// Leaves the loop for the thread's own stack. Returns false if the watcher was faster.
bool leaves(worker &w) noexcept {
  return w.stand_in ? the_runtime().spare_threads.leaves(*w.stand_in) : w.seat.leave();
}

/// Waits for work. Returns null when the thread must continue its own stack: the runtime stops, a
/// spare is not needed, or the thread parks.
runnable *wait_for_some(worker &w) {
  runtime &rt = the_runtime();
  for (idle_stage m = idle_stage::waiting;;) {
    tidy(w);
    if (rt.producers.release_all())
      if (runnable *r = look(w))
        return r;
    if (leaves_to_park(w)) [[unlikely]]
      return nullptr;
    if (runnable *r = spin(w))
      return r;
    if (rt.stopping.load(std::memory_order_acquire)) { // O3
      runnable *const r = look(w);
      if (r || !has_seat(w) || leaves(w))
        return r;
      continue; // the watcher was faster, and the worker will find its thread's own stack ready
    }
    if (rt.producers.holds_any())
      continue;
    if (has_services_at(poll_point::idle) && services(poll_point::idle).poll(w))
      continue;
    const sleep_result s = sleep(w, m);
    if (s.found)
      return s.found;
    if (s.found_nothing && w.stand_in && leaves(w))
      return nullptr;
    if (m == idle_stage::checking)
      m = idle_stage::settled;
    else if (m == idle_stage::waiting && s.found_nothing)
      m = idle_stage::checking;
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

} // namespace

runnable *find_work(worker &w) {
  poll_services_between_tasks(w);
  if (runnable *r = look(w)) [[likely]]
    return r;
  if (unless(bug::idle_worker_keeps_count,
             w.counted != 0)) { // the thread's own stack may wait for the last child
    flush_child_count(w);
    if (runnable *r =
            look_for_ready(w)) // or what the parent's end has put into this worker's own queue
      return r;
  }
  runnable *r = wait_for_work(w);
  bed_of(w).found(
      w.id); // the user's code may never come back: another worker sees to all other work
  return r;
}

} // namespace rt
} // namespace weft::inline v0
