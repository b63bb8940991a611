// SPDX-License-Identifier: Apache-2.0
// Runs a program as Weft tasks, which must give what its serial run gives.
#pragma once

#include "stress/fuzz/facts.hpp"
#include "stress/fuzz/serial.hpp"

#include <weft/weft.hpp>

#include <array>
#include <atomic>
#include <condition_variable>
#include <cstdlib>
#include <deque>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace fuzz {

/// What a failing task throws.
struct flagged {
  int id;
};

/// A thread that Weft does not know: it unblocks tasks and ends their events.
class agent {
 public:
  agent() : m_thread([this] { work(); }) {}
  ~agent() {
    post({});
    m_thread.join();
  }
  struct job {
    weft::task_ref task;
    std::uint64_t *cell = nullptr; // of an event
    int id = -1;                   // -1: the agent ends
  };
  void post(job j) {
    {
      std::lock_guard lock(m_mutex);
      m_jobs.push_back(j);
    }
    m_more.notify_one();
  }

 private:
  void work() {
    for (unsigned n = 0;; ++n) {
      std::unique_lock lock(m_mutex);
      m_more.wait(lock, [&] { return !m_jobs.empty(); });
      job j = m_jobs.front();
      m_jobs.pop_front();
      lock.unlock();
      if (j.id < 0)
        return;
      if (n % 4 == 0)
        std::this_thread::sleep_for(std::chrono::microseconds(n % 64));
      if (!j.cell) {
        weft::unblock(j.task);
      } else {
        event(*j.cell, j.id);
        weft::decrease_events(j.task);
      }
    }
  }
  std::mutex m_mutex;
  std::condition_variable m_more;
  std::deque<job> m_jobs;
  std::thread m_thread;
};

/// One parallel run of a program, by the calling thread.
class parallel_run {
 public:
  parallel_run(const program &p, agent &a)
      : m_program(p), m_agent(a), m_data(initial(p)), m_ran(static_cast<std::size_t>(p.ids)),
        m_readied(static_cast<std::size_t>(p.ids)) {}

  /// What went wrong; empty when nothing did.
  std::string check(const data &expected) {
    context c{*m_program.root, first_digest(*m_program.root), nullptr, &m_root_life};
    body(c);
    for (auto &n : m_program.nodes)
      if (int ran = m_ran[static_cast<std::size_t>(n->id)]; ran != 1)
        complain("task " + std::to_string(n->id) + " ran " + std::to_string(ran) + " times");
    for (std::size_t i = 0; i != m_data.size(); ++i)
      if (m_data[i] != expected[i])
        complain("cell " + std::to_string(i) + " differs from the serial run");
    if (const int left = m_partings)
      complain(std::to_string(left) +
               " tasks that destructors spawned did not run before the waits were over");
    return m_complaints;
  }

 private:
  struct context {
    const node &task;
    std::uint64_t digest;
    weft::task_group *own_group; // the one that the task belongs to
    const std::uint64_t *life;   // a value in the task's callable
    std::deque<weft::task_group> groups{};
    std::vector<std::pair<const node *, weft::handle<std::uint64_t>>> handles{};
  };
  static constexpr std::uint64_t k_root_life = 0x1234567;
  static constexpr std::uint64_t life_of(const node &n) {
    return k_root_life + static_cast<std::uint64_t>(n.id);
  }

  /// The callable of a task. Its life ends when the task and all of its descendants are complete.
  template <bool Tracked>
  struct callable {
    parallel_run *run;
    const node *task;
    weft::task_group *own_group;
    const std::uint64_t *parents_life;
    std::uint64_t parents_value;
    std::uint64_t life;
    callable(parallel_run *run, const node *task, weft::task_group *own_group,
             const context &parent)
        : run(run), task(task), own_group(own_group), parents_life(parent.life),
          parents_value(life_of(parent.task)), life(life_of(*task)) {}
    callable(callable &&other) noexcept
        : run(other.run), task(std::exchange(other.task, nullptr)), own_group(other.own_group),
          parents_life(other.parents_life), parents_value(other.parents_value), life(other.life) {}
    callable(const callable &) = delete;
    callable &operator=(const callable &) = delete;
    ~callable() {
      if (task && task->parting)
        run->part(*task);
      const_cast<volatile std::uint64_t &>(life) = 0;
    }
    auto operator()() {
      if (*parents_life != parents_value)
        run->complain("task " + std::to_string(task->id) + " outlived its parent's callable");
      context c{*task, first_digest(*task), own_group, &life};
      run->body(c);
      if constexpr (Tracked)
        return c.digest;
    }
  };

