// SPDX-License-Identifier: Apache-2.0
// How threads become workers' threads, and how they end.
#include "base/error.hpp"
#include "base/log.hpp"
#include "deps/sharing/reduction.hpp"
#include "mem/overflow.hpp"
#include "observe/hardware.hpp"
#include "observe/store.hpp"
#include "services/dispatcher.hpp"
#include "task/failure.hpp"
#include "task/locals.hpp"
#include "task/spawn_site.hpp"
#include "task/tracing.hpp"
#include "trace/kernel.hpp"
#include "worker/last_thread.hpp"
#include "worker/phase.hpp"

#include <cerrno>
#include <climits>
#include <pthread.h>
#include <span>
#include <unistd.h>

namespace weft::inline v0 {
namespace rt {

namespace {

// O5: release and acquire, with each other: what the functions use is there.
constinit std::atomic<const layer::carrier_calls *> g_carrier{nullptr};

} // namespace

void set_carrier(const layer::carrier_calls &calls) noexcept {
  g_carrier.store(&calls, std::memory_order_release); // O5
}
const layer::carrier_calls *carrier() noexcept {
  return g_carrier.load(std::memory_order_acquire); // O5
}

void end_root(task &root) {
  if (task_extra *x = peek_extra(root))
    end_locals(*x); // their destructors may spawn
  wait_for_children(root);
  rethrow_children_error(root);
}

namespace {

std::span<const char> thread_stack() noexcept {
  pthread_attr_t a;
  void *low = nullptr;
  std::size_t bytes = 0;
  if (pthread_getattr_np(pthread_self(), &a) == 0) {
    pthread_attr_getstack(&a, &low, &bytes);
    pthread_attr_destroy(&a);
  }
  if (!low) // no memory to find out: as much as every thread has
    return {static_cast<const char *>(__builtin_frame_address(0)) - PTHREAD_STACK_MIN,
            static_cast<std::size_t>(PTHREAD_STACK_MIN)};
  return {static_cast<const char *>(low), bytes};
}

/// Says what the thread in a slot may run while it waits, and how it sleeps.
enum class waiting {
  runs_any,
  apart, ///< runs its own work, and sleeps apart from the workers (sleep_apart.hpp)
  carried ///< runs its own work, and parks (carried_bed.hpp)
};

/// Notes how the thread in the slot waits. If the thread keeps to its own, it asks for each task that
/// it takes, as if more urgent work were queued. The caller has the start lock.
void set_waiting(worker &w, waiting how) {
  static constinit const std::atomic<std::size_t> always{1};
  sleep_apart &apart = the_runtime().apart;
  const bool keeps = how != waiting::runs_any;
  if (w.keeps_to_own && !w.is_carried)
    apart.ends();
  if (keeps)
    apart.open(k_thread_slots);
  if (how == waiting::apart)
    apart.comes();
  w.keeps_to_own = keeps;
  w.is_carried = how == waiting::carried;
  w.own = the_runtime().ready->own(w.id);
  if (keeps && w.own.deque)
    w.own.urgent = &always;
}

/// Returns whether a worker's thread runs the caller, which is a lightweight thread of a layer then:
/// what it waits for may need this very thread.
bool is_on_thread_of_worker(const runtime &rt) {
  const int tid = this_thread_id();
  const unsigned used = rt.used_slots.load(std::memory_order_relaxed);
  for (unsigned id = 0; id < used; ++id)
    if (const worker *w = rt.slots[id].load(std::memory_order_relaxed);
        w && has_seat(*w) && w->tid.load(std::memory_order_relaxed) == tid)
      return true;
  return false;
}

/// Gives the thread's slot back when the thread ends, after its tasks have. As the destructor of a
/// key it runs after those of the thread's thread_local objects, which may still use Weft; exit()
/// does not call it, so the main thread leaves in at_exit.
void thread_ends(void *p) {
  worker &w = *static_cast<worker *>(p);
  if (this_thread_context() != &w)
    return; // the worker belongs to the process that this one was forked from
  try {
    end_root(w.root);
  } catch (const std::exception &e) {
    warn("a thread ended and its task had thrown, and no caller asked for the exception: %s",
         e.what());
  } catch (...) {
    warn("a thread ended and its task had thrown, and no caller asked for the exception");
  }
  w.memory->flush_remote();
  w.memory->flush_accounting();
  uninstall_overflow_stack();
  start_lock lock;
  if (w.id != 0) {
    --the_runtime().external_threads;
    set_waiting(w, waiting::runs_any);
  }
  w.is_left();
  set_this_thread_context(nullptr);
  w.adopted = false;
  stand_for_first_thread();
}

/// Has thread_ends() called when the worker's thread ends. The caller has the start lock.
void watch_end_of_thread(worker &w) {
  static pthread_key_t key;
  static const int failed = pthread_key_create(&key, &thread_ends);
  if (failed || pthread_setspecific(key, &w))
    throw_error(
        errc::out_of_resources,
        "no thread-specific key is left to notice the end of a thread (PTHREAD_KEYS_MAX); use fewer keys");
}

/// Returns a worker in a free slot above those of the started workers. The caller has the start
/// lock.
worker *free_slot(runtime &rt) {
  for (unsigned id = rt.workers; id < rt.slot_limit; ++id) {
    worker *w = rt.slots[id].load(std::memory_order_relaxed);
    if (!w)
      return &make_worker(rt, id);
    if (!w->adopted && !w->stand_in && !w->lent)
      return w;
  }
  return nullptr;
}

/// Returns a slot for the calling thread. The first one counts as a worker, so it is no slot for a
/// thread that is `carried` by one.
worker &slot_for_thread(runtime &rt, bool carried) {
  worker *first = rt.slots[0].load(std::memory_order_relaxed);
  if (!first)
    return make_worker(rt, 0);
  if (!first->adopted && !carried)
    return *first;
  if (rt.external_threads < k_thread_slots - rt.workers)
    if (worker *w = free_slot(rt))
      return *w;
  throw_error(errc::out_of_resources,
              "more than %u threads use Weft at once; end some of them, or spawn tasks instead",
              k_thread_slots - rt.workers);
}

} // namespace

thread_context *adopt_timer() noexcept {
  try {
    worker &w = this_worker();
    w.keeps_time.store(true, std::memory_order_relaxed); // ordered by the timer's lock
    return &w;
  } catch (const error &e) {
    static std::atomic<bool> warned{false};
    if (e.code() != errc::shut_down)
      warn_once(warned, "services cannot be called by the timer: %s", e.what());
    return nullptr;
  } catch (const std::bad_alloc &) { // a later call may succeed
    return nullptr;
  }
}

worker &make_worker(runtime &rt, unsigned id) {
  auto fresh = std::make_unique<worker>(id, static_cast<std::size_t>(rt.cfg.join_deque));
  fresh->counts = &block_of_slot(id, id < rt.workers ? block_kind::worker : block_kind::thread);
  schedule_sample(fresh->time);
  fresh->trace = tracer_of_slot(id);
  if ((fresh->trace && traces(trace_level::tasks)) || notes_spawn_sites())
    fresh->memory->disable_fast_path();
  rt.ready->attach(id, *fresh->counts);
  fresh->messages = rt.manage.attach(id);
  worker *w = fresh.release();
  w->own = rt.ready->own(id);
  rt.slots[id].store(w, std::memory_order_release); // O1: pairs with the thief's acquire
  if (rt.used_slots.load(std::memory_order_relaxed) <= id)
    rt.used_slots.store(id + 1, std::memory_order_release); // O1
  return *w;
}

worker &adopt() {
  const int saved_errno = errno;
  start_lock lock;
  start_locked();
  const bool carried = carrier() && carrier()->is_carried();
  worker &w = slot_for_thread(*g_runtime, carried);
  watch_end_of_thread(w);
  w.adopted = true;
  w.keeps_time.store(false, std::memory_order_relaxed);
  if (w.messages && w.id >= g_runtime->workers)
    w.messages->may_manage = !g_runtime->manage.is_restricted();
  if (w.id != 0) {
    ++g_runtime->external_threads;
    set_waiting(w, carried                              ? waiting::carried
                   : is_on_thread_of_worker(*g_runtime) ? waiting::runs_any
                                                        : waiting::apart);
  }
  w.root.label = w.id == 0 ? "main" : "thread";
  settle_on_thread(w);
  w.current = &w.root;
  enter_operation(w);
  if (w.trace)
    trace_root(*w.trace, w.root);
  install_overflow_stack();
  g_runtime->gate.pass();
  errno = saved_errno;
  return w;
}

void settle_on_thread(worker &w) {
  const std::span<const char> own = thread_stack();
  w.thread_stack_low = own.data();
  w.thread_stack_bytes = own.size();
  w.stack_low = w.thread_stack_low;
  announce_thread_stack(w.thread_stack);
  w.sanitized = &w.thread_stack;
  w.tid.store(this_thread_id(), std::memory_order_relaxed); // a hint for the watcher
  w.exceptions = weft_exception_globals();
  w.error_number = &errno;
  set_this_thread_context(&w);
  count_hardware(w.id, *w.counts);
  watch_this_thread(w.id);
}

worker *lend_slot(runtime &rt) {
  // Half of the slots at most: a lent one is never a thread's own again.
  worker *const w = rt.external_threads < (k_thread_slots - rt.workers) / 2 ? free_slot(rt) : nullptr;
  if (w) {
    ++rt.external_threads;
    w->lent = true;
    block_of_slot(w->id, block_kind::thread);
  }
  return w;
}

worker *make_spare_worker(runtime &rt, spare &taker) {
  start_lock lock;
  worker *w = free_slot(rt);
  if (w) {
    w->stand_in = &taker;
    set_waiting(*w, waiting::runs_any);
    block_of_slot(w->id, block_kind::spare);
    if (w->messages)
      w->messages->may_manage = true; // in the place of the stuck worker
  }
  return w;
}

} // namespace rt
} // namespace weft::inline v0
