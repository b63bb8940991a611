// SPDX-License-Identifier: Apache-2.0
#include "observe/timekeeper.hpp"

namespace weft::inline v0 {
namespace rt {

time_mode g_time_mode = time_mode::off;

namespace {

// A sample reads three clocks, 300 instructions where the processor has no steady clock: half an
// instruction per task, 0.01 % at 1 us. The distance is drawn, because a fixed period would fall in
// step with loops.
constexpr std::uint32_t k_most_between = 1023; // 512 in the mean
constexpr std::uint64_t k_samples_per_sign =
    64; // of life: reading the system's clock costs as much as the rest of a sample
constexpr std::uint64_t k_tasks_per_sign = 1024; // of life, if each task is a sample; powers of two

type_time &type_of(counter_block &c, timekeeper &k, const task_name &name) noexcept {
  if (!name.label && name.closure == k.last_closure && k.last_type) [[likely]]
    return *k.last_type;
  type_time &t = find_type(c.types, name);
  if (!name.label) {
    k.last_closure = name.closure;
    k.last_type = &t;
  }
  return t;
}

std::uint64_t others_of(const counter_block &c) noexcept {
  return c.executed + c.rounds + c.suspended;
}

} // namespace

void set_time_mode(time_mode mode) noexcept {
  g_time_mode = mode;
  if (mode == time_mode::exact)
    calibrate_ticks(too_early::waits);
}

void schedule_sample(timekeeper &k) noexcept {
  switch (g_time_mode) {
  case time_mode::off:
    k.until = UINT32_MAX;
    return;
  case time_mode::exact:
    k.until = 1;
    k.weight = 1;
    return;
  case time_mode::sampled:
    k.seed = k.seed * 1664525u + 1013904223u;
    k.until = 1 + (k.seed >> 16) % k_most_between;
    k.weight = k.until + 1; // with the task that ends the gap
  }
}

void close_gap(counter_block &c, timekeeper &k) noexcept {
  const std::uint64_t now = read_ticks();
  if (now > k.gap)
    count(c.overhead, ticks_to_ns(now - k.gap) * k.weight);
  k.gap = 0;
  schedule_sample(k);
}

namespace {

/// Begins to time a task if each one is timed: a gap ends where a task begins. So there are no
/// weights, and ticks are known to be calibrated.
timed_task begin_exactly(counter_block &c, timekeeper &k, const task_name &name) noexcept {
  const std::uint64_t now = read_ticks();
  if (k.gap != 0 && now > k.gap)
    count(c.overhead, ticks_to_ns(now - k.gap));
  k.gap = 0;
  k.until = 1;
  type_time &type = type_of(c, k, name);
  count(type.tasks);
  return {&c, now, others_of(c), 1, &type};
}

} // namespace

timed_task begin_timed(counter_block &c, timekeeper &k, const task_name &name) noexcept {
  if (g_time_mode == time_mode::exact)
    return begin_exactly(c, k, name);
  const std::uint32_t weight = k.weight;
  if (k.gap != 0) {
    close_gap(c, k);
    return {};
  }
  schedule_sample(
      k); // a task that waits may end on another worker, and this worker goes on sampling
  if (g_time_mode == time_mode::off || !ticks_are_calibrated())
    return {};
  timed_task t{&c, 0, others_of(c), weight ? weight : 1, &type_of(c, k, name)};
  count(t.type->tasks, t.weight);
  t.begin = read_ticks();
  return t;
}

void end_timed(const timed_task &t, counter_block &c, timekeeper &k) noexcept {
  if (!t.block)
    return;
  const std::uint64_t now = read_ticks();
  if (t.block == &c && t.others == others_of(c) &&
      now > t.begin) { // the task ran alone, from begin to end
    const std::uint64_t ns = ticks_to_ns(now - t.begin);
    count(c.durations[duration_bucket(ns)], t.weight);
    count(t.type->timed, t.weight);
    count(t.type->ns, ns * t.weight);
  }
  count(c.samples);
  if ((c.samples &
       ((g_time_mode == time_mode::exact ? k_tasks_per_sign : k_samples_per_sign) - 1)) == 0)
    put(c.last_seen, now_ns());
  k.weight = t.weight;
  k.gap = now ? now : 1;
  k.until = 1;
}

void enter_overall(counter_block &c) noexcept {
  const std::uint64_t now = now_ns();
  start_watch(c.overall, now);
  put(c.last_seen, now);
}

void leave_overall(counter_block &c, timekeeper &k) noexcept {
  end_gap(c, k);
  const std::uint64_t now = now_ns();
  stop_watch(c.overall, now);
  put(c.last_seen, now);
}

void enter_idle(counter_block &c, timekeeper &k) noexcept {
  end_gap(c, k);
  count(c.misses);
  const std::uint64_t now = now_ns();
  start_watch(c.idle, now);
  put(c.last_seen, now);
}

void leave_idle(counter_block &c, timekeeper &k) noexcept {
  const std::uint64_t now = now_ns();
  stop_watch(c.idle, now);
  put(c.last_seen, now);
  begin_gap(k);
}

} // namespace rt
} // namespace weft::inline v0
