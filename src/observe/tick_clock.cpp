// SPDX-License-Identifier: Apache-2.0
#include "observe/tick_clock.hpp"

namespace weft::inline v0 {
namespace rt {

bool g_ticks_are_steady = ticks_are_steady();

std::atomic<std::uint64_t> g_tick_scale{0};

namespace {

// Reading both clocks is off by some 50 ns, so the rate by 1 in 20,000. The first look at a clock
// takes microseconds: so the closest of several looks counts.
constexpr std::uint64_t k_shortest_ns = 1'000'000;
constexpr int k_looks = 8;

struct pair {
  std::uint64_t ticks, ns;
};
pair read_both() noexcept {
  pair best{};
  std::uint64_t closest = UINT64_MAX;
  for (int i = 0; i < k_looks; ++i) {
    const std::uint64_t before = read_ticks(), ns = now_ns(), took = read_ticks() - before;
    if (took >= closest)
      continue;
    closest = took;
    best = {before + took / 2, ns};
  }
  return best;
}
const pair g_loaded = read_both();

} // namespace

bool calibrate_ticks(too_early then) noexcept {
  pair now = read_both();
  while (then == too_early::waits && now.ns - g_loaded.ns < k_shortest_ns)
    now = read_both();
  if (now.ns - g_loaded.ns < k_shortest_ns || now.ticks <= g_loaded.ticks)
    return false;
  const double scale =
      static_cast<double>(now.ns - g_loaded.ns) / static_cast<double>(now.ticks - g_loaded.ticks);
  g_tick_scale.store(static_cast<std::uint64_t>(scale * 4294967296.0), std::memory_order_relaxed);
  return true;
}

} // namespace rt
} // namespace weft::inline v0
