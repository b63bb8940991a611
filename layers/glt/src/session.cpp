// SPDX-License-Identifier: Apache-2.0
// glt_init() to glt_finalize(); which GLT threads are enabled; the callbacks of these events.
//
// Roles       Changer: the caller of an enabling or disabling function, one at a time.
//             Creator: a caller that creates a ULT.
// Word        changer: the stack on which the changer runs, which no other caller has; null: no changer.
//             g_enabled_set: the set of workers that run new ULTs; 0: all. g_set_of[n]: the set of
//             worker n; 0: not made yet. Both as packed by pack().
// Orders      O1  stores release, loads acquire: a set is made before its number is seen. Weft
//                 orders that by itself as well.
#include "session.hpp"

#include "unit.hpp"

#include <weft/glt.h>
#include <weft/layer/environment.hpp>
#include <weft/layer/thread.hpp>
#include <weft/mutex.hpp>
#include <weft/runtime.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <mutex>
#include <new>
#include <optional>
#include <vector>

#include <pthread.h>

namespace weft_glt {

namespace {

constexpr int k_sets = 63; // Weft keeps as many sets of workers

glt_team_t g_team;
std::array<std::atomic<std::uint64_t>, k_sets> g_set_of;
std::atomic<std::uint64_t> g_enabled_set{0};

std::uint64_t pack(const weft::worker_set &set) noexcept {
  const auto [number, generation] = set.internals();
  return static_cast<std::uint64_t>(generation) << 32 | number;
}
weft::worker_set unpack(std::uint64_t packed) noexcept {
  return weft::worker_set({static_cast<unsigned>(packed), static_cast<unsigned>(packed >> 32)});
}

struct callback_pair {
  int id;
  GLT_event_kind event;
  GLT_event_cb_fn ask, act;
  void *ask_arg, *act_arg;
};

/// Holds what the malleability functions change. Never destroyed.
struct malleability {
  weft::mutex changes; // held by the changer, also while callbacks run
  std::atomic<const void *> changer{nullptr}; // its stack; written under `changes`
  std::mutex guard; // of the members below
  std::vector<bool> disabled; // by GLT thread; those beyond its end are enabled
  std::vector<callback_pair> callbacks;
  int last_id = 0;
};
malleability &state() {
  static auto *const all = new malleability;
  return *all;
}

bool is_disabled(int thread) {
  malleability &m = state();
  const std::lock_guard guard(m.guard);
  return static_cast<std::size_t>(thread) < m.disabled.size() &&
         m.disabled[static_cast<std::size_t>(thread)];
}

void forget_sets() noexcept {
  for (auto &set : g_set_of)
    set.store(0, std::memory_order_relaxed);
  g_enabled_set.store(0, std::memory_order_relaxed);
}

/// Enables all threads, and forgets the callbacks: a session begins so. The guard is held.
void enable_all(malleability &all) noexcept {
  all.disabled.clear();
  all.callbacks.clear();
}

/// Does that in the child of a fork(), where no other thread holds the locks. If one was about to
/// change the members as the process forked, they are made anew, and their memory is lost.
void enable_all_in_child(malleability &all) noexcept {
  if (all.guard.try_lock()) {
    enable_all(all);
    all.guard.unlock();
    ::new (&all.changes) weft::mutex;
    all.changer.store(nullptr, std::memory_order_relaxed);
  } else {
    ::new (&all) malleability;
  }
}

/// Forgets the parent's session, sets, units and threads in the child of a fork(): its GLT threads
/// are not there. A callback that forks ends in the child by exec or _exit().
void forget_in_child() noexcept {
  sessions().store(0, std::memory_order_relaxed);
  forget_sets();
  enable_all_in_child(state());
  forget_units_in_child();
  put_tables_in_order_in_child();
}
[[maybe_unused]] const int g_fork_is_handled = pthread_atfork(nullptr, nullptr, &forget_in_child);

/// Configures Weft as GLT's own variable says. If Weft runs already, its workers are what there is.
void apply_environment() {
  const char *const threads = weft::layer::environment("GLT_NUM_THREADS");
  if (!threads)
    return;
  try {
    weft::configure("workers", threads);
  } catch (const weft::error &e) {
    if (e.code() == weft::errc::bad_setting)
      misuse("glt_init", "GLT_NUM_THREADS=%s is not a number of threads; set a number from 1 on",
             threads);
    if (e.code() != weft::errc::already_started)
      throw;
    if (std::atoi(threads) != weft::worker_count())
      note("glt_init",
           "GLT_NUM_THREADS=%s comes too late: Weft runs with %d workers; call glt_init() before "
           "other parts of the program use Weft, or set WEFT_WORKERS",
           threads, weft::worker_count());
  }
}

/// Returns the callbacks of an event, as they are now.
std::vector<callback_pair> callbacks_of(GLT_event_kind event) {
  malleability &m = state();
  const std::lock_guard guard(m.guard);
  std::vector<callback_pair> found;
  std::copy_if(m.callbacks.begin(), m.callbacks.end(), std::back_inserter(found),
               [event](const callback_pair &c) { return c.event == event; });
  return found;
}

enum class turn { on, off };

/// Returns the enabled GLT threads if `thread` is turned on or off.
std::vector<int> enabled_with(int thread, turn where) {
  malleability &m = state();
  const std::lock_guard guard(m.guard);
  std::vector<int> ids;
  for (int id = 0; id < g_team.num_workers; ++id) {
    const auto at = static_cast<std::size_t>(id);
    const bool off = at < m.disabled.size() && m.disabled[at];
    if (id == thread ? where == turn::on : !off)
      ids.push_back(id);
  }
  return ids;
}

/// Names the stack on which the caller runs. A thread's own stack has the address of a variable of the thread.
const void *stack_of_caller() noexcept {
  static thread_local const char of_thread = 0;
  const void *const stack = weft::layer::own_stack().low;
  return stack ? stack : &of_thread;
}

/// Makes the caller the changer, once no other one is, for as long as the object lives.
class changing {
 public:
  changing(const char *call, malleability &of) : m_of(of) {
    const void *const caller = stack_of_caller();
    // Relaxed: only what runs on this stack can have written its name.
    if (of.changer.load(std::memory_order_relaxed) == caller)
      misuse(call, "called by a callback of such a call, for which it would wait; let the callback "
                   "note what to change, and change it after that call");
    of.changes.lock();
    of.changer.store(caller, std::memory_order_relaxed);
  }
  ~changing() {
    m_of.changer.store(nullptr, std::memory_order_relaxed);
    m_of.changes.unlock();
  }
  changing(const changing &) = delete;
  changing &operator=(const changing &) = delete;

