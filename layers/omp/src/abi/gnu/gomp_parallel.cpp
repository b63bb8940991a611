// SPDX-License-Identifier: Apache-2.0
// libgomp's entry points: parallel regions, cancellation, teams on the host.
#include "abi/gnu/gomp.hpp"
#include "helper/proxy_thread.hpp"
#include "team/cancel.hpp"
#include "tool/enter.hpp"
#include "tool/regions.hpp"

using namespace weft_omp;

extern "C" GOMP_API void GOMP_parallel(void (*body)(void *), void *data, unsigned threads,
                                       unsigned flags);

namespace {

/// How an entry point begins and ends a region.
struct plain_region {
  static omp_team &begin(thread &self, unsigned, unsigned threads, unsigned flags) {
    return begin_team(self, threads, flags);
  }
  static void launch(thread &self, omp_team &team, const region_body &body, region_entry entry) {
    weft_omp::launch(self, team, body, entry);
  }
  static void run(thread &, const region_body &body) { body(); }
  static void end(thread &self) { end_team(self); }
};

/// Begins a combined construct. It sets up the first worksharing region before the members begin.
template <class Region, class SetUp>
[[gnu::always_inline]] inline void
begin_combined(thread &self, Region &region, const region_body &body, unsigned threads,
               unsigned flags, unsigned most_useful, SetUp set_up) {
  omp_team &team = region.begin(self, threads, resolve_threads(self, threads, most_useful), flags);
  workshare &s = team.workshares[1 % k_open_workshares];
  s.begin(1);
  team.used_workshares.store(true, std::memory_order_relaxed);
  set_up(self, s);
  self.workshare.entered = 1;
  self.workshare.current = &s;
  region.launch(self, team, body, region_entry::in_workshare);
}

/// Begins a combined construct, whose end another call is.
template <class SetUp>
[[gnu::always_inline]] inline void combined(void (*body)(void *), void *data, unsigned threads,
                                            unsigned flags, unsigned most_useful, SetUp set_up) {
  const region_body what{body, data};
  enter(
      [=](thread &self) {
        plain_region region;
        begin_combined(self, region, what, threads, flags, most_useful, set_up);
      },
      [=](thread &self, const call_site &at, auto) {
        open_region &region = open_region::make(what, at, &call_with_frame);
        begin_combined(self, region, what, threads, flags, most_useful, set_up);
        region.enter(self, at.caller);
      });
}

auto set_up_loop(const loop_shape &shape, long kind, long chunk) {
  return [=](const thread &self, workshare &s) {
    set_loop(self, s, shape, kind, static_cast<std::uint64_t>(chunk));
  };
}
auto set_up_sections(unsigned count) {
  return [=](const thread &self, workshare &s) {
    set_loop(self, s, {count, 1, 1, count + 1ull}, k_dynamic, 1);
  };
}

/// Holds a combined construct.
template <class SetUp>
struct combined_construct {
  region_body body;
  unsigned threads, flags, most_useful;
  ompt::work_kind work;
  SetUp set_up;

  template <class Region>
  void run_as(thread &self, Region &region) const {
    begin_combined(self, region, body, threads, flags, most_useful, set_up);
    region.run(self, body);
    region.end(self);
  }
  void run(thread &self) const {
    if (needs_proxy(self)) [[unlikely]]
      return on_proxy_thread(self, [this] { run(weft_omp::self()); });
    plain_region region;
    run_as(self, region);
  }
  void run_watched(thread &self, const call_site &at) const {
    if (needs_proxy(self)) [[unlikely]]
      return on_proxy_thread(self, [&, this] { run_watched(weft_omp::self(), at); });
    closed_region region(body, at, work);
    run_as(self, region);
  }
};

/// Runs a combined construct.
template <class SetUp>
[[gnu::always_inline]] inline void run_combined(void (*body)(void *), void *data, unsigned threads,
                                                unsigned flags, unsigned most_useful,
                                                ompt::work_kind work, SetUp set_up) {
  const combined_construct<SetUp> construct{{body, data}, threads, flags,
                                            most_useful,  work,    set_up};
  if (thread *const self = self_or_null()) [[likely]]
    return construct.run(*self);
  enter_slow([&](thread &self) { construct.run(self); },
             [&](thread &self, const call_site &at, auto) { construct.run_watched(self, at); },
             this_call());
}

[[gnu::always_inline]] inline void combined_loop(void (*body)(void *), void *data, unsigned threads,
                                                 const loop_shape &shape, long kind, long chunk,
                                                 unsigned flags) {
  combined(body, data, threads, flags, 0, set_up_loop(shape, kind, chunk));
}
[[gnu::always_inline]] inline void run_combined_loop(void (*body)(void *), void *data,
                                                     unsigned threads, const loop_shape &shape,
                                                     long kind, long chunk, unsigned flags) {
  run_combined(body, data, threads, flags, 0, ompt::work_kind::loop,
               set_up_loop(shape, kind, chunk));
}

[[gnu::always_inline]] inline void parallel(thread &self, void (*body)(void *), void *data,
                                            unsigned threads, unsigned flags) {
  if (needs_proxy(self)) [[unlikely]]
    return on_proxy_thread(self, [=] { GOMP_parallel(body, data, threads, flags); });
  run_parallel(self, {body, data}, resolve_threads(self, threads), flags);
}
void parallel_watched(thread &self, void (*body)(void *), void *data, unsigned threads,
                      unsigned flags, const call_site &at) {
  if (needs_proxy(self)) [[unlikely]]
    return on_proxy_thread(
        self, [=] { parallel_watched(weft_omp::self(), body, data, threads, flags, at); });
  closed_region region({body, data}, at);
  omp_team &team = region.begin(self, threads, resolve_threads(self, threads), flags);
  region.launch(self, team, {body, data}, region_entry::plain);
  region.run(self, {body, data});
  region.end(self);
}

/// Runs a region whose members have task reductions. Returns the number of its threads.
template <class Region>
unsigned run_reducing(thread &self, Region &region, const region_body &body, unsigned threads,
                      unsigned flags) {
  omp_team &team = region.begin(self, threads, resolve_threads(self, threads), flags);
  const unsigned size = team.size;
  task_group *const group =
      register_parallel_reductions(*static_cast<std::uintptr_t **>(body.arguments), size);
  for (unsigned i = 0; i < size; ++i)
    team.implicit[i].group = group;
  region.launch(self, team, body, region_entry::plain);
  region.run(self, body);
  region.end(self);
  delete group;
  return size;
}

} // namespace

