// SPDX-License-Identifier: Apache-2.0
// Starting and stopping.
#include "worker/runtime.hpp"

#include "arch/sanitizer.hpp"
#include "arch/valgrind.hpp"
#include "base/clock.hpp"
#include "base/error.hpp"
#include "base/log.hpp"
#include "base/mutant.hpp"
#include "config/process.hpp"
#include "deps/mailbox.hpp"
#include "deps/regions/region_scope.hpp"
#include "deps/regions/regions.hpp"
#include "diagnose/summary.hpp"
#include "mem/overflow.hpp"
#include "observe/hardware.hpp"
#include "observe/store.hpp"
#include "os/affinity.hpp"
#include "os/program_mask.hpp"
#include "publish/publish.hpp"
#include "publish/reporting.hpp"
#include "services/dispatcher.hpp"
#include "task/failure.hpp"
#include "task/hooks.hpp"
#include "task/locals.hpp"
#include "task/pending.hpp"
#include "task/run_body.hpp"
#include "task/spawn_site.hpp"
#include "task/groups/thread_groups.hpp"
#include "task/tracing.hpp"
#include "topo/machine.hpp"
#include "trace/kernel.hpp"
#include "tune/decisions.hpp"
#include "tune/in_place_types.hpp"
#include "tune/knobs.hpp"
#include "tune/mode.hpp"
#include "tune/policies.hpp"
#include "worker/apply_knob.hpp"
#include "worker/fork.hpp"
#include "worker/functions.hpp"
#include "worker/last_thread.hpp"
#include "worker/phase.hpp"
#include "worker/search.hpp"
#include "worker/thread_name.hpp"

#include <weft/layer/runtime_phase.hpp>
#include <weft/task.hpp>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <pthread.h>
#include <sched.h>
#include <span>
#include <sys/mman.h>
#include <unistd.h>

