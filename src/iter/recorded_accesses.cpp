// SPDX-License-Identifier: Apache-2.0
// The accesses of recorded tasks, and the copies of those that reduce.
#include "base/error.hpp"
#include "deps/access.hpp"
#include "deps/regions/region_scope.hpp"
#include "deps/regions/regions.hpp"
#include "deps/sharing/hooks.hpp"
#include "iter/iteration.hpp"

#include <algorithm>
#include <utility>

namespace weft::inline v0 {
namespace rt {

namespace {

/// Refuses a task that reduces in place what a task above it reduces: that object has copies, and
/// the task must not add beside them.
void require_own_copies(const reduction_store *own, const task &t, const task &owner) {
  if (!own)
    throw_error(
        errc::invalid_argument,
        "task '%s' cannot be recorded by taskiter '%s': tasks that name regions are beside tasks that "
        "reduce what the taskiter itself reduces; name objects there",
        label_of(t), label_of(owner));
}

} // namespace

/// Returns the kind of sharing of a mode. Commutative tasks keep the recorded order, which is one
/// of their allowed orders.
iteration::sharing iteration::sharing_of(access_mode mode) noexcept {
  switch (mode) {
  case access_mode::in:
  case access_mode::weak_in:
    return sharing::readers;
  case access_mode::concurrent:
  case access_mode::weak_concurrent:
    return sharing::concurrent;
  case access_mode::reduction:
  case access_mode::weak_reduction:
    return sharing::reduction;
  default:
    return sharing::none;
  }
}

iteration::team &iteration::team_of(const detail::reduction_spec &how) {
  const auto [first, end] = m_teams.equal_range(how.address);
  for (auto i = first; i != end; ++i)
    if (is_same(i->second.stands_for.copies->how(), how))
      return i->second;
  reduction_store *const above = copies_below(m_owner, how);
  auto own = above ? nullptr : std::make_unique<reduction_store>(how);
  team &made =
      m_teams.emplace(std::piecewise_construct, std::tuple(how.address), std::tuple())->second;
  made.stands_for.copies = above ? above : own.get();
  made.own = std::move(own);
  return made;
}

void iteration::add_use(const task &t, const access &a) {
  const sharing how = sharing_of(a.mode);
  if (how != sharing::reduction)
    return m_uses.push_back({a.address, a.bytes, how});
  const auto &wanted = *static_cast<const detail::reduction_spec *>(a.address);
  check_extent(t, wanted);
  if (!wanted.address || wanted.count == 0)
    return;
  team &reducing = team_of(wanted);
  const std::size_t bytes = static_cast<std::size_t>(wanted.count) * wanted.bytes;
  if (m_regional) {
    require_own_copies(reducing.own.get(), t, m_owner);
    return m_uses.push_back({wanted.address, bytes, sharing::none, &reducing});
  }
  const bool weak = a.mode == access_mode::weak_reduction &&
                    !t.has(detail::k_final); // children of a final task run in place
  m_uses.push_back({wanted.address, bytes, how, &reducing, weak});
}

void iteration::add_uses(const task &t, const region_entry &entry) {
  if (!m_regional)
    switch_to_regions(t);
  sharing how = sharing_of(entry.mode);
  if (how == sharing::reduction)
    how = sharing::none; // bytes have no copies: the task reduces in place
  entry.shape->for_each_run([&](std::uintptr_t low, std::uintptr_t end) {
    m_uses.push_back({reinterpret_cast<const void *>(low), end - low, how});
  });
}

/// Makes the uses regional. From the first region on tasks reduce in place, one after the other, as
/// they do outside a taskiter: a team has no copies any more.
void iteration::switch_to_regions(const task &t) {
  for (const auto &[address, reducing] : m_teams)
    require_own_copies(reducing.own.get(), t, m_owner);
  m_regional = true;
  for (use &u : m_uses)
    if (u.how == sharing::reduction)
      u.how = sharing::none;
  for (recorded &r : m_tasks)
    r.reductions = 0;
}

/// Cuts uses that overlap into uses of the same fragments. Each fragment has one address.
void iteration::cut_into_fragments() {
  const auto end_of = [](const use &u) { return static_cast<const char *>(u.address) + u.bytes; };
  std::vector<const void *> borders;
  for (const use &u : m_uses) {
    borders.push_back(u.address);
    borders.push_back(end_of(u));
  }
  std::sort(borders.begin(), borders.end());
  borders.erase(std::unique(borders.begin(), borders.end()), borders.end());
  const std::vector<use> whole = std::exchange(m_uses, {});
  for (recorded &r : m_tasks) {
    const std::size_t begin = m_uses.size();
    for (const use *u = whole.data() + r.first_use, *const last = u + r.uses; u != last; ++u)
      for (auto at = std::lower_bound(borders.begin(), borders.end(), u->address);
           *at != end_of(*u); ++at) {
        const auto bytes = static_cast<std::size_t>(static_cast<const char *>(*(at + 1)) -
                                                    static_cast<const char *>(*at));
        m_uses.push_back({*at, bytes, u->how});
      }
    r.uses = merge_uses(*r.body, begin);
    r.first_use = begin;
  }
}

/// Merges the accesses of one task to an address into one, which is shared if all share it in the
/// same way. Returns the number of uses left.
std::size_t iteration::merge_uses(const task &t, std::size_t begin) {
  const auto from = m_uses.begin() + static_cast<std::ptrdiff_t>(begin);
  std::sort(from, m_uses.end());
  auto kept = from;
  for (auto u = from; u != m_uses.end(); ++u) {
    if (kept == from || (kept - 1)->address != u->address ||
        (m_regional && (kept - 1)->bytes != u->bytes)) {
      *kept++ = *u;
      continue;
    }
    use &same = *(kept - 1);
    if (same.shares_with(*u)) {
      same.weak = same.weak && u->weak;
      continue;
    }
    if (same.reducing && u->reducing)
      check_same(t, same.reducing->stands_for.copies->how(), u->reducing->stands_for.copies->how());
    same = {same.address, same.bytes, sharing::none};
  }
  m_uses.erase(kept, m_uses.end());
  return m_uses.size() - begin;
}

/// Fills the accesses of `t` that reduction_local() and children look for. Returns their number.
std::uint32_t iteration::fill_reductions(task &t, const use *first, std::size_t count) noexcept {
  std::uint32_t filled = 0;
  for (const use *u = first; u != first + count; ++u) {
    if (u->how != sharing::reduction)
      continue;
    data_access &a =
        fill(t, filled++, u->address, k_next_known | k_both_ok | (u->weak ? k_weak : 0u));
    a.shared = rt::sharing::reduction;
    a.joined = &u->reducing->stands_for;
  }
  return filled;
}

std::vector<iteration::combination> iteration::combinations(bool controlled) const {
  struct turn {
    const void *address;
    std::uint32_t number;
    const team *reducing;
    auto operator<=>(const turn &) const = default;
  };
  std::vector<turn> turns;
  for (std::uint32_t t = 0; t < m_tasks.size(); ++t)
    for (std::size_t i = 0; i < m_tasks[t].uses; ++i)
      if (const use &u = m_uses[m_tasks[t].first_use + i]; m_teams.contains(u.address))
        turns.push_back({u.address, t, u.how == sharing::reduction ? u.reducing : nullptr});
  std::sort(turns.begin(), turns.end());
  std::vector<combination> all;
  for (auto first = turns.begin(); first != turns.end();) {
    const auto end = std::find_if(first, turns.end(),
                                  [&](const turn &x) { return x.address != first->address; });
    for (auto i = first; i != end; ++i) {
      const team *const next = i + 1 != end ? (i + 1)->reducing
                               : controlled ? nullptr
                                            : first->reducing;
      if (i->reducing && i->reducing->own && next != i->reducing)
        all.push_back({i->reducing->own.get(), i->address, i->number});
    }
    first = end;
  }
  return all;
}

/// Combines the copies of rounds whose combination was not to come, or was skipped.
void iteration::combine_the_rest() noexcept {
  for (auto &[address, reducing] : m_teams)
    try {
      if (reducing.own)
        combine_copies_so_far(*reducing.own, m_owner);
    } catch (...) {
      fail(m_owner, std::current_exception());
    }
}

bool iteration::writes(const recorded_node &node, const void *address) const noexcept {
  const recorded &r = m_tasks[static_cast<std::size_t>(&node - m_nodes.get())];
  const use *const first = m_uses.data() + r.first_use;
  return std::any_of(first, first + r.uses,
                     [&](const use &u) { return u.address == address && u.how == sharing::none; });
}

} // namespace rt
} // namespace weft::inline v0
