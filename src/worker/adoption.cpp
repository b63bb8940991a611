// SPDX-License-Identifier: Apache-2.0
// How threads become workers' threads, and how they end.
#include "base/error.hpp"
#include "base/log.hpp"
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
  if (w.id != 0)
    --the_runtime().external_threads;
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
    if (!w->adopted && !w->stand_in)
      return w;
  }
  return nullptr;
}

worker &slot_for_thread(runtime &rt) {
  worker *first = rt.slots[0].load(std::memory_order_relaxed);
  if (!first)
    return make_worker(rt, 0);
  if (!first->adopted)
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
  worker &w = slot_for_thread(*g_runtime);
  watch_end_of_thread(w);
  w.adopted = true;
  w.keeps_time.store(false, std::memory_order_relaxed);
  if (w.messages && w.id >= g_runtime->workers)
    w.messages->may_manage = !g_runtime->manage.is_restricted();
  if (w.id != 0)
    ++g_runtime->external_threads;
  w.root.label = w.id == 0 ? "main" : "thread";
  settle_on_thread(w);
  w.current = &w.root;
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

worker *make_spare_worker(runtime &rt, spare &taker) {
  start_lock lock;
  worker *w = free_slot(rt);
  if (w) {
    w->stand_in = &taker;
    block_of_slot(w->id, block_kind::spare);
    if (w->messages)
      w->messages->may_manage = true; // in the place of the stuck worker
  }
  return w;
}

} // namespace rt
} // namespace weft::inline v0
