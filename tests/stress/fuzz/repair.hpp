// SPDX-License-Identifier: Apache-2.0
// Makes a program valid again from which something was cut: it removes steps that the rules no
// longer allow, restores the waits that are needed, and computes anew which tasks must throw.
#pragma once

#include "stress/fuzz/rules.hpp"

#include <set>

namespace fuzz {

class repairer {
 public:
  static void repair(program &p) {
    right_map rights;
    for (int cell : p.root->own_cells)
      rights[cell] = k_all_rights;
    task_body(*p.root, rights, nullptr);
    drop_unreachable(p);
  }

 private:
  struct group_facts {
    bool open = false, fails = false;
  };
  /// A body, or a branch of a join, on the way through its steps.
  struct body {
    node &task;
    right_map &rights;
    group_facts *own_group; // that the task belongs to
    bool in_branch = false;
    traffic busy{};
    std::vector<const node *> handles{};
    std::vector<const node *> known{}; // futures that can be copied
    std::vector<group_facts> groups{};
    bool pending_failure = false, unwaited = false;
  };

  static void task_body(node &n, right_map &rights, group_facts *own_group) {
    body b{n, rights, own_group};
    b.groups.resize(static_cast<std::size_t>(n.groups));
    n.fails = !n.steps.empty() && n.steps.back().what == act::fail;
    n.has_children = false;
    keep_valid(b, n.steps);
    close(b, n.steps);
    if ((n.tracked && b.pending_failure) || (n.depth == 0 && b.unwaited))
      wait_all(b, n.steps.emplace_back(step{act::wait_all}));
    if (n.fails)
      n.steps.push_back({act::fail});
    n.escapes = n.fails || b.pending_failure;
  }

  static void keep_valid(body &b, std::vector<step> &list) {
    std::vector<step> kept;
    for (step &s : list)
      if (keeps(b, s))
        kept.push_back(std::move(s));
    list = std::move(kept);
  }

  /// Waits for the groups that are open, and takes the results that were not taken.
  static void close(body &b, std::vector<step> &list) {
    for (std::size_t g = 0; g != b.groups.size(); ++g)
      if (b.groups[g].open)
        wait_group(b, list.emplace_back(step{act::group_wait, -1, static_cast<int>(g)}));
    while (!b.handles.empty())
      get(b, list.emplace_back(step{act::get, -1, 0, false, const_cast<node *>(b.handles.back())}));
  }

  static bool keeps(body &b, step &s) {
    switch (s.what) {
    case act::read:
    case act::write:
    case act::update:
      return touch(b, s);
    case act::add:
      return add(b, s);
    case act::spawn:
      return spawn(b, *s.child), true;
    case act::wait_all:
      return wait_all(b, s), true;
    case act::wait_on:
      return wait_on(b, s);
    case act::hold:
      return hold(b, s.cell);
    case act::release:
      return release(b, s.cell);
    case act::group_wait:
      return wait_group(b, s);
    case act::get:
      return get(b, s);
    case act::wait_handle:
      begin(b, *s.child);
      return has_handle(b, s.child);
    case act::look:
      return look(b, s);
    case act::call:
      return call(b, s);
    case act::join:
      return join(b, s);
    case act::flood:
      return flood(b, s);
    case act::fail:
      return false; // put back at the end
    case act::yield:
    case act::sleep:
    case act::block:
    case act::timed_block:
    case act::lock:
    case act::chaos:
      b.unwaited = b.unwaited || s.what == act::block;
      return true;
    }
    return false;
  }

  static bool touch(body &b, const step &s) {
    right &r = b.rights[s.cell];
    if (s.what == act::read)
      return r.read && r.written && b.busy.quiet(s.cell, false);
    if (!r.write || !b.busy.quiet(s.cell, true) || (s.what == act::update && !r.written))
      return false;
    return r.written = true;
  }

