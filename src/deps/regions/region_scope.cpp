// SPDX-License-Identifier: Apache-2.0
#include "deps/regions/region_scope.hpp"

#include <algorithm>
#include <iterator>

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
  m_index.reset();
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
  const region_piece *const p = m_pieces.first_behind(byte);
  return p != m_pieces.end() && p->low <= byte ? p : nullptr;
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

/// Describes a part of what the task accessed, and what its children, or tasks that these wait for,
/// still hold of it. Lists of parts are sorted.
struct region_scope::remainder {
  std::uintptr_t low, end;
  const fragment *mine; // null: no child has touched it

  template <class F>
  void for_each_heir(F &&f) const {
    if (mine)
      (mine->last.any_live() ? mine->last : mine->before).for_each(f);
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

/// Puts the heirs of this scope, if there are any, in its place in a fragment that names it. A scope
/// that ends stays in a set, where it counts as gone.
void region_scope::replace_me_in(fragment &part, const fragment *mine, region_scope &where,
                                 because why) {
  const auto add = [&](accessor_set &to, const accessor_set &from) {
    from.for_each([&](region_scope &scope) {
      if (to.contains(scope))
        return;
      to.reserve_one();
      scope.note_copy(where);
      to.add(scope);
    });
  };
  const auto replace = [&](accessor_set &in) {
    if (mine)
      add(in, mine->last.any_live() ? mine->last : mine->before);
    if (why == because::it_gives_up)
      in.remove(*this);
  };
  if (part.before.contains(*this))
    replace(part.before);
  if (!part.last.contains(*this))
    return;
  if (!mine || part.kind != touch::write || part.last.any_live_beside(*this))
    return replace(part.last);
  fragment fresh;
  if (mine->last.any_live()) {
    fresh.kind = mine->kind;
    add(fresh.last, mine->last);
    add(fresh.before, mine->before);
  } else {
    add(fresh.last, mine->before);
  }
  fresh.end = part.end;
  part = std::move(fresh);
}

void region_scope::replace_me_in(region_scope &where, const std::vector<remainder> &left,
                                 because why) {
  if (where.m_ended)
    return;
  for (const remainder &r : left)
    for (auto i = where.m_map.cut(r.low, r.end); i != where.m_map.end() && i->first < r.end; ++i)
      replace_me_in(i->second, r.mine, where, why);
}

/// Lets a successor, which waited for the task, wait for the heirs of those parts that it touches. A
/// reader may represent a writer before it, so the kinds do not matter.
void region_scope::pass_to(region_scope &successor, const std::vector<remainder> &left) {
  for (const region_piece &p : successor.m_pieces) {
    if (p.weak)
      continue;
    auto r = std::partition_point(left.begin(), left.end(),
                                  [&](const remainder &x) { return x.end <= p.low; });
    for (; r != left.end() && r->low < p.end; ++r)
      r->for_each_heir([&](region_scope &heir) { heir.gain(successor); });
  }
}

void region_scope::pass_on(const std::vector<remainder> &left,
                           const std::vector<region_scope *> &successors, because why) {
  for (region_scope *successor : successors)
    pass_to(*successor, left);
  replace_me_in(*m_in, left, why);
  for (region_scope *where : m_copies)
    replace_me_in(*where, left, why);
}

/// Puts what the children still hold in the place of the task. Returns false if there is no memory
/// for all of that. A successor that already waits for an heir, too, then waits longer than it
/// must; to go on later does no harm.
bool region_scope::pass_to_successors() noexcept {
  try {
    if (const std::vector<remainder> left = remainders(); !left.empty())
      pass_on(left, m_successors, because::it_ends);
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

/// Does what remainders() does, but for these bytes only, and also for those that no task holds.
std::vector<region_scope::remainder> region_scope::all_of(std::uintptr_t low, std::uintptr_t end) {
  std::vector<remainder> all;
  for (const region_piece *p = m_pieces.first_behind(low); p != m_pieces.end() && p->low < end;
       ++p) {
    if (p->released)
      continue;
    std::uintptr_t at = std::max(p->low, low);
    const std::uintptr_t last = std::min(p->end, end);
    for (auto i = m_map.find(at); i != m_map.end() && i->first < last; ++i) {
      if (at < i->first)
        all.push_back({at, i->first, nullptr});
      const std::uintptr_t until = std::min(i->second.end, last);
      all.push_back({std::max(at, i->first), until, &i->second});
      at = until;
    }
    if (at < last)
      all.push_back({at, last, nullptr});
  }
  return all;
}

bool region_scope::waits_for_any(const std::vector<remainder> &parts) const noexcept {
  return std::any_of(m_pieces.begin(), m_pieces.end(), [&](const region_piece &its) {
    const auto r = std::partition_point(parts.begin(), parts.end(),
                                        [&](const remainder &x) { return x.end <= its.low; });
    return !its.weak && r != parts.end() && r->low < its.end;
  });
}

void region_scope::index_successors() {
  using index = run_index<successor_index::entry>;
  std::vector<index::run> runs;
  for (std::size_t i = 0; i != m_successors.size(); ++i)
    for (const region_piece &p : m_successors[i]->m_pieces)
      if (!p.weak)
        runs.push_back({p.low, p.end, {m_successors[i], i}});
  if (!m_index)
    m_index = std::make_unique<successor_index>();
  m_index->runs.assign(std::move(runs));
  m_index->known = m_successors.size();
}

/// Returns the successors that touch these parts, of which none was given up before, in their order.
/// Successors that have gone on since the index was made are in it, but only by other bytes.
std::vector<region_scope *> region_scope::successors_at(const std::vector<remainder> &parts) {
  constexpr std::size_t k_few = 8; // are looked at one by one
  const auto unknown = [&] { return m_successors.size() - (m_index ? m_index->known : 0); };
  if (unknown() > k_few + m_successors.size() / 2)
    index_successors();
  std::vector<successor_index::entry> found;
  if (m_index)
    for (const remainder &r : parts)
      m_index->runs.for_each_touching(r.low, r.end, [&](auto &run) { found.push_back(run.of); });
  std::sort(found.begin(), found.end(), [](auto &a, auto &b) { return a.place < b.place; });
  std::vector<region_scope *> touching;
  for (std::size_t i = 0; i != found.size(); ++i)
    if (i == 0 || found[i].place != found[i - 1].place) // a task may be in the list twice
      touching.push_back(found[i].scope);
  std::copy_if(m_successors.end() - static_cast<std::ptrdiff_t>(unknown()), m_successors.end(),
               std::back_inserter(touching),
               [&](const region_scope *s) { return s->waits_for_any(parts); });
  return touching;
}

/// Returns whether a waiting successor has bytes that were not given up. What the two do with the
/// bytes does not matter, as in pass_to().
bool region_scope::holds_back(const region_scope &successor) const noexcept {
  return std::any_of(
      successor.m_pieces.begin(), successor.m_pieces.end(), [&](const region_piece &its) {
        const region_piece *mine = m_pieces.first_behind(its.low);
        while (mine != m_pieces.end() && mine->released && mine->low < its.end)
          ++mine;
        return !its.weak && mine != m_pieces.end() && mine->low < its.end;
      });
}

/// Takes these successors, which are in their order, out of the list. None of them waits for this
/// scope any more.
void region_scope::count_down(const std::vector<region_scope *> &successors,
                          ready_list &ready) noexcept {
  if (successors.empty())
    return;
  auto next = successors.begin();
  std::size_t kept = 0, known = m_index ? m_index->known : 0;
  for (std::size_t i = 0; i != m_successors.size(); ++i) {
    region_scope *const s = m_successors[i];
    if (next == successors.end() || s != *next) {
      m_successors[kept++] = s;
      continue;
    }
    ++next;
    if (m_index && i < m_index->known)
      --known;
    if (--s->m_missing == 0)
      ready.push_back(s->m_task);
  }
  m_successors.resize(kept);
  if (m_index)
    m_index->known = known;
}

void region_scope::give_up(std::uintptr_t low, std::uintptr_t end, ready_list &ready) {
  const std::vector<remainder> given = all_of(low, end);
  if (given.empty())
    return;
  std::vector<region_scope *> asked = successors_at(given);
  m_pieces.reserve_for_give_up();
  pass_on(given, asked, because::it_gives_up);
  m_pieces.give_up(low, end);
  std::erase_if(asked, [&](const region_scope *s) { return holds_back(*s); });
  count_down(asked, ready);
  if (m_pieces.size() <= 1) // all is given up
    m_index.reset();
}

} // namespace rt
} // namespace weft::inline v0
