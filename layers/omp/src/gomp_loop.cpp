// SPDX-License-Identifier: Apache-2.0
// libgomp's entry points: loops over long.
#include "gomp.hpp"

#include <cstdarg>

using namespace weft_omp;

namespace {

bool give(thread &t, bool found, long *first, long *last) noexcept {
  if (!found)
    return false;
  std::uint64_t a = 0, b = 0;
  chunk_values(t, a, b);
  *first = static_cast<long>(a);
  *last = static_cast<long>(b);
  return true;
}

bool start(const loop_shape &shape, long kind, long chunk, long *first, long *last, bool ordered, std::uintptr_t *reductions = nullptr,
           void **memory = nullptr) {
  thread &t = self();
  begin_share(t, reductions, memory, [&](work_share &s) { set_loop(s, shape, kind, static_cast<std::uint64_t>(chunk)); });
  if (!first)
    return true;
  return give(t, ordered ? next_ordered_chunk(t) : next_chunk(t), first, last);
}

bool start_doacross(unsigned count, const long *counts, long kind, long chunk, long *first, long *last,
                    std::uintptr_t *reductions = nullptr, void **memory = nullptr) {
  thread &t = self();
  begin_share(t, reductions, memory, [&](work_share &s) {
    set_loop(s, shape_of(0, counts[0], 1), kind, static_cast<std::uint64_t>(chunk));
    set_doacross(t, s, count, reinterpret_cast<const std::uint64_t *>(counts));
  });
  return give(t, next_chunk(t), first, last);
}

} // namespace

extern "C" {

#define LOOP_START(NAME, KIND, ORDERED)                                                                                              \
  GOMP_API bool GOMP_loop_##NAME##_start(long a, long b, long step, long chunk, long *first, long *last) {                           \
    return start(shape_of(a, b, step), KIND, chunk, first, last, ORDERED);                                                           \
  }
LOOP_START(static, k_static, false)
LOOP_START(dynamic, k_dynamic, false)
LOOP_START(guided, k_guided, false)
LOOP_START(nonmonotonic_dynamic, k_dynamic, false)
LOOP_START(nonmonotonic_guided, k_guided, false)
LOOP_START(ordered_static, k_static, true)
LOOP_START(ordered_dynamic, k_dynamic, true)
LOOP_START(ordered_guided, k_guided, true)
#undef LOOP_START

#define LOOP_START(NAME, ORDERED)                                                                                                    \
  GOMP_API bool GOMP_loop_##NAME##_start(long a, long b, long step, long *first, long *last) {                                       \
    return start(shape_of(a, b, step), k_runtime, 0, first, last, ORDERED);                                                          \
  }
LOOP_START(runtime, false)
LOOP_START(nonmonotonic_runtime, false)
LOOP_START(maybe_nonmonotonic_runtime, false)
LOOP_START(ordered_runtime, true)
#undef LOOP_START

GOMP_API bool GOMP_loop_start(long a, long b, long step, long kind, long chunk, long *first, long *last, std::uintptr_t *reductions,
                              void **memory) {
  return start(shape_of(a, b, step), kind, chunk, first, last, false, reductions, memory);
}
GOMP_API bool GOMP_loop_ordered_start(long a, long b, long step, long kind, long chunk, long *first, long *last,
                                      std::uintptr_t *reductions, void **memory) {
  return start(shape_of(a, b, step), kind, chunk, first, last, true, reductions, memory);
}

#define LOOP_NEXT(NAME, NEXT)                                                                                                        \
  GOMP_API bool GOMP_loop_##NAME##_next(long *first, long *last) {                                                                   \
    thread &t = self();                                                                                                              \
    return give(t, NEXT(t), first, last);                                                                                            \
  }
LOOP_NEXT(static, next_chunk)
LOOP_NEXT(dynamic, next_chunk)
LOOP_NEXT(guided, next_chunk)
LOOP_NEXT(runtime, next_chunk)
LOOP_NEXT(nonmonotonic_dynamic, next_chunk)
LOOP_NEXT(nonmonotonic_guided, next_chunk)
LOOP_NEXT(nonmonotonic_runtime, next_chunk)
LOOP_NEXT(maybe_nonmonotonic_runtime, next_chunk)
LOOP_NEXT(ordered_static, next_ordered_chunk)
LOOP_NEXT(ordered_dynamic, next_ordered_chunk)
LOOP_NEXT(ordered_guided, next_ordered_chunk)
LOOP_NEXT(ordered_runtime, next_ordered_chunk)
#undef LOOP_NEXT

#define DOACROSS_START(NAME, KIND)                                                                                                   \
  GOMP_API bool GOMP_loop_doacross_##NAME##_start(unsigned count, long *counts, long chunk, long *first, long *last) {               \
    return start_doacross(count, counts, KIND, chunk, first, last);                                                                  \
  }
DOACROSS_START(static, k_static)
DOACROSS_START(dynamic, k_dynamic)
DOACROSS_START(guided, k_guided)
#undef DOACROSS_START

GOMP_API bool GOMP_loop_doacross_runtime_start(unsigned count, long *counts, long *first, long *last) {
  return start_doacross(count, counts, k_runtime, 0, first, last);
}
GOMP_API bool GOMP_loop_doacross_start(unsigned count, long *counts, long kind, long chunk, long *first, long *last,
                                       std::uintptr_t *reductions, void **memory) {
  return start_doacross(count, counts, kind, chunk, first, last, reductions, memory);
}

GOMP_API void GOMP_loop_end_nowait() { leave_share(self()); }
GOMP_API void GOMP_loop_end() {
  thread &t = self();
  leave_share(t);
  team_barrier(t);
}
GOMP_API bool GOMP_loop_end_cancel() {
  thread &t = self();
  leave_share(t);
  return !team_barrier(t, true);
}

GOMP_API void GOMP_ordered_start() {
  thread &t = self();
  if (t.share.current)
    wait_for_turn(t);
}
GOMP_API void GOMP_ordered_end() {}

GOMP_API void GOMP_doacross_post(long *where) { post(self(), reinterpret_cast<const std::uint64_t *>(where)); }

GOMP_API void GOMP_doacross_wait(long first, ...) {
  constexpr unsigned k_most = 64;
  std::uint64_t where[k_most] = {static_cast<std::uint64_t>(first)};
  thread &t = self();
  const unsigned n = depth_of_doacross(t);
  va_list more;
  va_start(more, first);
  for (unsigned i = 1; i < n && i < k_most; ++i)
    where[i] = static_cast<std::uint64_t>(va_arg(more, long));
  va_end(more);
  wait_for(t, where);
}

} // extern "C"
