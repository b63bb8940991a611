// SPDX-License-Identifier: Apache-2.0
// Places for the members of a team: primary, close and spread, as the specification deals them out.
#include "affinity.hpp"

#include "team.hpp"

#include <algorithm>
#include <mutex>
#include <set>

#include <sched.h>

namespace weft_omp {

bool g_binds = false;

namespace {

thread_local const std::vector<int> *t_follows = nullptr; // of a kernel thread

struct partition {
  unsigned first, count;
  /// The place `steps` behind `place`, in the partition's circle.
  [[nodiscard]] unsigned behind(unsigned place, unsigned steps) const noexcept { return first + (place - first + steps) % count; }
};

partition partition_of(const thread &t) noexcept {
  if (t.stands.count == 0)
    return {0, static_cast<unsigned>(g_globals.places.size())};
  return {t.stands.first, t.stands.count};
}

/// Several members to a place, neighbours together; what is left over goes to the first places again.
unsigned crowded(const partition &p, unsigned start, unsigned members, unsigned i) noexcept {
  const unsigned each = members / p.count, even = each * p.count;
  return p.behind(start, i < even ? i / each : i - even);
}

/// The j-th of `n` parts, the first of which are one larger where it does not come out even.
partition part(const partition &p, unsigned n, unsigned j) noexcept {
  const unsigned small = p.count / n, larger = p.count % n;
  return {p.first + j * small + std::min(j, larger), small + (j < larger)};
}

unsigned part_with(const partition &p, unsigned n, unsigned place) noexcept {
  unsigned j = 0;
  while (place >= part(p, n, j).first + part(p, n, j).count)
    ++j;
  return j;
}

void stand(thread &t, unsigned place, const partition &p) noexcept {
  t.stands = {static_cast<int>(place), p.first, p.count, &g_globals.places[place]};
}

void spread(team &c, const partition &whole, unsigned start) noexcept {
  const unsigned own = c.size <= whole.count ? part_with(whole, c.size, start) : 0;
  for (unsigned i = 0; i < c.size; ++i) {
    if (c.size > whole.count) {
      const unsigned place = crowded(whole, start, c.size, i);
      stand(*c.members[i], place, {place, 1});
      continue;
    }
    const partition mine = part(whole, c.size, (own + i) % c.size);
    stand(*c.members[i], i == 0 ? start : mine.first, mine);
  }
}

} // namespace

void place_members(team &c, const thread &first, unsigned clause) noexcept {
  if (g_globals.places.empty())
    return;
  const partition whole = partition_of(first);
  const int wanted = first.task->settings->bind;
  const unsigned start = first.stands.place >= 0 ? static_cast<unsigned>(first.stands.place) : whole.first;
  if (wanted == k_bind_false) {
    for (unsigned i = 0; i < c.size; ++i)
      c.members[i]->stands = {};
    return;
  }
  if (c.size > 1) // then Weft has started: its threads are not to inherit what this one is bound to
    g_binds = true;
  const int bind = (clause & 7) != 0 ? static_cast<int>(clause & 7) : wanted;
  if (bind == k_bind_spread)
    return spread(c, whole, start);
  for (unsigned i = 0; i < c.size; ++i)
    stand(*c.members[i], bind == k_bind_primary ? start : c.size <= whole.count ? whole.behind(start, i) : crowded(whole, start, c.size, i), whole);
}

void keep_on(thread &me, const std::vector<int> &cpus) {
  static spin_lock lock;
  static auto &all = *new std::set<std::vector<int>>; // never freed: kernel threads remember which they follow
  {
    std::lock_guard guard(lock);
    me.stands.cpus = &*all.insert(cpus).first;
  }
  g_binds = true;
  settle(me);
}

void follow_binding(const thread &me) noexcept {
  if (t_follows == me.stands.cpus)
    return;
  t_follows = me.stands.cpus;
  cpu_set_t set;
  CPU_ZERO(&set);
  for (const int cpu : me.stands.cpus ? *me.stands.cpus : process_cpus())
    CPU_SET(static_cast<std::size_t>(cpu), &set);
  sched_setaffinity(0, sizeof set, &set); // a cpu that went away is no reason to stop
}

} // namespace weft_omp