  static bool add(body &b, step &s) {
    right &r = b.rights[s.cell];
    s.amount = static_cast<int>(r.share);
    if (r.share != way::none)
      return r.add && (r.share != way::commutative || b.busy.quiet(s.cell, true));
    return r.write && r.written && b.busy.quiet(s.cell, true);
  }

  static void spawn(body &b, node &n) {
    group_facts *group = nullptr;
    if (!b.in_branch && n.group >= 0 && n.group < b.task.groups)
      group = &b.groups[static_cast<std::size_t>(n.group)];
    else if (!b.in_branch && n.group == k_parents_group)
      group = b.own_group;
    if (!group)
      n.group = k_no_group;
    n.tracked = n.tracked && !group;
    n.depth = b.task.depth + 1;
    b.task.has_children = b.unwaited = true;
    choose_uses(b, n);
    choose_futures(b, n);
    right_map rights = rights_of(n);
    for (int cell : n.own_cells)
      rights[cell] = k_all_rights;
    task_body(n, rights, group);
    choose_form(b, n);
    if (group && n.group >= 0)
      group->open = true;
    if (group)
      group->fails = group->fails || n.escapes;
    else if (!n.tracked)
      b.pending_failure = b.pending_failure || n.escapes;
    for (const use &u : n.uses)
      b.busy.add(u.cell, {&n, is_write(u.mode), n.group});
    if (!n.tracked)
      return;
    b.handles.push_back(&n);
    if (n.shared)
      b.known.push_back(&n);
  }

  /// A deferred task may begin now, and is a child of the task that waits first.
  static void begin(body &b, const node &n) { b.unwaited = b.unwaited || (n.policy & 2u) != 0; }

  static bool contains(const std::vector<const node *> &list, const node *n) {
    return std::find(list.begin(), list.end(), n) != list.end();
  }

  static void choose_futures(body &b, node &n) {
    std::erase_if(n.inputs, [&](const node *before) {
      return !contains(b.handles, before) && !contains(b.known, before);
    });
    std::erase_if(n.sees, [&](const node *before) { return !contains(b.known, before); });
  }
  /// After the body: only then it is known what leaves it.
  static void choose_form(body &b, node &n) {
    fuzz::choose_form(n);
    for (const node *before : n.inputs) {
      begin(b, *before);
      n.takes_future = n.takes_future || before->fails;
      if (continues(n.made) && !before->shared)
        std::erase(b.handles, before);
    }
  }

  static void choose_uses(body &b, node &n) {
    std::erase_if(n.uses, [&](const use &u) { return !may_name(b.rights[u.cell], u.mode); });
    std::map<int, unsigned> ways;
    for (const use &u : n.uses)
      ways[u.cell] |= 1u << static_cast<unsigned>(way_of(u.mode));
    std::erase_if(n.uses, [&](const use &u) { // two ways are an inout, which may be too much
      const right &r = b.rights[u.cell];
      return (ways[u.cell] & (ways[u.cell] - 1)) != 0 && !r.child_write &&
             way_of(u.mode) != r.share;
    });
    for (const use &u : n.uses)
      if (u.mode == access_mode::out)
        b.rights[u.cell].written = true;
    std::erase_if(n.uses, [&](const use &u) {
      const bool reads = u.mode != access_mode::out && u.mode != access_mode::weak_out;
      return reads && b.rights[u.cell].share == way::none && !b.rights[u.cell].written;
    });
  }

  static void wait_all(body &b, step &s) {
    s.flag = std::exchange(b.pending_failure, false);
    b.unwaited = false;
    b.busy.ungrouped_are_over();
  }

  static bool wait_on(body &b, step &s) {
    const right &r = b.rights[s.cell];
    s.flag = s.flag && r.write;
    b.busy.cell_is_ready(s.cell, s.flag);
    return r.read || r.write;
  }

  static bool hold(body &b, int cell) {
    right &r = b.rights[cell];
    if (!r.write || !r.written || !b.busy.quiet(cell, true) || b.in_branch || b.task.depth == 0)
      return false;
    r = {}; // belongs to the event from now on
    return true;
  }

