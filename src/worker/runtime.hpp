// SPDX-License-Identifier: Apache-2.0
// The runtime: workers, the policy they share, how they sleep, how producers are held back.
#pragma once

#include "base/mutant.hpp"
#include "config/settings.hpp"
#include "diagnose/hang.hpp"
#include "managers/managers.hpp"
#include "mem/slab.hpp"
#include "monitor/watcher.hpp"
#include "observe/timekeeper.hpp"
#include "os/thread.hpp"
#include "park/eventcount.hpp"
#include "queue/deque.hpp"
#include "queue/spin_lock.hpp"
#include "sched/confined.hpp"
#include "sched/policy.hpp"
#include "services/timer.hpp"
#include "task/execute.hpp"
#include "task/hooks.hpp"
#include "task/wait/wait.hpp"
#include "ult/thread_context.hpp"
#include "worker/adoption.hpp"
#include "worker/carried_bed.hpp"
#include "worker/loop.hpp"
#include "worker/nap.hpp"
#include "worker/sleep_apart.hpp"
#include "worker/spares.hpp"
#include "worker/step_back.hpp"
#include "worker/throttle/throttle_core.hpp"

#include <algorithm>
#include <atomic>
#include <bit>
#include <memory>
#include <mutex>

namespace weft::inline v0 {
namespace rt {

inline constexpr unsigned k_external_slots =
    64; // at least so many external threads, beyond the first, may use Weft at once
inline constexpr unsigned k_thread_slots = 1024 + k_external_slots; // of workers and those threads
inline constexpr unsigned k_slots = k_thread_slots + 1024; // with spares

/// Describes a thread that runs tasks: one of Weft's, or an external thread while it waits.
struct alignas(128) worker : thread_context {
  worker(unsigned id, std::size_t join_capacity);
  const unsigned id;
  own_queue own; // of the policy
  std::uint32_t seed; // of its random choices
  unsigned last_set = 0; // the set whose confined work it ran last
  std::uint32_t own_in_a_row = 0; // tasks taken from own.deque since the policy was asked
  std::int64_t live_below = -1; // the newest item of own.deque was no left-behind entry at that size
  bool adopted = false; // it has adopted an external thread
  bool lent = false; // to a thread that is not adopted (body_log.hpp); with the start lock
  bool keeps_to_own = false; // see sleep_apart.hpp
  bool is_carried = false; // its thread is a lightweight one that parks: see carried_bed.hpp
  bool leaves_loop = false; // the thread goes back to its own stack, to park there
  carried_bed<runnable> bed; // of such a thread
  nap_word<frame> nap; // the frame with which the thread sleeps
  bool forks = false; // the frame that it leaves lets `handoff` go first, whatever else is ready
  std::atomic<bool> keeps_time{false}; // its thread is the timer's
  frame *thread_frame = nullptr; // of a started worker: its thread's own stack, until shutdown
  thread os_thread; // of a started worker
  static constexpr int k_begins = -1;
  std::atomic<int> tid{0}; // of the thread that is in it; k_begins until that thread runs
  /// Notes that its thread ends. An observer that sees this sees what the thread did.
  void is_left() noexcept { tid.store(0, std::memory_order_release); } // O4: pairs with is_active
  std::atomic<bool> at_safepoint{false}; // see worker/safepoint.hpp
  std::uint64_t sampled_busy_ns = 0; // at the last sample; see publish/runtimes.hpp
  layer::client sampled_client = layer::client::weft;
  spare *stand_in = nullptr; // not null: the worker is this spare
  spare_seat<> seat; // of a spare, and of a worker that the runtime has started
  task root; // represents the thread
  work_deque<detail::join_job *> joins;
};

/// Connects the throttle with the rest of the runtime.
struct throttled_world {
  using item = runnable;
  using queue = intrusive_queue<runnable>;
  static std::int64_t level() noexcept;
  static void wake_one() noexcept;
  static void make_ready(runnable &producer);
};

/// Holds producers back while too much is alive, by a policy: above its lower mark the producers
/// whose worker has other work, above its limit all.
class throttle : public throttle_core<real_atomics, throttled_world> {
 public:
  throttle(const throttle_policy &policy, const settings &now, unsigned workers)
      : throttle_core({}, policy.marks(now, workers)), m_policy(&policy) {}
  /// Changes the policy or its marks while tasks run.
  void follow(const throttle_policy &policy, const settings &now, unsigned workers);
  /// Returns what the policy compares with its marks.
  [[nodiscard]] std::int64_t level(std::int64_t live) const;
  /// Suspends the caller until the level is at the low mark, or until nothing else can run.
  void hold_back(worker &w);

 private:
  std::atomic<const throttle_policy *> m_policy;
};

class runtime {
 public:
  runtime();

