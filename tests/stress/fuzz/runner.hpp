// SPDX-License-Identifier: Apache-2.0
// Runs a program as Weft tasks, which must give what its serial run gives.
#pragma once

#include "stress/fuzz/facts.hpp"
#include "stress/fuzz/serial.hpp"

#include <weft/coro.hpp>
#include <weft/weft.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <condition_variable>
#include <cstdlib>
#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace fuzz {

/// What a failing task throws.
struct flagged {
  int id;
};

/// A thread that Weft does not know: it unblocks tasks, ends their events and keeps promises.
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
    std::function<void()> keep{};  // of a promise
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
      if (j.keep) {
        j.keep();
      } else if (!j.cell) {
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
        m_readied(static_cast<std::size_t>(p.ids)), m_results(static_cast<std::size_t>(p.ids)) {}

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
  using future = weft::future<std::uint64_t>;
  using shared_future = weft::shared_future<std::uint64_t>;
  using futures_seen = std::vector<std::pair<const node *, shared_future>>;
  /// What a task was spawned with that has a result: one of the three.
  struct result {
    const node *task;
    weft::handle<std::uint64_t> handle{};
    weft::future<std::uint64_t> future{};
    weft::shared_future<std::uint64_t> shared{};
  };
  struct context {
    const node &task;
    std::uint64_t digest;
    weft::task_group *own_group; // the one that the task belongs to
    const std::uint64_t *life;   // a value in the task's callable
    futures_seen sees{};
    std::deque<weft::task_group> groups{};
    std::deque<result> results{};
  };
  static constexpr std::uint64_t k_root_life = 0x1234567;
  static constexpr std::uint64_t life_of(const node &n) {
    return k_root_life + static_cast<std::uint64_t>(n.id);
  }

  /// The callable of a task. Its life ends when the task and all of its descendants are complete.
  template <bool Tracked>
  struct callable {
    static constexpr bool k_tracked = Tracked;
    parallel_run *run;
    const node *task;
    weft::task_group *own_group;
    const std::uint64_t *parents_life;
    std::uint64_t parents_value;
    std::uint64_t life;
    futures_seen sees;
    std::optional<weft::promise<std::uint64_t>> promise{};
    callable(parallel_run *run, const node *task, weft::task_group *own_group,
             const context &parent)
        : run(run), task(task), own_group(own_group), parents_life(parent.life),
          parents_value(*parent.life), life(life_of(*task)), sees(seen(parent, *task)) {}
    callable(callable &&other) noexcept
        : run(other.run), task(std::exchange(other.task, nullptr)), own_group(other.own_group),
          parents_life(other.parents_life), parents_value(other.parents_value), life(other.life),
          sees(std::move(other.sees)), promise(std::move(other.promise)) {}
    callable(const callable &) = delete;
    callable &operator=(const callable &) = delete;
    ~callable() {
      if (task && task->parting)
        run->part(*task);
      const_cast<volatile std::uint64_t &>(life) = 0;
    }
    context begin() {
      if (*parents_life != parents_value)
        run->complain("task " + std::to_string(task->id) + " outlived its parent's callable");
      // The parameters of a coroutine that returns a future go before its children do.
      return {*task, first_digest(*task), own_group,
              task->made == form::eager ? &run->m_root_life : &life, sees};
    }
    std::conditional_t<Tracked, std::uint64_t, void> operator()() {
      context c = begin();
      if constexpr (!Tracked)
        if (promise)
          return run->keep(c, *promise);
      run->body(c);
      if constexpr (Tracked)
        return c.digest;
    }
  };

  /// The same as a coroutine.
  template <bool Tracked>
  struct coroutine : callable<Tracked> {
    using callable<Tracked>::callable;
    weft::task<std::conditional_t<Tracked, std::uint64_t, void>> operator()() {
      note(fact::coroutine);
      context c = this->begin();
      std::exception_ptr error;
      try {
        co_await this->run->awaiting_body(c);
      } catch (...) {
        error = std::current_exception();
      }
      if (this->promise)
        this->run->keep(c, *this->promise, error);
      else if (error)
        std::rethrow_exception(error);
      if constexpr (Tracked)
        co_return c.digest;
    }
  };
  /// Begins in its creator.
  static future eager(coroutine<true> call) { co_return co_await call(); }

  static futures_seen seen(const context &parent, const node &n) {
    futures_seen all;
    const auto add = [&](const node *before) {
      for (const result &r : parent.results)
        if (r.task == before && r.shared.valid())
          all.emplace_back(before, r.shared);
    };
    std::for_each(n.sees.begin(), n.sees.end(), add);
    std::for_each(n.inputs.begin(), n.inputs.end(), add);
    return all;
  }

  /// Runs the body of a task that keeps a promise.
  void keep(context &c, weft::promise<std::uint64_t> &promise) {
    std::exception_ptr error;
    try {
      body(c);
    } catch (...) {
      error = std::current_exception();
    }
    keep(c, promise, error);
  }
  void keep(const context &c, weft::promise<std::uint64_t> &promise,
            const std::exception_ptr &error) {
    const auto set = [value = c.digest, error](weft::promise<std::uint64_t> &p) {
      if (error)
        p.set_exception(error);
      else
        p.set_value(value);
    };
    note(c.task.by_thread ? fact::promise_of_thread : fact::promise_of_task);
    if (!c.task.by_thread)
      return set(promise);
    auto moved = std::make_shared<weft::promise<std::uint64_t>>(std::move(promise));
    agent::job j;
    j.id = c.task.id;
    j.keep = [moved, set] { set(*moved); };
    m_agent.post(std::move(j));
  }

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
    begin_body(c);
    take_inputs(c);
    steps(c, c.task.steps);
    end_body(c);
  }
  static bool is_input(const node &n, const node *before) {
    return std::find(n.inputs.begin(), n.inputs.end(), before) != n.inputs.end();
  }
  void end_body(const context &c) { m_results[static_cast<std::size_t>(c.task.id)] = c.digest; }
  /// The results are there: what the task was made with has waited for them.
  void take_inputs(context &c) {
    for (auto &[before, f] : c.sees)
      if (is_input(c.task, before))
        expect(f.is_ready(), c, "it began before a future was ready that it waits for");
    for (const node *before : c.task.inputs)
      if (!before->fails)
        c.digest = mix(c.digest, m_results[static_cast<std::size_t>(before->id)]);
  }
  void begin_body(context &c) {
    auto id = static_cast<std::size_t>(c.task.id);
    ++m_ran[id];
    expect(m_readied[id] == (c.task.onready ? 1 : 0), c,
           "onready was not called once before the body");
    if (c.task.depth > 3)
      note(fact::deep);
    for (int g = 0; g != c.task.groups; ++g)
      c.groups.emplace_back(weft::exception_policy::collect_all);
  }

  // As coroutines: what can be awaited is.

  weft::task<void> awaiting_body(context &c) {
    begin_body(c);
    take_inputs(c);
    co_await awaiting_steps(c, c.task.steps);
    end_body(c);
  }

  weft::task<void> awaiting_steps(context &c, const std::vector<step> &list) {
    for (const step &s : list) {
      if (!is_awaited(s.what)) {
        one(c, s);
        continue;
      }
      std::exception_ptr error;
      try {
        co_await awaiting_one(c, s);
      } catch (...) {
        error = std::current_exception();
      }
      if (s.what == act::call) {
        if (error)
          std::rethrow_exception(error);
      } else {
        settle(c, s.flag && s.what != act::lock, "an await", error);
      }
    }
  }
  static bool is_awaited(act what) {
    switch (what) {
    case act::wait_all:
    case act::group_wait:
    case act::get:
    case act::look:
    case act::lock:
    case act::sleep:
    case act::yield:
    case act::call:
      return true;
    default:
      return false;
    }
  }
  weft::task<void> awaiting_one(context &c, const step &s) {
    switch (s.what) {
    case act::wait_all:
      note(fact::awaits_children);
      co_await weft::async_taskwait();
      break;
    case act::group_wait:
      note(fact::awaits_group);
      co_await weft::async_wait(c.groups[static_cast<std::size_t>(s.amount)]);
      break;
    case act::get: {
      note(fact::awaits_future);
      result &r = result_of(c, s.child);
      std::uint64_t value = 0;
      if (r.shared.valid())
        value = co_await r.shared;
      else if (r.future.valid())
        value = co_await std::move(r.future);
      else
        value = co_await std::move(r.handle);
      c.digest = mix(c.digest, value);
      break;
    }
    case act::look: {
      note(fact::looks);
      const std::uint64_t value = co_await future_seen(c, s.child);
      c.digest = mix(c.digest, value);
      break;
    }
    case act::lock:
      note(fact::awaits_lock);
      co_await m_locks[static_cast<std::size_t>(s.amount)].mutex.async_lock();
      under_lock(c, s);
      break;
    case act::sleep:
      note(fact::awaits_time);
      co_await weft::this_task::async_sleep_for(std::chrono::microseconds(s.amount));
      break;
    case act::yield:
      note(fact::awaits_turn);
      co_await weft::this_task::async_yield();
      break;
    default:
      note(fact::awaited_call);
      co_await awaiting_steps(c, s.first);
    }
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
    case act::wait_handle: {
      result &r = result_of(c, s.child);
      return r.shared.valid()   ? r.shared.wait()
             : r.future.valid() ? r.future.wait()
                                : r.handle.wait();
    }
    case act::look:
      note(fact::looks);
      return waits(c, s.flag, "get of a shared future",
                   [&] { c.digest = mix(c.digest, future_seen(c, s.child).get()); });
    case act::call:
      return steps(c, s.first);
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
    std::exception_ptr error;
    try {
      f();
    } catch (...) {
      error = std::current_exception();
    }
    settle(c, must_throw, what, error);
  }
  void settle(context &c, bool must_throw, const char *what, const std::exception_ptr &error) {
    bool threw = false;
    if (error)
      try {
        std::rethrow_exception(error);
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
    m_locks[static_cast<std::size_t>(s.amount)].mutex.lock();
    under_lock(c, s);
  }
  /// Takes the mutex over.
  void under_lock(context &c, const step &s) {
    auto &[mutex, owner] = m_locks[static_cast<std::size_t>(s.amount)];
    std::lock_guard guard(mutex, std::adopt_lock);
    expect(owner == nullptr, c, "two tasks hold one mutex");
    owner = &c;
    if (s.flag)
      weft::taskyield();
    expect(owner == &c, c, "two tasks hold one mutex");
    owner = nullptr;
  }

  result &result_of(context &c, const node *n) {
    for (result &r : c.results)
      if (r.task == n)
        return r;
    std::abort(); // the generator is wrong
  }
  const shared_future &future_seen(context &c, const node *n) {
    for (const result &r : c.results)
      if (r.task == n)
        return r.shared;
    for (const auto &[before, f] : c.sees)
      if (before == n)
        return f;
    std::abort(); // the generator is wrong
  }
  void get(context &c, const step &s) {
    waits(c, s.flag, "get", [&] {
      result &r = result_of(c, s.child);
      const std::uint64_t value = r.shared.valid()   ? r.shared.get()
                                  : r.future.valid() ? r.future.get()
                                                     : r.handle.get();
      c.digest = mix(c.digest, value);
    });
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

  template <class F, class... After>
  WEFT_NOINLINE auto with_options(weft::task_group *group, const node &n,
                                  const std::vector<weft::access> &a, F &&f,
                                  const After &...after) {
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
                  weft::stack_bytes(n.stack_bytes), after..., more...);
    };
    const weft::onready ready(n.onready ? &count : nullptr,
                              &m_readied[static_cast<std::size_t>(n.id)]);
    if (n.onready)
      note(fact::onready);
    if (!n.wait)
      return with(ready);
    note(fact::wait_clause);
    return with(weft::wait, ready);
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
    if (n.coroutine)
      make<coroutine>(c, n, group, accesses);
    else
      make<callable>(c, n, group, accesses);
  }

  template <template <bool> class Callable>
  void make(context &c, const node &n, weft::task_group *group,
            const std::vector<weft::access> &accesses) {
    if (n.made == form::promised) {
      Callable<false> call(this, &n, group, c);
      future f = call.promise.emplace().get_future();
      spawned(c, n, group, accesses, std::move(call));
      return remember(c, n, std::move(f));
    }
    if (!n.tracked && !continues(n.made)) // of the others the future is dropped
      return void(spawned(c, n, group, accesses, Callable<false>(this, &n, group, c)));
    Callable<true> call(this, &n, group, c);
    if (n.made != form::spawned)
      return remember(c, n, launched(c, n, accesses, std::move(call)));
    note(fact::handle);
    auto handle = spawned(c, n, group, accesses, std::move(call));
    if (n.shared)
      return remember(c, n, future(std::move(handle)));
    c.results.push_back({&n, std::move(handle)});
  }
  static void remember(context &c, const node &n, future f) {
    if (!n.tracked)
      return;
    if (n.shared)
      note(fact::shared_future);
    result &r = c.results.emplace_back(result{&n});
    n.shared ? void(r.shared = f.share()) : void(r.future = std::move(f));
  }

  template <class Call>
  auto spawned(context &c, const node &n, weft::task_group *group,
               const std::vector<weft::access> &accesses, Call &&call) {
    if (!n.inputs.empty()) {
      note(fact::after);
      const weft::after_clause first = after(result_of(c, n.inputs[0]));
      if (n.inputs.size() == 1)
        return with_options(group, n, accesses, std::move(call), first);
      return with_options(group, n, accesses, std::move(call), first,
                          after(result_of(c, n.inputs[1])));
    }
    if constexpr (!Call::k_tracked)
      if (!(n.final || n.undeferred || n.wait || n.onready || n.priority || n.stack_bytes))
        return plain(group, accesses, std::move(call));
    return with_options(group, n, accesses, std::move(call));
  }
  static weft::after_clause after(const result &r) {
    return r.shared.valid()   ? weft::after(r.shared)
           : r.future.valid() ? weft::after(r.future)
                              : weft::after(r.handle);
  }

  // Futures: with the clauses of a spawn where `then` takes them.

  static void note_policy(unsigned policy) {
    note(policy == 2   ? fact::launch_deferred
         : policy == 4 ? fact::launch_fork
         : policy == 8 ? fact::launch_sync
         : policy == 3 ? fact::launch_either
                       : fact::launch_async);
  }
  /// An unshared future of the task itself, which is used up.
  static future taken(result &r) {
    return r.future.valid() ? std::move(r.future) : future(std::move(r.handle));
  }

  template <class Call>
  future launched(context &c, const node &n, const std::vector<weft::access> &accesses,
                  Call &&call) {
    const auto policy = static_cast<weft::launch>(n.policy);
    if (!continues(n.made) || n.made == form::dataflow || n.policy != 1)
      note_policy(n.policy);
    if (n.made == form::eager) {
      if constexpr (std::is_same_v<Call, coroutine<true>>) {
        note(fact::eager_coroutine);
        return eager(std::move(call));
      }
    }
    if (n.made == form::eager || n.made == form::async)
      return weft::async(policy, std::move(call));
    const bool shared = std::any_of(n.inputs.begin(), n.inputs.end(),
                                    [](const node *before) { return before->shared; });
    if (n.made == form::then) {
      result &r = result_of(c, n.inputs[0]);
      return shared ? then(n, accesses, shared_future(r.shared), std::move(call))
                    : then(n, accesses, taken(r), std::move(call));
    }
    return shared ? continued(n, accesses, all_inputs<shared_future>(c, n), std::move(call))
                  : continued(n, accesses, all_inputs<future>(c, n), std::move(call));
  }
  template <class Future>
  std::vector<Future> all_inputs(context &c, const node &n) {
    std::vector<Future> all;
    for (const node *before : n.inputs) {
      result &r = result_of(c, before);
      if constexpr (std::is_same_v<Future, shared_future>)
        if (before->shared) {
          all.push_back(r.shared);
          continue;
        }
      all.push_back(taken(r));
    }
    return all;
  }

  /// Continues from `f` by a policy, or with clauses.
  template <class Future, class F>
  future then_by(const node &n, const std::vector<weft::access> &a, Future &&f, F &&call) {
    if (n.policy != 1) {
      note(fact::then_policy);
      return f.then(static_cast<weft::launch>(n.policy), std::move(call));
    }
    if (!a.empty())
      note(fact::then_accesses);
    const weft::onready ready(n.onready ? &count : nullptr,
                              &m_readied[static_cast<std::size_t>(n.id)]);
    return f.then(std::move(call), weft::accesses(a), weft::label("fuzz"),
                  weft::priority(n.priority), weft::final(n.final), weft::if_(!n.undeferred),
                  weft::stack_bytes(n.stack_bytes), ready);
  }

  template <class Future, class Call>
  future then(const node &n, const std::vector<weft::access> &a, Future f, Call &&call) {
    note(n.takes_future ? fact::then_future : fact::then_value);
    const node *const before = n.inputs[0];
    if (n.takes_future)
      return then_by(n, a, std::move(f), [this, before, call = std::move(call)](Future r) mutable {
        check_value(*before, r);
        return call();
      });
    return then_by(n, a, std::move(f),
                   [this, before, call = std::move(call)](std::uint64_t value) mutable {
                     check_value(*before, value);
                     return call();
                   });
  }
  template <class Future, class Call>
  future continued(const node &n, const std::vector<weft::access> &a, std::vector<Future> all,
                   Call &&call) {
    if (n.made == form::dataflow) {
      note(fact::dataflow);
      return weft::dataflow(
          static_cast<weft::launch>(n.policy),
          [this, &n, call = std::move(call)](std::vector<Future> ready) mutable {
            check_values(n, ready);
            return call();
          },
          std::move(all));
    }
    if (n.made == form::collected) {
      note(fact::when_all);
      return then_by(n, a, weft::when_all(std::move(all)),
                     [this, &n, call = std::move(call)](std::vector<Future> ready) mutable {
                       check_values(n, ready);
                       return call();
                     });
    }
    note(fact::when_any);
    return then_by(n, a, weft::when_any(std::move(all)),
                   [this, &n, call = std::move(call)](
                       weft::when_any_result<std::vector<Future>> ready) mutable {
                     if (ready.index >= n.inputs.size() || !ready.futures[ready.index].is_ready())
                       complain("task " + std::to_string(n.id) +
                                ": when_any chose a future that is not ready");
                     for (Future &f : ready.futures)
                       f.wait();
                     check_values(n, ready.futures);
                     return call();
                   });
  }
  template <class Future>
  void check_values(const node &n, std::vector<Future> &ready) {
    if (ready.size() != n.inputs.size())
      return complain("task " + std::to_string(n.id) + ": another number of futures");
    for (std::size_t i = 0; i != ready.size(); ++i)
      check_value(*n.inputs[i], ready[i]);
  }
  template <class Future>
    requires(!std::is_integral_v<Future>)
  void check_value(const node &before, Future &f) {
    if (!f.is_ready() || f.has_exception() != before.fails)
      return complain("the future of task " + std::to_string(before.id) + " is not as it ended");
    try {
      check_value(before, f.get());
    } catch (const flagged &) {
      if (!before.fails)
        complain("task " + std::to_string(before.id) + " did not fail, its future did");
    }
  }
  void check_value(const node &before, std::uint64_t value) {
    if (value != m_results[static_cast<std::size_t>(before.id)])
      complain("the future of task " + std::to_string(before.id) + " has another value");
  }

  struct checked_lock {
    weft::mutex mutex;
    const context *owner = nullptr;
  };

  const program &m_program;
  agent &m_agent;
  data m_data;
  std::vector<std::atomic<int>> m_ran, m_readied;
  data m_results; // each is written at the end of a body, and read by tasks that wait for it
  std::array<checked_lock, 4> m_locks{};
  std::uint64_t m_root_life = k_root_life;
  std::atomic<int> m_partings{0};
  std::mutex m_complaining;
  std::string m_complaints;
};

} // namespace fuzz
