// SPDX-License-Identifier: Apache-2.0
// Distributes places to the members of a team: primary, close and spread, as the specification
// says.
#include "placement/affinity.hpp"

#include "team/team.hpp"
#include "workshare/even_part.hpp"

#include <weft_threads/kernel/posix.hpp>

#include <algorithm>

namespace weft_omp {

namespace {

struct partition {
  unsigned first, count;
  /// Returns the place `steps` behind `place`; the last place of the partition is followed by its
  /// first.
  [[nodiscard]] unsigned behind(unsigned place, unsigned steps) const noexcept {
    return first + (place - first + steps) % count;
  }
};

partition partition_of(const thread &who) noexcept {
  if (who.placement.count == 0)
    return {0, static_cast<unsigned>(g_globals.places.size())};
  return {who.placement.first, who.placement.count};
}

/// Returns the place of member `i` if there are more members than places: neighbours share a place,
/// and the members left over go to the first places again.
unsigned oversubscribed_place(const partition &places, unsigned start, unsigned members,
                              unsigned i) noexcept {
  const unsigned each = members / places.count, even = each * places.count;
  return places.behind(start, i < even ? i / each : i - even);
}

/// Returns the j-th of `n` parts. If the division has a remainder, the first parts are one place
/// larger.
partition part(const partition &places, unsigned n, unsigned number) noexcept {
  const auto [begin, end] = even_part(places.count, n, number);
  return {places.first + begin, end - begin};
}

unsigned part_with(const partition &places, unsigned n, unsigned place) noexcept {
  unsigned j = 0;
  while (place >= part(places, n, j).first + part(places, n, j).count)
    ++j;
  return j;
}

thread_placement placement_at(unsigned place, const partition &places) noexcept {
  return {static_cast<int>(place), places.first, places.count,
          relaxed_value<const std::vector<int> *>(&g_globals.places[place])};
}

thread_placement spread(const partition &whole, unsigned start, unsigned members,
                        unsigned i) noexcept {
  if (members > whole.count) {
    const unsigned place = oversubscribed_place(whole, start, members, i);
    return placement_at(place, {place, 1});
  }
  const partition mine = part(whole, members, (part_with(whole, members, start) + i) % members);
  return placement_at(i == 0 ? start : mine.first, mine);
}

/// Returns the placement of the i-th of `members` threads of a team, or of a league's initial
/// threads.
thread_placement placement_of_member(int bind, const partition &whole, unsigned start,
                                     unsigned members, unsigned i) noexcept {
  if (bind == k_bind_spread)
    return spread(whole, start, members, i);
  return placement_at(bind == k_bind_primary   ? start
                      : members <= whole.count ? whole.behind(start, i)
                                               : oversubscribed_place(whole, start, members, i),
                      whole);
}

unsigned start_of(const thread &who, const partition &whole) noexcept {
  return who.placement.place >= 0 ? static_cast<unsigned>(who.placement.place) : whole.first;
}

} // namespace

void place_members(omp_team &team, const thread &first, unsigned clause) noexcept {
  if (g_globals.places.empty())
    return;
  const partition whole = partition_of(first);
  const int wanted = first.task->settings->bind;
  const unsigned start = start_of(first, whole);
  if (wanted == k_bind_false) {
    for (unsigned i = 0; i < team.size; ++i)
      team.members[i]->placement = thread_placement();
    return;
  }
  if (team.size >
      1) // then Weft has started, and its threads must not inherit the binding of this thread
    begin_binding();
  if (first.placement.place < 0 && !g_globals.resets_binding)
    team.outer_placement = placement_at(
        start, whole); // an initial thread stays on the first place from its first region on
  const int bind = (clause & 7) != 0 ? static_cast<int>(clause & 7) : wanted;
  for (unsigned i = 0; i < team.size; ++i)
    team.members[i]->placement = placement_of_member(bind, whole, start, team.size, i);
}

void place_league(thread &who, unsigned teams, unsigned number) noexcept {
  if (g_globals.places.empty() || who.task->settings->bind == k_bind_false)
    return;
  const partition whole = partition_of(who);
  who.placement =
      placement_of_member(g_globals.teams_bind, whole, start_of(who, whole), teams, number);
  settle(who);
}

void unbind_after_fork(thread &who) noexcept {
  who.placement = thread_placement();
  if (g_binds)
    settle(who);
}

void keep_on(thread &me, const std::vector<int> &cpus) {
  me.placement.cpus = interned(cpus);
  begin_binding();
  settle(me);
}

} // namespace weft_omp