namespace weft::inline v0 {
namespace rt {

runtime *g_runtime = nullptr;
pthread_mutex_t g_start_mutex = PTHREAD_MUTEX_INITIALIZER;
std::atomic<phase> g_phase{phase::not_started};

int cpu_of_worker(const runtime &rt, unsigned id) {
  if (rt.cfg.bind == bind_kind::none || id == 0)
    return -1;
  const machine &m = this_machine();
  const std::vector<int> order =
      rt.cfg.bind == bind_kind::compact ? m.compact_order() : m.spread_order();
  return order[id % order.size()];
}

namespace {

/// Returns how many spares are allowed: under Valgrind none, because it runs one thread at a time.
/// (A seed implies none by the setting: its order must not depend on time.)
unsigned allowed_spares(const settings &chosen) noexcept {
  return on_valgrind() ? 0 : static_cast<unsigned>(chosen.watch_max_spares);
}

const char *current_label() {
  thread_context *e = this_thread_context();
  return e && e->current && !e->current->has(detail::k_implicit) ? label_of(*e->current) : nullptr;
}

/// Describes the task that overflows its stack. Async-signal-safe.
bool describe_victim(overflow_victim &victim) {
  thread_context *e = this_thread_context();
  if (!e || !e->current)
    return false;
  const task &t = *e->current;
  victim.label = label_of(t);
  if (!t.label) {
    victim.closure = closure_of(t);
    victim.creator = t.parent ? label_of(*t.parent) : nullptr;
  }
  victim.is_task = !t.has(detail::k_implicit);
  if (!e->pool_stack)
    victim.thread_stack_low = e->thread_stack_low;
  return true;
}

void worker_main(void *p) {
  worker &w = *static_cast<worker *>(p);
  settle_on_thread(w);
  overflow_guard guard;
  const auto leave = [](thread_context &e, frame &suspended, void *) {
    static_cast<worker &>(e).thread_frame = &suspended;
    static_cast<worker &>(e).seat.work();
  };
  try {
    do
      suspend(leave, nullptr);
    while (the_runtime().room.park(w));
  } catch (const error &e) {
    warn("worker %u cannot start: %s", w.id, e.what());
  }
  w.seat.end();
  w.is_left();
  set_this_thread_context(nullptr);
}

void bind_worker(const runtime &rt, worker &w) {
  const int cpu = cpu_of_worker(rt, w.id);
  if (cpu < 0)
    return;
  if (int e = bind_this_thread(cpu))
    warn("worker %u cannot be bound to cpu %d (%s); it goes on unbound", w.id, cpu,
         std::strerror(e));
}

void started_worker_main(void *p) {
  bind_worker(the_runtime(), *static_cast<worker *>(p));
  worker_main(p);
}

/// Starts worker `id`. Returns the reason if it cannot be had; null: it runs.
const char *start_worker(runtime &rt, unsigned id) noexcept {
  try {
    worker &w = make_worker(rt, id);
    w.seat.begin();
    w.tid.store(worker::k_begins, std::memory_order_relaxed); // a hint for the watcher
    const int failure =
        w.os_thread.start(thread_name("weft-worker", id).text, &started_worker_main, &w);
    if (!failure)
      return nullptr;
    w.is_left();
    return std::strerror(failure);
  } catch (const std::bad_alloc &) {
    return "out of memory";
  }
}

void start_threads(runtime &rt) {
  for (unsigned id = 1; id < rt.workers; ++id) {
    rt.started_workers.store(id, std::memory_order_relaxed); // a number for observers
    if (const char *why = start_worker(rt, id))
      return warn("only %u of %u workers could be started (%s); the program goes on with those", id,
                  rt.workers, why);
  }
  rt.started_workers.store(rt.workers, std::memory_order_relaxed);
}

void start_watcher(runtime &rt) {
  if (rt.max_spares == 0 && rt.cfg.watch_hang == hang_kind::off)
    return;
  if (int e = rt.watch.start())
    warn(
        "the watcher cannot be started (%s): a task that blocks its thread holds up others, and hangs are not reported",
        std::strerror(e));
}

void live_bytes_hook(std::int64_t live) {
  throttle &producers = the_runtime().producers;
  producers.level_changed(producers.level(live));
}

std::atomic<bool (*)()> g_threads_compute{
    nullptr}; // not null: a layer's, whose programs may use the layer in destructors

bool threads_compute() noexcept {
  auto *const f = g_threads_compute.load(std::memory_order_acquire); // O4: what it uses is there
  return f && f();
}

/// Returns whether the worker can wait for all that is left: it has adopted the main thread or
/// another one, and the thread is outside of tasks.
bool can_wait(const worker &w) noexcept {
  return w.adopted && !w.pool_stack && w.current == &w.root;
}

/// The process is in exit(). No order is needed: what a layer does then is its own.
std::atomic<bool> g_exits{false};

bool g_failure_unasked =
    false; // the task of the thread that ends Weft has thrown, and nothing has rethrown it

/// Collects the names of some tasks, each once.
class some_names {
 public:
  void add(const task &t) {
    const std::string_view closure = closure_of(t);
    std::string name = "'" + std::string(t.label || closure.empty() ? label_of(t) : closure) + "'";
    if (std::find(m_names.begin(), m_names.end(), name) == m_names.end())
      m_names.push_back(std::move(name));
  }
  [[nodiscard]] std::string text() const {
    std::string all;
    for (std::size_t i = 0; i < m_names.size() && i < k_most; ++i)
      all += (i ? ", " : " (") + m_names[i];
    return all.empty() ? all : all + (m_names.size() > k_most ? ", ...)" : ")");
  }

