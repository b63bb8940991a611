// SPDX-License-Identifier: Apache-2.0
#include "worker/spares.hpp"

#include "base/clock.hpp"
#include "base/error.hpp"
#include "base/log.hpp"
#include "base/mutant.hpp"
#include "deps/messages.hpp"
#include "mem/overflow.hpp"
#include "observe/store.hpp"
#include "os/thread_state.hpp"
#include "publish/publish.hpp"
#include "services/dispatcher.hpp"
#include "topo/machine.hpp"
#include "tune/mailbox.hpp"
#include "tune/policies.hpp"
#include "worker/needed.hpp"
#include "worker/runtime.hpp"
#include "worker/thread_name.hpp"

#include <cstring>
#include <new>

namespace weft::inline v0 {
namespace rt {
namespace {

constexpr std::uint64_t k_retry_ns = 100'000'000; // after a spare could not be had
std::atomic<bool> g_warned_most{false}, g_warned_none{false};
std::atomic<bool (*)(int)> g_ask{nullptr};
constinit external_list<layer::external_thread>
    g_external_threads; // of the process: some exist before the runtime does
std::atomic<unsigned> g_suspended_external_threads{0};

} // namespace

void set_preempt(bool (*ask)(int tid)) noexcept {
  g_ask.store(ask, std::memory_order_release);
} // O4: pairs with ask
bool can_preempt() noexcept { return g_ask.load(std::memory_order_relaxed) != nullptr; } // a hint

external_list<layer::external_thread> &known_external_threads() noexcept {
  return g_external_threads;
}
std::atomic<unsigned> &suspended_external_threads() noexcept {
  return g_suspended_external_threads;
}

// ---- what the watcher sees ------------------------------------------------------------------------------------------

unsigned spare_pool::slots() const {
  return m_runtime.used_slots.load(std::memory_order_acquire);
} // O3: pairs with make_worker

/// Reads a slot for the watcher. External threads beyond the first are no workers: when one blocks,
/// the number of running workers stays the same. But what they run while they wait may keep them
/// from going on.
bool spare_pool::read(unsigned slot, reading &seen) const {
  worker *w = m_runtime.slots[slot].load(std::memory_order_acquire); // O3
  if (!w)
    return false;
  seen.external = slot >= m_runtime.workers && !w->stand_in;
  if (seen.external && !w->own_frame.full())
    return false;
  seen.tid = w->tid.load(std::memory_order_relaxed);
  if (seen.tid <= 0 || (has_seat(*w) && w->seat.is() != spare_seat<>::running))
    return false;
  seen.epoch = peek(w->counts->executed) + peek(w->counts->rounds) + created(*w->counts) +
               peek(w->counts->suspended);
  seen.idle =
      m_runtime.idle.announced(slot) || m_runtime.apart.announced(slot) || w->bed.is_parked();
  seen.spare = w->stand_in != nullptr;
  seen.awaited = !seen.idle && w->own_frame.full();
  return true;
}

bool spare_pool::any_worker_searches() const {
  return m_runtime.idle.idle() > 0 || m_runtime.idle.searching() > 0;
}

bool spare_pool::any_thread_keeps_to_own() const { return m_runtime.apart.any(); }

bool spare_pool::has_work() const {
  if (m_runtime.ready->has_work() || (has_managers() && !m_runtime.manage.nothing_queued()))
    return true;
  for (unsigned i = 0; i < slots(); ++i)
    if (worker *w = m_runtime.slots[i].load(std::memory_order_acquire);
        w && !w->joins.empty()) // O3
      return true;
  return false;
}

void spare_pool::publish() { publish_counters(m_runtime, hardware_counts::left); }

bool spare_pool::chores_wait() const {
  return m_allowed && (m_runtime.producers.holds_any() || has_services_at(poll_point::idle));
}

std::uint64_t spare_pool::cpu_ns(int tid) const { return thread_cpu_ns(tid); }
bool spare_pool::sleeps(int tid) const { return thread_sleeps(tid); }
thread_wait spare_pool::waits_for(int tid) const { return wait_of_thread(tid); }
lock_holder spare_pool::holder(const thread_wait &lock) const { return holder_of(lock); }

// ---- what it does ---------------------------------------------------------------------------------------------------

bool spare_pool::add_spare() {
  if (add_one())
    return true;
  m_runtime.apart.let_help();
  unless(bug::spareless_naps_go_on, [&] { end_naps(m_runtime); });
  return false;
}

bool spare_pool::add_one() {
  const std::uint64_t failed = m_failed_at.load(std::memory_order_relaxed);
  if (failed && now_ns() - failed < k_retry_ns)
    return false;
  using seat = spare_seat<>;
  for (const auto wanted : {seat::parked, seat::leaving, seat::gone})
    for (auto &s : m_all)
      if (s->is->seat.is() == wanted && (wanted == seat::leaving ? recall(*s) : add(*s)))
        return true;
  return recruit();
}

/// Adds a new spare.
bool spare_pool::recruit() {
  if (m_all.size() >= m_runtime.max_spares) {
    warn_once(
        g_warned_most,
        "%u spare threads stand in for stuck workers, and more workers are stuck: tasks will wait; raise watch.max_spares, or let "
        "tasks suspend instead of blocking their thread",
        m_runtime.max_spares);
    m_failed_at.store(now_ns(), std::memory_order_relaxed);
    return false;
  }
  try {
    auto fresh = std::make_unique<spare>();
    m_all.reserve(m_all.size() + 1);
    worker *w = make_spare_worker(m_runtime, *fresh);
    if (!w)
      return false;
    fresh->is = w;
    fresh->pool = this;
    w->root.label = "spare";
    m_all.push_back(std::move(fresh));
  } catch (const std::bad_alloc &) {
    m_failed_at.store(now_ns(), std::memory_order_relaxed);
    return false;
  }
  return add(*m_all.back());
}

/// Adds a spare that is parked or gone.
bool spare_pool::add(spare &thread) {
  m_running.fetch_add(1, std::memory_order_relaxed); // a count
  if (thread.is->seat.wake() || start_thread(thread))
    return true;
  m_running.fetch_sub(1, std::memory_order_relaxed); // a count
  return false;
}

/// Recalls a spare that was retired and still works: takes back the stack that would end its work,
/// unless the spare was faster.
bool spare_pool::recall(spare &thread) {
  if (!thread.is->own_frame.take())
    return false;
  m_running.fetch_add(1, std::memory_order_relaxed); // a count
  thread.is->seat.recall();
  return true;
}

bool spare_pool::start_thread(spare &thread) {
  worker &w = *thread.is;
  if (w.os_thread.joinable())
    w.os_thread.join();
  thread.is->seat.begin();
  w.tid.store(worker::k_begins, std::memory_order_relaxed); // a hint for the watcher
  const int e = w.os_thread.start(
      thread_name("weft-spare", w.id).text,
      [](void *p) { static_cast<spare *>(p)->pool->main(*static_cast<spare *>(p)); }, &thread);
  if (!e) {
    m_started.fetch_add(1, std::memory_order_relaxed); // a count
    return true;
  }
  w.is_left();
  thread.is->seat.end();
  m_failed_at.store(now_ns(), std::memory_order_relaxed);
  warn_once(
      g_warned_none,
      "no thread can be had to stand in for a worker that is stuck (%s): tasks will wait; raise the limit of threads",
      std::strerror(e));
  return false;
}

void spare_pool::retire_spare(unsigned slot) {
  worker &w = *m_runtime.slots[slot].load(std::memory_order_relaxed); // read() has seen it
  if (!w.seat.retire())
    return;
  m_running.fetch_sub(1, std::memory_order_relaxed); // a count
  unless(bug::spare_retired_silently, [&] { make_ready(*w.thread_frame); });
}

bool spare_pool::may_be_asked() const { return why_private().empty(); }
bool spare_pool::samples() const {
  return m_runtime.serves_others.load(std::memory_order_relaxed); // a hint
}
void spare_pool::answer() {
  m_runtime.hangs.answer();
  answer_mailbox();
  report_overdue_policy(now_ns());
}

shared_word spare_pool::bell() const { return may_be_asked() ? bell_of_mailbox() : shared_word{}; }

bool spare_pool::can_ask() const { return can_preempt(); }

bool spare_pool::ask(int tid) {
  auto *const f = g_ask.load(std::memory_order_acquire); // O4
  return f && f(tid);
}

external_list<layer::external_thread> &spare_pool::external_threads() {
  return known_external_threads();
}
unsigned spare_pool::cpus() const { return static_cast<unsigned>(this_machine().effective_cpus()); }
std::uint64_t spare_pool::process_cpu_ns() const { return rt::process_cpu_ns(); }
std::uint64_t spare_pool::preemptions() const { return process_preemptions(); }

/// Counts the busy workers except the first: its thread is the program's, and may be anywhere.
unsigned spare_pool::busy() const {
  unsigned n = 0;
  reading r;
  for (unsigned slot = 1; slot < slots(); ++slot)
    n += read(slot, r) && !r.idle && !r.external;
  return n;
}

bool spare_pool::examine() {
  call_needed_back(m_runtime);
  // While the program ends, a task that nothing goes on with any more is no hang.
  return !m_runtime.stopping.load(std::memory_order_acquire) && // O3 of runtime.cpp
         m_runtime.cfg.watch_hang != hang_kind::off && m_runtime.hangs.examine();
}

bool spare_pool::leaves(spare &thread) noexcept {
  if (!thread.is->seat.leave())
    return false;
  m_running.fetch_sub(1, std::memory_order_relaxed); // a count
  return true;
}

bool spare_pool::stop(std::uint64_t deadline_ns) {
  bool all = true;
  for (auto &s : m_all) {
    if (s->is->seat.wake())
      m_running.fetch_add(1, std::memory_order_relaxed); // the spare takes it off
    all = s->is->os_thread.join_by(deadline_ns) && all;
  }
  return all;
}

// ---- a spare's thread -----------------------------------------------------------------------------------------------

/// Works until the spare is not needed. Returns false if it cannot work.
bool spare_pool::stand_in(spare &thread) noexcept {
  worker &w = *thread.is;
  try {
    suspend(
        [](thread_context &e, frame &suspended, void *) {
          static_cast<worker &>(e).thread_frame = &suspended;
          static_cast<worker &>(e).seat.work();
        },
        &thread);
  } catch (const error &e) {
    m_running.fetch_sub(1, std::memory_order_relaxed); // a count
    m_failed_at.store(now_ns(), std::memory_order_relaxed);
    thread.is->seat.end();
    warn_once(g_warned_none, "a spare thread cannot work: %s", e.what());
    return false;
  }
  w.memory->flush_remote();
  w.memory->flush_accounting();
  return true;
}

/// Sleeps until the spare is needed. Returns false if it has not been needed for long, or if the
/// runtime stops: then the spare is gone, and the watcher makes a thread for it when it is needed.
bool spare_pool::park(spare &thread) noexcept {
  constexpr std::int64_t k_over = 1; // a deadline in the past
  auto &seat = thread.is->seat;
  seat.park();
  if (m_runtime.cfg.watch_hang != hang_kind::off)
    m_runtime.watch.examine_soon(); // other workers may have asked while this one was active
  const bool stops = m_runtime.stopping.load(std::memory_order_seq_cst); // O3 of spare_seat.hpp
  if (!seat.wait(stops ? k_over : static_cast<std::int64_t>(now_ns() + kept_ns(m_runtime.cfg))))
    return false;
  if (!m_runtime.stopping.load(std::memory_order_acquire)) // O1: stored before the wake-up
    return true;
  m_running.fetch_sub(1, std::memory_order_relaxed); // a count
  seat.end();
  return false;
}

void spare_pool::main(spare &thread) noexcept {
  worker &w = *thread.is;
  settle_on_thread(w);
  {
    overflow_guard guard;
    while (stand_in(thread) && park(thread)) {
    }
  }
  w.is_left();
  set_this_thread_context(nullptr);
}

} // namespace rt
} // namespace weft::inline v0
