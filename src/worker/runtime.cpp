// SPDX-License-Identifier: Apache-2.0
// Starting, adopting threads, stopping, forking.
#include "worker/runtime.hpp"

#include "arch/valgrind.hpp"
#include "base/clock.hpp"
#include "base/error.hpp"
#include "base/log.hpp"
#include "base/mutant.hpp"
#include "deps/mailbox.hpp"
#include "deps/region_scope.hpp"
#include "manage/dispatcher.hpp"
#include "mem/overflow.hpp"
#include "observe/hardware.hpp"
#include "observe/store.hpp"
#include "os/affinity.hpp"
#include "task/failure.hpp"
#include "task/held.hpp"
#include "task/locals.hpp"
#include "task/tracing.hpp"
#include "topo/machine.hpp"
#include "trace/kernel.hpp"
#include "worker/functions.hpp"
#include "worker/reporting.hpp"

#include <weft/task.hpp>

#include <algorithm>
#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <pthread.h>
#include <span>
#include <sys/mman.h>
#include <unistd.h>

namespace weft::inline v0 {
namespace rt {

runtime *g_runtime = nullptr;

namespace {

enum class phase { not_started, running, stopped, forked_in_task };

pthread_mutex_t g_start_mutex = PTHREAD_MUTEX_INITIALIZER;
std::atomic<phase> g_phase{phase::not_started};

struct start_lock {
  start_lock() { pthread_mutex_lock(&g_start_mutex); }
  ~start_lock() { pthread_mutex_unlock(&g_start_mutex); }
};

/// Under Valgrind all threads but one sleep. (A seed implies none by the setting: its order must not depend on time.)
unsigned allowed_spares(const settings &s) noexcept {
  return on_valgrind() ? 0 : static_cast<unsigned>(s.watch_max_spares);
}

std::span<const char> thread_stack() noexcept {
  pthread_attr_t a;
  void *low = nullptr;
  std::size_t bytes = 0;
  if (pthread_getattr_np(pthread_self(), &a) == 0) {
    pthread_attr_getstack(&a, &low, &bytes);
    pthread_attr_destroy(&a);
  }
  if (!low) // no memory to find out: what every thread has
    return {static_cast<const char *>(__builtin_frame_address(0)) - PTHREAD_STACK_MIN, static_cast<std::size_t>(PTHREAD_STACK_MIN)};
  return {static_cast<const char *>(low), bytes};
}

const char *current_label() {
  executor *e = this_executor();
  return e && e->current && !e->current->has(detail::k_implicit) ? label_of(*e->current) : nullptr;
}

/// Async-signal-safe.
bool describe_victim(overflow_victim &v) {
  executor *e = this_executor();
  if (!e || !e->current)
    return false;
  const task &t = *e->current;
  v.label = label_of(t);
  if (!t.label) {
    v.closure = closure_of(t);
    v.creator = t.parent ? label_of(*t.parent) : nullptr;
  }
  v.is_task = !t.has(detail::k_implicit);
  if (!e->standing_on)
    v.thread_stack_low = e->thread_stack_low;
  return true;
}

void worker_main(void *p) {
  worker &w = *static_cast<worker *>(p);
  settle_on_thread(w);
  overflow_guard guard;
  try {
    suspend([](executor &e, frame &f, void *) { static_cast<worker &>(e).thread_frame = &f; }, nullptr);
  } catch (const error &e) {
    warn("worker %u cannot start: %s", w.id, e.what());
  }
  w.tid.store(0, std::memory_order_relaxed);
  set_this_executor(nullptr);
}

void bind_worker(const runtime &rt, worker &w) {
  if (rt.cfg.bind == bind_kind::none)
    return;
  const machine &m = this_machine();
  const std::vector<int> order = rt.cfg.bind == bind_kind::compact ? m.compact_order() : m.spread_order();
  if (int e = bind_this_thread(order[w.id % order.size()]))
    warn("worker %u cannot be bound to cpu %d (%s); it goes on unbound", w.id, order[w.id % order.size()], std::strerror(e));
}

void started_worker_main(void *p) {
  bind_worker(the_runtime(), *static_cast<worker *>(p));
  worker_main(p);
}

worker &make_worker(runtime &rt, unsigned id) {
  auto fresh = std::make_unique<worker>(id, static_cast<std::size_t>(rt.cfg.join_deque));
  fresh->counts = &block_of_slot(id, id < rt.workers ? block_kind::worker : block_kind::thread);
  schedule_sample(fresh->time);
  fresh->trace = tracer_of_slot(id);
  if (fresh->trace && traces(trace_level::tasks))
    fresh->memory->allocate_slowly();
  rt.ready->attach(id, *fresh->counts);
  fresh->messages = rt.manage.attach(id);
  worker *w = fresh.release();
  w->own = rt.ready->own(id);
  rt.slots[id].store(w, std::memory_order_release); // O1: pairs with the thief's acquire
  if (rt.used_slots.load(std::memory_order_relaxed) <= id)
    rt.used_slots.store(id + 1, std::memory_order_release); // O1
  return *w;
}

/// What is to be said when worker `id` cannot be had; null: it runs.
const char *start_worker(runtime &rt, unsigned id) noexcept {
  try {
    worker &w = make_worker(rt, id);
    w.tid.store(worker::k_begins, std::memory_order_relaxed); // a hint for the watcher
    const int failure = w.os_thread.start("weft-worker", &started_worker_main, &w);
    if (!failure)
      return nullptr;
    w.tid.store(0, std::memory_order_relaxed);
    return std::strerror(failure);
  } catch (const std::bad_alloc &) {
    return "out of memory";
  }
}

void start_threads(runtime &rt) {
  for (unsigned id = 1; id < rt.workers; ++id) {
    rt.started_workers.store(id, std::memory_order_relaxed); // a number to show
    if (const char *why = start_worker(rt, id))
      return warn("only %u of %u workers could be started (%s); the program goes on with those", id, rt.workers, why);
  }
  rt.started_workers.store(rt.workers, std::memory_order_relaxed);
}

void start_watcher(runtime &rt) {
  if (rt.max_spares == 0 && rt.cfg.watch_hang == hang_kind::off)
    return;
  if (int e = rt.watch.start())
    warn("the watcher cannot be started (%s): a task that blocks its thread holds up others, and hangs are not reported", std::strerror(e));
}

void live_bytes_hook(std::int64_t live) { the_runtime().producers.live_bytes_changed(live); }

// ---- fork -----------------------------------------------------------------------------------------------------------

void before_fork() {
  pthread_mutex_lock(&g_start_mutex);
  services_before_fork();
  lock_settings();
  store_before_fork();
}

void after_fork_in_parent() {
  store_after_fork();
  unlock_settings();
  services_after_fork_in_parent();
  pthread_mutex_unlock(&g_start_mutex);
}

char g_forking_task[64]; // of a process that was forked inside of a task: its label

[[noreturn]] void refuse_forked_task() noexcept {
  fatal("Weft is used in a process that was forked inside of task '%s'; there it may only exec or _exit. Fork outside of tasks to "
        "use Weft in the child", g_forking_task);
}

/// The child of a task has the task's stack, but nobody to return to. Whatever it does with Weft ends in a fault of this range.
void forbid_all_use(const executor &e) {
  const char *label = e.current ? label_of(*e.current) : "service";
  std::strncpy(g_forking_task, label, sizeof g_forking_task - 1);
  g_phase.store(phase::forked_in_task, std::memory_order_relaxed);
  constexpr std::size_t k_bytes = (std::max(sizeof(worker), sizeof(runtime)) + 4095) & ~std::size_t{4095};
  void *nowhere = mmap(nullptr, k_bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (nowhere == MAP_FAILED)
    refuse_forked_task();
  set_forbidden_range(nowhere, k_bytes, &refuse_forked_task);
  set_this_executor(static_cast<executor *>(nowhere));
  g_runtime = static_cast<runtime *>(nowhere);
}

void after_fork_in_child() {
  pthread_mutex_unlock(&g_start_mutex); // the thread that forked has it
  store_after_fork();
  forget_store_in_child();
  forget_trace_in_child();
  forget_publisher_in_child();
  forget_reporting_in_child();
  forget_hardware_in_child();
  unlock_settings();
  services_after_fork_in_child();
  forget_functions_after_fork();
  worker *w = this_worker_or_null();
  const bool again = g_phase.load(std::memory_order_relaxed) == phase::forked_in_task;
  forget_heaps_in_child();
  forget_stacks_in_child();
  forget_held_in_child();
  if (again)
    return;
  g_runtime = nullptr; // the threads are gone; what they held stays where it is
  if (w && (w->standing_on || w->current != &w->root || !w->joins.empty()))
    return forbid_all_use(*w);
  if (g_phase.load(std::memory_order_relaxed) == phase::running)
    g_phase.store(phase::not_started, std::memory_order_relaxed);
  if (w)
    w->root.label = k_parent_process;
  set_this_executor(nullptr);
}

// When the library is loaded: handlers that are registered while another thread forks may not be called in that child.
[[maybe_unused]] const int g_fork_is_handled = pthread_atfork(&before_fork, &after_fork_in_parent, &after_fork_in_child);

void at_exit() { stop_runtime(); }

/// Functions, and tasks that services have spawned, have no other waiter. They do not tell: the clock looks.
void wait_for_functions(const runtime &rt) {
  while (functions_are_pending() || services_have_tasks())
    try {
      timer::call look;
      look.put_off = [](void *) { return functions_are_pending() || services_may_have_tasks(); };
      look.period_ns = static_cast<std::uint64_t>(std::chrono::nanoseconds(rt.cfg.poll_period).count());
      the_runtime().clock.prepare(look);
      suspend(
          [](executor &, frame &f, void *p) {
            auto &call = *static_cast<timer::call *>(p);
            call.f = [](void *left) { make_ready(*static_cast<frame *>(left)); };
            call.context = &f;
            the_runtime().clock.at(now_ns() + call.period_ns, call);
          },
          &look, {waits_for::functions, nullptr});
    } catch (const std::exception &) { // no memory or no stack for that
      get_by();
    }
}

/// With the start lock. Once, however often the start is tried.
void register_with_process() {
  static bool done = false;
  if (!done && std::atexit(&at_exit) != 0)
    throw_error(errc::out_of_resources, "no memory to start Weft in this process");
  done = true;
}

/// Those of the process that this one was forked from.
void call_inherited_services(runtime &rt) {
  if (!timer_has_services())
    return;
  try {
    rt.clock.poll_services(poll_period_ns(rt));
  } catch (const error &e) {
    warn("services cannot be called by the timer: %s", e.what());
  }
}

/// With the start lock.
void start_locked() {
  if (g_phase.load(std::memory_order_relaxed) == phase::running)
    return;
  if (g_phase.load(std::memory_order_relaxed) == phase::forked_in_task)
    refuse_forked_task();
  if (g_phase.load(std::memory_order_relaxed) == phase::stopped)
    throw_error(errc::shut_down, "Weft is used after shutdown(); call shutdown() last, or not at all");
  register_with_process();
  check_reporting(current_settings());
  auto fresh = std::make_unique<runtime>();
  set_live_bytes_hook(&live_bytes_hook);
  set_overflow_witness(&describe_victim);
  g_runtime = fresh.release();
  g_phase.store(phase::running, std::memory_order_release); // O2: pairs with is_started
  start_threads(*g_runtime);
  start_watcher(*g_runtime);
  g_runtime->manage.start();
  set_slow_call_ns(static_cast<std::uint64_t>(g_runtime->cfg.poll_slow.count()) * 1000u);
  call_inherited_services(*g_runtime);
  start_reporting(*g_runtime);
}

/// The end of what a thread has done as a task.
void end_root(task &root) {
  if (task_extra *x = peek_extra(root))
    end_locals(*x); // their destructors may spawn
  wait_for_children(root);
  rethrow_children_error(root);
}

/// Gives the thread's slot back when the thread ends, after its tasks have. As the destructor of a key it runs after those of
/// the thread's thread_local objects, which may still use Weft; exit() does not call it, so the main thread leaves in at_exit.
void thread_ends(void *p) {
  worker &w = *static_cast<worker *>(p);
  if (this_executor() != &w)
    return; // of the process that this one was forked from
  try {
    end_root(w.root);
  } catch (const std::exception &e) {
    warn("a thread ended and its task had thrown, and nobody asked for it: %s", e.what());
  } catch (...) {
    warn("a thread ended and its task had thrown, and nobody asked for it");
  }
  w.memory->flush_remote();
  w.memory->flush_accounting();
  uninstall_overflow_stack();
  start_lock lock;
  if (w.id != 0)
    --the_runtime().foreign;
  w.tid.store(0, std::memory_order_relaxed);
  set_this_executor(nullptr);
  w.adopted = false;
}

/// With the start lock.
void watch_end_of_thread(worker &w) {
  static pthread_key_t key;
  static const int failed = pthread_key_create(&key, &thread_ends);
  if (failed || pthread_setspecific(key, &w))
    throw_error(errc::out_of_resources, "no thread-specific key is left to notice the end of a thread (PTHREAD_KEYS_MAX); use fewer keys");
}

/// With the start lock. A free slot above those of the started workers.
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
  if (rt.foreign < k_thread_slots - rt.workers)
    if (worker *w = free_slot(rt))
      return *w;
  throw_error(errc::out_of_resources, "more than %u threads use Weft at once; end some of them, or spawn tasks instead",
              k_thread_slots - rt.workers);
}

/// For the timer's thread, once there are services that it calls.
executor *adopt_timer() noexcept {
  try {
    worker &w = this_worker();
    w.keeps_time.store(true, std::memory_order_relaxed); // told by the timer's lock
    return &w;
  } catch (const error &e) {
    static std::atomic<bool> said{false};
    if (e.code() != errc::shut_down)
      warn_once(said, "services cannot be called by the timer: %s", e.what());
    return nullptr;
  } catch (const std::bad_alloc &) { // next time, perhaps
    return nullptr;
  }
}

} // namespace

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
    ++g_runtime->foreign;
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
  set_this_executor(&w);
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
      w->messages->may_manage = true; // for the one that is stuck
  }
  return w;
}