  /// In the destructor of a task's callable.
  void part(const node &n) {
    note(fact::calls_in_destructor);
    ++m_partings;
    weft::spawn([this] {
      weft::taskyield();
      --m_partings;
    });
    if (n.id % 3 == 0)
      weft::taskwait();
    else if (n.id % 3 == 1)
      weft::join([] { weft::taskyield(); }, [] {});
  }

  void complain(const std::string &text) {
    std::lock_guard lock(m_complaining);
    m_complaints += "  " + text + "\n";
  }
  void expect(bool right, const context &c, const char *text) {
    if (!right)
      complain("task " + std::to_string(c.task.id) + ": " + text);
  }
  std::uint64_t &cell(int i) { return m_data[static_cast<std::size_t>(i)]; }

  void body(context &c) {
    auto id = static_cast<std::size_t>(c.task.id);
    ++m_ran[id];
    expect(m_readied[id] == (c.task.onready ? 1 : 0), c,
           "onready was not called once before the body");
    if (c.task.depth > 3)
      note(fact::deep);
    for (int g = 0; g != c.task.groups; ++g)
      c.groups.emplace_back(weft::exception_policy::collect_all);
    steps(c, c.task.steps);
  }

  void steps(context &c, const std::vector<step> &list) {
    for (const step &s : list)
      one(c, s);
  }

  WEFT_NOINLINE void one(context &c, const step &s) {
    switch (s.what) {
    case act::read:
    case act::write:
    case act::update:
      return touch(s.what, cell(s.cell), c.digest, c.task.id);
    case act::add:
      return add(c, s);
    case act::spawn:
      return spawn(c, *s.child);
    case act::wait_all:
      note(fact::taskwait);
      return waits(c, s.flag, "taskwait", [] { weft::taskwait(); });
    case act::wait_on:
      note(fact::taskwait_on);
      // The task may write the cell afterwards; among regions readers inside of a writer hold up writers only.
      return weft::taskwait(s.flag || orders_regions() ? weft::inout(cell(s.cell))
                                                       : weft::in(cell(s.cell)));
    case act::yield:
      note(fact::yield);
      return weft::taskyield();
    case act::sleep:
      note(fact::sleep);
      return weft::this_task::sleep_for(std::chrono::microseconds(s.amount));
    case act::block:
      return block(s.flag);
    case act::timed_block:
      return timed_block(c, std::chrono::microseconds(s.amount), s.flag);
    case act::lock:
      return lock(c, s);
    case act::hold:
      note(fact::event);
      weft::this_task::increase_events();
      return m_agent.post({weft::this_task::self(), &cell(s.cell), c.task.id});
    case act::release:
      if (s.cell == c.task.lost ||
          orders_regions()) // a region is given up at the end of the body only
        return;
      note(fact::release);
      return weft::release(weft::inout(cell(s.cell)));
    case act::group_wait:
      return waits(c, s.flag, "the wait of a group",
                   [&] { c.groups[static_cast<std::size_t>(s.amount)].wait(); });
    case act::get:
      return get(c, s);
    case act::wait_handle:
      return handle_of(c, s.child).wait();
    case act::join:
      return join(c, s);
    case act::chaos:
      return chaos(c);
    case act::flood:
      note(fact::flood);
      for (int i = 0; i != s.amount; ++i)
        weft::spawn([&x = cell(s.cell), i] { x = mix(x, static_cast<std::uint64_t>(i)); },
                    weft::inout(cell(s.cell)));
      return;
    case act::fail:
      note(fact::exception);
      throw flagged{c.task.id};
    }
  }

  static bool orders_regions() {
    static const char *const system = std::getenv("WEFT_DEPS_SYSTEM");
    return system && std::string_view(system) == "regions";
  }

