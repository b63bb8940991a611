// SPDX-License-Identifier: Apache-2.0
// Futures, what continues from them, and coroutines. Put into programs that are made, by draws of its own: a seed makes the tasks
// that it always made, and these besides:
// - sources, tasks that touch nothing but what they own, so that any task may wait for them at any time;
// - inputs of tasks that were there, and other forms of them.
#pragma once

#include "stress/fuzz/rules.hpp"

#include <cstddef>
#include <random>
#include <utility>

namespace fuzz {

class future_giver {
 public:
  explicit future_giver(program &p) : m_program(p), m_random(p.seed ^ 0x667574757265u) {
    const std::size_t made = p.nodes.size();
    for (std::size_t i = 0; i != made; ++i)
      change_form(*p.nodes[i]);
    for (std::size_t i = 0; i != made; ++i)
      if (node &n = *p.nodes[i]; n.has_children || !n.tracked || n.depth == 0)
        for_each_list(n.steps, [&](std::vector<step> &list) {
          if (chance(n.depth == 0 ? 70 : 30))
            add_sources(n, list);
        });
    for (std::size_t i = 0; i != made; ++i)
      for_each_list(p.nodes[i]->steps, [&](std::vector<step> &list) { connect(list); });
    for (auto &n : p.nodes)
      if (n->coroutine && chance(60))
        add_call(*n);
    p.ids = static_cast<int>(p.nodes.size());
  }

 private:
  std::size_t below(std::size_t n) { return m_random() % n; }
  bool chance(unsigned percent) { return below(100) < percent; }
  unsigned any_policy() {
    static constexpr unsigned policies[] = {1, 1, 2, 4, 8, 1 | 2};
    return policies[below(std::size(policies))];
  }

  /// Gives a task that was made another form, which means the same.
  void change_form(node &n) {
    if (n.depth == 0)
      return;
    n.coroutine = chance(25);
    n.shared = n.tracked && chance(60);
    if (!n.tracked || has_clauses(n))
      return;
    if (chance(60))
      draw_form(n);
  }
  void draw_form(node &n) {
    if (chance(35)) {
      n.made = form::promised;
      n.by_thread = chance(40);
    } else {
      n.made = n.coroutine && chance(60) ? form::eager : form::async;
      n.policy = n.made == form::async ? any_policy() : 1;
    }
  }

  // ---- sources

  /// Where no task is spawned any more: behind the last wait of main, or of a branch; or a failure.
  static std::size_t end_of(const node &n, const std::vector<step> &list) {
    std::size_t end = list.size();
    if (n.depth == 0 || &list != &n.steps) {
      while (end > 0 && list[end - 1].what != act::wait_all)
        --end;
      return end == 0 ? 0 : end - 1;
    }
    return n.fails ? end - 1 : end;
  }

  void add_sources(const node &n, std::vector<step> &list) {
    for (std::size_t more = 1 + below(3); more != 0; --more) {
      const std::size_t end = end_of(n, list);
      if (end == 0 && (n.depth == 0 || &list != &n.steps))
        return;
      node &source = make_source(n.depth + 1);
      const std::size_t at = below(end + 1);
      const auto place = [&](std::size_t i) {
        return list.begin() + static_cast<std::ptrdiff_t>(i);
      };
      list.insert(place(at), {act::spawn, -1, 0, false, &source});
      list.insert(place(at + 1 + below(end + 1 - at)), {act::get, -1, 0, source.fails, &source});
    }
  }

  node &add_node(int depth) {
    node &n = *m_program.nodes.emplace_back(std::make_unique<node>());
    n.id = static_cast<int>(m_program.nodes.size()) - 1;
    n.depth = depth;
    return n;
  }

  node &make_source(int depth) {
    node &n = add_node(depth);
    n.tracked = true;
    n.shared = chance(65);
    n.coroutine = chance(35);
    if (chance(75))
      draw_form(n);
    const int own = m_program.cells++;
    n.own_cells.push_back(own);
    n.steps.push_back({act::update, own});
    suspend(n);
    if (chance(40)) {
      node &leaf = add_node(depth + 1);
      leaf.uses.push_back({own, access_mode::inout});
      leaf.coroutine = chance(40);
      suspend(leaf);
      leaf.steps.push_back({act::update, own});
      n.steps.push_back({act::spawn, -1, 0, false, &leaf});
      n.has_children = true;
      if (chance(50)) {
        n.steps.push_back({act::wait_all});
        n.steps.push_back({act::read, own});
      }
    }
    n.fails = n.escapes = chance(12);
    if (n.fails)
      n.steps.push_back({act::fail});
    return n;
  }

