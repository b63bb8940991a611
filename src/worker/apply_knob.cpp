// SPDX-License-Identifier: Apache-2.0
#include "worker/apply_knob.hpp"

#include "base/error.hpp"
#include "base/log.hpp"
#include "services/dispatcher.hpp"
#include "task/wait/wait_policy.hpp"
#include "tune/knobs.hpp"
#include "tune/loop_block.hpp"
#include "tune/mailbox.hpp"
#include "worker/runtime.hpp"

namespace weft::inline v0 {
namespace rt {
namespace {

/// Says whether some workers are to park, which only the watcher can have them do.
bool needs_watcher(const runtime &rt, const settings &now) noexcept {
  return now.sched_workers != 0 && static_cast<unsigned>(now.sched_workers) < rt.workers &&
         !rt.watch.has_thread();
}

constexpr char k_without_watcher[] =
    "setting sched.workers = %d cannot be followed: the watcher, which has workers park, does not run (watch.max_spares = 0 and "
    "watch.hang = off); change one of these two";

void apply_throttle(runtime &rt, const settings &now) {
  rt.producers.follow(throttle_policy_of(now.throttle_policy), now, rt.workers);
}

} // namespace

void begin_knobs(runtime &rt) {
  open_knobs(rt.cfg, &apply_knob);
  apply_knob(setting_index::loop_block, rt.cfg); // loops run before the start, too
  apply_knob(setting_index::wait_policy, rt.cfg);
  if (needs_watcher(rt, rt.cfg))
    warn(k_without_watcher, rt.cfg.sched_workers);
  if (rt.watch.has_thread())
    open_mailbox();
}

void apply_knob(setting_index which, const settings &now) {
  runtime &rt = the_runtime();
  switch (which) {
  case setting_index::sched_workers:
    if (needs_watcher(rt, now))
      throw_error(errc::not_supported, k_without_watcher, now.sched_workers);
    [[fallthrough]];
  case setting_index::pools_least_workers:
    rt.room.take(now);
    return rt.watch.pool_threads_have_changed();
  case setting_index::sched_immediate_successor:
    return set_successor_odds(rt, odds_of(now.sched_immediate_successor));
  case setting_index::spin_us:
    rt.spin_ns.store(in_ns(now.spin_us), std::memory_order_relaxed);
    return rt.manage.change(now);
  case setting_index::manage_max_managers:
  case setting_index::manage_max_spins:
  case setting_index::manage_max_ops:
  case setting_index::manage_min_ready:
  case setting_index::manage_backlog:
    rt.manage.change(now);
    return static_cast<void>(rt.idle.notify_one()); // a worker that was turned away may sleep
  case setting_index::throttle_policy:
  case setting_index::throttle_tasks:
  case setting_index::throttle_bytes:
  case setting_index::throttle_soft:
    return apply_throttle(rt, now);
  case setting_index::wait_policy:
    return follow_wait_policy(wait_policy_of(now.wait_policy));
  case setting_index::poll_slow:
    return set_slow_call_ns(in_ns(now.poll_slow));
  case setting_index::loop_block:
    return g_loop_block_ns.store(static_cast<float>(in_ns(now.loop_block)),
                                 std::memory_order_relaxed);
  default:
    break;
  }
  fatal("setting %s can change while the program runs, and nothing applies the change",
        setting_table()[static_cast<std::size_t>(which)].key);
}

} // namespace rt
} // namespace weft::inline v0