extern "C" {

GOMP_API void GOMP_parallel_start(void (*body)(void *), void *data, unsigned threads) {
  const region_body what{body, data};
  enter(
      [=](thread &self) {
        omp_team &team = begin_team(self, resolve_threads(self, threads));
        launch(self, team, what);
      },
      [=](thread &self, const call_site &at, auto) {
        open_region &region = open_region::make(what, at, &call_with_frame);
        omp_team &team = region.begin(self, threads, resolve_threads(self, threads), 0);
        region.launch(self, team, what, region_entry::plain);
        region.enter(self, at.caller);
      });
}

GOMP_API void GOMP_parallel_end() {
  enter([](thread &self) { end_team(self); },
        [](thread &self, const call_site &, auto) { open_region::close(self); });
}

GOMP_API void GOMP_parallel(void (*body)(void *), void *data, unsigned threads, unsigned flags) {
  if (thread *const self = self_or_null()) [[likely]]
    return parallel(*self, body, data, threads, flags);
  enter_slow([=](thread &self) { parallel(self, body, data, threads, flags); },
             [=](thread &self, const call_site &at, auto) {
               parallel_watched(self, body, data, threads, flags, at);
             },
             this_call());
}

GOMP_API unsigned GOMP_parallel_reductions(void (*body)(void *), void *data, unsigned threads,
                                           unsigned flags) {
  const auto by_proxy = [=](thread &self) {
    unsigned got = 0;
    on_proxy_thread(self, [&] { got = GOMP_parallel_reductions(body, data, threads, flags); });
    return got;
  };
  return enter(
      [=](thread &self) {
        if (needs_proxy(self)) [[unlikely]]
          return by_proxy(self);
        plain_region region;
        return run_reducing(self, region, {body, data}, threads, flags);
      },
      [=](thread &self, const call_site &at, auto) {
        if (needs_proxy(self)) [[unlikely]]
          return by_proxy(self);
        closed_region region({body, data}, at);
        return run_reducing(self, region, {body, data}, threads, flags);
      });
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
PARALLEL_LOOP(nonmonotonic_guided, k_guided | k_nonmonotonic)
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
  combined(body, data, threads, 0, count, set_up_sections(count));
}

GOMP_API void GOMP_parallel_sections(void (*body)(void *), void *data, unsigned threads,
                                     unsigned count, unsigned flags) {
  run_combined(body, data, threads, flags, count, ompt::work_kind::sections,
               set_up_sections(count));
}

GOMP_API bool GOMP_cancellation_point(int which) { return cancellation_point(which); }
GOMP_API bool GOMP_cancel(int which, bool doit) {
  return doit ? cancel(which) : cancellation_point(which);
}
GOMP_API void GOMP_teams_reg(void (*body)(void *), void *data, unsigned teams,
                             unsigned thread_limit, unsigned) {
  const region_body what{body, data};
  const auto number = [=] {
    return teams ? teams : g_globals.teams ? static_cast<unsigned>(g_globals.teams) : 3;
  };
  enter([=](thread &self) { run_league(self, what, number(), thread_limit); },
        [=](thread &self, const call_site &at, auto) {
          run_watched_league(self, what, &call_with_frame, number(), thread_limit, at);
        });
}

} // extern "C"