 private:
  malleability &m_of;
};

/// Returns the set of the workers with these numbers, or nothing when there can be no further set.
std::optional<std::uint64_t> set_of(const std::vector<int> &workers) {
  if (workers.size() == static_cast<std::size_t>(g_team.num_workers))
    return 0;
  try {
    return pack(weft::worker_set::of_workers(workers));
  } catch (const weft::error &e) {
    if (e.code() != weft::errc::out_of_resources)
      throw;
    return std::nullopt;
  }
}

void change(const char *call, int thread, turn where) {
  require_session(call);
  require_thread(call, thread);
  in_weft(call, [&] {
    malleability &m = state();
    const changing one_at_a_time(call, m);
    if (is_disabled(thread) == (where == turn::off))
      return;
    const std::vector<int> enabled = enabled_with(thread, where);
    if (enabled.empty()) {
      note(call, "thread %d is the last enabled one, and remains enabled", thread);
      return;
    }
    const auto event = where == turn::on ? GLT_EVENT_ADD_THREAD : GLT_EVENT_STOP_THREAD;
    for (const callback_pair &c : callbacks_of(event))
      if (int id = thread; c.ask && c.ask(c.ask_arg, &id) == GLT_FALSE)
        return;
    const std::optional<std::uint64_t> set = set_of(enabled);
    if (!set) {
      note(call,
           "thread %d remains %s: Weft keeps %d sets of workers, and all are in use; let fewer "
           "combinations of threads be enabled",
           thread, where == turn::on ? "disabled" : "enabled", k_sets);
      return;
    }
    {
      const std::lock_guard guard(m.guard);
      m.disabled.resize(std::max(m.disabled.size(), static_cast<std::size_t>(g_team.num_workers)));
      m.disabled[static_cast<std::size_t>(thread)] = where == turn::off;
    }
    g_enabled_set.store(*set, std::memory_order_release); // O1
    for (const callback_pair &c : callbacks_of(event))
      if (int id = thread; c.act)
        c.act(c.act_arg, &id);
  });
}

} // namespace

std::atomic<int> &sessions() noexcept {
  static std::atomic<int> count{0};
  return count;
}

void refuse_without_session(const char *call) noexcept {
  misuse(call, "GLT is not initialised; call glt_init() first, and glt_finalize() last");
}

int thread_count() noexcept { return g_team.num_workers; }

// A spare of Weft's, and an adopted thread of the program, have numbers beyond those of the
// workers.
int thread_number() { return weft::worker_id() % g_team.num_workers; }

void require_thread(const char *call, int number) noexcept {
  if (number < 0 || number >= g_team.num_workers) [[unlikely]]
    misuse(call, "there is no thread %d; pass a number from 0 to %d (glt_get_num_threads() - 1)",
           number, g_team.num_workers - 1);
}

weft::worker_set workers_for(int thread) {
  const std::uint64_t enabled = g_enabled_set.load(std::memory_order_acquire); // O1
  if (thread == k_any_thread || thread >= k_sets || (enabled != 0 && is_disabled(thread)))
    return unpack(enabled);
  auto &known = g_set_of[static_cast<std::size_t>(thread)];
  if (const std::uint64_t set = known.load(std::memory_order_acquire)) // O1
    return unpack(set);
  try {
    const weft::worker_set made = weft::worker_set::of_workers({thread});
    known.store(pack(made), std::memory_order_release); // O1
    return made;
  } catch (const weft::error &e) {
    if (e.code() != weft::errc::out_of_resources) // no further set: the number is a hint
      throw;
    return unpack(enabled);
  }
}

} // namespace weft_glt

