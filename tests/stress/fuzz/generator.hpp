// SPDX-License-Identifier: Apache-2.0
// Makes a program from a seed.
#pragma once

#include "stress/fuzz/futures.hpp"
#include "stress/fuzz/releases.hpp"
#include "stress/fuzz/rules.hpp"

#include <random>

namespace fuzz {

/// Makes a program from a seed.
class generator {
 public:
  explicit generator(std::uint64_t seed) : m_random(seed) {
    m_program.seed = seed;
    m_budget = in_range(10, chance(10) ? 400 : 90);
    m_program.cells = in_range(2, 12);
  }

  program make() {
    node *root = add_node(0);
    m_program.root = root;
    right_map rights;
    for (int c = 0; c != m_program.cells; ++c) {
      root->own_cells.push_back(c);
      rights[c] = k_all_rights;
    }
    while (m_budget > 0)
      fill(*root, rights);
    m_program.ids = static_cast<int>(m_program.nodes.size());
    release_giver{m_program};
    future_giver{m_program};
    return std::move(m_program);
  }

 private:
  /// A body (or a branch of a join) while its steps are made.
  struct body {
    node &task;
    std::vector<step> &steps;
    right_map &rights;
    traffic busy{};
    std::vector<node *> handles{};
    std::vector<char> group_fails{};
    char *own_group_fails = nullptr; // of the group that the task belongs to
    bool pending_failure = false;    // of a child outside of groups and without handle
    bool in_branch = false;
  };

  int in_range(int low, int high) {
    return std::uniform_int_distribution<int>(low, high)(m_random);
  }
  bool chance(int percent) { return in_range(0, 99) < percent; }

  node *add_node(int depth) {
    m_program.nodes.push_back(std::make_unique<node>());
    node *n = m_program.nodes.back().get();
    n->id = static_cast<int>(m_program.nodes.size()) - 1;
    n->depth = depth;
    return n;
  }
  int new_cell() { return m_program.cells++; }

  void touch(body &b, int cell) {
    right &r = b.rights[cell];
    const bool alone = b.busy.quiet(cell, true);
    if (r.add) {
      if (r.share != way::commutative || alone)
        b.steps.push_back({act::add, cell, static_cast<int>(r.share), chance(25)});
    } else if (r.write && alone) {
      if (r.written && chance(15)) {
        b.steps.push_back({act::add, cell});
      } else if (r.written && chance(70)) {
        b.steps.push_back({act::update, cell});
      } else {
        b.steps.push_back({act::write, cell});
        r.written = true;
      }
    } else if (r.read && r.written && b.busy.quiet(cell, false)) {
      b.steps.push_back({act::read, cell});
    }
  }
  void touch_all(body &b, int percent) {
    std::vector<int> cells;
    for (auto &[cell, r] : b.rights)
      if (r.read || r.write || r.add)
        cells.push_back(cell);
    for (int cell : cells)
      if (chance(percent))
        touch(b, cell);
  }

  access_mode choose_mode(const right &r, bool may_be_weak) {
    bool weak = may_be_weak && chance(45);
    if (r.share != way::none || (r.child_write && r.written && chance(35))) {
      const way any = static_cast<way>(in_range(1, 3));
      const access_mode m = mode_of(any, weak);
      return may_name(r, m) ? m : mode_of(r.share, weak);
    }
    if (!r.child_write)
      return weak ? access_mode::weak_in : access_mode::in;
    if (!r.written)
      return weak ? access_mode::weak_out : access_mode::out;
    int m = in_range(0, 5);
    int strong = m < 2 ? 0 : m < 4 ? 2 : 1;
    return static_cast<access_mode>(strong + (weak ? 3 : 0));
  }

  void choose_uses(body &b, node &child, bool only_strong) {
    std::vector<int> cells;
    for (auto &[cell, r] : b.rights)
      if ((r.child_read && r.written) || r.child_write || r.share != way::none)
        cells.push_back(cell);
    std::shuffle(cells.begin(), cells.end(), m_random);
    std::size_t n = std::min<std::size_t>(
        cells.size(), static_cast<std::size_t>(in_range(0, chance(8) ? 12 : 4)));
    for (std::size_t i = 0; i != n; ++i) {
      access_mode mode = choose_mode(b.rights[cells[i]], !only_strong);
      child.uses.push_back({cells[i], mode});
      if (!is_weak(mode) && is_write(mode))
        b.rights[cells[i]].written = true; // every strong writer writes
    }
    if (n && chance(8)) { // one address twice, in two modes
      use again = child.uses[static_cast<std::size_t>(in_range(0, static_cast<int>(n) - 1))];
      const right &r = b.rights[again.cell];
      bool weak = chance(75) ? is_weak(again.mode) : !is_weak(again.mode);
      if (way_of(again.mode) != way::none || r.share != way::none)
        again.mode = r.share == way::none && chance(40)
                         ? mode_of(static_cast<way>(in_range(0, 3)), weak)
                         : mode_of(way_of(again.mode), weak);
      else if (r.child_write && r.written && chance(60))
        again.mode = weak ? access_mode::weak_inout : access_mode::inout;
      else if (r.written)
        again.mode = weak ? access_mode::weak_in : access_mode::in;
      child.uses.insert(child.uses.begin() + in_range(0, static_cast<int>(n)), again);
      if (r.written && r.share == way::none && chance(50))
        child.uses.push_back({again.cell, weak ? access_mode::weak_in : access_mode::in});
    }
    for (const use &u : child.uses)
      if (!is_weak(u.mode) && is_write(u.mode))
        b.rights[u.cell].written = true;
  }

