// SPDX-License-Identifier: Apache-2.0
// LLVM's entry points: loops. Bounds are inclusive.
#include "abi/llvm/kmpc.hpp"
#include "tool/enter.hpp"
#include "workshare/doacross.hpp"
#include "workshare/even_part.hpp"

#include <algorithm>
#include <limits>
#include <type_traits>

using namespace weft_omp;

namespace {

constexpr int k_static_chunked = 33, k_distribute_chunked = 91, k_distribute = 92;
constexpr int k_first_ordered = 65, k_after_ordered = 71, k_modifiers = 3 << 29,
              k_without_merging = 160;
constexpr int k_guided_simd = 46, k_runtime_simd = 47;
constexpr int k_in_any_order = 1 << 30; // modifier

/// Returns the number of steps from one value to another that lies in the direction of the step.
template <class T, class S>
std::uint64_t steps_between(T low, T high, S step) noexcept {
  using U = std::make_unsigned_t<T>;
  if (step > 0)
    return static_cast<U>(static_cast<U>(high) - static_cast<U>(low)) / static_cast<U>(step);
  return static_cast<U>(static_cast<U>(low) - static_cast<U>(high)) /
         static_cast<U>(0 - static_cast<U>(step));
}

template <class T, class S>
std::uint64_t trips(T low, T high, S step) noexcept {
  return (step > 0 ? low > high : low < high) ? 0 : steps_between(low, high, step) + 1;
}

/// Holds a loop as compilers pass it: first value, last value, step.
template <class T, class S>
struct bounds {
  using U = std::make_unsigned_t<T>;
  T low, high;
  S step;

