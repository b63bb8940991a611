// SPDX-License-Identifier: Apache-2.0
// Synchronization objects: how a wait ends, and the contended side of each.
// The protocols: src/sync.
#include "api/cpp/sync.hpp"

#include "base/clock.hpp"
#include "base/error.hpp"
#include "sync/barrier.hpp"
#include "sync/event.hpp"
#include "sync/latch.hpp"
#include "sync/semaphore.hpp"
#include "sync/shared_lock.hpp"
#include "task/parent_process.hpp"
#include "task/wait/signal_word.hpp"
#include "worker/functions.hpp"
#include "worker/runtime.hpp"

#include <weft/sync.hpp>
#include <weft/thread.hpp>

#include <new>
#include <optional>

namespace weft::inline v0 {
namespace rt {
bool is_lost(const wait_node<> &node) noexcept {
  return functions_generation() != 0 && node.waiter && is_of_parent_process(*node.waiter);
}

void begin_wait(wait_node<> &self) { self.waiter = this_worker().current; }

void grant(wait_node<> &node) noexcept {
  if (node.resume)
    return node.resume(node);
  if (void *frame_of_waiter = raise_signal(node.signal, k_done))
    unless(bug::sync_grants_silently, [&] { make_ready(*static_cast<frame *>(frame_of_waiter)); });
}

void grant(wait_chain<> &granted) noexcept {
  const gate_guard here;
  while (wait_node<> *n = granted.take())
    grant(*n);
}

bool cancellable::end(wait_end why) noexcept {
  wait_chain<> granted;
  {
    const sync_guard here(place.object);
    if (!cancel(place.list, self, why))
      return false;
    place.settle(place.state, granted);
  }
  while (wait_node<> *n = granted.take())
    grant(*n);
  grant(self);
  return true;
}

deadline_call::deadline_call(cancellable &wait) {
  the_runtime().clock.prepare(m_call);
  m_call.f = [](void *wait_of_call) {
    static_cast<cancellable *>(wait_of_call)->end(wait_end::timed_out);
  };
  m_call.context = &wait;
}

void deadline_call::at(std::uint64_t deadline_ns) noexcept {
  the_runtime().clock.at(deadline_ns, m_call);
}

deadline_call::~deadline_call() { the_runtime().clock.cancel(m_call); }

void stop_call::operator()() const noexcept {
  const gate_guard here;
  wait.end(wait_end::stopped);
}

wait_place place_in_list(const void *object, wait_list<> &list, waits_for what) noexcept {
  return {object, list, nullptr, [](void *, wait_chain<> &) noexcept {}, what};
}

namespace {

/// Waits for the signal of a node that another thread has taken, and is about to raise.
void await_signal(wait_node<> &self) noexcept {
  real_atomics::await(
      self.signal, [](void *seen) { return seen == k_done; }, std::memory_order_acquire);
}

void publish_frame(thread_context &, frame &suspended, void *self) {
  if (!wait_for_signal(static_cast<wait_node<> *>(self)->signal, suspended))
    make_ready(suspended);
}

} // namespace

void withdraw(const void *object, wait_list<> &list, wait_node<> &self) noexcept {
  {
    const sync_guard here(object);
    if (cancel(list, self, wait_end::stopped))
      return;
  }
  await_signal(self);
}

wait_end await_grant(wait_node<> &self, const wait_place &place, const detail::wait_limit &limit) {
  cancellable wait{self, place};
  const bool has_deadline = limit.deadline_ns != UINT64_MAX;
  try {
    if (has_deadline && limit.deadline_ns <= now_ns())
      wait.end(wait_end::timed_out);
    std::optional<deadline_call> deadline;
    if (has_deadline && !is_raised(self.signal, k_done))
      deadline.emplace(wait).at(limit.deadline_ns);
    std::optional<std::stop_callback<stop_call>> stop;
    if (limit.stop && !is_raised(self.signal, k_done))
      stop.emplace(*limit.stop, stop_call{wait});
    if (!is_raised(self.signal, k_done))
      suspend(&publish_frame, &self,
              has_deadline ? wait_reason()
                           : wait_reason(place.what, place.object, may_be_stopped(limit)));
  } catch (...) {
    if (wait.end(wait_end::stopped))
      throw;
    await_signal(self); // granted, or ended, at this moment: the caller has it
  }
  return self.end.get();
}

} // namespace rt

using namespace rt;

namespace detail {

wait_limit limit_of_ns(std::int64_t ns) {
  const std::uint64_t now = now_ns();
  if (ns <= 0)
    return {now, nullptr};
  if (static_cast<std::uint64_t>(ns) >= static_cast<std::uint64_t>(INT64_MAX) - now)
    return {};
  return {now + static_cast<std::uint64_t>(ns), nullptr};
}

void refuse_count(const char *what, std::ptrdiff_t count) {
  throw_error(errc::invalid_argument, "%s are %td; there may be 0 to %td", what, count,
              detail::k_most_count);
}

// ---- semaphores

bool semaphore_base::take_slow(const wait_limit &limit) {
  return wait_in_list(place_in(m_state, waits_for::semaphore), limit,
                      [this](wait_node<> &self) { return take_or_enter(m_state, self); });
}

void semaphore_base::give_slow(std::ptrdiff_t count) {
  bool fits = true;
  change_and_grant(&m_state,
                   [&](wait_chain<> &granted) { fits = rt::give(m_state, count, granted); });
  if (!fits)
    throw_error(errc::invalid_argument,
                "a weft::counting_semaphore would have more than %td units if %td were given to it",
                detail::k_most_count, count);
}

// ---- barriers

barrier_base::barrier_base(std::ptrdiff_t expected)
    : m_state(static_cast<std::uint32_t>(expected)) {
  if (expected < 0 || expected > std::ptrdiff_t{UINT32_MAX})
    throw_error(errc::invalid_argument,
                "a weft::barrier for %td arrivals; there may be 0 to 4294967295", expected);
}

std::uint32_t barrier_base::arrive(std::ptrdiff_t count, bool &last) {
  std::uint32_t phase = 0;
  counted how = counted::too_many;
  if (count >= 0 && count <= std::ptrdiff_t{UINT32_MAX})
    how = rt::arrive(m_state, static_cast<std::uint32_t>(count), phase);
  if (how == counted::too_many)
    throw_error(
        errc::invalid_argument,
        "%td arrivals at a weft::barrier that expects fewer in this phase; construct it with the number of arrivals of a phase",
        count);
  last = how == counted::last && count > 0;
  return phase;
}

void barrier_base::turn(std::uint32_t phase) {
  change_and_grant(&m_state, [&](wait_chain<> &granted) { rt::turn(m_state, phase, granted); });
}

bool barrier_base::wait_slow(std::uint32_t phase, const wait_limit &limit) const {
  return wait_in_list(place_in(m_state, waits_for::barrier), limit,
                      [&](wait_node<> &self) { return find_over_or_enter(m_state, phase, self); });
}

// ---- recursive mutexes, spin mutexes

const void *current_owner() { return this_worker().current; }

void refuse_unlock_of_another(const char *what) {
  throw_error(
      errc::invalid_argument,
      "unlock() of %s that the task does not hold; unlock once per lock, in the task that locked",
      what);
}

void spin_until_clear(const std::atomic<bool> &taken) noexcept {
  real_atomics::await(taken, [](bool is) { return !is; }, std::memory_order_relaxed);
}

// ---- threads

std::uint64_t next_thread_number() noexcept {
  static std::atomic<std::uint64_t> g_last{0};
  return g_last.fetch_add(1, std::memory_order_relaxed) + 1;
}

std::uint64_t &running_thread_number() {
  static const task_local<std::uint64_t> g_number;
  return *g_number;
}

// ---- channels

void channel_base::enter(list &waiters, node &self) {
  begin_wait(self);
  const sync_guard here(this);
  rt::enter(waiters, self);
}

void channel_base::put_back(list &waiters, node &entry) noexcept {
  bool waits = false;
  {
    const sync_guard here(this);
    waits = rt::put_back(waiters, entry);
  }
  if (!waits)
    grant(entry);
}

channel_base::node *channel_base::take(list &waiters) noexcept {
  if (is_empty(waiters)) // a waiter that enters has the channel locked, as the caller has
    return nullptr;
  const sync_guard here(this);
  return rt::take(waiters);
}

void channel_base::grant(node &entry) noexcept {
  const gate_guard here;
  rt::grant(entry);
}

channel_base::node *channel_base::take_all_closed(list &waiters) noexcept {
  wait_chain<> taken;
  const sync_guard here(this);
  take_all(waiters, taken);
  for (node *n = taken.first; n; n = n->next.get())
    n->end.set(wait_end::closed);
  return taken.first;
}

void channel_base::grant_all(node *first) noexcept {
  wait_chain<> taken;
  taken.first = first;
  rt::grant(taken);
}

channel_status channel_base::await(list &waiters, node &self, const wait_limit &limit) {
  return status_of(await_grant(self, place_in_list(this, waiters, waits_for::channel), limit));
}

channel_status channel_base::status_of(wait_end how) noexcept {
  switch (how) {
  case wait_end::granted:
    return channel_status::success;
  case wait_end::closed:
    return channel_status::closed;
  case wait_end::timed_out:
    return channel_status::timeout;
  case wait_end::stopped:
    break;
  }
  return channel_status::stopped;
}

} // namespace detail

// ---- latches

void latch::count_down(std::ptrdiff_t count) {
  if (count < 0)
    throw_error(errc::invalid_argument,
                "a weft::latch is counted down by %td; counts are 0 or more", count);
  if (count == 0)
    return;
  switch (rt::count_down(m_state, count)) {
  case counted::some_left:
    return;
  case counted::too_many:
    throw_error(errc::invalid_argument,
                "a weft::latch is counted down by %td, which is more than is left", count);
  case counted::last:
    change_and_grant(&m_state, [this](wait_chain<> &granted) { open(m_state, granted); });
  }
}

bool latch::wait_slow(const detail::wait_limit &limit) const {
  return wait_in_list(place_in(m_state, waits_for::latch), limit,
                      [this](wait_node<> &self) { return find_down_or_enter(m_state, self); });
}

// ---- events

void event::set_slow() {
  change_and_grant(&m_state, [this](wait_chain<> &granted) { rt::set(m_state, granted); });
}

bool event::wait_slow(const detail::wait_limit &limit) const {
  return wait_in_list(place_in(m_state, waits_for::event), limit,
                      [this](wait_node<> &self) { return find_set_or_enter(m_state, self); });
}

// ---- mutexes

namespace {

template <class State>
bool lock_in(State &state, bool shared, const detail::wait_limit &limit) {
  return wait_in_list(place_in(state, waits_for::mutex), limit, [&](wait_node<> &self) {
    self.shared = shared;
    return take_or_enter(state, self);
  });
}

template <class State>
void unlock_in(State &state, bool shared, const char *what) {
  bool held = false;
  change_and_grant(&state, [&](wait_chain<> &granted) { held = give_up(state, shared, granted); });
  if (!held)
    throw_error(errc::invalid_argument, "%s that no task holds so; unlock once per lock", what);
}

} // namespace

bool timed_mutex::lock_slow(const detail::wait_limit &limit) {
  return lock_in(m_state, false, limit);
}
void timed_mutex::unlock_slow() { unlock_in(m_state, false, "unlock() of a weft::timed_mutex"); }

bool shared_mutex::lock_slow(bool shared, const detail::wait_limit &limit) {
  return lock_in(m_state, shared, limit);
}
void shared_mutex::unlock_slow(bool shared) {
  unlock_in(m_state, shared,
            shared ? "unlock_shared() of a weft::shared_mutex"
                   : "unlock() of a weft::shared_mutex");
}

// ---- condition variables

void condition_variable_any::begin_wait(detail::wait_node<> &self) {
  rt::begin_wait(self);
  const sync_guard here(this);
  enter(m_waiters, self);
}

bool condition_variable_any::end_wait(detail::wait_node<> &self, const detail::wait_limit &limit) {
  return await_grant(self, place_in_list(this, m_waiters, waits_for::notification), limit) ==
         wait_end::granted;
}

void condition_variable_any::withdraw_wait(detail::wait_node<> &self) noexcept {
  rt::withdraw(this, m_waiters, self);
}

bool condition_variable_any::end_wait_by_event(detail::notified_event &self) noexcept {
  {
    const sync_guard here(this);
    if (cancel(m_waiters, self, wait_end::timed_out))
      return false;
  }
  while (!self.came.is_set()) // the granter, which has taken the node, is about to
    real_atomics::yield();
  return true;
}

void condition_variable_any::notify(bool all) noexcept {
  // The waiter entered before it gave up the lock under which the caller, before this call, has
  // changed what the waiter waits for: so the caller sees it.
  if (is_empty(m_waiters))
    return;
  change_and_grant(this, [&](wait_chain<> &granted) {
    if (all)
      take_all(m_waiters, granted);
    else if (wait_node<> *n = take(m_waiters))
      granted.add(*n);
  });
}

// ---- time

bool detail::sleep_within(const wait_limit &limit) {
  wait_list<> only_this;
  wait_node<> self;
  rt::begin_wait(self);
  {
    const sync_guard here(&only_this);
    enter(only_this, self);
  }
  return await_grant(self, place_in_list(&only_this, only_this, waits_for::nothing), limit) ==
         wait_end::timed_out;
}

// ---- calling once

detail::once_turn once_flag::begin(const detail::wait_limit &limit) {
  using detail::once_turn;
  const auto is_over = [this] { return m_called.load(std::memory_order_acquire); };
  if (is_over())
    return once_turn::was_called;
  const bool has_turn =
      m_turn.try_take() ||
      wait_in_list(place_in(m_turn, waits_for::call_once), limit,
                   [this](wait_node<> &self) { return take_or_enter(m_turn, self); });
  if (!is_over())
    return has_turn ? once_turn::calls : once_turn::gave_up;
  if (has_turn)
    end(false);
  return once_turn::was_called;
}

bool once_flag::begin() { return begin({}) == detail::once_turn::calls; }

void once_flag::end(bool called) noexcept {
  if (called)
    m_called.store(true, std::memory_order_release);
  if (!m_turn.try_give(1))
    change_and_grant(&m_turn, [this](wait_chain<> &granted) {
      static_cast<void>(rt::give(m_turn, 1, granted)); // there is one unit
    });
}

} // namespace weft::inline v0