  void suspend(node &n) {
    switch (below(8)) {
    case 0:
      return n.steps.push_back({act::yield});
    case 1:
      return n.steps.push_back({act::sleep, -1, static_cast<int>(below(40))});
    case 2:
      return n.steps.push_back({act::block, -1, 0, true});
    case 3:
      return n.steps.push_back({act::lock, -1, static_cast<int>(below(4)), chance(40)});
    default:
      return;
    }
  }

  // ---- inputs

  struct result {
    node *task;
    bool taken = false;
    [[nodiscard]] bool is_source() const { return task->uses.empty(); }
  };

  void connect(std::vector<step> &list) {
    std::vector<result> results;
    for (std::size_t i = 0; i < list.size(); ++i) {
      if (list[i].what == act::get)
        for (result &r : results)
          r.taken = r.taken || r.task == list[i].child;
      if (list[i].what != act::spawn)
        continue;
      node &n = *list[i].child;
      if (chance(50))
        choose_inputs(n, list, i, results);
      if (chance(25))
        let_see(n, results);
      if (n.tracked)
        results.push_back({&n});
    }
  }

  /// `i`: where it is spawned.
  void choose_inputs(node &n, std::vector<step> &list, std::size_t i,
                     std::vector<result> &results) {
    std::vector<result *> all;
    for (result &r : results)
      if (r.task->shared || !r.taken)
        all.push_back(&r);
    if (all.empty() || (n.made != form::spawned && chance(50)))
      return;
    std::shuffle(all.begin(), all.end(), m_random);
    n.made = static_cast<form>(static_cast<std::size_t>(form::then) + below(4));
    if (!may_continue(n) || chance(25))
      n.made = form::spawned;
    const auto may_be_used_up = [&](const result &r) { // what it was taken for is not needed
      return r.task->shared || r.is_source();
    };
    if (continues(n.made))
      std::erase_if(all, [&](result *r) {
        return !may_be_used_up(*r) || (n.made == form::any && !r->is_source());
      });
    n.policy = continues(n.made) && !has_clauses(n) && chance(60) ? any_policy() : 1;
    for (result *r : all)
      if (n.inputs.size() < std::min<std::size_t>(most_inputs(n.made), 1 + below(3)))
        n.inputs.push_back(r->task);
    choose_form(n);
    n.takes_future = chance(50);
    for (const node *before : n.inputs) {
      n.takes_future = n.takes_future || before->fails;
      if (continues(n.made) && !before->shared)
        use_up(before, list, i, results);
    }
  }

  /// The future of `before` is moved: no later step takes it.
  static void use_up(const node *before, std::vector<step> &list, std::size_t i,
                     std::vector<result> &results) {
    list.erase(std::remove_if(list.begin() + static_cast<std::ptrdiff_t>(i), list.end(),
                              [&](const step &s) { return takes(s, before); }),
               list.end());
    std::erase_if(results, [&](const result &r) { return r.task == before; });
  }
  static bool takes(const step &s, const node *n) {
    return (s.what == act::get || s.what == act::wait_handle) && s.child == n;
  }

  /// The body waits for another task, at any time.
  void let_see(node &n, const std::vector<result> &results) {
    for (const result &r : results)
      if (r.task->shared && r.is_source() && chance(50)) {
        n.sees.push_back(r.task);
        const std::size_t at = below(n.steps.size() + (n.fails ? 0 : 1));
        n.steps.insert(n.steps.begin() + static_cast<std::ptrdiff_t>(at),
                       {act::look, -1, 0, r.task->fails, r.task});
        return;
      }
  }

  // ---- coroutines that await others

  /// Steps that a call may hold: they take nothing that was begun outside, and leave nothing behind.
  static bool may_be_called(const step &s) {
    return s.what != act::fail && s.what != act::get && (s.what != act::spawn || !s.child->tracked);
  }
  void add_call(node &n) {
    if (n.steps.empty())
      return;
    const std::size_t from = below(n.steps.size());
    std::size_t to = from;
    while (to != n.steps.size() && may_be_called(n.steps[to]) && !chance(20))
      ++to;
    if (from == to)
      return;
    const auto first = n.steps.begin() + static_cast<std::ptrdiff_t>(from);
    const auto last = n.steps.begin() + static_cast<std::ptrdiff_t>(to);
    step s{act::call};
    s.first.assign(first, last);
    n.steps.insert(n.steps.erase(first, last), std::move(s));
  }

  program &m_program;
  std::mt19937_64 m_random;
};

} // namespace fuzz
