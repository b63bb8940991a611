// SPDX-License-Identifier: Apache-2.0
// libgomp's loops, for each type of the loop variable: long, or unsigned long long, which counts up
// or down.
#pragma once

#include "abi/gnu/gomp.hpp"
#include "tool/enter.hpp"
#include "workshare/doacross.hpp"

#include <cstdarg>

namespace weft_omp {

template <class T>
bool give_chunk(thread &self, bool found, T *first, T *last) noexcept {
  if (!found)
    return false;
  const workshare &s = *self.workshare.current;
  *first = static_cast<T>(s.first + self.workshare.first * s.step);
  *last = static_cast<T>(self.workshare.end == s.total ? s.last
                                                       : s.first + self.workshare.end * s.step);
  return true;
}

template <class T>
[[gnu::noinline]] bool next_otherwise(thread &self, T *first, T *last) noexcept {
  return give_chunk(self, next_chunk(self), first, last);
}

/// Reports the chunk that the thread has, if it `found` one.
inline void report_own_chunk(const thread &self, bool found) {
  if (found)
    report_chunk(watched_self(self), ompt::dispatch_kind::loop_chunk, self.workshare.first,
                 self.workshare.end - self.workshare.first);
}
/// Events of the begin of a loop, whose first chunk `plain` may give.
inline constexpr auto as_loop_begin = [](thread &self, const call_site &at, auto plain) {
  watched_thread &me = watched_self(self);
  end_work(me, at.return_address); // of a single region before
  self.workshare.has_chunk = false;
  const bool found = plain(self);
  const workshare &s = *self.workshare.current;
  begin_work(me, work_of(s.schedule), s.total, at.return_address);
  report_own_chunk(self, found && self.workshare.has_chunk);
  return found;
};
/// Events of the request for the next chunk.
inline constexpr auto as_loop_next = [](thread &self, const call_site &, auto plain) {
  const bool found = plain(self);
  report_own_chunk(self, found);
  return found;
};

/// Gives the next chunk to a member that has begun the loop. In the commonest case it is a few
/// instructions, and calls nothing.
template <class T>
bool next_of_loop(T *first, T *last) noexcept {
  if (thread *const self = self_or_null()) [[likely]] {
    std::uint32_t chunk = 0;
    const std::uint32_t count = take_own_chunks(*self, chunk);
    if (count == 0) [[unlikely]]
      return next_otherwise(*self, first, last);
    const chunk_values v = values_of(*self->workshare.current, chunk, count);
    *first = static_cast<T>(v.first);
    *last = static_cast<T>(v.stop);
    return true;
  }
  return enter_slow([=](thread &self) { return next_otherwise(self, first, last); }, as_loop_next,
                    this_call());
}

template <class T>
bool next_ordered(T *first, T *last) noexcept {
  return enter(
      [=](thread &self) { return give_chunk(self, next_ordered_chunk(self), first, last); },
      as_loop_next);
}

/// Holds the task reductions of a loop, and its memory for the program.
struct loop_extras {
  std::uintptr_t *reductions = nullptr;
  void **memory = nullptr;
};

enum class loop_kind : bool { plain, ordered };

template <class T>
[[gnu::always_inline]] inline bool begin_loop(thread &self, const loop_shape &shape, long kind,
                                              T chunk, T *first, T *last, loop_kind how,
                                              loop_extras extras) {
  begin_workshare(self, extras.reductions, extras.memory, [&](workshare &s) {
    set_loop(self, s, shape, kind, static_cast<std::uint64_t>(chunk));
  });
  if (!first)
    return true;
  return give_chunk(self, how == loop_kind::ordered ? next_ordered_chunk(self) : next_chunk(self),
                    first, last);
}

template <class T>
[[gnu::always_inline]] inline bool start_loop(const loop_shape &shape, long kind, T chunk, T *first,
                                              T *last, loop_kind how, loop_extras extras = {}) {
  if (thread *const self = self_or_null()) [[likely]]
    return begin_loop(*self, shape, kind, chunk, first, last, how, extras);
  return enter_slow(
      [=](thread &self) { return begin_loop(self, shape, kind, chunk, first, last, how, extras); },
      as_loop_begin, this_call());
}

template <class T>
[[gnu::always_inline]] inline bool begin_doacross(thread &self, unsigned count, const T *counts,
                                                  long kind, T chunk, T *first, T *last,
                                                  loop_extras extras) {
  begin_workshare(self, extras.reductions, extras.memory, [&](workshare &share) {
    const auto outermost = static_cast<std::uint64_t>(counts[0]);
    set_loop(self, share, {outermost, 0, 1, outermost}, kind, static_cast<std::uint64_t>(chunk));
    set_doacross(self, share, count, reinterpret_cast<const std::uint64_t *>(counts));
  });
  return give_chunk(self, next_chunk(self), first, last);
}

template <class T>
[[gnu::always_inline]] inline bool start_doacross(unsigned count, const T *counts, long kind,
                                                  T chunk, T *first, T *last,
                                                  loop_extras extras = {}) {
  if (thread *const self = self_or_null()) [[likely]]
    return begin_doacross(*self, count, counts, kind, chunk, first, last, extras);
  return enter_slow(
      [=](thread &self) {
        return begin_doacross(self, count, counts, kind, chunk, first, last, extras);
      },
      as_loop_begin, this_call());
}

/// Reports sinks or sources, whose iteration numbers are `where`.
inline void report_iteration(thread &self, ompt::dependence_kind kind, const std::uint64_t *where,
                             unsigned n) {
  constexpr unsigned k_most = 64;
  ompt::dependence all[k_most];
  n = n < k_most ? n : k_most;
  for (unsigned i = 0; i < n; ++i) {
    all[i].variable.value = where[i];
    all[i].kind = kind;
  }
  report(ompt::event::dependences, &watched_self(self).task->data,
         static_cast<const ompt::dependence *>(all), static_cast<int>(n));
}
inline void post_source(const std::uint64_t *where) {
  enter([=](thread &self) { post(self, where); },
        [=](thread &self, const call_site &, auto plain) {
          report_iteration(self, ompt::dependence_kind::source, where, depth_of_doacross(self));
          plain(self);
        });
}

/// Waits for a sink, whose iteration numbers are `first` and those of the list.
template <class T>
void wait_for_sink(T first, va_list more) {
  constexpr unsigned k_most = 64;
  std::uint64_t where[k_most] = {static_cast<std::uint64_t>(first)};
  thread &self = weft_omp::self();
  const unsigned n = depth_of_doacross(self);
  for (unsigned i = 1; i < n && i < k_most; ++i)
    where[i] = static_cast<std::uint64_t>(va_arg(more, T));
  enter([&](thread &me) { wait_for(me, where); },
        [&](thread &me, const call_site &, auto plain) {
          plain(me);
          report_iteration(me, ompt::dependence_kind::sink, where, n);
        });
}

} // namespace weft_omp
