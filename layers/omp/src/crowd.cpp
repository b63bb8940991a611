// SPDX-License-Identifier: Apache-2.0
#include "crowd.hpp"

#include <algorithm>

namespace weft_omp {

unsigned lane_count() noexcept {
  static const unsigned n = static_cast<unsigned>(std::max(effective_cpus(), 1));
  return n;
}

namespace {

constexpr int k_part_of_spins = 8;
constexpr unsigned k_looks_at_once = 64; // between two looks for other work

unsigned lane_of(const thread &t, const team &c) noexcept { return (t.runs_on - 1) % c.lanes; }
unsigned first_on(const team &c, unsigned lane) noexcept { return static_cast<unsigned>((std::uint64_t{lane} * c.size + c.lanes - 1) / c.lanes); }
void wake_lane(thread &me, team &c, unsigned lane) noexcept { wake_range(&me, c, first_on(c, lane), first_on(c, lane + 1)); }

bool others_are_ready(thread &me) noexcept {
  bool any = false;
  in_core(&me, [&any] { any = weft::layer::work_is_ready(); });
  return any;
}

/// False: it has not come.
bool watch(thread &t, team &c, const expected &x) noexcept {
  if (g_globals.spins < k_part_of_spins)
    return false;
  const unsigned lane = lane_of(t, c);
  spell looks(t, g_globals.spins / k_part_of_spins);
  unsigned n = 0;
  const auto goes_on = [&] { return x.missing.holds(x.missing) && looks.goes_on() && (++n % k_looks_at_once != 0 || !others_are_ready(t)); };
  const bool there = c.watches[lane].word.watch(x.what, [&x] { return x.is_there(x.missing); }, goes_on);
  looks.end(there);
  if (there && x.wakes)
    wake_lane(t, c, lane);
  return there;
}

} // namespace

void rest(thread &t, team &c, const expected &x) noexcept {
  if (!t.place_to_wait.give_place(t, x.missing) && !watch(t, c, x))
    t.place_to_wait.wait_for(t, x.missing);
}

void wake_lanes(thread &me, team &c, std::uint64_t what) noexcept {
  const unsigned mine = lane_of(me, c);
  for (unsigned i = 1; i <= c.lanes; ++i) { // its own at last, for a worker goes on with what became ready last
    const unsigned lane = (mine + i) % c.lanes;
    if (!c.watches[lane].word.is_for(what))
      wake_lane(me, c, lane);
  }
}

} // namespace weft_omp
