// SPDX-License-Identifier: Apache-2.0
// Random task programs. A program is a tree of tasks; each task is a list of steps. It is made so that every
// order that the model allows gives the result of the serial run: a task touches only data that it declares
// strongly and that no child of it may be touching, and its children touch only what it declares or what it
// owns.
#pragma once

#include <weft/access.hpp>

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <utility>
#include <vector>

namespace fuzz {

using weft::access_mode;

/// How tasks share a cell: those that do so add to it, in whatever order they run.
enum class way : std::uint8_t { none, concurrent, commutative, reduction };
inline way way_of(access_mode m) {
  switch (m) {
  case access_mode::concurrent:
  case access_mode::weak_concurrent:
    return way::concurrent;
  case access_mode::commutative:
  case access_mode::weak_commutative:
    return way::commutative;
  case access_mode::reduction:
  case access_mode::weak_reduction:
    return way::reduction;
  default:
    return way::none;
  }
}
inline access_mode strong_of(access_mode m) {
  switch (m) {
  case access_mode::weak_in:
    return access_mode::in;
  case access_mode::weak_out:
    return access_mode::out;
  case access_mode::weak_inout:
    return access_mode::inout;
  case access_mode::weak_concurrent:
    return access_mode::concurrent;
  case access_mode::weak_commutative:
    return access_mode::commutative;
  case access_mode::weak_reduction:
    return access_mode::reduction;
  default:
    return m;
  }
}
inline access_mode mode_of(way w, bool weak) {
  switch (w) {
  case way::concurrent:
    return weak ? access_mode::weak_concurrent : access_mode::concurrent;
  case way::commutative:
    return weak ? access_mode::weak_commutative : access_mode::commutative;
  case way::reduction:
    return weak ? access_mode::weak_reduction : access_mode::reduction;
  case way::none:
    break;
  }
  return weak ? access_mode::weak_inout : access_mode::inout;
}
inline bool is_weak(access_mode m) { return strong_of(m) != m; }
inline bool is_write(access_mode m) { return m != access_mode::in && m != access_mode::weak_in; }

struct use {
  int cell;
  access_mode mode;
};

enum class act : std::uint8_t {
  read, // cell -> digest
  write, // digest -> cell; what was there before is lost
  update, // cell and digest -> cell
  add, // adds to the cell in the way `amount`; `flag`: yields amid it, where no other task may enter
  spawn, // child
  wait_all, // taskwait; `flag`: it throws
  wait_on, // taskwait on cell; `flag`: to write it
  yield, //
  sleep, // `amount` us
  block, // `flag`: a thread unblocks it, else a child does
  timed_block, // for `amount` us; `flag`: a thread unblocks it, perhaps too late
  lock, // mutex `amount`, `flag`: suspend under it
  hold, // an event; the thread that decreases it updates the cell
  release, // the task's access to the cell, before it ends
  group_wait, // group `amount`; `flag`: it throws
  get, // result of child -> digest; `flag`: it throws
  wait_handle, // of child
  look, // result of child, by a copy of its future -> digest; `flag`: it throws
  call, // first, awaited as a coroutine of its own; in other tasks just these steps
  join, // first and second
  chaos, // a group that an exception cancels, on data of its own
  flood, // `amount` children that each update the cell: more than the smallest throttle lets pass
  fail, // throw; the last step
};

struct node;
struct step {
  act what;
  int cell = -1;
  int amount = 0;
  bool flag = false;
  node *child = nullptr;
  std::vector<step> first{}, second{}; // branches of a join; `first` of a call
};

/// How a task comes into being. All but `spawned` have a future, and only these and `spawned` with inputs wait for others.
enum class form : std::uint8_t {
  spawned, // inputs are clauses after()
  async, // by its policy
  eager, // a coroutine that returns a future: it begins in its creator
  promised, // spawned, and keeps a promise; `by_thread`: a thread does
  then, // of its input
  collected, // of when_all() of its inputs
  any, // of when_any() of them; the body waits for the others
  dataflow, // of them
};
/// The forms that continue from their inputs, and use up those that are not shared.
inline bool continues(form f) { return f >= form::then; }

constexpr int k_no_group = -1, k_parents_group = -2;

struct node {
  int id = 0;
  int depth = 0;
  std::vector<use> uses;
  std::vector<step> steps;
  std::vector<int> own_cells; // data that no task above knows
  int lost = -1; // a cell whose access is not registered: a fault, to see that faults are found
  int groups = 0; // that it opens
  int group = k_no_group; // of its parent, into which it is spawned
  bool final = false, undeferred = false, wait = false, tracked = false, onready = false,
       null_access = false;
  bool parting = false; // the destructor of its callable spawns a task and calls more
  int priority = 0;
  std::size_t stack_bytes = 0;
  bool fails = false; // throws at its end
  bool escapes =
      false; // an exception leaves it: its own, or one of a child that was not waited for
  bool has_children = false;