  void spawn(body &b) {
    if (m_budget <= 0)
      return;
    --m_budget;
    node &n = *add_node(b.task.depth + 1);
    b.task.has_children = true;
    bool leaf = n.depth >= 5 || b.in_branch || chance(30 + 10 * n.depth);
    n.undeferred = chance(8);
    n.final = chance(5);
    n.wait = chance(10);
    n.onready = chance(10);
    n.null_access = chance(4);
    n.parting = chance(10);
    n.priority = chance(20) ? in_range(-3, 3) : 0;
    n.stack_bytes = chance(2) ? 256u << 10 : 0;
    choose_uses(b, n, false);
    // Groups: one that this task has opened, or the one it belongs to itself.
    if (!b.in_branch && b.own_group_fails && chance(25)) {
      n.group = k_parents_group;
    } else if (!b.in_branch && chance(20)) {
      if (b.group_fails.size() < 3 && (b.group_fails.empty() || chance(40))) {
        ++b.task.groups;
        b.group_fails.push_back(0);
      }
      n.group = in_range(0, static_cast<int>(b.group_fails.size()) - 1);
    }
    n.tracked = n.group == k_no_group && chance(15);
    if (n.group == k_no_group && !n.tracked)
      n.fails = chance(4);
    else if (chance(8))
      n.fails = true;

    char *group_fails = n.group >= 0 ? &b.group_fails[static_cast<std::size_t>(n.group)]
                        : n.group == k_parents_group ? b.own_group_fails
                                                     : nullptr;
    auto rights = rights_of(n);
    make_body(n, rights, leaf, group_fails);

    if (group_fails)
      *group_fails = *group_fails || n.escapes;
    else if (!n.tracked)
      b.pending_failure = b.pending_failure || n.escapes;
    for (const use &u : n.uses)
      b.busy.add(u.cell, {&n, is_write(u.mode), n.group});
    if (n.tracked)
      b.handles.push_back(&n);
    b.steps.push_back({act::spawn, -1, 0, false, &n});
  }

  void wait_all(body &b) {
    b.steps.push_back({act::wait_all, -1, 0, b.pending_failure});
    b.pending_failure = false;
    b.busy.ungrouped_are_over();
  }

  void wait_on(body &b) {
    std::vector<int> cells;
    for (auto &[cell, r] : b.rights)
      if (r.read || r.write)
        cells.push_back(cell);
    if (cells.empty())
      return;
    int cell = cells[static_cast<std::size_t>(in_range(0, static_cast<int>(cells.size()) - 1))];
    bool to_write = b.rights[cell].write && chance(50);
    b.steps.push_back({act::wait_on, cell, 0, to_write});
    b.busy.cell_is_ready(cell, to_write);
    touch(b, cell);
  }

  void wait_group(body &b, int group) {
    auto g = static_cast<std::size_t>(group);
    b.steps.push_back({act::group_wait, -1, group, b.group_fails[g] != 0});
    b.group_fails[g] = 0;
    b.busy.group_is_over(group);
  }

  void take_handle(body &b) {
    if (b.handles.empty())
      return;
    auto at = b.handles.begin() + in_range(0, static_cast<int>(b.handles.size()) - 1);
    node *n = *at;
    if (chance(30))
      b.steps.push_back({act::wait_handle, -1, 0, false, n});
    b.steps.push_back({act::get, -1, 0, n->fails, n});
    b.handles.erase(at);
    if (!n->has_children) // its body was all
      b.busy.child_is_over(n);
  }

  void suspend(body &b) {
    switch (in_range(0, 5)) {
    case 0:
      b.steps.push_back({act::yield});
      break;
    case 1:
      b.steps.push_back({act::sleep, -1, in_range(0, 40)});
      break;
    case 2:
      b.steps.push_back({act::block, -1, 0, true});
      break;
    case 3:
      b.steps.push_back({act::block, -1, 0, false});
      break;
    case 4:
      b.steps.push_back({act::lock, -1, in_range(0, 3), chance(40)});
      break;
    case 5:
      b.steps.push_back({act::timed_block, -1, in_range(0, 60), chance(70)});
      break;
    }
  }