 private:
  static constexpr std::size_t k_most = 4;
  std::vector<std::string> m_names;
};

/// Returns the names of the children that are ready, and of the last child at each address.
some_names names_of_children(worker &w) {
  constexpr std::size_t k_looked_at = 64;
  some_names names;
  std::vector<runnable *> ready;
  ready.reserve(k_looked_at);
  for (runnable *r; ready.size() < k_looked_at && (r = take_ready(w));)
    ready.push_back(r);
  for (runnable *r : ready)
    if (r->what == runnable::kind::task && static_cast<task *>(r)->parent == &w.root)
      names.add(*static_cast<task *>(r));
  while (!ready.empty()) {
    enqueue(&w, *ready.back(), origin::fresh);
    ready.pop_back();
  }
  if (domain *d = w.root.children_domain; d && !d->regional() && !d->is_hidden())
    d->for_each([&](data_access *last) {
      // O1 of access_state.hpp: a released access is that of a task that is over
      if (domain::is_plain(last) && !is_released(last->flags.load(std::memory_order_acquire)))
        names.add(*last->task);
    });
  return names;
}

/// Waits a little for children whose handles main has waited for. Another worker lets the waiters of
/// a task go on before it counts the task as ended, so main may get here in between.
bool children_end_soon(const worker &w) noexcept {
  constexpr std::uint64_t k_patience_ns = 10'000'000;
  const std::uint64_t begin = now_ns();
  while (!w.root.children.done(w.root.owned_children)) {
    if (now_ns() - begin > k_patience_ns)
      return false;
    sched_yield();
  }
  return true;
}

/// Warns of children that are left after main has returned, or exit() was called: the locals of
/// main are gone, or main will not use them any more.
void warn_of_children_left(worker &w) noexcept {
  if (w.root.children.done(w.root.owned_children))
    return;
  std::string names;
  try {
    names = names_of_children(w).text();
  } catch (const std::bad_alloc &) { // without names
  }
  if (names.empty() && children_end_soon(w))
    return;
  warn(
      "main ends before tasks that it spawned%s, and nothing waits for them; they use what main may have destroyed: call taskwait() before",
      names.c_str());
}

/// Waits for functions, and for tasks that services have spawned: they have no other waiter. Their
/// end wakes no waiter, so the caller polls.
void wait_for_functions(const runtime &rt) {
  while (functions_are_pending() || services_have_tasks())
    try {
      timer::call look;
      look.is_deferred = [](void *) {
        return functions_are_pending() || services_may_have_tasks();
      };
      look.period_ns =
          static_cast<std::uint64_t>(std::chrono::nanoseconds(rt.cfg.poll_period).count());
      the_runtime().clock.prepare(look);
      suspend(
          [](thread_context &, frame &suspended, void *p) {
            auto &call = *static_cast<timer::call *>(p);
            call.f = [](void *left) { make_ready(*static_cast<frame *>(left)); };
            call.context = &suspended;
            the_runtime().clock.at(now_ns() + call.period_ns, call);
          },
          &look, {waits_for::functions, nullptr});
    } catch (const std::exception &) { // no memory or no stack for that
      get_by();
    }
}

/// Returns whether a worker that Weft has started may be running a task. One that gets no processor
/// to begin or to end has none: the clock of its idle time goes until it leaves its loop.
bool any_worker_runs_a_task(const runtime &rt) {
  watched::reading seen;
  for (unsigned slot = 1; slot < rt.spare_threads.slots(); ++slot) {
    if (!rt.spare_threads.read(slot, seen) || seen.external)
      continue;
    const worker *const w = rt.slots[slot].load(std::memory_order_acquire); // O1 of adoption.cpp
    const counter_block &counts = *w->counts;
    const bool has_begun = (peek(counts.executed) | peek(counts.rounds) | peek(counts.misses)) != 0;
    if (has_begun && !is_running(peek(counts.idle)))
      return true;
  }
  return false;
}

/// Warns, once, when the tasks for which the end of the process waits take long. A process without
/// such tasks pays nothing. `not_yet`: asked after each patience whether there are none.
class reminder {
 public:
  explicit reminder(runtime &rt, bool (*not_yet)(void *rt) = [](void *) { return false; })
      : m_runtime(rt) {
    m_call.f = [](void *) {
      warn(
          "the program has ended, but tasks have not, and exit() waits for them; `weft dump %d` shows which and why: wait for tasks before the end",
          getpid());
    };
    m_call.context = &rt;
    m_call.is_deferred = not_yet; // never null: no thread waits for this call
    m_call.period_ns = hang_patience_ns(rt.cfg);
    try {
      rt.clock.prepare(m_call);
      rt.clock.at(now_ns() + m_call.period_ns, m_call);
      m_is_set = true;
    } catch (const std::exception &) { // no thread or no memory for it
    }
  }
  ~reminder() {
    if (m_is_set)
      m_runtime.clock.cancel(m_call);
  }
  reminder(const reminder &) = delete;
  reminder &operator=(const reminder &) = delete;

