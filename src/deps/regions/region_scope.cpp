// SPDX-License-Identifier: Apache-2.0
#include "deps/regions/region_scope.hpp"

#include <algorithm>

namespace weft::inline v0 {
namespace rt {
namespace {

/// Makes room for one more scope; `gone` says which scopes need not be kept.
template <class Gone>
void reserve_one(std::vector<region_scope *> &list, Gone gone) {
  if (list.size() < list.capacity())
    return;
  std::erase_if(list, gone);
  if (list.size() * 2 >= list.capacity())
    list.reserve(std::max<std::size_t>(4, list.capacity() * 2));
}

constexpr std::size_t k_kept = 64; // elements that a scope keeps room for when it is used again

/// Keeps some capacity for the next task that uses the scope.
template <class List>
void empty_out(List &list) noexcept {
  list.clear();
  if (list.capacity() > k_kept)
    List().swap(list);
}

} // namespace

void tree_guard::fell() noexcept {
  while (region_scope *s = m_tree.spare) {
    m_tree.spare = s->m_next_spare;
    delete s;
  }
  delete &m_tree;
}

/// Forgets what only some scopes hold.
void region_scope::forget() noexcept {
  m_map.clear();
  for (region_scope *s : m_copies)
    s->drop();
  empty_out(m_copies);
  empty_out(m_successors);
  if (m_pieces.size() > k_kept)
    m_pieces = piece_list();
  m_pieces.clear();
}

void region_scope::abandon() noexcept {
  m_ended = true;
  forget();
  drop();
}

// ---- what a task accesses -----------------------------------------------------------------------------------------

namespace {

/// Merges two accesses of one task to one byte. The result writes if the two differ, and is weak if
/// both are.
void merge(region_piece &into, const region_piece &other) noexcept {
  into.kind = into.kind == other.kind ? into.kind : touch::write;
  into.weak = into.weak && other.weak;
}

bool is_alike(const region_piece &a, const region_piece &b) noexcept {
  return a.kind == b.kind && a.weak == b.weak;
}

/// Returns pieces that have bytes in common, sorted, as pieces that have none in common.
std::vector<region_piece> taken_apart(const std::vector<region_piece> &pieces) {
  std::vector<std::uintptr_t> borders;
  for (const region_piece &p : pieces) {
    borders.push_back(p.low);
    borders.push_back(p.end);
  }
  std::sort(borders.begin(), borders.end());
  borders.erase(std::unique(borders.begin(), borders.end()), borders.end());
  std::vector<region_piece> apart(borders.size() - 1, {0, 0, touch::write, true});
  for (const region_piece &p : pieces) {
    auto i = static_cast<std::size_t>(std::lower_bound(borders.begin(), borders.end(), p.low) -
                                      borders.begin());
    for (; borders[i] < p.end; ++i) {
      if (apart[i].end == 0)
        apart[i] = {borders[i], borders[i + 1], p.kind, p.weak};
      else
        merge(apart[i], p);
    }
  }
  std::erase_if(apart, [](const region_piece &p) { return p.end == 0; });
  return apart;
}

} // namespace

void region_scope::sort_pieces() {
  if (m_pieces.size() <= 1) [[likely]]
    return;
  std::vector<region_piece> pieces = m_pieces.take();
  const auto earlier = [](const region_piece &a, const region_piece &b) { return a.low < b.low; };
  if (!std::is_sorted(pieces.begin(), pieces.end(), earlier))
    std::sort(pieces.begin(), pieces.end(), earlier);
  const auto overlap = [](const region_piece &a, const region_piece &b) { return a.end > b.low; };
  if (std::adjacent_find(pieces.begin(), pieces.end(), overlap) != pieces.end())
    pieces = taken_apart(pieces);
  std::size_t kept = 0;
  for (std::size_t i = 1; i < pieces.size(); ++i) {
    if (pieces[kept].end == pieces[i].low && is_alike(pieces[kept], pieces[i]))
      pieces[kept].end = pieces[i].end;
    else
      pieces[++kept] = pieces[i];
  }
  pieces.resize(kept + 1);
  m_pieces.assign(std::move(pieces));
}

const region_piece *region_scope::piece_at(std::uintptr_t byte) const noexcept {
  const auto p = std::partition_point(m_pieces.begin(), m_pieces.end(),
                                      [=](const region_piece &x) { return x.end <= byte; });
  return p != m_pieces.end() && p->low <= byte ? &*p : nullptr;
}

bool region_scope::covers(std::uintptr_t low, std::uintptr_t end) const noexcept {
  while (low < end) {
    const region_piece *p = piece_at(low);
    if (!p)
      return false;
    low = p->end;
  }
  return true;
}

bool region_scope::writes(std::uintptr_t low, std::uintptr_t end) const noexcept {
  const region_piece *p = piece_at(low);
  return p && p->end >= end && p->kind == touch::write && !p->weak && !p->released;
}

// ---- entering -----------------------------------------------------------------------------------------------------

/// Makes `successor` wait for this scope.
void region_scope::gain(region_scope &successor) {
  if (!m_successors.empty() && m_successors.back() == &successor)
    return;
  m_successors.push_back(&successor);
  ++successor.m_missing;
}

/// Notes that the map of `where` may name this scope.
void region_scope::note_copy(region_scope &where) {
  if (&where == m_in || (!m_copies.empty() && m_copies.back() == &where))
    return;
  reserve_one(m_copies, [](region_scope *scope) {
    const bool gone = scope->m_ended;
    if (gone)
      scope->drop();
    return gone;
  });
  m_copies.push_back(&where);
  where.retain();
}

/// Lets the children of a task with a weak access wait for what the task itself would wait for.
void region_scope::inherit(const fragment &part, std::uintptr_t low, bool joins) {
  const accessor_set &last = joins ? part.before : part.last;
  if (!last.any_live())
    return;
  fragment mine;
  mine.end = part.end;
  mine.last = accessor_set(last);
  if (!joins) {
    mine.kind = part.kind;
    mine.before = accessor_set(part.before);
  }
  mine.last.for_each([&](region_scope &s) { s.note_copy(*this); });
  mine.before.for_each([&](region_scope &s) { s.note_copy(*this); });
  m_map.append(low, std::move(mine));
}

/// Does all of linking that may fail.
void region_scope::reserve_links(const fragment &part, const region_piece &piece) {
  const accessor_set &earlier = shares(part.kind, piece.kind) ? part.before : part.last;
  if (!piece.weak)
    earlier.for_each(
        [](region_scope &s) { reserve_one(s.m_successors, [](region_scope *) { return false; }); });
}

void region_scope::link(fragment &part, const region_piece &piece) noexcept {
  const bool joins = shares(part.kind, piece.kind);
  if (!piece.weak)
    (joins ? part.before : part.last).for_each([this](region_scope &s) { s.gain(*this); });
  if (joins)
    return part.last.add(*this);
  if (piece.kind != touch::write && part.last.any_live())
    part.before = std::move(part.last);
  else
    part.before.clear();
  part.last.clear();
  part.last.add(*this);
  part.kind = piece.kind;
}

bool region_scope::enter_exactly(region_scope &parents) noexcept {
  const region_piece &p = m_pieces.front();
  fragment *const f = parents.m_map.exact(p.low, p.end);
  if (!f || p.kind != touch::write || p.weak || f->kind != touch::write || f->last.has_more() ||
      f->before.first())
    return false;
  region_scope *const earlier = f->last.first();
  if (!earlier)
    return false;
  if (!earlier->m_ended) {
    if (earlier->m_successors.size() == earlier->m_successors.capacity())
      return false; // needs memory
    earlier->m_successors.push_back(this);
    m_missing = 1;
  }
  f->last.replace_first(*this)->drop();
  retain();
  m_in = &parents;
  parents.retain();
  return true;
}

bool region_scope::enter(region_scope &parents) {
  region_map &map = parents.m_map;
  map.reserve_one();
  auto first = map.end();
  for (const region_piece &p : m_pieces) {
    first = map.cover(p.low, p.end);
    for (auto i = first; i != map.end() && i->first < p.end; ++i) {
      reserve_links(i->second, p);
      if (shares(i->second.kind, p.kind))
        i->second.last.reserve_one();
      if (p.weak)
        inherit(i->second, i->first, shares(i->second.kind, p.kind));
    }
  }
  for (const region_piece &p : m_pieces) {
    if (m_pieces.size() > 1)
      first = map.find(p.low);
    for (auto i = first; i != map.end() && i->first < p.end; ++i)
      link(i->second, p);
    if (p.kind == touch::write) {
      map.unite(first, p.end);
      map.note(first);
    }
  }
  m_in = &parents;
  parents.retain();
  return m_missing == 0;
}

// ---- leaving ------------------------------------------------------------------------------------------------------

/// Describes a part of what the task accessed that its children, or tasks that these wait for,
/// still hold.
struct region_scope::remainder {
  std::uintptr_t low, end;
  const fragment *mine;