  void hold(body &b) {
    for (auto &[cell, r] : b.rights)
      if (r.write && r.written && b.busy.quiet(cell, true) && chance(60)) {
        b.steps.push_back({act::hold, cell});
        r = {}; // belongs to the event from now on
        return;
      }
  }

  /// Both branches get cells of their own; nothing else of the task runs beside them.
  void join(body &b) {
    for (int g = 0; g != static_cast<int>(b.group_fails.size()); ++g)
      wait_group(b, g);
    wait_all(b);
    if (!b.busy.none())
      return; // a child in the group of its parent
    right_map shares[2];
    for (auto &[cell, r] : b.rights) {
      if (r.write)
        shares[in_range(0, 1)][cell] = {true, true, true, true, r.written};
      else if (r.add &&
               r.share != way::concurrent) // a reduction below a final task may be in place
        shares[in_range(0, 1)][cell] = r;
      else if (r.add)
        shares[0][cell] = shares[1][cell] = {false, false, false, false, true, r.share, true};
      else if (r.read && r.written)
        shares[0][cell] = shares[1][cell] = {true, false, true, false, true};
    }
    step s{act::join};
    for (int i = 0; i != 2; ++i) {
      body branch{b.task, i ? s.second : s.first, shares[i]};
      branch.in_branch = true;
      int n = in_range(1, 4);
      for (int k = 0; k != n; ++k) {
        if (chance(40))
          touch_all(branch, 50);
        else if (chance(45))
          spawn(branch);
        else if (chance(50))
          suspend(branch);
        else if (chance(30))
          join(branch);
      }
      finish(branch);
      for (auto &[cell, r] : shares[i])
        if (b.rights[cell].write)
          b.rights[cell].written = r.written;
    }
    b.steps.push_back(std::move(s));
  }
  /// Everything is waited for and every handle is taken.
  void finish(body &b) {
    while (!b.handles.empty())
      take_handle(b);
    wait_all(b);
  }

  void one_step(body &b) {
    int dice = in_range(0, 99);
    if (dice < 52)
      spawn(b);
    else if (dice < 64)
      touch_all(b, 40);
    else if (dice < 74)
      suspend(b);
    else if (dice < 78)
      wait_all(b);
    else if (dice < 84)
      wait_on(b);
    else if (dice < 88 && !b.group_fails.empty())
      wait_group(b, in_range(0, static_cast<int>(b.group_fails.size()) - 1));
    else if (dice < 93)
      take_handle(b);
    else if (dice < 97)
      join(b);
    else if (dice < 98)
      b.steps.push_back({act::chaos});
    else if (chance(20))
      flood(b);
  }

  void flood(body &b) {
    for (auto &[cell, r] : b.rights)
      if (r.child_write && r.written && chance(30)) {
        b.steps.push_back({act::flood, cell, in_range(100, 900)});
        b.busy.add(cell, {nullptr, true, k_no_group});
        b.task.has_children = true;
        return;
      }
  }

  void fill(node &n, right_map &rights) {
    body b{n, n.steps, rights};
    b.group_fails.assign(static_cast<std::size_t>(n.groups), 0);
    touch_all(b, 60);
    for (int k = in_range(3, 25); k > 0; --k)
      one_step(b);
    close(b);
    finish(b);
  }

  /// Ends with a wait on each group that is open.
  void close(body &b) {
    for (int g = 0; g != static_cast<int>(b.group_fails.size()); ++g)
      wait_group(b, g);
    while (!b.handles.empty())
      take_handle(b);
  }

  void make_body(node &n, right_map &rights, bool leaf, char *own_group_fails) {
    body b{n, n.steps, rights};
    b.own_group_fails = own_group_fails;
    std::vector<int> must_write; // a strong out must give its data a value
    for (auto &[cell, r] : rights)
      if (r.write && !r.written)
        must_write.push_back(cell);
    for (int cell : must_write)
      touch(b, cell);
    if (leaf) {
      if (chance(30))
        suspend(b);
      touch_all(b, 90);
      if (chance(20))
        suspend(b);
    } else {
      if (chance(30)) // data of its own, which no other task knows
        for (int i = in_range(1, 2); i > 0; --i)
          rights[n.own_cells.emplace_back(new_cell())] = k_all_rights;
      touch_all(b, 80);
      for (int k = in_range(1, 8); k > 0; --k)
        one_step(b);
      touch_all(b, 50);
    }
    close(b);
    if (n.tracked && b.pending_failure)
      wait_all(b); // a handle does not tell of children
    else if (chance(15))
      wait_all(b);
    if (chance(6))
      hold(b);
    if (n.fails)
      b.steps.push_back({act::fail});
    n.escapes = n.fails || b.pending_failure;
  }

  std::mt19937_64 m_random;
  program m_program;
  int m_budget;
};

} // namespace fuzz