  void add(context &c, const step &s) {
    std::uint64_t &x = cell(s.cell);
    const std::uint64_t value = addend(s.cell, c.task.id);
    way how = static_cast<way>(s.amount);
    if (how == way::reduction && orders_regions())
      how =
          way::concurrent; // the object itself, which children of the task may be changing as well
    switch (how) {
    case way::concurrent: {
      note(fact::adds_atomically);
      std::atomic_ref<std::uint64_t> shared(x);
      std::uint64_t before = shared.load(std::memory_order_relaxed);
      while (!shared.compare_exchange_weak(before, combined(s.cell, before, value),
                                           std::memory_order_relaxed)) {
      }
      return;
    }
    case way::commutative:
      note(fact::adds_in_turn);
      return add_in_steps(x, s, value);
    case way::reduction:
      note(fact::adds_to_a_copy);
      return add_in_steps(weft::reduction_local(x), s, value);
    case way::none:
      note(fact::adds_alone);
      return add_in_steps(x, s, value);
    }
  }
  static void add_in_steps(std::uint64_t &x, const step &s, std::uint64_t value) {
    const std::uint64_t before = x;
    if (s.flag)
      weft::taskyield();
    x = combined(s.cell, before, value);
  }

  /// A wait that must throw, or must not.
  template <class F>
  void waits(context &c, bool must_throw, const char *what, F f) {
    bool threw = false;
    try {
      f();
    } catch (const flagged &) {
      threw = true;
    } catch (const weft::exception_list &all) {
      threw = all.size() > 0;
    }
    if (threw != must_throw)
      complain("task " + std::to_string(c.task.id) + ": " + what +
               (threw ? " threw, and no task had failed" : " lost an exception"));
  }

  void block(bool by_thread) {
    weft::task_ref me = weft::this_task::self();
    note(by_thread ? fact::block_by_thread : fact::block_by_task);
    if (by_thread)
      m_agent.post({me, nullptr, 0});
    else
      weft::spawn([me] { weft::unblock(me); });
    weft::this_task::block();
  }

  void timed_block(context &c, std::chrono::microseconds time, bool unblocked) {
    note(fact::timed_block);
    if (unblocked)
      m_agent.post({weft::this_task::self(), nullptr, 0});
    const bool in_time = weft::this_task::block_for(time);
    expect(unblocked || !in_time, c, "a timed block that nobody ended said that somebody did");
    if (unblocked && !in_time)
      weft::this_task::block(); // the unblock comes, or has come
  }

  void lock(context &c, const step &s) {
    note(fact::mutex);
    auto &[mutex, owner] = m_locks[static_cast<std::size_t>(s.amount)];
    std::lock_guard guard(mutex);
    expect(owner == nullptr, c, "two tasks hold one mutex");
    owner = &c;
    if (s.flag)
      weft::taskyield();
    expect(owner == &c, c, "two tasks hold one mutex");
    owner = nullptr;
  }

  weft::handle<std::uint64_t> &handle_of(context &c, const node *n) {
    for (auto &[child, handle] : c.handles)
      if (child == n)
        return handle;
    std::abort(); // the generator is wrong
  }
  void get(context &c, const step &s) {
    waits(c, s.flag, "get", [&] { c.digest = mix(c.digest, handle_of(c, s.child).get()); });
  }

  void join(context &c, const step &s) {
    note(fact::join);
    context first{c.task, branch_digest(c.digest, 0), c.own_group, c.life};
    context second{c.task, branch_digest(c.digest, 1), c.own_group, c.life};
    weft::join([&] { steps(first, s.first); }, [&] { steps(second, s.second); });
    c.digest = mix(first.digest, second.digest);
  }

  void chaos(context &c) {
    note(fact::chaos);
    weft::task_group group(weft::exception_policy::first_cancels);
    std::vector<int> order[2];
    for (int i = 0; i != 8; ++i) {
      auto &mine = order[i % 2];
      group.spawn(
          [&mine, i, &c] {
            if (i % 3 == 0)
              weft::taskyield();
            mine.push_back(i);
            if (i == 4)
              throw flagged{c.task.id};
          },
          weft::inout(weft::object(mine)));
    }
    waits(c, true, "the wait of a cancelled group", [&] { group.wait(); });
    expect(order[0] == std::vector<int>({0, 2, 4}), c,
           "a task ran after an exception before it had cancelled it");
    for (std::size_t i = 0; i != order[1].size(); ++i)
      expect(order[1][i] == static_cast<int>(2 * i + 1), c,
             "a cancelled group broke the order of its tasks");
  }

  // Spawning, through every form that the interface has.

  template <class F, class... Clauses>
  static decltype(auto) into(weft::task_group *group, F &&f, const Clauses &...clauses) {
    return group ? group->spawn(std::move(f), clauses...) : weft::spawn(std::move(f), clauses...);
  }

