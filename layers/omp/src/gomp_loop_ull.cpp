// SPDX-License-Identifier: Apache-2.0
// libgomp's entry points: loops over unsigned long long.
#include "gomp.hpp"

#include <cstdarg>

using namespace weft_omp;
using ull = unsigned long long;

namespace {

bool give(thread &t, bool found, ull *first, ull *last) noexcept {
  if (!found)
    return false;
  std::uint64_t a = 0, b = 0;
  chunk_values(t, a, b);
  *first = a;
  *last = b;
  return true;
}

bool start(const loop_shape &shape, long kind, ull chunk, ull *first, ull *last, bool ordered, std::uintptr_t *reductions = nullptr,
           void **memory = nullptr) {
  thread &t = self();
  begin_share(t, reductions, memory, [&](work_share &s) { set_loop(s, shape, kind, chunk); });
  if (!first)
    return true;
  return give(t, ordered ? next_ordered_chunk(t) : next_chunk(t), first, last);
}

bool start_doacross(unsigned count, const ull *counts, long kind, ull chunk, ull *first, ull *last, std::uintptr_t *reductions = nullptr,
                    void **memory = nullptr) {
  thread &t = self();
  begin_share(t, reductions, memory, [&](work_share &s) {
    set_loop(s, shape_of(true, 0, counts[0], 1), kind, chunk);
    set_doacross(t, s, count, reinterpret_cast<const std::uint64_t *>(counts));
  });
  return give(t, next_chunk(t), first, last);
}

} // namespace

extern "C" {

#define LOOP_START(NAME, KIND, ORDERED)                                                                                              \
  GOMP_API bool GOMP_loop_ull_##NAME##_start(bool up, ull a, ull b, ull step, ull chunk, ull *first, ull *last) {                    \
    return start(shape_of(up, a, b, step), KIND, chunk, first, last, ORDERED);                                                       \
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
  GOMP_API bool GOMP_loop_ull_##NAME##_start(bool up, ull a, ull b, ull step, ull *first, ull *last) {                               \
    return start(shape_of(up, a, b, step), k_runtime, 0, first, last, ORDERED);                                                      \
  }
LOOP_START(runtime, false)
LOOP_START(nonmonotonic_runtime, false)
LOOP_START(maybe_nonmonotonic_runtime, false)
LOOP_START(ordered_runtime, true)
#undef LOOP_START

GOMP_API bool GOMP_loop_ull_start(bool up, ull a, ull b, ull step, long kind, ull chunk, ull *first, ull *last,
                                  std::uintptr_t *reductions, void **memory) {
  return start(shape_of(up, a, b, step), kind, chunk, first, last, false, reductions, memory);
}
GOMP_API bool GOMP_loop_ull_ordered_start(bool up, ull a, ull b, ull step, long kind, ull chunk, ull *first, ull *last,
                                          std::uintptr_t *reductions, void **memory) {
  return start(shape_of(up, a, b, step), kind, chunk, first, last, true, reductions, memory);
}

#define LOOP_NEXT(NAME, NEXT)                                                                                                        \
  GOMP_API bool GOMP_loop_ull_##NAME##_next(ull *first, ull *last) {                                                                 \
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
  GOMP_API bool GOMP_loop_ull_doacross_##NAME##_start(unsigned count, ull *counts, ull chunk, ull *first, ull *last) {               \
    return start_doacross(count, counts, KIND, chunk, first, last);                                                                  \
  }
DOACROSS_START(static, k_static)
DOACROSS_START(dynamic, k_dynamic)
DOACROSS_START(guided, k_guided)
#undef DOACROSS_START

GOMP_API bool GOMP_loop_ull_doacross_runtime_start(unsigned count, ull *counts, ull *first, ull *last) {
  return start_doacross(count, counts, k_runtime, 0, first, last);
}
GOMP_API bool GOMP_loop_ull_doacross_start(unsigned count, ull *counts, long kind, ull chunk, ull *first, ull *last,
                                           std::uintptr_t *reductions, void **memory) {
  return start_doacross(count, counts, kind, chunk, first, last, reductions, memory);
}

GOMP_API void GOMP_doacross_ull_post(ull *where) { post(self(), reinterpret_cast<const std::uint64_t *>(where)); }

GOMP_API void GOMP_doacross_ull_wait(ull first, ...) {
  constexpr unsigned k_most = 64;
  std::uint64_t where[k_most] = {first};
  thread &t = self();
  const unsigned n = depth_of_doacross(t);
  va_list more;
  va_start(more, first);
  for (unsigned i = 1; i < n && i < k_most; ++i)
    where[i] = va_arg(more, ull);
  va_end(more);
  wait_for(t, where);
}

} // extern "C"
