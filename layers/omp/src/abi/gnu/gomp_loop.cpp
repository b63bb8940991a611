// SPDX-License-Identifier: Apache-2.0
// libgomp's entry points: loops over long, and over unsigned long long, which also pass whether
// they count up.
#include "abi/gnu/gomp_loop.hpp"

using namespace weft_omp;
using ull = unsigned long long;
using enum loop_kind;

extern "C" {

#define UNPACK(...) __VA_ARGS__
// BOUNDS: the first parameters of the entry, in parentheses. SHAPE: the arguments that shape_of()
// gets of them.
#define LOOP_START(LOOP, NAME, T, BOUNDS, SHAPE, KIND, HOW)                                        \
  GOMP_API bool GOMP_##LOOP##_##NAME##_start(UNPACK BOUNDS, T chunk, T *first, T *last) {          \
    return start_loop<T>(SHAPE, KIND, chunk, first, last, HOW);                                    \
  }
#define LOOP_START_RUNTIME(LOOP, NAME, T, BOUNDS, SHAPE, KIND, HOW)                                \
  GOMP_API bool GOMP_##LOOP##_##NAME##_start(UNPACK BOUNDS, T *first, T *last) {                   \
    return start_loop<T>(SHAPE, KIND, 0, first, last, HOW);                                        \
  }
#define LOOP_NEXT(LOOP, NAME, T, NEXT)                                                             \
  GOMP_API bool GOMP_##LOOP##_##NAME##_next(T *first, T *last) { return NEXT(first, last); }
#define DOACROSS_START(LOOP, NAME, T, KIND)                                                        \
  GOMP_API bool GOMP_##LOOP##_doacross_##NAME##_start(unsigned count, T *counts, T chunk,          \
                                                      T *first, T *last) {                         \
    return start_doacross<T>(count, counts, KIND, chunk, first, last);                             \
  }