 private:
  runtime &m_runtime;
  timer::call m_call;
  bool m_is_set = false;
};

void end_tasks(runtime &rt, worker &w) noexcept {
  std::optional<reminder> reminds;
  if (!w.root.children.done(w.root.owned_children) || open_group_of(w.root))
    reminds.emplace(rt);
  if (w.id == 0)
    warn_of_children_left(w);
  try {
    wait_for_children(w.root);
    while (group_state *const open = open_group_of(w.root))
      wait_for_group(*open);
    if (g_exits.load(std::memory_order_relaxed) && // else their destructors report it
        report_kept_of(w.root))
      g_failure_unasked = true;
    wait_for_functions(rt);
    end_root(w.root);
  } catch (const std::exception &e) {
    g_failure_unasked = true;
    warn(
        "the program ended and a task had thrown, and no caller asked for the exception: %s; call taskwait()",
        e.what());
  } catch (...) {
    g_failure_unasked = true;
    warn(
        "the program ended and a task had thrown, and no caller asked for the exception; call taskwait()");
  }
}

#if defined(WEFT_TSAN)
constexpr bool k_outlives_exit =
    false; // ThreadSanitizer looks for threads that were not joined before the library's destructors
#else
constexpr bool k_outlives_exit = true;
#endif

/// Ends tasks, or stops the runtime: services belong to the program, and may use what its
/// destructors end.
void end_at_exit() {
  g_exits.store(true, std::memory_order_relaxed);
  if (!k_outlives_exit || !g_threads_compute.load(std::memory_order_relaxed) ||
      timer_has_services())
    return stop_runtime();
  if (worker *const w = this_worker_or_null(); w && is_started() && can_wait(*w))
    end_tasks(*g_runtime, *w);
}

#ifdef __GLIBC__
/// Ends the program with a failure code if no wait has rethrown an exception, as an exception that
/// leaves main does. glibc goes on with the inner exit(), which calls the handlers that are left.
void at_exit(int status, void *) {
  end_at_exit();
  if (status == EXIT_SUCCESS && g_failure_unasked)
    std::exit(EXIT_FAILURE);
}
int call_at_exit() { return on_exit(&at_exit, nullptr); }
#else
int call_at_exit() { return std::atexit(&end_at_exit); }
#endif

/// Stops the runtime after the program's destructors, among the library's own.
[[gnu::destructor]] void at_last() {
  if (g_threads_compute.load(std::memory_order_relaxed))
    stop_runtime();
}

/// Registers the handlers of the process, once, however often the start is tried. The caller has
/// the start lock.
void register_with_process() {
  static bool done = false;
  if (!done && call_at_exit() != 0)
    throw_error(errc::out_of_resources, "no memory to start Weft in this process");
  done = true;
}

/// Calls the services of the process that this one was forked from.
void call_inherited_services(runtime &rt) {
  if (!timer_has_services())
    return;
  try {
    rt.clock.poll_services(poll_period_ns(rt));
  } catch (const error &e) {
    warn("services cannot be called by the timer: %s", e.what());
  }
}

} // namespace

void start_locked() {
  if (g_phase.load(std::memory_order_relaxed) == phase::running)
    return;
  if (g_phase.load(std::memory_order_relaxed) == phase::forked_in_task)
    refuse_forked_task();
  if (g_phase.load(std::memory_order_relaxed) == phase::stopped)
    throw_error(errc::shut_down,
                "Weft is used after shutdown(); call shutdown() last, or not at all");
  register_with_process();
  note_program_mask();
  const settings chosen = current_settings();
  check_reporting(chosen);
  const tuning_mode tuning = parse_tuning(chosen.tune).mode;
  check_policies(chosen);
  g_exits.store(false, std::memory_order_relaxed); // of a parent that was in exit() when it forked
  auto fresh = std::make_unique<runtime>();
  set_live_bytes_hook(&live_bytes_hook);
  set_overflow_witness(&describe_victim);
  fresh->fixed_blocks = fresh->cfg.sched_seed != 0 || tuning == tuning_mode::off ||
                        tuning == tuning_mode::replay;
  set_in_place_mode(fresh->cfg.tune_inline, fresh->fixed_blocks);
  g_runtime = fresh.release();
  g_phase.store(phase::running, std::memory_order_release); // O2: pairs with is_started
  start_threads(*g_runtime);
  start_watcher(*g_runtime);
  g_runtime->manage.start();
  set_slow_call_ns(in_ns(g_runtime->cfg.poll_slow));
  begin_knobs(*g_runtime);
  call_inherited_services(*g_runtime);
  start_reporting(*g_runtime);
  if (tuning == tuning_mode::on || tuning == tuning_mode::replay ||
      g_runtime->cfg.manage_mode == manage_kind::automatic)
    trace_decisions();
  if (tuning == tuning_mode::on)
    begin_policies(g_runtime->cfg, g_runtime->workers);
}

worker::worker(unsigned number, std::size_t join_capacity)
    : id(number), seed(number * 7919u + 17u), root("started"),
      joins(static_cast<std::int64_t>(join_capacity)) {
  memory = &heap_of_slot(number);
  time.seed = seed;
}

runtime::runtime()
    : cfg(current_settings()),
      workers(static_cast<unsigned>(cfg.workers ? cfg.workers : this_machine().effective_cpus())),
      max_spares(allowed_spares(cfg)), slot_limit(k_thread_slots + max_spares),
      ready(make_policy(cfg, this_machine(), workers, slot_limit)), idle(slot_limit + 1),
      apart(max_spares == 0), producers(throttle_policy_of(cfg.throttle_policy), cfg, workers),
      clock(&adopt_timer), manage(cfg, this_machine(), workers, slot_limit),
      most_searchers(static_cast<std::uint32_t>(std::max(1, this_machine().effective_cpus() - 1))),
      spin_ns(in_ns(cfg.spin_us)), successor_odds(odds_of(cfg.sched_immediate_successor)),
      plain_odds(odds_of(cfg.sched_immediate_successor)), spare_threads(*this, max_spares),
      hangs(*this), room(*this, cfg),
      watch(spare_threads, idle, slot_limit,
            static_cast<std::uint64_t>(cfg.watch_compute.count()) * 1000u, hang_patience_ns(cfg),
            static_cast<std::uint64_t>(cfg.watch_limit.count()) * 1000u, &room) {
  use_locked_dependencies(cfg.deps_system == deps_kind::locks);
  check_declarations(cfg.deps_check);
  use_regions(cfg.deps_system == deps_kind::regions);
  set_allocator(cfg.mem_allocator);
  configure_stacks(cfg.stack_bytes, cfg.stack_cache);
  open_trace({static_cast<trace_level>(cfg.trace_level), static_cast<trace_mode>(cfg.trace_mode),
              cfg.trace_dir, cfg.trace_buffer, workers, cfg.trace_kernel});
  hook_bodies(cfg.stack_watermark);
  trace_suspensions(g_trace_level != trace_level::off);
  note_spawn_sites(cfg.watch_spawn_sites);
  set_default_exception_policy(cfg.group_exceptions);
  set_unobserved(cfg.future_unobserved);
  check_suspensions(cfg.check_suspensions, &current_label);
  set_time_mode(static_cast<time_mode>(cfg.counters_time));
  open_store({workers, static_cast<unsigned>(this_machine().effective_cpus()), slot_limit,
              cfg.counters_share, cfg.counters_keep, cfg.counters_time == time_kind::exact});
  open_hardware({cfg.counters_hardware, cfg.counters_hardware || needs_energy(cfg)});
  set_managers(manage, cfg);
}

void outlive_exit(bool (*f)()) noexcept {
  g_threads_compute.store(f, std::memory_order_release);
} // O4

bool is_started() noexcept {
  return g_phase.load(std::memory_order_acquire) == phase::running;
} // O2
bool is_shut_down() noexcept {
  return g_phase.load(std::memory_order_acquire) == phase::stopped;
} // O2
runtime *runtime_or_null() noexcept { return is_started() || is_shut_down() ? g_runtime : nullptr; }

void start_runtime() {
  if (g_phase.load(std::memory_order_relaxed) == phase::forked_in_task)
    refuse_forked_task();
  this_worker();
}

namespace {

// For tasks and services of others to end, before exit() goes on.
constexpr std::uint64_t k_rest_ns = 100'000'000;

/// Ends the workers, then the watcher, which stands by until then, and its spares. Returns whether
/// all have ended by the deadline.
bool end_threads(runtime &rt, std::uint64_t deadline_ns) {
  rt.room.stop();
  bool all = true;
  for (unsigned id = 1; id < rt.workers; ++id)
    if (worker *other = rt.slots[id].load(std::memory_order_relaxed))
      all = other->os_thread.join_by(deadline_ns) && all;
  if (!all)
    return false;
  rt.watch.stop();
  return rt.spare_threads.stop(deadline_ns);
}

} // namespace

void stop_runtime() {
  worker *w = this_worker_or_null();
  if (!is_started())
    return;
  runtime &rt = *g_runtime;
  const bool orderly = w && can_wait(*w);
  if (orderly)
    end_tasks(rt, *w);
  const end_of_threads ends;
  g_phase.store(phase::stopped, std::memory_order_release); // O2
  end_policies();
  close_knobs();
  rt.stopping.store(
      true,
      std::
          memory_order_seq_cst); // O3: pairs with the loads before a worker sleeps; and O3 of spare_seat.hpp
  unless(bug::stop_wakes_nobody, [&] { rt.idle.notify_all(); });
  rt.apart.wake_all();
  end_naps(rt);
  // exit() inside a task: its worker can wait neither for itself nor for ever; the process is about
  // to end.
  if ((w && !orderly) || threads_compute()) {
    close_services(now_ns() + k_rest_ns);
    end_counting(rt, workers_are::running);
    return print_summary(rt);
  }
  if (!end_threads(rt, now_ns() + k_rest_ns)) {
    if (!orderly || w->id != 0) { // the tasks are other threads', which do not wait for exit() either
      close_services(now_ns() + k_rest_ns);
      end_counting(rt, workers_are::running);
      return print_summary(rt);
    }
    const reminder reminds(
        rt, [](void *all) { return !any_worker_runs_a_task(*static_cast<const runtime *>(all)); });
    static_cast<void>(end_threads(rt, thread::k_no_deadline));
  }
  rt.manage.stop();
  rt.clock.stop();
  set_this_thread_context(nullptr);
  end_counting(rt, workers_are::stopped);
  print_summary(rt);
}

} // namespace rt

layer::runtime_phase layer::phase_of_runtime() noexcept {
  switch (rt::g_phase.load(std::memory_order_acquire)) { // O2
  case rt::phase::not_started:
    return runtime_phase::not_started;
  case rt::phase::running:
    return rt::g_exits.load(std::memory_order_relaxed) ? runtime_phase::exits
                                                       : runtime_phase::running;
  case rt::phase::stopped:
  case rt::phase::forked_in_task:
    break;
  }
  return runtime_phase::over;
}

} // namespace weft::inline v0
