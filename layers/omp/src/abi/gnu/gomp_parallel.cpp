// SPDX-License-Identifier: Apache-2.0
// libgomp's entry points: parallel regions, cancellation, teams on the host.
#include "abi/gnu/gomp.hpp"
#include "helper/proxy_thread.hpp"

namespace weft_omp {

namespace {

bool is_cancelled(const thread &t, int which) noexcept {
  if (which & (k_cancel_loop | k_cancel_sections))
    return t.team->workshare_cancelled.load(std::memory_order_relaxed);
  return ((which & k_cancel_group) && is_cancelled(*t.task)) ||
         t.team->cancelled.load(std::memory_order_relaxed);
}

} // namespace

bool is_cancelled_here(int which) noexcept {
  if (!g_globals.cancellation)
    return false;
  thread &t = self();
  if (is_cancelled(t, which))
    return true;
  count_failed_test(t);
  return false;
}

bool cancel_here(int which, bool doit) noexcept {
  if (!g_globals.cancellation)
    return false;
  if (!doit)
    return is_cancelled_here(which);
  thread &t = self();
  if (which & (k_cancel_loop | k_cancel_sections)) {
    t.team->workshare_cancelled.store(true, std::memory_order_relaxed);
  } else if (which & k_cancel_group) {
    task_group *g = t.task->group;
    if (g && g->of_workshare && g->outer)
      g = g->outer;
    if (g)
      g->cancelled.store(true, std::memory_order_relaxed);
  } else {
    cancel_team(t);
  }
  return true;
}

} // namespace weft_omp

using namespace weft_omp;

namespace {

/// Begins a combined construct. It sets up the first worksharing region before the members begin.
template <class SetUp>
void combined(void (*body)(void *), void *data, unsigned threads, unsigned flags,
              unsigned most_useful, SetUp set_up) {
  thread &t = self();
  omp_team &c = begin_team(t, resolve_threads(t, threads, most_useful), flags);
  workshare &s = c.workshares[1 % k_open_workshares];
  s.begin(1);
  c.used_workshares.store(true, std::memory_order_relaxed);
  set_up(t, s);
  t.workshare.entered = 1;
  t.workshare.current = &s;
  launch(t, c, {body, data}, true);
}

void combined_loop(void (*body)(void *), void *data, unsigned threads, const loop_shape &shape,
                   long kind, long chunk, unsigned flags) {
  combined(body, data, threads, flags, 0, [&](const thread &t, workshare &s) {
    set_loop(t, s, shape, kind, static_cast<std::uint64_t>(chunk));
  });
}

void run_combined(void (*body)(void *), void *data) {
  body(data);
  end_team(self());
}

void run_combined_loop(void (*body)(void *), void *data, unsigned threads, const loop_shape &shape,
                       long kind, long chunk, unsigned flags) {
  thread &t = self();
  if (needs_proxy(t)) [[unlikely]]
    return on_proxy_thread(
        t, [&] { run_combined_loop(body, data, threads, shape, kind, chunk, flags); });
  combined_loop(body, data, threads, shape, kind, chunk, flags);
  run_combined(body, data);
}

} // namespace

extern "C" {

GOMP_API void GOMP_parallel_start(void (*body)(void *), void *data, unsigned threads) {
  thread &t = self();
  omp_team &c = begin_team(t, resolve_threads(t, threads));
  launch(t, c, {body, data});
}

GOMP_API void GOMP_parallel_end() { end_team(self()); }

GOMP_API void GOMP_parallel(void (*body)(void *), void *data, unsigned threads, unsigned flags) {
  thread &t = self();
  if (needs_proxy(t)) [[unlikely]]
    return on_proxy_thread(t, [=] { GOMP_parallel(body, data, threads, flags); });
  run_parallel(t, {body, data}, resolve_threads(t, threads), flags);
}

GOMP_API unsigned GOMP_parallel_reductions(void (*body)(void *), void *data, unsigned threads,
                                           unsigned flags) {
  thread &t = self();
  if (needs_proxy(t)) [[unlikely]] {
    unsigned got = 0;
    on_proxy_thread(t, [&] { got = GOMP_parallel_reductions(body, data, threads, flags); });
    return got;
  }
  omp_team &c = begin_team(t, resolve_threads(t, threads), flags);
  const unsigned size = c.size;
  task_group *const g = register_parallel_reductions(*static_cast<std::uintptr_t **>(data), size);
  for (unsigned i = 0; i < size; ++i)
    c.implicit[i].group = g;
  launch(t, c, {body, data});
  body(data);
  end_team(t);
  delete g;
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
  combined(body, data, threads, 0, count, [&](const thread &t, workshare &s) {
    set_loop(t, s, {count, 1, 1, count + 1ull}, k_dynamic, 1);
  });
}

GOMP_API void GOMP_parallel_sections(void (*body)(void *), void *data, unsigned threads,
                                     unsigned count, unsigned flags) {
  thread &t = self();
  if (needs_proxy(t)) [[unlikely]]
    return on_proxy_thread(t, [=] { GOMP_parallel_sections(body, data, threads, count, flags); });
  combined(body, data, threads, flags, count, [&](const thread &t, workshare &s) {
    set_loop(t, s, {count, 1, 1, count + 1ull}, k_dynamic, 1);
  });
  run_combined(body, data);
}

GOMP_API bool GOMP_cancellation_point(int which) { return is_cancelled_here(which); }
GOMP_API bool GOMP_cancel(int which, bool doit) { return cancel_here(which, doit); }
GOMP_API void GOMP_teams_reg(void (*body)(void *), void *data, unsigned teams,
                             unsigned thread_limit, unsigned) {
  thread &t = self();
  if (teams == 0)
    teams = g_globals.teams ? static_cast<unsigned>(g_globals.teams) : 3;
  run_league(t, {body, data}, teams, thread_limit);
}

} // extern "C"