  [[nodiscard]] std::uint64_t total() const noexcept { return trips(low, high, step); }
  [[nodiscard]] T at(std::uint64_t i) const noexcept {
    return static_cast<T>(static_cast<U>(low) + static_cast<U>(i) * static_cast<U>(step));
  }
  /// Returns the end of the type's range toward which the loop counts.
  [[nodiscard]] T limit() const noexcept {
    return step > 0 ? std::numeric_limits<T>::max() : std::numeric_limits<T>::min();
  }
  /// Returns the last iteration whose value is in the type's range, as if the loop went on.
  [[nodiscard]] std::uint64_t last_there_is() const noexcept {
    return steps_between(low, limit(), step);
  }
  [[nodiscard]] static S distance(T from, T to) noexcept {
    return static_cast<S>(static_cast<U>(static_cast<U>(to) - static_cast<U>(from)));
  }
};

/// Gives the iterations [begin, end) of a loop that is not empty. An empty run is a begin behind an
/// end, both in the type's range.
template <class T, class S>
void give_run(const bounds<T, S> &all, std::uint64_t begin, std::uint64_t end, T *low,
              T *high) noexcept {
  if (begin < end) {
    *low = all.at(begin);
    *high = all.at(end - 1);
    return;
  }
  const bool up = all.step > 0;
  const T edge = up ? std::numeric_limits<T>::min() : std::numeric_limits<T>::max();
  *high = static_cast<T>(all.high == edge ? edge : up ? all.high - 1 : all.high + 1);
  *low = static_cast<T>(up ? *high + 1 : *high - 1);
}

/// Gives chunks to the members in turn.
/// The caller goes from one of its chunks to the next by adding the stride to both ends, until the
/// begin is behind the loop's last value. So the last value, and one round of chunks behind it,
/// must be in the type's range.
/// If they are not, the loop nearly fills its type. Then each member gets one run of chunks, and
/// the stride leads from it out of the loop.
template <class T, class S>
bool deal_round_robin(const bounds<T, S> &all, std::uint64_t total, std::uint64_t chunk,
                      std::uint64_t n, std::uint64_t me, T *low, T *high, S *stride) noexcept {
  const std::uint64_t chunks = (total - 1) / chunk + 1;
  std::uint64_t next = 0; // where the member that has the last chunk goes next
  if (!__builtin_add_overflow(chunks - 1, n, &next) &&
      !__builtin_mul_overflow(next, chunk, &next) && next <= all.last_there_is()) {
    give_run(all, std::min(me * chunk, total),
             me < chunks ? me * chunk + std::min(chunk, total - me * chunk) : 0, low, high);
    *stride = bounds<T, S>::distance(all.low, all.at(chunk * n));
    return (chunks - 1) % n == me;
  }
  // If the loop ends at the end of its type, the caller takes every value for one of the loop. The
  // stride then leads out of the loop only from a run whose end passes the end of the type before
  // its begin does, which has two iterations at least.
  // (From a loop of one iteration no stride leads out.)
  const bool to_the_end = all.high == all.limit();
  const std::uint64_t unit = to_the_end ? std::max<std::uint64_t>(chunk, 2) : chunk,
                      units = to_the_end ? std::max<std::uint64_t>(total / unit, 1) : chunks;
  const auto [first, end] = even_part(units, n, me);
  give_run(all, std::min(first * unit, total),
           first == end   ? 0
           : end == units ? total
                          : end * unit,
           low, high);
  const T out = to_the_end ? all.high : static_cast<T>(all.step > 0 ? all.high + 1 : all.high - 1);
  *stride = bounds<T, S>::distance(*low, out);
  return first < end && end == units;
}

/// Tells a nest that sinks and sources order how many iterations the team shares.
[[gnu::noinline]] void share_nest(thread &self, std::uint64_t iterations) {
  const unsigned depth = depth_of_doacross(self);
  const std::int64_t *const shape = self.workshare.nest_shape;
  bool may_be_numbers = true; // Clang's loops count from 0 by 1, and it passes their ends
  for (unsigned i = 0; i < depth; ++i)
    may_be_numbers &= shape[3 * i] == 0 && shape[3 * i + 2] == 1;
  share_doacross(self, iterations, may_be_numbers);
}

template <class T, class S>
[[gnu::always_inline]] inline void static_part(thread &self, int schedule,
                                               std::int32_t *is_last, T *low, T *high, S *stride,
                                               S step, S chunk) {
  schedule &= ~k_modifiers;
  const bool teams = schedule == k_distribute || schedule == k_distribute_chunked;
  const std::uint64_t n = teams ? self.teams : self.team->size,
                      me = teams ? self.teams_number : self.number;
  const bounds<T, S> all{*low, *high, step};
  const std::uint64_t total = all.total();
  if (self.workshare.nest && !teams) [[unlikely]]
    share_nest(self, total);
  bool last = false;
  if (total == 0) {
    *stride = step;
  } else if (schedule == k_static_chunked || schedule == k_distribute_chunked) {
    const std::uint64_t c = chunk > 0 ? std::min(static_cast<std::uint64_t>(chunk), total) : 1;
    last = deal_round_robin(all, total, c, n, me, low, high, stride);
  } else {
    const auto [begin, end] = even_part(total, n, me);
    give_run(all, begin, end, low, high);
    *stride = bounds<T, S>::distance(all.low, all.at(total));
    last = begin != end && end == total;
  }
  if (is_last)
    *is_last = last;
}

/// Gives the team's part of a loop that the league shares, with inclusive bounds, and whether it is
/// the last part.
template <class T, class S>
bool team_part(const thread &self, T &low, T &high, S step) noexcept {
  const bounds<T, S> all{low, high, step};
  const std::uint64_t total = all.total();
  if (total == 0)
    return false;
  const auto [begin, end] = even_part(total, self.teams, self.teams_number);
  give_run(all, begin, end, &low, &high);
  return begin != end && end == total;
}

/// Gives the team's part, and of it the thread's part.
template <class T, class S>
void distribute_and_divide(thread &self, int schedule, std::int32_t *is_last, T *low, T *high,
                           T *high_of_team, S *stride, S step, S chunk) noexcept {
  const bool last_team = team_part(self, *low, *high, step);
  *high_of_team = *high;
  std::int32_t last = 0;
  static_part<T, S>(self, schedule, &last, low, high, stride, step, chunk);
  if (is_last)
    *is_last = last_team && last;
}

/// Returns the kind of a schedule, as libgomp numbers it, and whether the region is ordered.
std::pair<int, bool> kind_of(int schedule) noexcept {
  schedule &= ~k_modifiers;
  if (schedule > k_without_merging)
    schedule -= 128;
  const bool ordered = schedule >= k_first_ordered && schedule < k_after_ordered;
  switch (ordered ? schedule - 32 : schedule) {
  case 35:
    return {k_dynamic, ordered};
  case 36:
  case 42:
  case 43:
  case k_guided_simd:
    return {k_guided, ordered};
  case 37:
    return {k_runtime, ordered};
  case 38:
    return {k_auto, ordered};
  default:
    return {k_static, ordered};
  }
}

/// Begins a loop with schedule(simd:runtime): the ICV's schedule, in chunks that are multiples of
/// the vector's length.
void begin_simd(thread &self, const loop_shape &shape, std::uint64_t length) {
  self.workshare.ordered = false;
  const workshare_entry entry(self);
  if (!entry.is_first())
    return;
  const icvs &v = my_icvs();
  const int kind = v.schedule == k_auto          ? k_static
                   : v.schedule == k_trapezoidal ? k_guided
                                                 : v.schedule;
  const bool whole = kind == k_static && (v.chunk == 0 || v.schedule == k_auto);
  length = std::max<std::uint64_t>(length, 1);
  const std::uint64_t fair = even_part(shape.total, self.team->size, 0).end; // the largest part
  const std::uint64_t lengths =
      whole ? std::max<std::uint64_t>(fair / length + (fair % length != 0), 1)
            : static_cast<std::uint64_t>(std::max(v.chunk, 1l));
  const std::uint64_t chunk =
      lengths > UINT64_MAX / length ? UINT64_MAX / length * length : lengths * length;
  set_loop(self, *self.workshare.current, shape, kind, chunk);
  self.workshare.current->multiple = chunk;
}

template <class T, class S>
loop_shape shape_within(T low, T high, S step) noexcept {
  const std::uint64_t total = trips(low, high, step), first = static_cast<std::uint64_t>(low),
                      by = static_cast<std::uint64_t>(step);
  return {total, first, by, first + total * by};
}

template <class T, class S>
void begin_dispatch(thread &self, int schedule, T low, T high, S step, S chunk) {
  const auto [kind, ordered] = kind_of(schedule);
  const bool in_any_order = (schedule & k_in_any_order) != 0 && !ordered && !self.workshare.nest &&
                            (schedule & ~k_modifiers) != k_guided_simd;
  const loop_shape shape = shape_within(low, high, step);
  if (self.workshare.nest) [[unlikely]]
    share_nest(self, shape.total);
  if ((schedule & ~k_modifiers) == k_runtime_simd) {
    begin_simd(self, shape, static_cast<std::uint64_t>(chunk));
    return;
  }
  const bool plain = kind == k_static && (schedule & ~k_modifiers) != k_static_chunked &&
                     (schedule & ~k_modifiers) != k_first_ordered;
  if (const workshare_entry entry(self); entry.is_first()) {
    set_loop(self, *self.workshare.current, shape, in_any_order ? kind | k_nonmonotonic : kind,
             plain ? 0 : static_cast<std::uint64_t>(chunk > 0 ? chunk : 1));
    if ((schedule & ~k_modifiers) == k_guided_simd && chunk > 0)
      self.workshare.current->multiple = static_cast<std::uint64_t>(chunk);
  }
  self.workshare.ordered = ordered;
}

/// Begins the team's part of a loop that the league shares.
template <class T, class S>
void begin_part(thread &self, int schedule, std::int32_t *is_last, T low, T high, S step, S chunk) {
  const bool last = team_part(self, low, high, step);
  if (is_last)
    *is_last = last;
  begin_dispatch<T, S>(self, schedule, low, high, step, chunk);
}

template <class T, class S>
void give_values(const workshare &share, const chunk_values &values, std::int32_t *is_last, T *low,
                 T *high, S *stride) noexcept {
  *low = static_cast<T>(values.first);
  *high = static_cast<T>(values.stop - share.step);
  if (stride)
    *stride = static_cast<S>(share.step);
  if (is_last)
    *is_last = values.is_last;
}

template <class T, class S>
[[gnu::noinline]] int next_otherwise(thread &self, std::int32_t *is_last, T *low, T *high,
                                     S *stride) {
  const workshare *const s = self.workshare.current;
  if (!s)
    return 0;
  if (!(self.workshare.ordered ? next_ordered_chunk(self) : next_chunk(self))) {
    leave_workshare(self);
    return 0;
  }
  const std::uint64_t first = self.workshare.first, end = self.workshare.end;
  give_values(*s, {s->first + first * s->step, s->first + end * s->step, end == s->total}, is_last,
              low, high, stride);
  return 1;
}

template <class T, class S>
[[gnu::always_inline]] inline int next_here(thread &self, std::int32_t *is_last, T *low, T *high,
                                            S *stride) {
  std::uint32_t chunk = 0;
  const std::uint32_t count = take_own_chunks(self, chunk);
  if (count == 0) [[unlikely]]
    return next_otherwise(self, is_last, low, high, stride);
  const workshare &s = *self.workshare.current;
  give_values(s, values_of(s, chunk, count), is_last, low, high, stride);
  return 1;
}

// ---- events ---------------------------------------------------------------------------------------

/// Returns what a loop that is divided in advance is to a tool.
ompt::work_kind static_work(const location *where, int schedule) noexcept {
  schedule &= ~k_modifiers;
  const int flags = where ? where->flags : 0;
  if (schedule == k_distribute || schedule == k_distribute_chunked || flags & k_work_distribute)
    return ompt::work_kind::distribute;
  return flags & k_work_sections ? ompt::work_kind::sections : ompt::work_kind::loop_static;
}

/// Reports the begin of a loop that is divided in advance, and the thread's first part.
template <class T, class S>
void report_static(watched_thread &me, ompt::work_kind kind, const bounds<T, S> &whole,
                   const bounds<T, S> &part, S chunk, const void *return_address) {
  begin_work(me, kind, whole.total(), return_address);
  const std::uint64_t all = whole.total() == 0 ? 0 : part.total();
  if (all == 0)
    return;
  if (kind == ompt::work_kind::sections) {
    ompt::data where;
    where.pointer = const_cast<void *>(return_address);
    return report_dispatch(me, ompt::dispatch_kind::section, where);
  }
  const std::uint64_t length =
      chunk > 0 ? std::min<std::uint64_t>(all, static_cast<std::uint64_t>(chunk)) : all;
  report_chunk(me,
               kind == ompt::work_kind::distribute ? ompt::dispatch_kind::distribute_chunk
                                                   : ompt::dispatch_kind::loop_chunk,
               static_cast<std::uint64_t>(part.low), length);
}

/// Events of a loop that is divided in advance, whose bounds `plain` changes.
template <class T, class S>
auto as_static(const location *where, int schedule, const T *low, const T *high, S step, S chunk) {
  return [=](thread &self, const call_site &at, auto plain) {
    const bounds<T, S> whole{*low, *high, step};
    plain(self);
    report_static<T, S>(watched_self(self), static_work(where, schedule), whole,
                        {*low, *high, step}, chunk, at.return_address);
  };
}
/// Events of the begin of a loop whose chunks the threads ask for.
constexpr auto as_dispatch_begin = [](thread &self, const call_site &at, auto plain) {
  watched_thread &me = watched_self(self);
  end_work(me, at.return_address);
  plain(self);
  const workshare &s = *self.workshare.current;
  begin_work(me, work_of(s.schedule), s.total, at.return_address);
};
/// Events of the request for the next chunk. The last request ends the loop.
template <class T>
auto as_dispatch_next(const T *low) {
  return [low](thread &self, const call_site &at, auto plain) {
    watched_thread &me = watched_self(self);
    const int found = plain(self);
    if (found)
      report_chunk(me, ompt::dispatch_kind::loop_chunk, static_cast<std::uint64_t>(*low),
                   self.workshare.end - self.workshare.first);
    else
      end_work(me, at.return_address);
    return found;
  };
}

} // namespace