using namespace weft_glt;

void glt_start(void) {}
void glt_end(void) {}

void glt_init(int, char *[]) {
  in_weft("glt_init", [] {
    if (sessions().load(std::memory_order_relaxed) == 0) {
      apply_environment();
      weft::start();
      g_team.num_workers = weft::worker_count();
      g_team.max_workers = weft::layer::effective_cpus();
    }
    sessions().fetch_add(1, std::memory_order_relaxed);
  });
}

void glt_finalize(void) {
  require_session("glt_finalize");
  if (this_unit())
    misuse("glt_finalize", "called by a ULT or tasklet, which it would wait for; call it in the "
                           "code that has called glt_init()");
  if (sessions().load(std::memory_order_relaxed) == 1) {
    in_weft("glt_finalize", [] { wait_for_all_units(); });
    forget_sets();
    const std::lock_guard guard(state().guard);
    enable_all(state());
  }
  sessions().fetch_sub(1, std::memory_order_relaxed);
}

glt_team_t *glt_get_team(void) {
  require_session("glt_get_team");
  return &g_team;
}

int glt_get_thread_num(void) {
  require_session("glt_get_thread_num");
  return in_weft("glt_get_thread_num", [] { return thread_number(); });
}

int glt_get_num_threads(void) {
  require_session("glt_get_num_threads");
  return thread_count();
}

void glt_workunit_get_thread_id(GLT_thread_id *id) {
  require_session("glt_workunit_get_thread_id");
  require("glt_workunit_get_thread_id", id, "id");
  *id = in_weft("glt_workunit_get_thread_id", [] { return thread_number(); });
}

int glt_can_event_functions(void) { return 1; }
int glt_can_future_functions(void) { return 1; }
int glt_can_manage_scheduler(void) { return 0; }
int glt_can_malleability(void) { return 1; }

void glt_thread_enable(void) {
  require_session("glt_thread_enable");
  change("glt_thread_enable", in_weft("glt_thread_enable", [] { return thread_number(); }),
         turn::on);
}
void glt_thread_disable(void) {
  require_session("glt_thread_disable");
  change("glt_thread_disable", in_weft("glt_thread_disable", [] { return thread_number(); }),
         turn::off);
}
void glt_thread_enable_id(int thread_id) { change("glt_thread_enable_id", thread_id, turn::on); }
void glt_thread_disable_id(int thread_id) { change("glt_thread_disable_id", thread_id, turn::off); }

void glt_event_add_callbac(GLT_event_kind event, GLT_event_cb_fn ask_cb, void *ask_user_arg,
                           GLT_event_cb_fn act_cb, void *act_user_arg, int *cb_id) {
  constexpr const char *k_call = "glt_event_add_callbac";
  require_session(k_call);
  require(k_call, cb_id, "cb_id");
  if (event != GLT_EVENT_STOP_THREAD && event != GLT_EVENT_ADD_THREAD)
    misuse(k_call, "there is no event %d; pass GLT_EVENT_STOP_THREAD or GLT_EVENT_ADD_THREAD",
           static_cast<int>(event));
  in_weft(k_call, [&] {
    malleability &m = state();
    const std::lock_guard guard(m.guard);
    m.callbacks.push_back({m.last_id + 1, event, ask_cb, act_cb, ask_user_arg, act_user_arg});
    *cb_id = ++m.last_id;
  });
}

void glt_event_del_callback(GLT_event_kind event, int cb_id) {
  constexpr const char *k_call = "glt_event_del_callback";
  require_session(k_call);
  malleability &m = state();
  const std::lock_guard guard(m.guard);
  const auto found =
      std::find_if(m.callbacks.begin(), m.callbacks.end(),
                   [&](const callback_pair &c) { return c.id == cb_id && c.event == event; });
  if (found == m.callbacks.end())
    misuse(k_call,
           "event %d has no callback %d; pass the number that glt_event_add_callbac() returned, "
           "once",
           static_cast<int>(event), cb_id);
  m.callbacks.erase(found);
}
