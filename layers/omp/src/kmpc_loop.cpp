// SPDX-License-Identifier: Apache-2.0
// LLVM's entry points: loops. Bounds are inclusive.
#include "kmpc.hpp"

#include <algorithm>
#include <type_traits>

using namespace weft_omp;

namespace {

constexpr int k_static_chunked = 33, k_distribute_chunked = 91, k_distribute = 92;
constexpr int k_first_ordered = 65, k_after_ordered = 71, k_modifiers = 3 << 29, k_without_merging = 160;
constexpr int k_guided_simd = 46, k_runtime_simd = 47;
constexpr int k_in_any_order = 1 << 30; // modifier

template <class T, class S>
std::uint64_t trips(T low, T high, S step) noexcept {
  using U = std::make_unsigned_t<T>;
  if (step > 0)
    return low > high ? 0 : static_cast<U>(static_cast<U>(high) - static_cast<U>(low)) / static_cast<U>(step) + 1ull;
  return low < high ? 0 : static_cast<U>(static_cast<U>(low) - static_cast<U>(high)) / static_cast<U>(0 - static_cast<U>(step)) + 1ull;
}

template <class T, class S>
void static_part(int schedule, std::int32_t *is_last, T *low, T *high, S *stride, S step, S chunk) noexcept {
  const thread &t = self();
  schedule &= ~k_modifiers;
  const bool teams = schedule == k_distribute || schedule == k_distribute_chunked;
  const std::uint64_t n = teams ? t.teams : t.crew->size, me = teams ? t.teams_number : t.number;
  const std::uint64_t total = trips(*low, *high, step);
  const T first = *low;
  const auto at = [&](std::uint64_t i) { return static_cast<T>(first + static_cast<T>(i) * static_cast<T>(step)); };
  if (total == 0) {
    *is_last = 0;
    *stride = step;
    return;
  }
  if (schedule == k_static_chunked || schedule == k_distribute_chunked) {
    const std::uint64_t c = chunk > 0 ? static_cast<std::uint64_t>(chunk) : 1;
    *stride = static_cast<S>(static_cast<S>(c * n) * step);
    *is_last = (total - 1) / c % n == me;
    *low = at(me * c);
    *high = at(me * c + c - 1);
    return;
  }
  const std::uint64_t share = total / n, more = total % n;
  const std::uint64_t begin = me * share + std::min(me, more), end = begin + share + (me < more);
  *stride = static_cast<S>(static_cast<S>(total) * step);
  *is_last = begin != end && end == total;
  *low = at(begin);
  *high = begin != end ? at(end - 1) : static_cast<T>(at(begin) - static_cast<T>(step)); // nothing
}

/// The team's part of a loop that the league shares, bounds inclusive; where it is the last one.
template <class T, class S>
bool team_part(T &low, T &high, S step) noexcept {
  const thread &t = self();
  const std::uint64_t total = trips(low, high, step), n = t.teams, me = t.teams_number;
  const std::uint64_t share = total / n, more = total % n;
  const std::uint64_t begin = me * share + std::min(me, more), end = begin + share + (me < more);
  const T first = low;
  const auto at = [&](std::uint64_t i) { return static_cast<T>(first + static_cast<T>(i) * static_cast<T>(step)); };
  low = at(begin);
  high = begin != end ? at(end - 1) : static_cast<T>(at(begin) - static_cast<T>(step)); // nothing
  return begin != end && end == total;
}

/// Both at once: the team's part, then the thread's.
template <class T, class S>
void distribute_and_share(int schedule, std::int32_t *is_last, T *low, T *high, T *high_of_team, S *stride, S step, S chunk) noexcept {
  const bool last_team = team_part(*low, *high, step);
  *high_of_team = *high;
  std::int32_t last = 0;
  static_part<T, S>(schedule, &last, low, high, stride, step, chunk);
  if (is_last)
    *is_last = last_team && last;
}

/// Chunks of a loop dealt out to teams in turn.
template <class T, class S>
void deal_to_teams(std::int32_t *is_last, T *low, T *high, S *stride, S step, S chunk) noexcept {
  std::int32_t last = 0;
  const T end = *high;
  static_part<T, S>(k_distribute_chunked, &last, low, high, stride, step, chunk);
  if (step > 0 ? *high > end || *high < *low : *high < end || *high > *low)
    *high = end;
  if (is_last)
    *is_last = last;
}

/// As libgomp numbers them, and whether the region is ordered.
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
  default:
    return {k_static, ordered};
  }
}

/// schedule(simd:runtime): what the ICV says, in chunks that are multiples of the vector's length.
void begin_simd(thread &t, const loop_shape &shape, std::uint64_t length) {
  t.share.ordered = false;
  if (!enter_share(t))
    return;
  const icvs &v = my_icvs();
  const int kind = v.schedule == k_auto ? k_static : v.schedule == k_trapezoidal ? k_guided : v.schedule;
  const bool whole = kind == k_static && (v.chunk == 0 || v.schedule == k_auto);
  const std::uint64_t fair = (shape.total + t.crew->size - 1) / t.crew->size;
  const std::uint64_t chunk = whole ? (fair + length - 1) / length * length : static_cast<std::uint64_t>(std::max(v.chunk, 1l)) * length;
  set_loop(t, *t.share.current, shape, kind, std::max<std::uint64_t>(chunk, 1));
  t.share.current->multiple = std::max<std::uint64_t>(chunk, 1);
  shared(t);
}

template <class T, class S>
loop_shape shape_within(T low, T high, S step) noexcept {
  const std::uint64_t total = trips(low, high, step), first = static_cast<std::uint64_t>(low), by = static_cast<std::uint64_t>(step);
  return {total, first, by, first + total * by};
}

