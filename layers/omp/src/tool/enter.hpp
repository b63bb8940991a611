// SPDX-License-Identifier: Apache-2.0
// How an entry point does its work without events or, in a watched process, with events around it.
// The way without events has no instruction more than without tools: it tests t_self, as each entry
// point does to find its thread, and in a watched process t_self is null.
#pragma once

#include "team/cancel.hpp"
#include "tool/events.hpp"

namespace weft_omp {

/// Returns the address of the frame that the calling function would have with a frame pointer.
[[gnu::always_inline]] inline void *frame_of_entry() noexcept {
#ifdef __clang__
  return __builtin_frame_address(0);
#else
  return static_cast<char *>(__builtin_dwarf_cfa()) - 16;
#endif
}

/// Says that the running task is in this layer, for as long as this object lives. A call that
/// leaves the thread in another task leaves the frames as they are.
class inside {
 public:
  inside(watched_thread &me, void *frame) noexcept
      : m_me(me), m_task(me.task), m_before(m_task->frame.enter) {
    m_task->frame.enter.pointer = frame;
    m_task->frame.enter_flags = ompt::k_runtime | ompt::k_frame_pointer;
  }
  ~inside() {
    if (m_me.task == m_task)
      m_task->frame.enter = m_before;
  }
  inside(const inside &) = delete;
  inside &operator=(const inside &) = delete;