#define LOOPS(LOOP, T, BOUNDS, SHAPE)                                                              \
  LOOP_START(LOOP, static, T, BOUNDS, SHAPE, k_static, plain)                                      \
  LOOP_START(LOOP, dynamic, T, BOUNDS, SHAPE, k_dynamic, plain)                                    \
  LOOP_START(LOOP, guided, T, BOUNDS, SHAPE, k_guided, plain)                                      \
  LOOP_START(LOOP, nonmonotonic_dynamic, T, BOUNDS, SHAPE, k_dynamic | k_nonmonotonic, plain)      \
  LOOP_START(LOOP, nonmonotonic_guided, T, BOUNDS, SHAPE, k_guided | k_nonmonotonic, plain)        \
  LOOP_START(LOOP, ordered_static, T, BOUNDS, SHAPE, k_static, ordered)                            \
  LOOP_START(LOOP, ordered_dynamic, T, BOUNDS, SHAPE, k_dynamic, ordered)                          \
  LOOP_START(LOOP, ordered_guided, T, BOUNDS, SHAPE, k_guided, ordered)                            \
  LOOP_START_RUNTIME(LOOP, runtime, T, BOUNDS, SHAPE, k_runtime, plain)                            \
  LOOP_START_RUNTIME(LOOP, nonmonotonic_runtime, T, BOUNDS, SHAPE, k_runtime | k_nonmonotonic,     \
                     plain)                                                                        \
  LOOP_START_RUNTIME(LOOP, maybe_nonmonotonic_runtime, T, BOUNDS, SHAPE,                           \
                     k_runtime | k_nonmonotonic, plain)                                            \
  LOOP_START_RUNTIME(LOOP, ordered_runtime, T, BOUNDS, SHAPE, k_runtime, ordered)                  \
  GOMP_API bool GOMP_##LOOP##_start(UNPACK BOUNDS, long kind, T chunk, T *first, T *last,          \
                                    std::uintptr_t *reductions, void **memory) {                   \
    return start_loop<T>(SHAPE, memory || kind & k_monotonic ? kind : kind | k_nonmonotonic,       \
                         chunk, first, last, plain, {reductions, memory});                         \
  }                                                                                                \
  GOMP_API bool GOMP_##LOOP##_ordered_start(UNPACK BOUNDS, long kind, T chunk, T *first, T *last,  \
                                            std::uintptr_t *reductions, void **memory) {           \
    return start_loop<T>(SHAPE, kind, chunk, first, last, ordered, {reductions, memory});          \
  }                                                                                                \
  LOOP_NEXT(LOOP, static, T, next_of_loop)                                                         \
  LOOP_NEXT(LOOP, dynamic, T, next_of_loop)                                                        \
  LOOP_NEXT(LOOP, guided, T, next_of_loop)                                                         \
  LOOP_NEXT(LOOP, runtime, T, next_of_loop)                                                        \
  LOOP_NEXT(LOOP, nonmonotonic_dynamic, T, next_of_loop)                                           \
  LOOP_NEXT(LOOP, nonmonotonic_guided, T, next_of_loop)                                            \
  LOOP_NEXT(LOOP, nonmonotonic_runtime, T, next_of_loop)                                           \
  LOOP_NEXT(LOOP, maybe_nonmonotonic_runtime, T, next_of_loop)                                     \
  LOOP_NEXT(LOOP, ordered_static, T, next_ordered)                                                 \
  LOOP_NEXT(LOOP, ordered_dynamic, T, next_ordered)                                                \
  LOOP_NEXT(LOOP, ordered_guided, T, next_ordered)                                                 \
  LOOP_NEXT(LOOP, ordered_runtime, T, next_ordered)                                                \
  DOACROSS_START(LOOP, static, T, k_static)                                                        \
  DOACROSS_START(LOOP, dynamic, T, k_dynamic)                                                      \
  DOACROSS_START(LOOP, guided, T, k_guided)                                                        \
  GOMP_API bool GOMP_##LOOP##_doacross_runtime_start(unsigned count, T *counts, T *first,          \
                                                     T *last) {                                    \
    return start_doacross<T>(count, counts, k_runtime, 0, first, last);                            \
  }                                                                                                \
  GOMP_API bool GOMP_##LOOP##_doacross_start(unsigned count, T *counts, long kind, T chunk,        \
                                             T *first, T *last, std::uintptr_t *reductions,        \
                                             void **memory) {                                      \
    return start_doacross<T>(count, counts, kind, chunk, first, last, {reductions, memory});       \
  }

LOOPS(loop, long, (long a, long b, long step), shape_of(a, b, step))
LOOPS(loop_ull, ull, (bool up, ull a, ull b, ull step), shape_of(up, a, b, step))

GOMP_API void GOMP_loop_end_nowait() {
  enter([](thread &self) { leave_workshare(self); }, as_work_end);
}
GOMP_API void GOMP_loop_end() {
  enter(
      [](thread &self) {
        leave_workshare(self);
        team_barrier(self);
      },
      as_barrier(ompt::sync_kind::barrier_implicit_workshare));
}
GOMP_API bool GOMP_loop_end_cancel() {
  return enter(
      [](thread &self) {
        leave_workshare(self);
        return !team_barrier(self, barrier_kind::cancellable);
      },
      as_barrier(ompt::sync_kind::barrier_implicit_workshare));
}

GOMP_API void GOMP_ordered_start() {
  enter(
      [](thread &self) {
        if (self.workshare.current)
          wait_for_ordered_ticket(self);
      },
      as_ordered_begin);
}
GOMP_API void GOMP_ordered_end() { end_watched_ordered(); }

GOMP_API void GOMP_doacross_post(long *where) {
  post_source(reinterpret_cast<const std::uint64_t *>(where));
}
GOMP_API void GOMP_doacross_ull_post(ull *where) {
  post_source(reinterpret_cast<const std::uint64_t *>(where));
}

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
