// SPDX-License-Identifier: Apache-2.0
#include "tools/weft/support/idle_reason.hpp"

#include "observe/formula.hpp"
#include "observe/name.hpp"
#include "tools/weft/support/text.hpp"

#include <cmath>
#include <cstdio>

namespace weft_tool {

using namespace weft::rt;

namespace {

constexpr double k_idle_share = 0.05; // of the time in Weft

double value_or_zero(const reading &numbers, const char *name) {
  const double v = value_of(numbers, parse_counter_name(name));
  return std::isnan(v) ? 0 : v;
}

} // namespace

idle_reason_of why_idle(const reading &now, const reading &spent) {
  if (value_or_zero(spent, "/threads/time/idle") < k_idle_share * value_or_zero(spent, "/threads/time/overall"))
    return {"none", {}};
  const double ready = value_or_zero(now, "/threads/count/instantaneous/pending"),
               waiting = value_or_zero(now, "/threads/count/instantaneous/waiting"),
               run = value_or_zero(spent, "/threads/count/cumulative");
  if (ready > 0)
    return {"ready", text("%.0f tasks or frames are ready: workers are about to take them", ready)};
  if (waiting > 0 && value_or_zero(spent, "/threads/count/held-back") > 0)
    return {
        "held-back",
        text("none is ready; %.0f wait, and producers were held back (throttle.bytes)", waiting)};
  if (waiting > 0)
    return {
        "waiting",
        text("no task is ready: %.0f wait for data or for others; `weft dump %u` tells for what",
             waiting, now.pid)};
  if (run > 0)
    return {"creation", "the graph is empty: tasks are created more slowly than they run"};
  return {
      "stands-still",
      text(
          "no task has begun in this time, and none is in the graph; `weft dump %u` tells of those that are suspended",
          now.pid)};
}

} // namespace weft_tool