  template <class F>
  WEFT_NOINLINE static void plain(weft::task_group *group, const std::vector<weft::access> &a,
                                  F &&f) {
    switch (a.size()) {
    case 0:
      return into(group, std::move(f));
    case 1:
      return into(group, std::move(f), a[0]);
    case 2:
      return into(group, std::move(f), a[0], a[1]);
    case 3:
      return into(group, std::move(f), a[0], weft::accesses(std::span(a).subspan(1)));
    default:
      note(fact::list);
      return into(group, std::move(f), weft::accesses(a));
    }
  }

  template <class F>
  WEFT_NOINLINE auto with_options(weft::task_group *group, const node &n,
                                  const std::vector<weft::access> &a, F &&f) {
    if (n.final)
      note(fact::final);
    if (n.undeferred)
      note(fact::if_false);
    if (n.priority)
      note(fact::priority);
    if (n.stack_bytes)
      note(fact::own_stack);
    auto with = [&](const auto &...more) {
      return into(group, std::move(f), weft::accesses(a), weft::label("fuzz"),
                  weft::priority(n.priority), weft::final(n.final), weft::if_(!n.undeferred),
                  weft::stack_bytes(n.stack_bytes), more...);
    };
    weft::onready ready(&count, &m_readied[static_cast<std::size_t>(n.id)]);
    if (n.onready)
      note(fact::onready);
    if (!n.wait)
      return n.onready ? with(ready) : with();
    note(fact::wait_clause);
    return n.onready ? with(weft::wait, ready) : with(weft::wait);
  }
  static void count(void *context) { ++*static_cast<std::atomic<int> *>(context); }

  template <class Op>
  weft::reduction_clause<std::uint64_t> reduction_by(Op op, const use &u) {
    return is_weak(u.mode) ? weft::weak_reduction(cell(u.cell), op)
                           : weft::reduction(cell(u.cell), op);
  }
  weft::reduction_clause<std::uint64_t> reduction_of(const use &u) {
    switch (u.cell % 4) {
    case 0:
      return reduction_by(weft::sum, u);
    case 1:
      return reduction_by(weft::bit_xor, u);
    case 2:
      return reduction_by(weft::product, u);
    default:
      return reduction_by(weft::maximum, u);
    }
  }

  void spawn(context &c, const node &n) {
    weft::task_group *group = nullptr;
    if (n.group >= 0) {
      group = &c.groups[static_cast<std::size_t>(n.group)];
      note(fact::group);
    } else if (n.group == k_parents_group) {
      group = c.own_group;
      note(fact::parents_group);
    }
    std::vector<weft::access> accesses;
    if (n.null_access) {
      accesses.push_back({nullptr, access_mode::inout});
      note(fact::null_access);
    }
    std::deque<weft::reduction_clause<std::uint64_t>> reductions; // the accesses refer to them
    for (const use &u : n.uses) {
      if (u.cell == n.lost)
        continue;
      note(static_cast<fact>(u.mode));
      for (const use &other : n.uses)
        if (&other < &u && other.cell == u.cell) {
          note(fact::twice);
          if (way_of(other.mode) != way_of(u.mode))
            note(fact::shares_in_two_ways);
        }
      if (way_of(u.mode) != way::reduction)
        accesses.push_back({&cell(u.cell), u.mode});
      else
        accesses.push_back(reductions.emplace_back(reduction_of(u)));
    }
    if (n.tracked) {
      note(fact::handle);
      c.handles.emplace_back(&n,
                             with_options(group, n, accesses, callable<true>(this, &n, group, c)));
    } else if (n.final || n.undeferred || n.wait || n.onready || n.priority || n.stack_bytes) {
      with_options(group, n, accesses, callable<false>(this, &n, group, c));
    } else {
      plain(group, accesses, callable<false>(this, &n, group, c));
    }
  }

  struct checked_lock {
    weft::mutex mutex;
    const context *owner = nullptr;
  };

  const program &m_program;
  agent &m_agent;
  data m_data;
  std::vector<std::atomic<int>> m_ran, m_readied;
  std::array<checked_lock, 4> m_locks{};
  std::uint64_t m_root_life = k_root_life;
  std::atomic<int> m_partings{0};
  std::mutex m_complaining;
  std::string m_complaints;
};

} // namespace fuzz