/// Does what an entry point does: CALL, or CALL with EVENTS around it.
#define ENTER(CALL, EVENTS)                                                                        \
  if (thread *const known = self_or_null()) [[likely]] {                                           \
    thread &self = *known;                                                                         \
    return CALL;                                                                                   \
  }                                                                                                \
  return enter_slow([=](thread &self) { return CALL; }, EVENTS, this_call())

#define LOOPS(SUFFIX, T, S)                                                                        \
  KMP_API void __kmpc_for_static_init_##SUFFIX(location *where, std::int32_t,                      \
                                               std::int32_t schedule, std::int32_t *is_last,       \
                                               T *low, T *high, S *stride, S step, S chunk) {      \
    ENTER((static_part<T, S>(self, schedule, is_last, low, high, stride, step, chunk)),            \
          (as_static<T, S>(where, schedule, low, high, step, chunk)));                             \
  }                                                                                                \
  KMP_API void __kmpc_dispatch_init_##SUFFIX(location *, std::int32_t, std::int32_t schedule,      \
                                             T low, T high, S step, S chunk) {                     \
    ENTER((begin_dispatch<T, S>(self, schedule, low, high, step, chunk)), as_dispatch_begin);      \
  }                                                                                                \
  KMP_API int __kmpc_dispatch_next_##SUFFIX(location *, std::int32_t, std::int32_t *is_last,       \
                                            T *low, T *high, S *stride) {                          \
    if (thread *const self = self_or_null()) [[likely]]                                            \
      return next_here<T, S>(*self, is_last, low, high, stride);                                   \
    return enter_slow(                                                                             \
        [=](thread &self) { return next_otherwise<T, S>(self, is_last, low, high, stride); },      \
        as_dispatch_next(low), this_call());                                                       \
  }                                                                                                \
  KMP_API void __kmpc_dispatch_fini_##SUFFIX(location *, std::int32_t) {}                          \
  KMP_API void __kmpc_dist_for_static_init_##SUFFIX(                                               \
      location *, std::int32_t, std::int32_t schedule, std::int32_t *is_last, T *low, T *high,     \
      T *high_of_team, S *stride, S step, S chunk) {                                               \
    ENTER((distribute_and_divide<T, S>(self, schedule, is_last, low, high, high_of_team, stride,   \
                                       step, chunk)),                                              \
          (as_static<T, S>(nullptr, k_distribute, low, high, step, chunk)));                       \
  }                                                                                                \
  KMP_API void __kmpc_dist_dispatch_init_##SUFFIX(location *, std::int32_t, std::int32_t schedule, \
                                                  std::int32_t *is_last, T low, T high, S step,    \
                                                  S chunk) {                                       \
    ENTER((begin_part<T, S>(self, schedule, is_last, low, high, step, chunk)), as_dispatch_begin); \
  }                                                                                                \
  KMP_API void __kmpc_team_static_init_##SUFFIX(location *, std::int32_t, std::int32_t *is_last,   \
                                                T *low, T *high, S *stride, S step, S chunk) {     \
    ENTER(                                                                                         \
        (static_part<T, S>(self, k_distribute_chunked, is_last, low, high, stride, step, chunk)),  \
        (as_static<T, S>(nullptr, k_distribute, low, high, step, chunk)));                         \
  }
LOOPS(4, std::int32_t, std::int32_t)
LOOPS(4u, std::uint32_t, std::int32_t)
LOOPS(8, std::int64_t, std::int64_t)
LOOPS(8u, std::uint64_t, std::int64_t)
#undef LOOPS
#undef ENTER

KMP_API void __kmpc_for_static_fini(location *, std::int32_t) { end_watched_work(); }
KMP_API void __kmpc_dispatch_deinit(location *, std::int32_t) {}
KMP_API void __kmpc_ordered(location *, std::int32_t) {
  enter(
      [](thread &self) {
        if (self.workshare.current)
          wait_for_ordered_ticket(self);
      },
      as_ordered_begin);
}
KMP_API void __kmpc_end_ordered(location *, std::int32_t) { end_watched_ordered(); }