 private:
  watched_thread &m_me;
  watched_task *const m_task;
  const ompt::data m_before;
};

/// Goes the slow way: for a thread whose first call this is, and in a watched process.
template <class Plain, class Watched>
[[gnu::noinline, gnu::cold]] auto enter_slow(Plain plain, Watched with_events, call_site at) {
  // The compiler may have given the entry point a frame pointer or not. Without one, the register
  // still has the caller's.
  void *const before = *static_cast<void **>(__builtin_frame_address(0));
  at.caller = before == at.frame ? *static_cast<void **>(before) : before;
  thread &self = find_self();
  if (!self.watched)
    return plain(self);
  const inside in(watched_self(self), at.frame);
  return with_events(self, at, plain);
}

/// Returns the call of the entry point that this is inlined into.
[[gnu::always_inline]] inline call_site this_call() noexcept {
  return {__builtin_return_address(0), frame_of_entry()};
}

/// Does the work of an entry point: `plain(self)` or, in a watched process,
/// `with_events(self, call site, plain)`.
/// For functions that capture three words at most: compilers store larger closures before the test.
/// Where there are more, the entry point does the test itself.
template <class Plain, class Watched>
[[gnu::always_inline]] inline auto enter(Plain plain, Watched with_events) {
  if (thread *const self = self_or_null()) [[likely]]
    return plain(*self);
  return enter_slow(plain, with_events, this_call());
}

/// Does the work of an entry point that reads nothing of its thread, and so costs a test.
template <class Watched>
[[gnu::always_inline]] inline void report_if_watched(Watched with_events) {
  if (!g_may_be_watched) [[likely]]
    return;
  enter_slow([](thread &) {},
             [with_events](thread &self, const call_site &at, auto) { with_events(self, at); },
             this_call());
}

// ---- what entry points of all ABIs do -------------------------------------------------------------

/// Events of a barrier.
inline constexpr auto as_barrier = [](ompt::sync_kind kind) {
  return [kind](thread &self, const call_site &at, auto plain) {
    watched_thread &me = watched_self(self);
    end_work(me, at.return_address);
    return synchronize(me, kind, at.return_address, [&] { return plain(self); });
  };
};
/// Events of a wait for tasks.
inline constexpr auto as_wait = [](ompt::sync_kind kind) {
  return [kind](thread &self, const call_site &at, auto plain) {
    return synchronize(watched_self(self), kind, at.return_address, [&] { return plain(self); });
  };
};
inline constexpr auto as_group_begin = [](thread &self, const call_site &at, auto plain) {
  plain(self);
  report_sync(ompt::event::sync_region, watched_self(self), ompt::sync_kind::taskgroup,
              ompt::endpoint::begin, at.return_address);
};
inline constexpr auto as_group_end = [](thread &self, const call_site &at, auto plain) {
  watched_thread &me = watched_self(self);
  wait_in(me, ompt::sync_kind::taskgroup, at.return_address, [&] { plain(self); });
  report_sync(ompt::event::sync_region, me, ompt::sync_kind::taskgroup, ompt::endpoint::end,
              at.return_address);
};
inline constexpr auto as_lock = [](ompt::mutex_kind kind, const void *lock, unsigned hint = 0) {
  return [=](thread &self, const call_site &at, auto plain) {
    acquire(watched_self(self), kind, hint, lock, at.return_address, [&] { plain(self); });
  };
};
inline constexpr auto as_unlock = [](ompt::mutex_kind kind, const void *lock) {
  return [=](thread &self, const call_site &at, auto plain) {
    release_mutex(kind, lock, at.return_address, [&] { plain(self); });
  };
};
inline constexpr auto as_ordered_begin = [](thread &self, const call_site &at, auto plain) {
  acquire(watched_self(self), ompt::mutex_kind::ordered, 0, id_of_ordered(self), at.return_address,
          [&] { plain(self); });
};
[[gnu::always_inline]] inline void end_watched_ordered() {
  report_if_watched([](thread &self, const call_site &at) {
    report_mutex(ompt::event::mutex_released, ompt::mutex_kind::ordered, id_of_ordered(self),
                 at.return_address);
  });
}
/// Ends the worksharing region that the thread is in, where the compiler says so.
[[gnu::always_inline]] inline void end_watched_work() {
  report_if_watched(
      [](thread &self, const call_site &at) { end_work(watched_self(self), at.return_address); });
}
/// Events of the begin of a single region. `runs`: the calling member runs it.
inline void report_single(watched_thread &me, bool runs, const void *return_address) {
  if (runs)
    return begin_work(me, ompt::work_kind::single_executor, 1, return_address);
  begin_work(me, ompt::work_kind::single_other, 1, return_address);
  end_work(me, return_address);
}
inline constexpr auto as_single = [](thread &self, const call_site &at, auto plain) {
  watched_thread &me = watched_self(self);
  end_work(me, at.return_address); // of the single region before
  const auto runs = plain(self);
  report_single(me, runs, at.return_address);
  return runs;
};
/// Events of a call that ends worksharing, which a barrier follows (`kind`) or not.
inline constexpr auto as_work_end = [](thread &self, const call_site &at, auto plain) {
  plain(self);
  end_work(watched_self(self), at.return_address);
};
/// Returns how a tool numbers what is cancelled.
[[nodiscard]] constexpr int cancel_flag_of(int which) noexcept {
  return which & k_cancel_parallel   ? ompt::k_parallel
         : which & k_cancel_loop     ? ompt::k_loop
         : which & k_cancel_sections ? ompt::k_sections
                                     : ompt::k_taskgroup;
}
/// Events of cancel (`flag` has k_activated) and of a cancellation point.
inline constexpr auto as_cancel = [](int flags) {
  return [flags](thread &self, const call_site &at, auto plain) {
    const bool is_cancelled = plain(self);
    if (is_cancelled)
      report(ompt::event::cancel, &watched_self(self).task->data, flags, at.return_address);
    return is_cancelled;
  };
};
[[gnu::always_inline]] inline bool cancellation_point(int which) {
  if (!g_globals.cancellation)
    return false;
  return enter([which](thread &self) { return is_cancelled_here(self, which); },
               as_cancel(cancel_flag_of(which) | ompt::k_detected));
}
[[gnu::always_inline]] inline bool cancel(int which) {
  if (!g_globals.cancellation)
    return false;
  return enter([which](thread &self) { return cancel_here(self, which); },
               as_cancel(cancel_flag_of(which) | ompt::k_activated));
}

} // namespace weft_omp
