// SPDX-License-Identifier: Apache-2.0
#include "team/oversubscribed.hpp"

#include "team/barrier.hpp"

#include <algorithm>

namespace weft_omp {

unsigned leaves_wanted() noexcept {
  static const unsigned n = static_cast<unsigned>(std::max(effective_cpus(), 1));
  return n;
}

namespace {

constexpr int k_part_of_spins = 8;
constexpr unsigned k_looks_at_once = 64; // between two looks for other work

barrier_leaf &leaf_below(const thread &self, const omp_team &team, unsigned next = 0) noexcept {
  return team.leaves[(self.runs_on - 1 + next) % team.leaf_count];
}
void wake_leaf(thread &self, omp_team &team, const barrier_leaf &leaf) noexcept {
  wake_range(&self, team, leaf.first, leaf.first + leaf.members);
}

bool others_are_ready(thread &self) noexcept {
  bool any = false;
  in_core(&self, [&any] { any = weft::layer::work_is_ready(); });
  return any;
}

/// Watches for what the leaf of the caller's worker waits for. Returns false if that has not come.
bool watch(thread &self, omp_team &team, const expected &awaited) noexcept {
  if (g_globals.spins < k_part_of_spins)
    return false;
  barrier_leaf &l = leaf_below(self, team);
  adaptive_spin looks(self, g_globals.spins / k_part_of_spins);
  unsigned n = 0;
  const auto goes_on = [&] {
    return awaited.missing.holds(awaited.missing) && looks.goes_on() &&
           (++n % k_looks_at_once != 0 || !others_are_ready(self));
  };
  const bool there = l.watch.watch(
      awaited.what, [&awaited] { return awaited.is_there(awaited.missing); }, goes_on);
  looks.end(there ? spin_result::came : spin_result::fruitless);
  if (there && awaited.wakes)
    wake_leaf(self, team, l);
  return there;
}

} // namespace

void lay_out_leaves(omp_team &team) {
  if (!team.leaves) {
    team.leaf_count = leaves_wanted();
    team.leaves = new barrier_leaf[team.leaf_count];
  }
  team.laid_out_for = team.size;
  unsigned first = 0;
  for (unsigned i = 0; i < team.leaf_count; ++i) {
    barrier_leaf &l = team.leaves[i];
    const auto end = static_cast<unsigned>((std::uint64_t{i} + 1) * team.size / team.leaf_count);
    l.members = end - first;
    for (l.first = first; first < end; ++first)
      team.slots[first].leaf = &l;
  }
}

void rest(thread &self, omp_team &team, const expected &awaited) noexcept {
  if (!self.own_parker.park_if_runnable(self, awaited.missing) && !watch(self, team, awaited))
    self.own_parker.wait_for(self, awaited.missing);
}

void wake_leaves(thread &self, omp_team &team, std::uint64_t what) noexcept {
  for (unsigned i = 1; i <= team.leaf_count;
       ++i) // the leaf of the own worker last, because a worker goes on with what became ready last
    if (const barrier_leaf &l = leaf_below(self, team, i); !l.watch.is_for(what))
      wake_leaf(self, team, l);
}

} // namespace weft_omp