  [[nodiscard]] const accessor_set &heirs() const noexcept {
    return mine->last.any_live() ? mine->last : mine->before;
  }
};

std::vector<region_scope::remainder> region_scope::remainders() {
  std::vector<remainder> left;
  for (const region_piece &p : m_pieces)
    for (auto i = m_map.find(p.low); !p.released && i != m_map.end() && i->first < p.end; ++i)
      if (i->second.last.any_live() || i->second.before.any_live())
        left.push_back({std::max(p.low, i->first), std::min(p.end, i->second.end), &i->second});
  return left;
}

/// Returns whether this scope, which waited for the task, has to wait for that part of the task. A
/// reader may represent a writer before it, so the kinds do not matter.
bool region_scope::waits_on(const std::vector<remainder> &left, std::size_t which) const noexcept {
  const remainder &r = left[which];
  auto p = std::partition_point(m_pieces.begin(), m_pieces.end(),
                                [&](const region_piece &x) { return x.end <= r.low; });
  for (; p != m_pieces.end() && p->low < r.end; ++p)
    if (!p->weak)
      return true;
  return false;
}

/// Puts the heirs of this scope, if there are any, in its place in a fragment that names it.
void region_scope::replace_me_in(fragment &part, const fragment &mine, region_scope &where) {
  const auto add = [&](accessor_set &to, const accessor_set &from) {
    from.for_each([&](region_scope &scope) {
      if (to.contains(scope))
        return;
      to.reserve_one();
      scope.note_copy(where);
      to.add(scope);
    });
    to.remove(*this);
  };
  const accessor_set &heirs = mine.last.any_live() ? mine.last : mine.before;
  if (part.before.contains(*this))
    add(part.before, heirs);
  if (!part.last.contains(*this))
    return;
  if (part.kind != touch::write || part.last.size() != 1)
    return add(part.last, heirs);
  fragment fresh;
  add(fresh.last, heirs);
  if (&heirs == &mine.last) {
    fresh.kind = mine.kind;
    add(fresh.before, mine.before);
  }
  fresh.end = part.end;
  part = std::move(fresh);
}

void region_scope::replace_me_in(region_scope &where, const std::vector<remainder> &left) {
  if (where.m_ended)
    return;
  for (const remainder &r : left)
    for (auto i = where.m_map.cut(r.low, r.end); i != where.m_map.end() && i->first < r.end; ++i)
      replace_me_in(i->second, *r.mine, where);
}

void region_scope::pass_to_successors(const std::vector<remainder> &left) {
  for (region_scope *successor : m_successors)
    for (std::size_t i = 0; i != left.size(); ++i)
      if (successor->waits_on(left, i))
        left[i].heirs().for_each([&](region_scope &s) { s.gain(*successor); });
  replace_me_in(*m_in, left);
  for (region_scope *where : m_copies)
    replace_me_in(*where, left);
}

/// Puts what the children still hold in the place of the task. Returns false if there is no memory
/// for all of that. A successor that already waits for an heir, too, then waits longer than it
/// must; to go on later does no harm.
bool region_scope::pass_to_successors() noexcept {
  try {
    if (const std::vector<remainder> left = remainders(); !left.empty())
      pass_to_successors(left);
    return true;
  } catch (const std::bad_alloc &) {
    return false;
  }
}

/// Ends scopes that there was no memory to end. The fewer tasks hold something, the less is to be
/// passed on: with the last of them nothing is, which needs no memory.
void region_scope::end_deferred(region_tree &tree, ready_list &ready) {
  for (bool one_has_ended = true; one_has_ended && tree.deferred;) {
    one_has_ended = false;
    for (region_scope *s = std::exchange(tree.deferred, nullptr); s;) {
      region_scope *const next = s->m_next_spare;
      if (s->try_to_end(ready))
        one_has_ended = true;
      else
        s->defer();
      s = next;
    }
  }
}

// ---- giving up a part ---------------------------------------------------------------------------------------------

namespace {

std::vector<region_piece> with_released(const piece_list &pieces, std::uintptr_t low,
                                        std::uintptr_t end) {
  std::vector<region_piece> all;
  const auto add = [&](region_piece piece, std::uintptr_t from, std::uintptr_t to) {
    piece.low = from;
    piece.end = to;
    if (from < to)
      all.push_back(piece);
  };
  for (const region_piece &p : pieces) {
    const std::uintptr_t from = std::clamp(low, p.low, p.end), to = std::clamp(end, from, p.end);
    region_piece inside = p;
    inside.released = true;
    add(p, p.low, from);
    add(inside, from, to);
    add(p, to, p.end);
  }
  return all;
}

} // namespace

/// Does what remainders() does, but for these bytes only, and also for those that no task holds.
std::vector<region_scope::remainder> region_scope::all_of(std::uintptr_t low, std::uintptr_t end) {
  std::vector<remainder> all;
  for (const region_piece &p : m_pieces) {
    const std::uintptr_t from = std::max(p.low, low), to = std::min(p.end, end);
    if (p.released || from >= to)
      continue;
    for (auto i = m_map.cover(from, to); i != m_map.end() && i->first < to; ++i)
      all.push_back({i->first, i->second.end, &i->second});
  }
  return all;
}

/// Returns whether a waiting successor has bytes that were not given up. What the two do with the
/// bytes does not matter, as in waits_on().
bool region_scope::holds_back(const region_scope &successor) const noexcept {
  const auto concerns = [&](const region_piece &mine) {
    return !mine.released && std::any_of(successor.m_pieces.begin(), successor.m_pieces.end(),
                                         [&](const region_piece &its) {
                                           return !its.weak && its.low < mine.end &&
                                                  mine.low < its.end;
                                         });
  };
  return std::any_of(m_pieces.begin(), m_pieces.end(), concerns);
}

void region_scope::give_up(std::uintptr_t low, std::uintptr_t end, ready_list &ready) {
  std::vector<region_piece> pieces = with_released(m_pieces, low, end);
  const std::vector<remainder> given = all_of(low, end);
  if (given.empty())
    return;
  pass_to_successors(given);
  m_pieces.assign(std::move(pieces));
  std::erase_if(m_successors, [&](region_scope *scope) {
    if (holds_back(*scope))
      return false;
    if (--scope->m_missing == 0)
      ready.push_back(scope->m_task);
    return true;
  });
}

} // namespace rt
} // namespace weft::inline v0
