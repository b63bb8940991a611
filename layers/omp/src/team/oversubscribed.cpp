// SPDX-License-Identifier: Apache-2.0
#include "team/oversubscribed.hpp"

#include <algorithm>

namespace weft_omp {

unsigned leaves_wanted() noexcept {
  static const unsigned n = static_cast<unsigned>(std::max(effective_cpus(), 1));
  return n;
}

namespace {

constexpr int k_part_of_spins = 8;
constexpr unsigned k_looks_at_once = 64; // between two looks for other work

barrier_leaf &leaf_below(const thread &t, const omp_team &c, unsigned next = 0) noexcept {
  return c.leaves[(t.runs_on - 1 + next) % c.leaf_count];
}
void wake_leaf(thread &me, omp_team &c, const barrier_leaf &l) noexcept {
  wake_range(&me, c, l.first, l.first + l.members);
}

bool others_are_ready(thread &me) noexcept {
  bool any = false;
  in_core(&me, [&any] { any = weft::layer::work_is_ready(); });
  return any;
}

/// Watches for what the leaf of the caller's worker waits for. Returns false if that has not come.
bool watch(thread &t, omp_team &c, const expected &x) noexcept {
  if (g_globals.spins < k_part_of_spins)
    return false;
  barrier_leaf &l = leaf_below(t, c);
  adaptive_spin looks(t, g_globals.spins / k_part_of_spins);
  unsigned n = 0;
  const auto goes_on = [&] {
    return x.missing.holds(x.missing) && looks.goes_on() &&
           (++n % k_looks_at_once != 0 || !others_are_ready(t));
  };
  const bool there = l.watch.watch(x.what, [&x] { return x.is_there(x.missing); }, goes_on);
  looks.end(there);
  if (there && x.wakes)
    wake_leaf(t, c, l);
  return there;
}

} // namespace

void lay_out_leaves(omp_team &c) {
  if (!c.leaves) {
    c.leaf_count = leaves_wanted();
    c.leaves = new barrier_leaf[c.leaf_count];
  }
  c.laid_out_for = c.size;
  unsigned first = 0;
  for (unsigned i = 0; i < c.leaf_count; ++i) {
    barrier_leaf &l = c.leaves[i];
    const auto end = static_cast<unsigned>((std::uint64_t{i} + 1) * c.size / c.leaf_count);
    l.members = end - first;
    for (l.first = first; first < end; ++first)
      c.slots[first].leaf = &l;
  }
}

void rest(thread &t, omp_team &c, const expected &x) noexcept {
  if (!t.own_parker.park_if_runnable(t, x.missing) && !watch(t, c, x))
    t.own_parker.wait_for(t, x.missing);
}

void wake_leaves(thread &me, omp_team &c, std::uint64_t what) noexcept {
  for (unsigned i = 1; i <= c.leaf_count;
       ++i) // the leaf of the own worker last, because a worker goes on with what became ready last
    if (const barrier_leaf &l = leaf_below(me, c, i); !l.watch.is_for(what))
      wake_leaf(me, c, l);
}

} // namespace weft_omp
