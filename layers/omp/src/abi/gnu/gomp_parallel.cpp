// SPDX-License-Identifier: Apache-2.0
// libgomp's entry points: parallel regions, cancellation, teams on the host.
#include "abi/gnu/gomp.hpp"
#include "helper/proxy_thread.hpp"
#include "team/cancel.hpp"

using namespace weft_omp;

namespace {

/// Begins a combined construct. It sets up the first worksharing region before the members begin.
template <class SetUp>
void combined(void (*body)(void *), void *data, unsigned threads, unsigned flags,
              unsigned most_useful, SetUp set_up) {
  thread &self = weft_omp::self();
  omp_team &team = begin_team(self, resolve_threads(self, threads, most_useful), flags);
  workshare &s = team.workshares[1 % k_open_workshares];
  s.begin(1);
  team.used_workshares.store(true, std::memory_order_relaxed);
  set_up(self, s);
  self.workshare.entered = 1;
  self.workshare.current = &s;
  launch(self, team, {body, data}, region_entry::in_workshare);
}

void combined_loop(void (*body)(void *), void *data, unsigned threads, const loop_shape &shape,
                   long kind, long chunk, unsigned flags) {
  combined(body, data, threads, flags, 0, [&](const thread &self, workshare &s) {
    set_loop(self, s, shape, kind, static_cast<std::uint64_t>(chunk));
  });
}

void run_combined(void (*body)(void *), void *data) {
  body(data);
  end_team(self());
}

void run_combined_loop(void (*body)(void *), void *data, unsigned threads, const loop_shape &shape,
                       long kind, long chunk, unsigned flags) {
  thread &self = weft_omp::self();
  if (needs_proxy(self)) [[unlikely]]
    return on_proxy_thread(
        self, [&] { run_combined_loop(body, data, threads, shape, kind, chunk, flags); });
  combined_loop(body, data, threads, shape, kind, chunk, flags);
  run_combined(body, data);
}

} // namespace

extern "C" {

GOMP_API void GOMP_parallel_start(void (*body)(void *), void *data, unsigned threads) {
  thread &self = weft_omp::self();
  omp_team &team = begin_team(self, resolve_threads(self, threads));
  launch(self, team, {body, data});
}

GOMP_API void GOMP_parallel_end() { end_team(self()); }

GOMP_API void GOMP_parallel(void (*body)(void *), void *data, unsigned threads, unsigned flags) {
  thread &self = weft_omp::self();
  if (needs_proxy(self)) [[unlikely]]
    return on_proxy_thread(self, [=] { GOMP_parallel(body, data, threads, flags); });
  run_parallel(self, {body, data}, resolve_threads(self, threads), flags);
}

GOMP_API unsigned GOMP_parallel_reductions(void (*body)(void *), void *data, unsigned threads,
                                           unsigned flags) {
  thread &self = weft_omp::self();
  if (needs_proxy(self)) [[unlikely]] {
    unsigned got = 0;
    on_proxy_thread(self, [&] { got = GOMP_parallel_reductions(body, data, threads, flags); });
    return got;
  }
  omp_team &team = begin_team(self, resolve_threads(self, threads), flags);
  const unsigned size = team.size;
  task_group *const group =
      register_parallel_reductions(*static_cast<std::uintptr_t **>(data), size);
  for (unsigned i = 0; i < size; ++i)
    team.implicit[i].group = group;
  launch(self, team, {body, data});
  body(data);
  end_team(self);
  delete group;
  return size;
}

#define PARALLEL_LOOP(NAME, KIND)                                                                  \
  GOMP_API void GOMP_parallel_loop_##NAME##_start(void (*body)(void *), void *data,                \
                                                  unsigned threads, long first, long last,         \
                                                  long step, long chunk) {                         \
    combined_loop(body, data, threads, shape_of(first, last, step), KIND, chunk, 0);               \
  }
PARALLEL_LOOP(static, k_static)
PARALLEL_LOOP(dynamic, k_dynamic)
PARALLEL_LOOP(guided, k_guided)
#undef PARALLEL_LOOP

GOMP_API void GOMP_parallel_loop_runtime_start(void (*body)(void *), void *data, unsigned threads,
                                               long first, long last, long step) {
  combined_loop(body, data, threads, shape_of(first, last, step), k_runtime, 0, 0);
}

#define PARALLEL_LOOP(NAME, KIND)                                                                  \
  GOMP_API void GOMP_parallel_loop_##NAME(void (*body)(void *), void *data, unsigned threads,      \
                                          long first, long last, long step, long chunk,            \
                                          unsigned flags) {                                        \
    run_combined_loop(body, data, threads, shape_of(first, last, step), KIND, chunk, flags);       \
  }
PARALLEL_LOOP(static, k_static)
PARALLEL_LOOP(dynamic, k_dynamic)
PARALLEL_LOOP(guided, k_guided)
PARALLEL_LOOP(nonmonotonic_dynamic, k_dynamic | k_nonmonotonic)
PARALLEL_LOOP(nonmonotonic_guided, k_guided)
#undef PARALLEL_LOOP

#define PARALLEL_LOOP(NAME, KIND)                                                                  \
  GOMP_API void GOMP_parallel_loop_##NAME(void (*body)(void *), void *data, unsigned threads,      \
                                          long first, long last, long step, unsigned flags) {      \
    run_combined_loop(body, data, threads, shape_of(first, last, step), KIND, 0, flags);           \
  }
PARALLEL_LOOP(runtime, k_runtime)
PARALLEL_LOOP(nonmonotonic_runtime, k_runtime | k_nonmonotonic)
PARALLEL_LOOP(maybe_nonmonotonic_runtime, k_runtime | k_nonmonotonic)
#undef PARALLEL_LOOP

GOMP_API void GOMP_parallel_sections_start(void (*body)(void *), void *data, unsigned threads,
                                           unsigned count) {
  combined(body, data, threads, 0, count, [&](const thread &self, workshare &s) {
    set_loop(self, s, {count, 1, 1, count + 1ull}, k_dynamic, 1);
  });
}

GOMP_API void GOMP_parallel_sections(void (*body)(void *), void *data, unsigned threads,
                                     unsigned count, unsigned flags) {
  thread &self = weft_omp::self();
  if (needs_proxy(self)) [[unlikely]]
    return on_proxy_thread(self,
                           [=] { GOMP_parallel_sections(body, data, threads, count, flags); });
  combined(body, data, threads, flags, count, [&](const thread &self, workshare &s) {
    set_loop(self, s, {count, 1, 1, count + 1ull}, k_dynamic, 1);
  });
  run_combined(body, data);
}

GOMP_API bool GOMP_cancellation_point(int which) { return is_cancelled_here(which); }
GOMP_API bool GOMP_cancel(int which, bool doit) {
  return doit ? cancel_here(which) : is_cancelled_here(which);
}
GOMP_API void GOMP_teams_reg(void (*body)(void *), void *data, unsigned teams,
                             unsigned thread_limit, unsigned) {
  thread &self = weft_omp::self();
  if (teams == 0)
    teams = g_globals.teams ? static_cast<unsigned>(g_globals.teams) : 3;
  run_league(self, {body, data}, teams, thread_limit);
}

} // extern "C"