  settings cfg;
  unsigned workers;
  unsigned max_spares;
  unsigned slot_limit; // ids are less than this; the watcher sleeps as the next one
  std::atomic<unsigned> started_workers{1};
  std::unique_ptr<policy> ready;
  confined_work confined; // beside `ready`
  eventcount<> idle;
  sleep_apart apart;
  throttle producers;
  timer clock;
  managers manage;
  std::atomic<worker *> slots[k_slots]{};
  std::atomic<unsigned> used_slots{0};
  unsigned external_threads = 0; // adopted threads beyond the first; with the start lock
  std::atomic<bool> stopping{false};
  std::uint32_t
      most_searchers; // how many workers spin at once; one cpu is left to workers that have work
  // Copies of knobs for the threads that read them: apply_knob.hpp. `cfg` has the values of the start.
  std::atomic<std::uint64_t> spin_ns;
  std::atomic<std::uint32_t> successor_odds; // of 2^32 - 1, that an immediate successor goes first
  // The same as long as no task has had a priority, and 0 afterwards: then a worker compares
  // priorities first.
  std::atomic<std::uint32_t> plain_odds;
  std::atomic<bool> has_priorities{false};
  spare_pool spare_threads;
  hang_check hangs;
  sleep_gate<> gate; // passed by a worker that ends its sleep
  worker_room room;
  std::atomic<unsigned> naps{0}; // threads that sleep with a frame; a hint
  std::uint64_t sampled_ns = 0; // when the workers were sampled last; see publish/runtimes.hpp
  std::atomic<bool> serves_others{
      false}; // at the last sample a worker did something for another runtime
  watcher watch;
  // Sizes of blocks depend on no clock: sched.seed, tune=off, tune=replay.
  bool fixed_blocks = false;
};

inline worker &this_worker() {
  if (thread_context *e = this_thread_context()) [[likely]]
    return *static_cast<worker *>(e);
  return adopt();
}
/// Returns the calling thread's worker, or null on a thread that does not use Weft.
inline worker *this_worker_or_null() noexcept {
  return static_cast<worker *>(this_thread_context());
}
[[gnu::visibility(
    "hidden")]] extern runtime *g_runtime; // never freed: external threads may come late
inline runtime &the_runtime() noexcept { return *g_runtime; }
/// Returns whether the worker's thread is Weft's: then its seat says whether it works.
[[nodiscard]] inline bool has_seat(const worker &w) noexcept {
  return w.stand_in || (w.id != 0 && w.id < the_runtime().workers);
}
[[nodiscard]] bool is_started() noexcept;
[[nodiscard]] bool is_shut_down() noexcept;
/// Returns the runtime, or null before the first start. After the end, its totals can still be
/// read.
runtime *runtime_or_null() noexcept;
[[nodiscard]] inline std::uint64_t poll_period_ns(const runtime &rt) noexcept {
  return static_cast<std::uint64_t>(rt.cfg.poll_period.count()) * 1000u;
}
/// Starts the runtime. The caller has the start lock. Throws weft::error after shutdown.
void start_locked();
/// Does what layer::outlive_exit says.
void outlive_exit(bool (*threads_compute)()) noexcept;
void start_runtime();
void stop_runtime();
/// Returns the cpu that a started worker is bound to; -1 for other workers, and where workers are
/// not bound.
[[nodiscard]] int cpu_of_worker(const runtime &rt, unsigned id);

/// Notes that a task of a positive priority is spawned: from now on a worker that has an immediate
/// successor asks for more urgent work first.
inline void expect_priorities() noexcept {
  runtime &rt = the_runtime();
  if (rt.has_priorities.load(std::memory_order_relaxed))
    return;
  // Hints for workers: the task itself is handed over by its queue.
  rt.has_priorities.store(true, std::memory_order_seq_cst); // O5: pairs with set_successor_odds
  rt.plain_odds.store(0, std::memory_order_seq_cst); // O5
}
/// Changes how often an immediate successor goes first. One thread at a time.
inline void set_successor_odds(runtime &rt, std::uint32_t odds) noexcept {
  rt.successor_odds.store(odds, std::memory_order_relaxed);
  // O5: another thread may meet the first priority meanwhile. Its zero comes after this store, or
  // the flag, which the thread stores before, is seen here.
  rt.plain_odds.store(odds, std::memory_order_seq_cst);
  if (rt.has_priorities.load(std::memory_order_seq_cst)) // O5
    rt.plain_odds.store(0, std::memory_order_seq_cst); // O5
}

/// Returns, in one comparison, whether `item` has neither a priority nor a set of workers.
[[nodiscard]] inline bool is_for_own_queue(const runnable &item) noexcept {
  constexpr auto bits = [](runnable::kind k, std::int16_t p) {
    return std::bit_cast<std::uint64_t>(detail::runnable_traits{k, 0, p, 0});
  };
#ifdef WEFT_TSAN // a waiter that has claimed the task may be setting its flags, which are left out below
  const std::uint8_t flags = 0;
#else
  const std::uint8_t flags = item.flags;
#endif
  return (std::bit_cast<std::uint64_t>(
              detail::runnable_traits{item.what, flags, item.priority, 0}) &
          bits(runnable::kind{0xFC}, -1)) == 0;
}
/// Gives ready work to the policy and wakes a worker for it.
inline void enqueue(worker *here, runnable &item, origin from) {
  runtime &rt = the_runtime();
  const bool own = here && here->own.deque && is_for_own_queue(item) && from != origin::yielded;
  if (!own || !here->own.deque->try_push(&item)) [[unlikely]]
    return enqueue_elsewhere(here, item, from);
  if (unless(bug::enqueue_wakes_nobody, rt.idle.has_sleepers()))
    rt.idle.choose_any();
}
/// Wakes the first of these workers that sleeps. Returns whether one slept.
inline bool wake_first_of(runtime &rt, const std::vector<unsigned> &ids) noexcept {
  for (const unsigned id : ids)
    if (rt.idle.notify_worker(id))
      return true;
  return false;
}
/// Confines a frame that is about to be enqueued: it goes on where its task may run.
inline void confine_frame(frame &suspended) noexcept {
  if (suspended.current && suspended.current->confinement() != 0) [[unlikely]]
    suspended.confine(suspended.current->confinement());
}

/// Calls execute() or execute_in_place(), and counts the task.
[[nodiscard]] WEFT_INLINE runnable *execute_counted(worker &w, task &t, body_on where) noexcept {
  count(w.counts->executed);
  if (--w.time.until == 0) [[unlikely]]
    return execute_timed(w, t, where);
  return where == body_on::frame ? execute_in_place(w, t) : execute(w, t);
}
} // namespace rt
} // namespace weft::inline v0
