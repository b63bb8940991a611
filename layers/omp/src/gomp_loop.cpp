// SPDX-License-Identifier: Apache-2.0
// libgomp's entry points: loops over long and over unsigned long long, which also say whether they go up.
#include "gomp_loop.hpp"

using namespace weft_omp;
using ull = unsigned long long;

extern "C" {

#define UNPACK(...) __VA_ARGS__
// BOUNDS: what the entry takes first, in parentheses; SHAPE: what shape_of() gets of it.
#define LOOP_START(FAMILY, NAME, T, BOUNDS, SHAPE, KIND, ORDERED)                                                                                    \
  GOMP_API bool GOMP_##FAMILY##_##NAME##_start(UNPACK BOUNDS, T chunk, T *first, T *last) {                                                          \
    return start_loop<T>(SHAPE, KIND, chunk, first, last, ORDERED);                                                                                  \
  }
#define LOOP_START_RUNTIME(FAMILY, NAME, T, BOUNDS, SHAPE, KIND, ORDERED)                                                                            \
  GOMP_API bool GOMP_##FAMILY##_##NAME##_start(UNPACK BOUNDS, T *first, T *last) { return start_loop<T>(SHAPE, KIND, 0, first, last, ORDERED); }
#define LOOP_NEXT(FAMILY, NAME, T, NEXT)                                                                                                             \
  GOMP_API bool GOMP_##FAMILY##_##NAME##_next(T *first, T *last) { return NEXT(first, last); }
#define DOACROSS_START(FAMILY, NAME, T, KIND)                                                                                                        \
  GOMP_API bool GOMP_##FAMILY##_doacross_##NAME##_start(unsigned count, T *counts, T chunk, T *first, T *last) {                                     \
    return start_doacross<T>(count, counts, KIND, chunk, first, last);                                                                               \
  }

