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

type_time &type_of(counter_block &block, timekeeper &keeper, const task_name &name) noexcept {
  if (!name.label && name.closure == keeper.last_closure && keeper.last_type) [[likely]]
    return *keeper.last_type;
  type_time &t = find_type(block.types, name);
  if (!name.label) {
    keeper.last_closure = name.closure;
    keeper.last_type = &t;
  }
  return t;
}

std::uint64_t others_of(const counter_block &block) noexcept {
  return block.executed + block.rounds + block.suspended;
}

} // namespace

void set_time_mode(time_mode mode) noexcept {
  g_time_mode = mode;
  if (mode == time_mode::exact)
    calibrate_ticks(too_early::waits);
}

void schedule_sample(timekeeper &keeper) noexcept {
  switch (g_time_mode) {
  case time_mode::off:
    keeper.until = UINT32_MAX;
    return;
  case time_mode::exact:
    keeper.until = 1;
    keeper.weight = 1;
    return;
  case time_mode::sampled:
    keeper.seed = keeper.seed * 1664525u + 1013904223u;
    keeper.until = 1 + (keeper.seed >> 16) % k_most_between;
    keeper.weight = keeper.until + 1; // with the task that ends the gap
  }
}

void close_gap(counter_block &block, timekeeper &keeper) noexcept {
  const std::uint64_t now = read_ticks();
  if (now > keeper.gap)
    count(block.overhead, ticks_to_ns(now - keeper.gap) * keeper.weight);
  keeper.gap = 0;
  schedule_sample(keeper);
}

namespace {

/// Begins to time a task if each one is timed: a gap ends where a task begins. So there are no
/// weights, and ticks are known to be calibrated.
timed_task begin_exactly(counter_block &block, timekeeper &keeper, const task_name &name) noexcept {
  const std::uint64_t now = read_ticks();
  if (keeper.gap != 0 && now > keeper.gap)
    count(block.overhead, ticks_to_ns(now - keeper.gap));
  keeper.gap = 0;
  keeper.until = 1;
  type_time &type = type_of(block, keeper, name);
  count(type.tasks);
  return {&block, now, others_of(block), 1, &type};
}

} // namespace

timed_task begin_timed(counter_block &block, timekeeper &keeper, const task_name &name) noexcept {
  if (g_time_mode == time_mode::exact)
    return begin_exactly(block, keeper, name);
  const std::uint32_t weight = keeper.weight;
  if (keeper.gap != 0) {
    close_gap(block, keeper);
    return {};
  }
  schedule_sample(
      keeper); // a task that waits may end on another worker, and this worker goes on sampling
  if (g_time_mode == time_mode::off || !ticks_are_calibrated())
    return {};
  timed_task t{&block, 0, others_of(block), weight ? weight : 1, &type_of(block, keeper, name)};
  count(t.type->tasks, t.weight);
  t.begin = read_ticks();
  return t;
}

void end_timed(const timed_task &timed, counter_block &block, timekeeper &keeper) noexcept {
  if (!timed.block)
    return;
  const std::uint64_t now = read_ticks();
  if (timed.block == &block && timed.others == others_of(block) &&
      now > timed.begin) { // the task ran alone, from begin to end
    const std::uint64_t ns = ticks_to_ns(now - timed.begin);
    count(block.durations[duration_bucket(ns)], timed.weight);
    count(timed.type->timed, timed.weight);
    count(timed.type->ns, ns * timed.weight);
  }
  count(block.samples);
  if ((block.samples &
       ((g_time_mode == time_mode::exact ? k_tasks_per_sign : k_samples_per_sign) - 1)) == 0)
    put(block.last_seen, now_ns());
  keeper.weight = timed.weight;
  keeper.gap = now ? now : 1;
  keeper.until = 1;
}

void enter_overall(counter_block &block) noexcept {
  const std::uint64_t now = now_ns();
  start_watch(block.overall, now);
  put(block.last_seen, now);
}

void leave_overall(counter_block &block, timekeeper &keeper) noexcept {
  end_gap(block, keeper);
  const std::uint64_t now = now_ns();
  stop_watch(block.overall, now);
  put(block.last_seen, now);
}

void enter_idle(counter_block &block, timekeeper &keeper) noexcept {
  end_gap(block, keeper);
  count(block.misses);
  const std::uint64_t now = now_ns();
  start_watch(block.idle, now);
  put(block.last_seen, now);
}

void leave_idle(counter_block &block, timekeeper &keeper) noexcept {
  const std::uint64_t now = now_ns();
  stop_watch(block.idle, now);
  put(block.last_seen, now);
  begin_gap(keeper);
}

} // namespace rt
} // namespace weft::inline v0
