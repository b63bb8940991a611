// SPDX-License-Identifier: Apache-2.0
// Events of a watched process that begin and end on one thread.
#pragma once

#include "tool/watched.hpp"

namespace weft_omp {

[[nodiscard]] constexpr ompt::state state_in(ompt::sync_kind kind) noexcept {
  using enum ompt::sync_kind;
  switch (kind) {
  case barrier_explicit:
    return ompt::state::wait_barrier_explicit;
  case taskwait:
    return ompt::state::wait_taskwait;
  case taskgroup:
    return ompt::state::wait_taskgroup;
  case barrier_implicit_workshare:
    return ompt::state::wait_barrier_implicit_workshare;
  case barrier_implicit_parallel:
    return ompt::state::wait_barrier_implicit_parallel;
  case barrier_teams:
    return ompt::state::wait_barrier_teams;
  default:
    return ompt::state::wait_barrier_implementation;
  }
}

inline void report_sync(ompt::event event, watched_thread &me, ompt::sync_kind kind,
                        ompt::endpoint at, const void *return_address) {
  report(event, static_cast<int>(kind), static_cast<int>(at), data_of(me.task->region),
         &me.task->data, return_address);
}

/// Runs `f` as the wait of a synchronisation region.
template <class F>
decltype(auto) wait_in(watched_thread &me, ompt::sync_kind kind, const void *return_address, F f) {
  struct wait {
    watched_thread &me;
    ompt::sync_kind kind;
    const void *return_address;
    state_change change;
    wait(watched_thread &who, ompt::sync_kind which, const void *ra)
        : me(who), kind(which), return_address(ra), change(who, state_in(which)) {
      report_sync(ompt::event::sync_region_wait, me, kind, ompt::endpoint::begin, return_address);
    }
    ~wait() {
      report_sync(ompt::event::sync_region_wait, me, kind, ompt::endpoint::end, return_address);
    }
  } const now(me, kind, return_address);
  return f();
}

/// Runs `f` as a synchronisation region which is all wait.
template <class F>
decltype(auto) synchronize(watched_thread &me, ompt::sync_kind kind, const void *return_address,
                           F f) {
  struct region {
    watched_thread &me;
    ompt::sync_kind kind;
    const void *return_address;
    region(watched_thread &who, ompt::sync_kind which, const void *ra)
        : me(who), kind(which), return_address(ra) {
      report_sync(ompt::event::sync_region, me, kind, ompt::endpoint::begin, return_address);
    }
    ~region() {
      report_sync(ompt::event::sync_region, me, kind, ompt::endpoint::end, return_address);
    }
  } const now(me, kind, return_address);
  return wait_in(me, kind, return_address, f);
}

// ---- worksharing ----------------------------------------------------------------------------------

/// Returns what a tool calls a loop of this schedule.
[[nodiscard]] constexpr ompt::work_kind work_of(int schedule) noexcept {
  switch (schedule) {
  case k_static:
    return ompt::work_kind::loop_static;
  case k_dynamic:
    return ompt::work_kind::loop_dynamic;
  case k_guided:
    return ompt::work_kind::loop_guided;
  default:
    return ompt::work_kind::loop_other;
  }
}
inline void report_work(watched_thread &me, ompt::work_kind kind, ompt::endpoint at,
                        std::uint64_t count, const void *return_address) {
  report(ompt::event::work, static_cast<int>(kind), static_cast<int>(at), data_of(me.task->region),
         &me.task->data, count, return_address);
}
/// Ends the worksharing region that the thread is in, if any. GCC's programs do not say where a
/// single region ends: its end is reported when the thread comes to the next construct that cannot
/// be inside of it.
inline void end_work(watched_thread &me, const void *return_address) {
  const watched_work work = std::exchange(me.task->work, {});
  if (work.kind != ompt::work_kind::none)
    report_work(me, work.kind, ompt::endpoint::end, work.count, return_address);
}
inline void begin_work(watched_thread &me, ompt::work_kind kind, std::uint64_t count,
                       const void *return_address) {
  end_work(me, return_address);
  me.task->work = {kind, count};
  report_work(me, kind, ompt::endpoint::begin, count, return_address);
}
inline void report_dispatch(watched_thread &me, ompt::dispatch_kind kind, ompt::data what) {
  report(ompt::event::dispatch, data_of(me.task->region), &me.task->data, static_cast<int>(kind),
         what);
}
inline void report_chunk(watched_thread &me, ompt::dispatch_kind kind, std::uint64_t start,
                         std::uint64_t iterations) {
  ompt::chunk chunk{start, iterations};
  ompt::data what;
  what.pointer = &chunk;
  report_dispatch(me, kind, what);
}

/// Runs `f` as the barrier at the end of a region. The region is over when `f` returns: no event
/// names it afterwards.
template <class F>
void wait_at_end(watched_thread &me, const void *return_address, F f) {
  constexpr auto kind = ompt::sync_kind::barrier_implicit_parallel;
  end_work(me, return_address);
  me.task->frame.exit.pointer = nullptr;
  report_sync(ompt::event::sync_region, me, kind, ompt::endpoint::begin, return_address);
  {
    const state_change change(me, state_in(kind));
    report_sync(ompt::event::sync_region_wait, me, kind, ompt::endpoint::begin, return_address);
    f();
    me.task->region = nullptr;
    me.task->below = nullptr;
    report_sync(ompt::event::sync_region_wait, me, kind, ompt::endpoint::end, return_address);
  }
  report_sync(ompt::event::sync_region, me, kind, ompt::endpoint::end, return_address);
}

// ---- mutual exclusion -----------------------------------------------------------------------------

[[nodiscard]] inline std::uint64_t id_of(const void *lock) noexcept {
  return reinterpret_cast<std::uintptr_t>(lock);
}
[[nodiscard]] constexpr ompt::state state_in(ompt::mutex_kind kind) noexcept {
  switch (kind) {
  case ompt::mutex_kind::critical:
    return ompt::state::wait_critical;
  case ompt::mutex_kind::atomic:
    return ompt::state::wait_atomic;
  case ompt::mutex_kind::ordered:
    return ompt::state::wait_ordered;
  default:
    return ompt::state::wait_lock;
  }
}
inline void report_acquire(ompt::event event, ompt::mutex_kind kind, unsigned hint,
                           const void *lock, const void *return_address) {
  constexpr unsigned k_queueing = 2;
  report(event, static_cast<int>(kind), hint, k_queueing, id_of(lock), return_address);
}
inline void report_mutex(ompt::event event, ompt::mutex_kind kind, const void *lock,
                         const void *return_address) {
  report(event, static_cast<int>(kind), id_of(lock), return_address);
}
/// Runs `f`, which takes a lock.
template <class F>
void acquire(watched_thread &me, ompt::mutex_kind kind, unsigned hint, const void *lock,
             const void *return_address, F f) {
  report_acquire(ompt::event::mutex_acquire, kind, hint, lock, return_address);
  {
    const state_change change(me, state_in(kind), id_of(lock));
    f();
  }
  report_mutex(ompt::event::mutex_acquired, kind, lock, return_address);
}
/// Returns what identifies the ordered regions of the thread's loop.
[[nodiscard]] inline const void *id_of_ordered(const thread &self) noexcept {
  return self.workshare.current ? static_cast<const void *>(&self.workshare.current->ordered)
                                : static_cast<const void *>(self.team);
}
template <class F>
void release_mutex(ompt::mutex_kind kind, const void *lock, const void *return_address, F f) {
  f();
  report_mutex(ompt::event::mutex_released, kind, lock, return_address);
}

} // namespace weft_omp
