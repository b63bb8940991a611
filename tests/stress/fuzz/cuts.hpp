// SPDX-License-Identifier: Apache-2.0
// The ways to make a program smaller. A cut may leave it invalid; the repairer comes after.
#pragma once

#include "stress/fuzz/program.hpp"

#include <cstddef>

namespace fuzz {

/// All lists of steps, and the task that each belongs to.
struct owned_list {
  node *owner;
  std::vector<step> *steps;
};
inline std::vector<owned_list> lists_of(const program &p) {
  std::vector<owned_list> all;
  for (auto &n : p.nodes)
    for_each_list(n->steps, [&](std::vector<step> &list) { all.push_back({n.get(), &list}); });
  return all;
}

/// How much there is of it. Every cut that is kept makes this smaller, so cutting ends.
inline std::size_t size_of(const program &p) {
  std::size_t size = 0;
  for (auto [owner, list] : lists_of(p))
    for (const step &s : *list)
      size += 1 + static_cast<std::size_t>(s.what == act::flood ? s.amount : s.flag ? 1 : 0);
  for (auto &n : p.nodes) {
    size += 4 + n->uses.size() + n->own_cells.size() + static_cast<std::size_t>(n->depth) +
            n->inputs.size() + n->sees.size();
    for (const use &u : n->uses)
      size += is_weak(u.mode);
    for (bool clause : {n->final, n->undeferred, n->wait, n->tracked, n->onready, n->null_access,
                        n->parting, n->priority != 0, n->stack_bytes != 0, n->group != k_no_group,
                        n->made != form::spawned, n->shared, n->coroutine, n->policy != 1})
      size += clause;
  }
  return size;
}

// One cut each. False: there is nothing to cut at that place.

inline bool cut_steps(program &p, std::size_t list, std::size_t from, std::size_t count) {
  auto &steps = *lists_of(p)[list].steps;
  if (from >= steps.size())
    return false;
  auto first = steps.begin() + static_cast<std::ptrdiff_t>(from);
  steps.erase(first, first + static_cast<std::ptrdiff_t>(std::min(count, steps.size() - from)));
  return true;
}

inline void put_in_place(std::vector<step> &list, std::size_t at, std::vector<step> instead) {
  auto place = list.erase(list.begin() + static_cast<std::ptrdiff_t>(at));
  list.insert(place, instead.begin(), instead.end());
}

/// A task's steps take the place of its spawn; the steps of a join or a call that of the join or call; of a flood, half stays.
inline bool cut_nesting(program &p, std::size_t list, std::size_t at) {
  auto [owner, steps] = lists_of(p)[list];
  step &s = (*steps)[at];
  if (s.what == act::spawn) {
    node *gone = s.child;
    owner->own_cells.insert(owner->own_cells.end(), gone->own_cells.begin(), gone->own_cells.end());
    put_in_place(*steps, at, gone->steps);
    return true;
  }
  if (s.what == act::join || s.what == act::call) {
    std::vector<step> both = s.first;
    both.insert(both.end(), s.second.begin(), s.second.end());
    put_in_place(*steps, at, std::move(both));
    return true;
  }
  if (s.what == act::flood && s.amount > 1) {
    s.amount /= 2;
    return true;
  }
  return false;
}

inline constexpr std::size_t k_clauses = 14;
inline bool cut_clause(node &n, std::size_t which) {
  bool *const flags[] = {&n.final,       &n.undeferred, &n.wait,   &n.tracked,  &n.onready,
                         &n.null_access, &n.parting,    &n.shared, &n.coroutine};
  if (which < std::size(flags))
    return std::exchange(*flags[which], false);
  which -= std::size(flags);
  if (which == 0)
    return std::exchange(n.priority, 0) != 0;
  if (which == 1)
    return std::exchange(n.stack_bytes, 0) != 0;
  if (which == 2)
    return std::exchange(n.made, form::spawned) != form::spawned;
  if (which == 3)
    return std::exchange(n.policy, 1) != 1;
  return std::exchange(n.group, k_no_group) != k_no_group;
}

/// The i-th use, then the i-th weak use becomes a strong one, then the i-th cell of the task's own, then the i-th future.
inline bool cut_use(node &n, std::size_t i) {
  if (i < n.uses.size())
    return n.uses.erase(n.uses.begin() + static_cast<std::ptrdiff_t>(i)), true;
  i -= n.uses.size();
  if (i < n.uses.size()) {
    if (!is_weak(n.uses[i].mode))
      return false;
    n.uses[i].mode = strong_of(n.uses[i].mode);
    return true;
  }
  i -= n.uses.size();
  if (i < n.own_cells.size())
    return n.own_cells.erase(n.own_cells.begin() + static_cast<std::ptrdiff_t>(i)), true;
  i -= n.own_cells.size();
  for (auto *futures : {&n.inputs, &n.sees}) {
    if (i < futures->size())
      return futures->erase(futures->begin() + static_cast<std::ptrdiff_t>(i)), true;
    i -= futures->size();
  }
  return false;
}
inline std::size_t uses_to_cut(const node &n) {
  return 2 * n.uses.size() + n.own_cells.size() + n.inputs.size() + n.sees.size();
}

/// Numbers tasks and cells anew, without gaps.
inline void renumber(program &p) {
  int id = 0;
  for (auto &n : p.nodes)
    n->id = id++;
  p.ids = id;
  std::map<int, int> cells;
  auto number = [&](int &cell) {
    if (cell >= 0)
      cell = cells.emplace(cell, static_cast<int>(cells.size())).first->second;
  };
  for (auto &n : p.nodes) {
    for (int &cell : n->own_cells)
      number(cell);
    for (use &u : n->uses)
      number(u.cell);
    number(n->lost);
  }
  for (auto [owner, list] : lists_of(p))
    for (step &s : *list)
      number(s.cell);
  p.cells = static_cast<int>(cells.size());
}

} // namespace fuzz
