// SPDX-License-Identifier: Apache-2.0
#include "deps/regions/region_map.hpp"

#include "deps/regions/region_scope.hpp"

#include <algorithm>
#include <array>
#include <new>
#include <utility>

namespace weft::inline v0 {
namespace rt {

void piece_list::reserve_for_give_up() {
  if (m_count == 1)
    m_more.assign(1, m_one);
  m_more.reserve(m_count + 2);
}

void piece_list::give_up(std::uintptr_t low, std::uintptr_t end) noexcept {
  if (m_count == 1)
    m_more.assign(1, m_one); // room was reserved
  const auto split = [&](std::uintptr_t where) { // returns the first piece at or behind the place
    const auto at = std::partition_point(m_more.begin(), m_more.end(),
                                         [=](const region_piece &p) { return p.end <= where; });
    if (at == m_more.end() || at->low >= where)
      return at - m_more.begin();
    region_piece half = *at;
    at->end = half.low = where;
    return m_more.insert(at + 1, half) - m_more.begin();
  };
  const auto first = split(low);
  const auto last = split(end);
  for (auto i = first; i != last; ++i)
    m_more[static_cast<std::size_t>(i)].released = true;
  // The neighbours may have been released before.
  auto kept = m_more.begin() + std::max<std::ptrdiff_t>(first - 1, 0);
  const auto behind = m_more.begin() + std::min<std::ptrdiff_t>(last + 1, std::ssize(m_more));
  for (auto i = kept + 1; i != behind; ++i)
    if (kept->released && i->released && kept->end == i->low)
      kept->end = i->end;
    else
      *++kept = *i;
  m_more.erase(kept + 1, behind);
  m_count = m_more.size();
  if (m_count == 1)
    m_one = m_more.front();
}

namespace {

constexpr std::ptrdiff_t k_unsorted = 64; // tasks of a set that contains() is willing to look through

} // namespace

accessor_set::accessor_set(const accessor_set &other)
    : m_first(other.m_first), m_more(other.m_more), m_sorted(other.m_sorted) {
  if (m_first)
    m_first->retain();
  for (region_scope *s : m_more)
    s->retain();
}

accessor_set::accessor_set(accessor_set &&other) noexcept
    : m_first(std::exchange(other.m_first, nullptr)), m_more(std::move(other.m_more)),
      m_sorted(std::exchange(other.m_sorted, 0)) {
  other.m_more.clear();
}

accessor_set &accessor_set::operator=(accessor_set &&other) noexcept {
  std::swap(m_first, other.m_first);
  m_more.swap(other.m_more);
  std::swap(m_sorted, other.m_sorted);
  other.clear();
  return *this;
}

void accessor_set::reserve_one() {
  if (!m_first || m_more.size() < m_more.capacity())
    return;
  drop_ended();
  if (m_more.size() * 2 >= m_more.capacity())
    m_more.reserve(std::max<std::size_t>(4, m_more.capacity() * 2));
}

void accessor_set::add(region_scope &scope) noexcept {
  scope.retain();
  if (!m_first)
    m_first = &scope;
  else
    m_more.push_back(&scope);
}

void accessor_set::clear() noexcept {
  if (m_first)
    std::exchange(m_first, nullptr)->drop();
  for (region_scope *s : m_more)
    s->drop();
  m_more.clear();
  m_sorted = 0;
}

/// Sorts the list, which is sorted in front of `sorted`. Allocates nothing.
void accessor_set::sort_behind(list::iterator sorted) noexcept {
  std::array<region_scope *, 2 * k_unsorted> behind;
  const auto count = static_cast<std::size_t>(m_more.end() - sorted);
  if (count > behind.size())
    return std::sort(m_more.begin(), m_more.end());
  std::copy(sorted, m_more.end(), behind.begin());
  auto next = behind.begin() + static_cast<std::ptrdiff_t>(count);
  std::sort(behind.begin(), next);
  for (auto to = m_more.end(); next != behind.begin();)
    *--to = sorted != m_more.begin() && sorted[-1] > next[-1] ? *--sorted : *--next;
}

accessor_set::list::iterator accessor_set::find(const region_scope &scope) noexcept {
  auto sorted = m_more.begin() + static_cast<std::ptrdiff_t>(m_sorted);
  if (m_more.end() - sorted > k_unsorted) {
    sort_behind(sorted);
    sorted = m_more.end();
    m_sorted = m_more.size();
  }
  const auto at = std::lower_bound(m_more.begin(), sorted, &scope);
  return at != sorted && *at == &scope ? at : std::find(sorted, m_more.end(), &scope);
}

void accessor_set::remove(region_scope &scope) noexcept {
  if (m_first == &scope) {
    take_first_from_end();
    return scope.drop();
  }
  const auto at = find(scope);
  if (at == m_more.end())
    return;
  if (at - m_more.begin() < static_cast<std::ptrdiff_t>(m_sorted))
    --m_sorted;
  m_more.erase(at);
  scope.drop();
}

void accessor_set::take_first_from_end() noexcept {
  m_first = m_more.empty() ? nullptr : m_more.back();
  if (m_first)
    m_more.pop_back();
  m_sorted = std::min(m_sorted, m_more.size());
}

void accessor_set::drop_ended() noexcept {
  std::size_t kept = 0, sorted = 0;
  for (std::size_t i = 0; i != m_more.size(); ++i) {
    if (m_more[i]->has_ended()) {
      m_more[i]->drop();
      continue;
    }
    m_more[kept++] = m_more[i];
    if (i < m_sorted)
      sorted = kept;
  }
  m_more.resize(kept);
  m_sorted = sorted;
  if (!m_first || !m_first->has_ended())
    return;
  m_first->drop();
  take_first_from_end();
}

bool accessor_set::any_live() const noexcept {
  return m_first && (!m_first->has_ended() ||
                     std::any_of(m_more.begin(), m_more.end(),
                                 [](const region_scope *s) { return !s->has_ended(); }));
}

bool accessor_set::any_live_beside(const region_scope &scope) const noexcept {
  const auto is_other = [&](const region_scope *s) { return s != &scope && !s->has_ended(); };
  return m_first && (is_other(m_first) || std::any_of(m_more.begin(), m_more.end(), is_other));
}

region_map::noted region_map::s_nothing_noted[2];

region_map::~region_map() {
  if (m_noted != s_nothing_noted)
    delete[] m_noted;
}

/// Replaces the table by an empty one. Without memory the old table stays.
void region_map::make_table(unsigned shift) noexcept {
  auto *const fresh = new (std::nothrow) noted[std::size_t{1} << (64 - shift)];
  if (!fresh)
    return;
  if (m_noted != s_nothing_noted)
    delete[] m_noted;
  m_noted = fresh;
  m_shift = shift;
}

void region_map::note(iterator at) noexcept {
  if (m_noted == s_nothing_noted)
    make_table(k_first_shift);
  else if (m_fragments.size() * 2 > std::size_t{1} << (64 - m_shift))
    make_table(m_shift - 1);
  if (m_noted != s_nothing_noted)
    m_noted[slot_of(at->first)] = {at->first, at};
}

region_map::iterator region_map::erase(iterator at) noexcept {
  if (noted &n = m_noted[slot_of(at->first)]; n.low == at->first)
    n.low = 0;
  return m_fragments.erase(at);
}

void region_map::forget_all() noexcept {
  m_fragments.clear();
  if (m_noted == s_nothing_noted)
    return;
  if (m_shift == k_first_shift) {
    std::fill_n(m_noted, std::size_t{1} << (64 - k_first_shift), noted{});
    return;
  }
  delete[] std::exchange(m_noted, s_nothing_noted);
  m_shift = k_most_shift;
}

region_map::iterator region_map::find(std::uintptr_t low) noexcept {
  iterator at = m_fragments.upper_bound(low);
  if (at != m_fragments.begin())
    if (const iterator before = std::prev(at); before->second.end > low)
      return before;
  return at;
}

/// Splits a fragment, and returns its second half.
region_map::iterator region_map::split(iterator at, std::uintptr_t where) {
  const iterator half = m_fragments.emplace_hint(std::next(at), where, at->second);
  at->second.end = where;
  return half;
}

region_map::iterator region_map::cut(std::uintptr_t low, std::uintptr_t high) {
  iterator first = find(low);
  if (first == m_fragments.end() || first->first >= high)
    return first;
  if (first->first < low)
    first = split(first, low);
  if (first->second.end == high) [[likely]]
    return first;
  if (const iterator last = find(high); last != m_fragments.end() && last->first < high)
    split(last, high);
  return first;
}

region_map::iterator region_map::cover(std::uintptr_t low, std::uintptr_t high) {
  iterator next = cut(low, high);
  if (next != m_fragments.end() && next->first == low && next->second.end == high) [[likely]]
    return next;
  std::uintptr_t at = low;
  iterator result = m_fragments.end();
  const auto note = [&](iterator it) {
    if (result == m_fragments.end())
      result = it;
  };
  while (at < high) {
    const std::uintptr_t free_until =
        next == m_fragments.end() || next->first > high ? high : next->first;
    if (at < free_until) {
      const iterator filled = m_fragments.emplace_hint(next, at, fragment{});
      filled->second.end = free_until;
      note(filled);
      at = free_until;
    } else {
      note(next);
      at = next->second.end;
      ++next;
    }
  }
  return result;
}

void region_map::unite(iterator first, std::uintptr_t high) noexcept {
  if (first->second.end == high) [[likely]]
    return;
  for (iterator i = std::next(first); i != m_fragments.end() && i->first < high;)
    i = erase(i);
  first->second.end = high;
}

void region_map::prune() noexcept {
  for (iterator i = m_fragments.begin(); i != m_fragments.end();) {
    if (i->second.last.any_live())
      ++i;
    else
      i = erase(i);
  }
  m_prune_at = std::max(k_least_to_prune, m_fragments.size() * 2);
}

} // namespace rt
} // namespace weft::inline v0