  static bool release(body &b, int cell) {
    const auto &uses = b.task.uses;
    right &r = b.rights[cell];
    const bool has_it = r.read || r.child_read || r.child_write || r.share != way::none;
    if (!has_it || b.in_branch ||
        std::none_of(uses.begin(), uses.end(), [&](const use &u) { return u.cell == cell; }))
      return false;
    r = {};
    return true;
  }

  static bool wait_group(body &b, step &s) {
    const auto g = static_cast<std::size_t>(s.amount);
    if (g >= b.groups.size())
      return false;
    s.flag = b.groups[g].fails;
    b.groups[g] = {};
    b.busy.group_is_over(s.amount);
    return true;
  }

  static bool has_handle(const body &b, const node *child) {
    return std::find(b.handles.begin(), b.handles.end(), child) != b.handles.end();
  }

  static bool get(body &b, step &s) {
    if (!has_handle(b, s.child))
      return false;
    s.flag = s.child->fails;
    begin(b, *s.child);
    std::erase(b.handles, s.child);
    if (!s.child->has_children && s.child->made != form::promised) // its body was all
      b.busy.child_is_over(s.child);
    return true;
  }

  static bool look(body &b, step &s) {
    s.flag = s.child->fails;
    begin(b, *s.child);
    return contains(b.known, s.child) || (!b.in_branch && contains(b.task.sees, s.child));
  }

  /// What begins in the call ends in it: it is a scope.
  static bool call(body &b, step &s) {
    const std::vector<const node *> before = b.handles;
    const std::size_t known = b.known.size();
    keep_valid(b, s.first);
    for (const node *mine : std::vector<const node *>(b.handles))
      if (!contains(before, mine))
        get(b, s.first.emplace_back(step{act::get, -1, 0, false, const_cast<node *>(mine)}));
    b.known.resize(known);
    return !s.first.empty();
  }

  static bool flood(body &b, const step &s) {
    const right &r = b.rights[s.cell];
    if (!r.child_write || !r.written || s.amount < 1)
      return false;
    b.busy.add(s.cell, {nullptr, true, k_no_group});
    b.task.has_children = b.unwaited = true;
    return true;
  }

  static bool join(body &b, step &s) {
    const bool open =
        std::any_of(b.groups.begin(), b.groups.end(), [](const group_facts &g) { return g.open; });
    if (open || b.pending_failure || !b.busy.none() || (s.first.empty() && s.second.empty()))
      return false;
    std::set<int> taken; // by the first branch
    for (std::vector<step> *list : {&s.first, &s.second}) {
      std::set<int> named;
      collect(*list, named);
      std::erase_if(named, [&](int cell) { return taken.count(cell) != 0; });
      right_map rights;
      for (auto &[cell, r] : b.rights)
        if (named.count(cell) && r.write) // of one branch only
          rights[cell] = {true, true, true, true, r.written};
        else if (r.add && r.share != way::concurrent) {
          if (named.count(cell))
            rights[cell] = r;
        } else if (r.add)
          rights[cell] = {false, false, false, false, true, r.share, true};
        else if (r.read && !r.write)
          rights[cell] = {true, false, true, false, r.written};
      body branch{b.task, rights, nullptr, true};
      keep_valid(branch, *list);
      close(branch, *list);
      if (branch.unwaited)
        wait_all(branch, list->emplace_back(step{act::wait_all}));
      taken = std::move(named);
      for (auto &[cell, r] : rights)
        b.rights[cell].written = r.written;
    }
    return true;
  }

  /// The cells that steps name, or may name by the tasks that they spawn.
  static void collect(std::vector<step> &steps, std::set<int> &cells) {
    for_each_list(steps, [&](std::vector<step> &list) {
      for (const step &s : list) {
        if (s.cell >= 0)
          cells.insert(s.cell);
        if (s.what == act::spawn)
          for (const use &u : s.child->uses)
            cells.insert(u.cell);
      }
    });
  }
};

} // namespace fuzz