template <class T, class S>
void begin_dispatch(int schedule, T low, T high, S step, S chunk) {
  thread &t = self();
  const auto [kind, ordered] = kind_of(schedule);
  const bool in_any_order = (schedule & k_in_any_order) != 0 && !ordered && !t.share.nest;
  const loop_shape shape = shape_within(low, high, step);
  if ((schedule & ~k_modifiers) == k_runtime_simd) {
    begin_simd(t, shape, static_cast<std::uint64_t>(chunk));
    return;
  }
  const bool plain = kind == k_static && (schedule & ~k_modifiers) != k_static_chunked && (schedule & ~k_modifiers) != k_first_ordered;
  if (enter_share(t)) {
    set_loop(t, *t.share.current, shape, in_any_order ? kind | k_nonmonotonic : kind, plain ? 0 : static_cast<std::uint64_t>(chunk > 0 ? chunk : 1));
    if ((schedule & ~k_modifiers) == k_guided_simd && chunk > 0)
      t.share.current->multiple = static_cast<std::uint64_t>(chunk);
    shared(t);
  }
  t.share.ordered = ordered;
}

template <class T, class S>
void give_values(const work_share &s, const chunk_values &v, std::int32_t *is_last, T *low, T *high, S *stride) noexcept {
  *low = static_cast<T>(v.first);
  *high = static_cast<T>(v.stop - s.step);
  if (stride)
    *stride = static_cast<S>(s.step);
  if (is_last)
    *is_last = v.is_last;
}

template <class T, class S>
[[gnu::noinline]] int next_otherwise(thread &t, std::int32_t *is_last, T *low, T *high, S *stride) {
  const work_share *const s = t.share.current;
  if (!s)
    return 0;
  if (!(t.share.ordered ? next_ordered_chunk(t) : next_chunk(t))) {
    leave_share(t);
    return 0;
  }
  const std::uint64_t first = t.share.first, end = t.share.end;
  give_values(*s, {s->first + first * s->step, s->first + end * s->step, end == s->total}, is_last, low, high, stride);
  return 1;
}

/// By who has begun the loop. In the commonest case it is a few instructions, and calls nothing.
template <class T, class S>
int next_dispatch(std::int32_t *is_last, T *low, T *high, S *stride) {
  thread &t = self();
  std::uint32_t chunk = 0;
  if (!take_own_chunk(t, chunk)) [[unlikely]]
    return next_otherwise(t, is_last, low, high, stride);
  const work_share &s = *t.share.current;
  give_values(s, values_of(s, chunk), is_last, low, high, stride);
  return 1;
}

} // namespace

#define LOOPS(SUFFIX, T, S)                                                                                                                          \
  KMP_API void __kmpc_for_static_init_##SUFFIX(location *, std::int32_t, std::int32_t schedule, std::int32_t *is_last, T *low, T *high, S *stride,   \
                                               S step, S chunk) {                                                                                    \
    static_part<T, S>(schedule, is_last, low, high, stride, step, chunk);                                                                            \
  }                                                                                                                                                  \
  KMP_API void __kmpc_dispatch_init_##SUFFIX(location *, std::int32_t, std::int32_t schedule, T low, T high, S step, S chunk) {                      \
    begin_dispatch<T, S>(schedule, low, high, step, chunk);                                                                                          \
  }                                                                                                                                                  \
  KMP_API int __kmpc_dispatch_next_##SUFFIX(location *, std::int32_t, std::int32_t *is_last, T *low, T *high, S *stride) {                           \
    return next_dispatch<T, S>(is_last, low, high, stride);                                                                                          \
  }                                                                                                                                                  \
  KMP_API void __kmpc_dispatch_fini_##SUFFIX(location *, std::int32_t) {}                                                                            \
  KMP_API void __kmpc_dist_for_static_init_##SUFFIX(location *, std::int32_t, std::int32_t schedule, std::int32_t *is_last, T *low, T *high,         \
                                                    T *high_of_team, S *stride, S step, S chunk) {                                                   \
    distribute_and_share<T, S>(schedule, is_last, low, high, high_of_team, stride, step, chunk);                                                     \
  }                                                                                                                                                  \
  KMP_API void __kmpc_dist_dispatch_init_##SUFFIX(location *, std::int32_t, std::int32_t schedule, std::int32_t *is_last, T low, T high, S step,     \
                                                  S chunk) {                                                                                         \
    const bool last = team_part(low, high, step);                                                                                                    \
    if (is_last)                                                                                                                                     \
      *is_last = last;                                                                                                                               \
    begin_dispatch<T, S>(schedule, low, high, step, chunk);                                                                                          \
  }                                                                                                                                                  \
  KMP_API void __kmpc_team_static_init_##SUFFIX(location *, std::int32_t, std::int32_t *is_last, T *low, T *high, S *stride, S step, S chunk) {      \
    deal_to_teams<T, S>(is_last, low, high, stride, step, chunk);                                                                                    \
  }
LOOPS(4, std::int32_t, std::int32_t)
LOOPS(4u, std::uint32_t, std::int32_t)
LOOPS(8, std::int64_t, std::int64_t)
LOOPS(8u, std::uint64_t, std::int64_t)
#undef LOOPS

KMP_API void __kmpc_for_static_fini(location *, std::int32_t) {}
KMP_API void __kmpc_dispatch_deinit(location *, std::int32_t) {}
KMP_API void __kmpc_ordered(location *, std::int32_t) {
  thread &t = self();
  if (t.share.current)
    wait_for_turn(t);
}
KMP_API void __kmpc_end_ordered(location *, std::int32_t) {}