  form made = form::spawned;
  bool shared = false; // its future is one that can be copied
  bool coroutine = false;
  bool by_thread = false;
  bool takes_future = false; // a continuation that gets the future, not the value
  unsigned policy = 1; // of weft::launch
  std::vector<const node *>
      inputs{}; // tasks of the same list of steps; their results go into the first digest
  std::vector<const node *> sees{}; // whose futures its body gets copies of
};

/// Says whether a task has what only spawn() and then() without a policy take.
inline bool has_clauses(const node &n) {
  return !n.uses.empty() || n.final || n.undeferred || n.wait || n.onready || n.null_access ||
         n.priority != 0 || n.stack_bytes != 0 || n.group != k_no_group;
}
/// Says whether it may continue from others: it is in no group, and no exception is lost with its future.
inline bool may_continue(const node &n) {
  return n.group == k_no_group && !n.wait && (n.tracked || !n.escapes);
}
/// How many inputs a form takes.
inline std::size_t most_inputs(form f) {
  return continues(f) ? f == form::then ? 1 : 3 : f == form::spawned ? 2 : 0;
}
/// A form that the task can have.
inline form possible_form(const node &n) {
  if (n.made == form::spawned)
    return form::spawned;
  if (continues(n.made) ? n.inputs.empty() || !may_continue(n) : !n.tracked)
    return form::spawned;
  if (n.made == form::promised)
    return n.group == k_no_group ? form::promised : form::spawned;
  if ((!continues(n.made) || n.made == form::dataflow || n.policy != 1) && has_clauses(n))
    return form::spawned;
  return n.made == form::eager && !n.coroutine ? form::async : n.made;
}
/// Gives the task a form and a policy that it can have.
inline void choose_form(node &n) {
  if (!n.tracked && (n.policy & 2u) != 0) // deferred: its future is dropped, so it would never run
    n.policy = 1;
  n.made = possible_form(n);
  if (n.made == form::spawned)
    n.policy = 1;
  n.inputs.resize(std::min(n.inputs.size(), most_inputs(n.made)));
}

struct program {
  std::uint64_t seed = 0;
  int cells = 0; // all addresses that are compared
  int ids = 0; // larger than that of every node
  std::vector<std::unique_ptr<node>> nodes;
  node *root = nullptr;
};

/// Calls f(steps) for every list of steps of a task: its own, and those of the branches of its joins.
template <class F>
void for_each_list(std::vector<step> &list, F &&f) {
  f(list);
  for (step &s : list)
    if (s.what == act::join || s.what == act::call) {
      for_each_list(s.first, f);
      for_each_list(s.second, f);
    }
}

/// Drops the tasks that no task spawns.
inline void drop_unreachable(program &p) {
  std::map<const node *, bool> seen{{p.root, true}};
  std::vector<node *> open{p.root};
  while (!open.empty()) {
    node *n = open.back();
    open.pop_back();
    for_each_list(n->steps, [&](std::vector<step> &list) {
      for (step &s : list)
        if (s.what == act::spawn && !std::exchange(seen[s.child], true))
          open.push_back(s.child);
    });
  }
  std::erase_if(p.nodes, [&](const auto &n) { return !seen[n.get()]; });
}

inline program clone(const program &p) {
  program copy{p.seed, p.cells, p.ids, {}, nullptr};
  std::map<const node *, node *> twins;
  for (auto &n : p.nodes)
    twins[n.get()] = copy.nodes.emplace_back(std::make_unique<node>(*n)).get();
  copy.root = twins[p.root];
  for (auto &n : copy.nodes)
    for (auto *list : {&n->inputs, &n->sees})
      std::transform(list->begin(), list->end(), list->begin(),
                     [&](const node *before) { return twins[before]; });
  for (auto &n : copy.nodes)
    for_each_list(n->steps, [&](std::vector<step> &list) {
      for (step &s : list)
        if (s.child)
          s.child = twins[s.child];
    });
  return copy;
}

} // namespace fuzz