worker::worker(unsigned number, std::size_t join_capacity)
    : id(number), seed(number * 7919u + 17u), root("started"), joins(static_cast<std::int64_t>(join_capacity)) {
  memory = &heap_of_slot(number);
  time.seed = seed;
}

runtime::runtime()
    : cfg(current_settings()),
      workers(static_cast<unsigned>(cfg.workers ? cfg.workers : this_machine().effective_cpus())),
      max_spares(allowed_spares(cfg)),
      slot_limit(k_thread_slots + max_spares), ready(make_policy(cfg, this_machine(), workers, slot_limit)),
      idle(slot_limit + 1), producers(cfg.throttle_bytes, cfg.throttle_soft * workers), clock(&adopt_timer),
      manage(cfg, this_machine(), workers, slot_limit),
      most_searchers(static_cast<std::uint32_t>(std::max(1, this_machine().effective_cpus() - 1))),
      spin_ns(static_cast<std::uint64_t>(cfg.spin_us.count()) * 1000u),
      successor_odds(static_cast<std::uint32_t>(cfg.sched_immediate_successor * double{UINT32_MAX})), plain_odds(successor_odds),
      crew(*this, max_spares), hangs(*this),
      watch(crew, idle, slot_limit, static_cast<std::uint64_t>(cfg.watch_compute.count()) * 1000u,
            static_cast<std::uint64_t>(cfg.watch_patience.count()) * 1000u) {
  use_locked_dependencies(cfg.deps_system == deps_kind::locks);
  check_declarations(cfg.deps_check);
  use_regions(cfg.deps_system == deps_kind::regions);
  set_allocator(cfg.mem_allocator);
  configure_stacks(cfg.stack_bytes, cfg.stack_cache);
  open_trace({static_cast<trace_level>(cfg.trace_level), static_cast<trace_mode>(cfg.trace_mode), cfg.trace_dir, cfg.trace_buffer, workers,
              cfg.trace_kernel});
  hook_bodies(cfg.stack_watermark, g_trace_level != trace_level::off);
  trace_suspensions(g_trace_level != trace_level::off);
  set_default_exception_policy(cfg.group_exceptions);
  check_suspensions(cfg.check_suspensions, &current_label);
  set_time_mode(static_cast<time_mode>(cfg.counters_time));
  open_store({workers, static_cast<unsigned>(this_machine().effective_cpus()), slot_limit, cfg.counters_share, cfg.counters_keep,
              cfg.counters_time == time_kind::exact});
  open_hardware(cfg.counters_hardware);
  set_managers(manage, cfg);
}