#define LOOPS(FAMILY, T, BOUNDS, SHAPE)                                                                                                              \
  LOOP_START(FAMILY, static, T, BOUNDS, SHAPE, k_static, false)                                                                                      \
  LOOP_START(FAMILY, dynamic, T, BOUNDS, SHAPE, k_dynamic, false)                                                                                    \
  LOOP_START(FAMILY, guided, T, BOUNDS, SHAPE, k_guided, false)                                                                                      \
  LOOP_START(FAMILY, nonmonotonic_dynamic, T, BOUNDS, SHAPE, k_dynamic | k_nonmonotonic, false)                                                      \
  LOOP_START(FAMILY, nonmonotonic_guided, T, BOUNDS, SHAPE, k_guided, false)                                                                         \
  LOOP_START(FAMILY, ordered_static, T, BOUNDS, SHAPE, k_static, true)                                                                               \
  LOOP_START(FAMILY, ordered_dynamic, T, BOUNDS, SHAPE, k_dynamic, true)                                                                             \
  LOOP_START(FAMILY, ordered_guided, T, BOUNDS, SHAPE, k_guided, true)                                                                               \
  LOOP_START_RUNTIME(FAMILY, runtime, T, BOUNDS, SHAPE, k_runtime, false)                                                                            \
  LOOP_START_RUNTIME(FAMILY, nonmonotonic_runtime, T, BOUNDS, SHAPE, k_runtime | k_nonmonotonic, false)                                              \
  LOOP_START_RUNTIME(FAMILY, maybe_nonmonotonic_runtime, T, BOUNDS, SHAPE, k_runtime | k_nonmonotonic, false)                                        \
  LOOP_START_RUNTIME(FAMILY, ordered_runtime, T, BOUNDS, SHAPE, k_runtime, true)                                                                     \
  GOMP_API bool GOMP_##FAMILY##_start(UNPACK BOUNDS, long kind, T chunk, T *first, T *last, std::uintptr_t *reductions, void **memory) {             \
    return start_loop<T>(SHAPE, memory || kind & k_monotonic ? kind : kind | k_nonmonotonic, chunk, first, last, false, {reductions, memory});       \
  }                                                                                                                                                  \
  GOMP_API bool GOMP_##FAMILY##_ordered_start(UNPACK BOUNDS, long kind, T chunk, T *first, T *last, std::uintptr_t *reductions, void **memory) {     \
    return start_loop<T>(SHAPE, kind, chunk, first, last, true, {reductions, memory});                                                               \
  }                                                                                                                                                  \
  LOOP_NEXT(FAMILY, static, T, next_of_loop)                                                                                                         \
  LOOP_NEXT(FAMILY, dynamic, T, next_of_loop)                                                                                                        \
  LOOP_NEXT(FAMILY, guided, T, next_of_loop)                                                                                                         \
  LOOP_NEXT(FAMILY, runtime, T, next_of_loop)                                                                                                        \
  LOOP_NEXT(FAMILY, nonmonotonic_dynamic, T, next_of_loop)                                                                                           \
  LOOP_NEXT(FAMILY, nonmonotonic_guided, T, next_of_loop)                                                                                            \
  LOOP_NEXT(FAMILY, nonmonotonic_runtime, T, next_of_loop)                                                                                           \
  LOOP_NEXT(FAMILY, maybe_nonmonotonic_runtime, T, next_of_loop)                                                                                     \
  LOOP_NEXT(FAMILY, ordered_static, T, next_ordered)                                                                                                 \
  LOOP_NEXT(FAMILY, ordered_dynamic, T, next_ordered)                                                                                                \
  LOOP_NEXT(FAMILY, ordered_guided, T, next_ordered)                                                                                                 \
  LOOP_NEXT(FAMILY, ordered_runtime, T, next_ordered)                                                                                                \
  DOACROSS_START(FAMILY, static, T, k_static)                                                                                                        \
  DOACROSS_START(FAMILY, dynamic, T, k_dynamic)                                                                                                      \
  DOACROSS_START(FAMILY, guided, T, k_guided)                                                                                                        \
  GOMP_API bool GOMP_##FAMILY##_doacross_runtime_start(unsigned count, T *counts, T *first, T *last) {                                               \
    return start_doacross<T>(count, counts, k_runtime, 0, first, last);                                                                              \
  }                                                                                                                                                  \
  GOMP_API bool GOMP_##FAMILY##_doacross_start(unsigned count, T *counts, long kind, T chunk, T *first, T *last, std::uintptr_t *reductions,         \
                                               void **memory) {                                                                                      \
    return start_doacross<T>(count, counts, kind, chunk, first, last, {reductions, memory});                                                         \
  }

LOOPS(loop, long, (long a, long b, long step), shape_of(a, b, step))
LOOPS(loop_ull, ull, (bool up, ull a, ull b, ull step), shape_of(up, a, b, step))

GOMP_API void GOMP_loop_end_nowait() { leave_workshare(self()); }
GOMP_API void GOMP_loop_end() {
  thread &t = self();
  leave_workshare(t);
  team_barrier(t);
}
GOMP_API bool GOMP_loop_end_cancel() {
  thread &t = self();
  leave_workshare(t);
  return !team_barrier(t, true);
}

GOMP_API void GOMP_ordered_start() {
  thread &t = self();
  if (t.workshare.current)
    wait_for_ordered_ticket(t);
}
GOMP_API void GOMP_ordered_end() {}

GOMP_API void GOMP_doacross_post(long *where) { post(self(), reinterpret_cast<const std::uint64_t *>(where)); }
GOMP_API void GOMP_doacross_ull_post(ull *where) { post(self(), reinterpret_cast<const std::uint64_t *>(where)); }

GOMP_API void GOMP_doacross_wait(long first, ...) {
  va_list more;
  va_start(more, first);
  wait_for_sink<long>(first, more);
  va_end(more);
}
GOMP_API void GOMP_doacross_ull_wait(ull first, ...) {
  va_list more;
  va_start(more, first);
  wait_for_sink<ull>(first, more);
  va_end(more);
}

} // extern "C"