bool is_started() noexcept { return g_phase.load(std::memory_order_acquire) == phase::running; } // O2
bool is_shut_down() noexcept { return g_phase.load(std::memory_order_acquire) == phase::stopped; } // O2
runtime *runtime_or_null() noexcept { return is_started() || is_shut_down() ? g_runtime : nullptr; }

void start_runtime() { this_worker(); }

void stop_runtime() {
  worker *w = this_worker_or_null();
  if (!is_started())
    return;
  runtime &rt = *g_runtime;
  const bool orderly = w && w->adopted && !w->standing_on && w->current == &w->root;
  if (orderly) {
    try {
      wait_for_children(w->root);
      wait_for_functions(rt);
      end_root(w->root);
    } catch (const std::exception &e) {
      warn("the program ended and a task had thrown, and nobody asked for it: %s; call taskwait()", e.what());
    } catch (...) {
      warn("the program ended and a task had thrown, and nobody asked for it; call taskwait()");
    }
  }
  g_phase.store(phase::stopped, std::memory_order_release); // O2
  rt.stopping.store(true, std::memory_order_release); // O3: pairs with the loads before a worker sleeps
  if (!mutant(bug::stop_wakes_nobody))
    rt.idle.notify_all();
  if (w && !orderly)
    return end_counting(rt, false), print_summary(rt); // exit() inside a task: its worker cannot wait for itself; the process is about to end
  rt.watch.stop();
  rt.crew.stop();
  for (unsigned id = 1; id < rt.workers; ++id)
    if (worker *other = rt.slots[id].load(std::memory_order_relaxed); other && other->os_thread.joinable())
      other->os_thread.join();
  rt.manage.stop();
  rt.clock.stop();
  set_this_executor(nullptr);
  end_counting(rt, true);
  print_summary(rt);
}

} // namespace rt
} // namespace weft::inline v0
