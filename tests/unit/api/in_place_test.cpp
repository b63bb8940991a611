// SPDX-License-Identifier: Apache-2.0
// Joins and spawns with a cost: what runs in place, what does not, and that in place a program means
// the same.
#include "base/clock.hpp"
#include "deps/mailbox.hpp"
#include "support/case_process.hpp"
#include "support/gate.hpp"
#include "support/scale.hpp"
#include "task/in_place_task.hpp"
#include "tune/in_place_types.hpp"
#include "worker/runtime.hpp"

#include <weft/counters.hpp>
#include <weft/sync.hpp>
#include <weft/task_local.hpp>
#include <weft/tune.hpp>
#include <weft/weft.hpp>

#include <atomic>
#include <functional>
#include <gtest/gtest.h>
#include <mutex>
#include <numeric>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace {

using weft::rt::in_place_mode;

/// Sets tune.inline for a case, in a process whose runtime runs.
class with_mode {
 public:
  explicit with_mode(in_place_mode wanted) {
    weft::taskwait(); // starts Weft
    m_before = weft::rt::g_in_place_mode.exchange(wanted);
  }
  with_mode(const with_mode &) = delete;
  with_mode &operator=(const with_mode &) = delete;
  ~with_mode() { weft::rt::g_in_place_mode = m_before; }

 private:
  in_place_mode m_before;
};

bool is_here() { return weft::rt::is_in_place(*weft::rt::this_worker().current); }

/// Returns whether a creator knows which accesses are free: no manager enters them, no setting has all
/// of them take the general way, and they are not regions, which overlap.
bool knows_free_accesses() {
  return weft::rt::the_runtime().cfg.manage_mode == weft::rt::manage_kind::direct &&
         weft::rt::the_runtime().cfg.deps_system != weft::rt::deps_kind::regions &&
         !weft::rt::mailbox::needs_general_path();
}

std::uint64_t count_in_place() {
  std::uint64_t sum = 0;
  for (unsigned i = 0; i < weft::rt::the_runtime().used_slots; ++i)
    if (const weft::rt::worker *w = weft::rt::the_runtime().slots[i])
      sum += w->counts->in_place;
  return sum;
}

std::uint64_t calls_of(int n) { return n < 2 ? 1 : calls_of(n - 1) + calls_of(n - 2) + 1; }

long joined_fib(int n) {
  if (n < 2)
    return n;
  long a = 0, b = 0;
  weft::join(
      weft::cost(calls_of(n)), [&] { a = joined_fib(n - 1); }, [&] { b = joined_fib(n - 2); });
  return a + b;
}

long spawned_fib(int n) {
  if (n < 2)
    return n;
  long a = 0, b = 0;
  weft::spawn([&a, n] { a = spawned_fib(n - 1); }, weft::cost(calls_of(n - 1)), weft::may_inline);
  b = spawned_fib(n - 2);
  weft::taskwait();
  return a + b;
}

long handled_fib(int n) {
  if (n < 2)
    return n;
  auto a = weft::spawn([n] { return handled_fib(n - 1); }, weft::cost(calls_of(n - 1)),
                       weft::may_inline);
  const long b = handled_fib(n - 2);
  return a.get() + b;
}

const int k_fib = test::k_sanitized ? 14 : 18;
const long k_fib_result = test::k_sanitized ? 377 : 2584;

TEST(in_place, results_are_the_same_in_each_mode) {
  for (const auto mode : {in_place_mode::never, in_place_mode::by_time, in_place_mode::always}) {
    const with_mode here(mode);
    EXPECT_EQ(joined_fib(k_fib), k_fib_result);
    EXPECT_EQ(spawned_fib(k_fib), k_fib_result);
    EXPECT_EQ(handled_fib(k_fib), k_fib_result);
    std::vector<weft::handle<long>> in_tasks;
    for (int i = 0; i < 3; ++i)
      in_tasks.push_back(weft::spawn([i] { return i == 0 ? joined_fib(k_fib) : i == 1 ? spawned_fib(k_fib) : handled_fib(k_fib); }));
    for (auto &task : in_tasks)
      EXPECT_EQ(task.get(), k_fib_result);
  }
}

TEST(in_place, the_serial_call_replaces_both_branches) {
  int f = 0, g = 0, serial = 0;
  const auto join = [&] {
    weft::join(weft::cost(1), [&] { ++f; }, [&] { ++g; }, [&] { ++serial; });
  };
  {
    const with_mode here(in_place_mode::always);
    join();
    EXPECT_EQ(f, 0);
    EXPECT_EQ(g, 0);
    EXPECT_EQ(serial, 1);
  }
  const with_mode here(in_place_mode::never);
  join();
  EXPECT_EQ(f, 1);
  EXPECT_EQ(g, 1);
  EXPECT_EQ(serial, 1);
}

TEST(in_place, a_join_calls_f_before_g_and_both_when_one_throws) {
  const with_mode here(in_place_mode::always);
  for (int which = 1; which < 4; ++which) {
    std::string order;
    const std::thread::id me = std::this_thread::get_id();
    try {
      weft::join(
          weft::cost(1),
          [&] {
            order += 'f';
            if (which & 1)
              throw std::runtime_error("f");
          },
          [&] {
            order += 'g';
            EXPECT_EQ(std::this_thread::get_id(), me);
            if (which & 2)
              throw std::runtime_error("g");
          });
      ADD_FAILURE() << which;
    } catch (const std::runtime_error &e) {
      EXPECT_EQ(std::string(e.what()), which & 1 ? "f" : "g");
    }
    EXPECT_EQ(order, "fg");
  }
  int sum = 0;
  weft::join(weft::cost(1), [&]() noexcept { sum += 1; }, [&]() noexcept { sum += 2; });
  EXPECT_EQ(sum, 3);
}

TEST(in_place, a_task_runs_before_its_spawn_returns) {
  const with_mode here(in_place_mode::always);
  bool ran = false;
  const std::thread::id me = std::this_thread::get_id();
  weft::spawn(
      [&] {
        ran = is_here() && std::this_thread::get_id() == me;
        EXPECT_STREQ(weft::this_task::label(), "small");
        EXPECT_EQ(weft::this_task::cost(), 42u);
      },
      weft::cost(42), weft::may_inline, weft::label("small"));
  EXPECT_TRUE(ran);
  EXPECT_FALSE(is_here());
  weft::taskwait();
}

TEST(in_place, a_handle_is_ready_when_the_spawn_returns) {
  const with_mode here(in_place_mode::always);
  auto value = weft::spawn([] { return std::string(100, 'x'); }, weft::cost(1), weft::may_inline);
  EXPECT_TRUE(value.ready());
  EXPECT_EQ(value.get(), std::string(100, 'x'));
  auto nothing = weft::spawn([] {}, weft::cost(1), weft::may_inline, weft::tracked);
  EXPECT_TRUE(nothing.ready());
  nothing.get();
  auto fails = weft::spawn([]() -> int { throw std::runtime_error("mine"); }, weft::cost(1),
                           weft::may_inline);
  EXPECT_TRUE(fails.ready());
  EXPECT_THROW(static_cast<void>(fails.get()), std::runtime_error);
  weft::taskwait();
  int data = 0;
  auto named = weft::spawn([&] { return ++data; }, weft::inout(data), weft::cost(1), weft::may_inline);
  EXPECT_TRUE(named.ready() || !knows_free_accesses());
  EXPECT_EQ(named.get(), 1);
}

TEST(in_place, the_wait_for_children_and_groups_counts_right) {
  const with_mode here(in_place_mode::always);
  for (int round = 0; round < 20; ++round) {
    std::atomic<int> sum{0};
    weft::task_group group;
    for (int i = 0; i < 10; ++i) {
      weft::spawn([&] { ++sum; }, weft::cost(1), weft::may_inline);
      weft::spawn([&] { ++sum; });
      group.spawn([&] { ++sum; }, weft::cost(1), weft::may_inline);
      group.spawn([&] { ++sum; });
    }
    group.wait();
    weft::taskwait();
    EXPECT_EQ(sum, 40);
  }
}

TEST(in_place, children_are_complete_when_the_spawn_returns) {
  const with_mode here(in_place_mode::always);
  int grown = 0;
  weft::spawn(
      [&grown, local = std::vector<int>(3, 1)] { // the closure lives as long as they do
        for (int i = 0; i < 10; ++i)
          weft::spawn([&] { grown += local[0]; }, weft::inout(grown));
      },
      weft::cost(1), weft::may_inline);
  EXPECT_EQ(grown, 10);
  weft::taskwait();
}

TEST(in_place, the_destructor_of_the_closure_runs_as_the_task) {
  const with_mode here(in_place_mode::always);
  static std::atomic<int> destroyed, spawned;
  destroyed = spawned = 0;
  struct at_end {
    bool armed = true;
    at_end() = default;
    at_end(at_end &&other) noexcept : armed(std::exchange(other.armed, false)) {}
    at_end(const at_end &) = default;
    at_end &operator=(at_end &&) = delete;
    ~at_end() {
      if (!armed)
        return;
      destroyed += is_here() ? 1 : 100;
      weft::spawn([] { ++spawned; });
    }
  };
  weft::spawn([held = at_end()] { EXPECT_EQ(destroyed, 0); }, weft::cost(1), weft::may_inline);
  EXPECT_EQ(destroyed, 1);
  EXPECT_EQ(spawned, 1) << "and what it spawns is complete";
}

TEST(in_place, a_callable_is_copied_as_ever) {
  const with_mode here(in_place_mode::always);
  int seen = 0;
  auto body = [&seen, count = 0]() mutable { seen = ++count; };
  weft::spawn(body, weft::cost(1), weft::may_inline);
  weft::spawn(body, weft::cost(1), weft::may_inline);
  EXPECT_EQ(seen, 1) << "the caller's has not changed";
  struct refuses_copies {
    refuses_copies() = default;
    refuses_copies(const refuses_copies &) { throw std::runtime_error("no copy"); }
    refuses_copies &operator=(const refuses_copies &) = delete;
    ~refuses_copies() = default;
    void operator()() const {}
  };
  const refuses_copies f;
  EXPECT_THROW(weft::spawn(f, weft::cost(1), weft::may_inline), std::runtime_error);
}

TEST(in_place, exceptions_go_where_those_of_tasks_go) {
  const with_mode here(in_place_mode::always);
  const auto throws = [] { throw std::runtime_error("body"); };
  weft::spawn(throws, weft::cost(1), weft::may_inline);
  EXPECT_THROW(weft::taskwait(), std::runtime_error);
  weft::taskwait();
  {
    weft::task_group group;
    group.spawn(throws, weft::cost(1), weft::may_inline);
    EXPECT_TRUE(group.cancelled());
    bool ran = false;
    group.spawn([&] { ran = true; }, weft::cost(1), weft::may_inline);
    EXPECT_THROW(group.wait(), std::runtime_error);
    EXPECT_FALSE(ran) << "skipped, as in a cancelled group";
  }
  // Through several levels: the failure of a child that no taskwait took is the parent's.
  weft::spawn([&] { weft::spawn(throws, weft::cost(1), weft::may_inline); }, weft::cost(2),
              weft::may_inline);
  EXPECT_THROW(weft::taskwait(), std::runtime_error);
  weft::spawn([&] { weft::spawn(throws); }, weft::cost(2), weft::may_inline);
  EXPECT_THROW(weft::taskwait(), std::runtime_error);
  const auto joined = [&](auto &self, int depth) -> void {
    if (depth == 0)
      throw std::runtime_error("leaf");
    weft::join(weft::cost(1), [&] { self(self, depth - 1); }, [] {});
  };
  EXPECT_THROW(joined(joined, 10), std::runtime_error);
}

TEST(in_place, a_group_is_seen_in_the_task) {
  const with_mode here(in_place_mode::always);
  weft::task_group group;
  bool before = true, after = false;
  group.spawn(
      [&] {
        before = weft::this_task::cancelled();
        group.cancel();
        after = weft::this_task::cancelled();
      },
      weft::cost(1), weft::may_inline);
  EXPECT_FALSE(before);
  EXPECT_TRUE(after);
  group.wait();
}

/// Spawns with these clauses, and returns whether the task has run before that returns.
template <class... Clauses>
bool runs_in_place(const Clauses &...clauses) {
  std::atomic<bool> ran{false}, in_place{false};
  weft::spawn(
      [&] {
        in_place = is_here();
        ran = true;
      },
      weft::cost(1), weft::may_inline, clauses...);
  weft::taskwait();
  EXPECT_TRUE(ran);
  return in_place;
}

TEST(in_place, clauses_that_ask_for_more_keep_a_task_apart) {
  const with_mode here(in_place_mode::always);
  int x = 0;
  EXPECT_TRUE(runs_in_place());
  EXPECT_TRUE(runs_in_place(weft::label("l")));
  EXPECT_EQ(runs_in_place(weft::in(x)), knows_free_accesses());
  EXPECT_EQ(runs_in_place(weft::out(x)), knows_free_accesses());
  EXPECT_EQ(runs_in_place(weft::inout(x)), knows_free_accesses());
  EXPECT_FALSE(runs_in_place(weft::weak_in(x)));
  EXPECT_FALSE(runs_in_place(weft::concurrent(x)));
  EXPECT_FALSE(runs_in_place(weft::commutative(x)));
  EXPECT_FALSE(runs_in_place(weft::reduction(x, weft::sum)));
  EXPECT_FALSE(runs_in_place(weft::in(weft::region(&x, 1))));
  EXPECT_FALSE(runs_in_place(weft::priority(1)));
  EXPECT_FALSE(runs_in_place(weft::wait));
  EXPECT_FALSE(runs_in_place(weft::final()));
  EXPECT_FALSE(runs_in_place(weft::if_(true)));
  EXPECT_FALSE(runs_in_place(weft::stack_bytes(1 << 16)));
  int calls = 0;
  auto count = [&] { ++calls; };
  EXPECT_FALSE(runs_in_place(weft::onready(count)));
  EXPECT_EQ(calls, 1);
  const weft::access list[] = {weft::in(x), weft::out(calls)};
  EXPECT_EQ(runs_in_place(weft::accesses(list)), knows_free_accesses());
  const weft::access none[] = {{nullptr, weft::access_mode::inout}};
  EXPECT_TRUE(runs_in_place(weft::accesses(none)) || !knows_free_accesses());
  const weft::access shares[] = {weft::in(x), weft::commutative(calls)};
  EXPECT_FALSE(runs_in_place(weft::accesses(shares)));
}

TEST(in_place, a_task_whose_data_is_in_use_is_spawned_apart) {
  const with_mode here(in_place_mode::always);
  test::gate open;
  int x = 0, other = 0;
  std::atomic<bool> first{false};
  weft::spawn(
      [&] {
        EXPECT_TRUE(open.pass());
        x = 1;
        first = true;
      },
      weft::out(x));
  bool after = false, was_here = true, other_here = false;
  weft::spawn(
      [&] {
        was_here = is_here();
        after = first;
      },
      weft::in(x), weft::cost(1), weft::may_inline);
  weft::spawn([&] { other_here = is_here(); }, weft::inout(other), weft::cost(1), weft::may_inline);
  open.open();
  weft::taskwait();
  EXPECT_FALSE(was_here);
  EXPECT_TRUE(after);
  EXPECT_EQ(other_here, knows_free_accesses()) << "free data beside it";
  EXPECT_EQ(runs_in_place(weft::inout(x)), knows_free_accesses()) << "released";
}

TEST(in_place, the_weak_accesses_of_the_creator_hold_tasks_back) {
  const with_mode here(in_place_mode::always);
  test::gate open;
  int x = 0;
  std::atomic<bool> was_here{true}, in_order{false}, strong_here{false};
  weft::spawn(
      [&] {
        EXPECT_TRUE(open.pass());
        x = 1;
      },
      weft::out(x));
  weft::spawn(
      [&] {
        weft::spawn(
            [&] {
              was_here = is_here();
              in_order = x == 1;
            },
            weft::in(x), weft::cost(1), weft::may_inline);
        open.open();
      },
      weft::weak_in(x));
  weft::spawn(
      [&] {
        weft::spawn([&] { strong_here = is_here(); }, weft::inout(x), weft::cost(1),
                    weft::may_inline);
      },
      weft::inout(x));
  weft::taskwait();
  EXPECT_FALSE(was_here);
  EXPECT_TRUE(in_order);
  EXPECT_EQ(strong_here, knows_free_accesses()) << "the creator has it";
}

TEST(in_place, regions_among_the_siblings_keep_tasks_with_accesses_apart) {
  const with_mode here(in_place_mode::always);
  std::vector<int> data(10);
  weft::spawn([] {}, weft::inout(weft::region(data)));
  EXPECT_FALSE(runs_in_place(weft::inout(data[0])));
  weft::spawn([] {}, weft::inout(weft::region(data)));
  EXPECT_TRUE(runs_in_place());
}

TEST(in_place, children_of_a_final_task_and_of_a_taskiter_go_their_own_way) {
  const with_mode here(in_place_mode::always);
  std::atomic<int> in_final{0}, rounds{0};
  weft::spawn(
      [&] {
        weft::spawn([&] { in_final = weft::this_task::in_final() ? 1 : 2; }, weft::cost(1),
                    weft::may_inline);
      },
      weft::final());
  weft::taskwait();
  EXPECT_EQ(in_final, 1);
  weft::taskiter(3, [&] {
    weft::spawn([&] { ++rounds; }, weft::cost(1), weft::may_inline);
  });
  weft::taskwait();
  EXPECT_EQ(rounds, 3);
}

TEST(in_place, a_frame_that_handles_an_exception_keeps_it_to_itself) {
  const with_mode here(in_place_mode::always);
  bool none = false;
  try {
    throw std::runtime_error("mine");
  } catch (const std::runtime_error &) {
    weft::spawn([&] { none = !std::current_exception(); }, weft::cost(1), weft::may_inline);
    weft::taskwait();
  }
  EXPECT_TRUE(none);
}

TEST(in_place, what_a_task_may_ask_in_place) {
  const with_mode here(in_place_mode::always);
  int x = 0;
  bool released = false;
  std::string refused;
  weft::spawn(
      [&] {
        weft::release(weft::out(x)); // does nothing
        weft::release(weft::out(weft::region(&x, 1)));
        released = true;
        try {
          weft::this_task::increase_events(1);
        } catch (const weft::error &e) {
          refused = e.what();
          EXPECT_EQ(e.code(), weft::errc::not_a_task);
        }
      },
      weft::cost(1), weft::may_inline, weft::label("small"));
  EXPECT_TRUE(released);
  EXPECT_EQ(refused, "increase_events() in task 'small', which runs in place, where its end is that of "
                     "a call; spawn it without may_inline");
  static weft::task_local<int> local(1);
  *local = 2;
  weft::spawn([] { EXPECT_EQ(*local, 2); }, weft::cost(1), weft::may_inline);
  weft::taskwait();
}

TEST(in_place, a_task_needs_16_KiB_of_stack_in_place) {
  const with_mode here(in_place_mode::always);
  std::atomic<int> here_at_top{0}, deepest{0}, apart{0};
  const auto dig = [&](auto &self, int depth) -> void {
    char room[1024];
    room[0] = static_cast<char>(depth);
    asm volatile("" : : "r"(room) : "memory");
    const weft::rt::thread_context &e = *weft::rt::this_thread_context();
    if (weft::rt::stack_left(e) < 8 * 1024)
      return;
    if (is_here() && weft::rt::stack_left(e) < 16 * 1024 - 1024) // a frame below the spawn
      deepest = 1;
    if (!is_here() && depth > 0)
      ++apart;
    if (apart == 0)
      weft::spawn([&self, depth] { self(self, depth + 1); }, weft::cost(1), weft::may_inline);
    weft::taskwait();
    here_at_top += depth == 0 ? 1 : 0;
  };
  weft::spawn([&] { dig(dig, 0); });
  weft::taskwait();
  EXPECT_GE(apart, 1);
  EXPECT_EQ(here_at_top, 1);
}

TEST(in_place, never_and_a_cost_of_zero_are_apart) {
  {
    const with_mode here(in_place_mode::never);
    EXPECT_FALSE(runs_in_place());
  }
  const with_mode here(in_place_mode::by_time);
  std::atomic<int> in_place{0};
  for (int i = 0; i < 100; ++i) {
    weft::spawn([&] { in_place += is_here() ? 1 : 0; }, weft::cost(0), weft::may_inline);
    weft::taskwait();
  }
  EXPECT_EQ(in_place, 0);
}

/// Has a name of its own: Clang calls a lambda by its place in the file.
struct counted_small_task {
  std::atomic<int> &in_place;
  void operator()() const { in_place += is_here() ? 1 : 0; }
};

TEST(in_place, small_tasks_are_found_and_counted) {
  const with_mode here(in_place_mode::by_time);
  const std::uint64_t before = count_in_place();
  std::atomic<int> in_place{0};
  int tries = 0;
  for (; in_place < 10 && tries < 100'000; ++tries) { // a busy machine may halve it again and again
    weft::spawn(counted_small_task{in_place}, weft::cost(1), weft::may_inline);
    weft::taskwait();
  }
  EXPECT_GE(in_place, 10);
  EXPECT_GE(count_in_place() - before, 10u);
  bool named = false;
  for (const std::string &line : weft::tune::decisions())
    named = named || (line.find("counted_small_task") != std::string::npos &&
                      line.find(" ran in place; ") != std::string::npos);
  EXPECT_TRUE(named);
}

TEST(in_place, work_that_takes_long_or_waits_is_apart_again) {
  const with_mode here(in_place_mode::by_time);
  static weft::detail::work_site site("F = site of a test]");
  weft::detail::work_estimate &known = site.estimate;
  const auto spin = [](std::uint64_t ns) {
    for (const std::uint64_t end = weft::rt::now_ns() + ns; weft::rt::now_ns() < end;) {
    }
  };
  known.note(1000, 100); // a lie
  const auto run = [&](auto body) {
    const weft::detail::work_way way = weft::detail::choose_join(site, 1000);
    EXPECT_EQ(way, weft::detail::work_way::in_place_measured);
    weft::detail::work_timer timer;
    weft::detail::begin_timer(timer, site, 1000, way);
    body();
  };
  run([&] { spin(2 * weft::detail::k_long_work_ns); });
  EXPECT_EQ(known.largest(), 500u) << "at the end";
  known.note(1000, 100);
  bool left = false;
  run([&] {
    spin(2 * weft::detail::k_long_work_ns);
    while (!left)
      left = weft::detail::choose_join(site, 1000) != weft::detail::work_way::in_place;
    EXPECT_EQ(known.largest(), 500u) << "at a look inside";
    EXPECT_EQ(weft::detail::choose_join(site, 1000), weft::detail::work_way::apart_measured);
  });
  EXPECT_TRUE(left);
  EXPECT_EQ(known.largest(), 500u) << "once";
  known.note(1000, 100);
  weft::spawn([&] {
    run([&] { weft::this_task::sleep_for_ns(1000); });
  });
  weft::taskwait();
  EXPECT_EQ(known.largest(), 500u) << "it has waited";
  known.note(1000, 100);
  EXPECT_THROW(run([&] { throw std::runtime_error("pruned"); }), std::runtime_error);
  EXPECT_EQ(known.largest(), 1000u) << "an exception says nothing";
}

TEST(in_place, functions_have_estimates_of_their_own_and_those_that_are_too_many_run_apart) {
  const auto end = test::in_process({{"WEFT_WORKERS", "2"}}, [] {
    weft::start();
    const with_mode here(in_place_mode::by_time);
    const auto function = [](std::uintptr_t i) { return reinterpret_cast<const void *>(i << 12); };
    std::set<weft::detail::work_site *> all;
    for (std::uintptr_t i = 1; i <= 300; ++i)
      all.insert(&weft::detail::site_of_body(function(i)));
    EXPECT_EQ(all.size(), 300u);
    for (std::uintptr_t i = 301; i <= 2000; ++i)
      static_cast<void>(weft::detail::site_of_body(function(i)));
    weft::detail::work_site &one = weft::detail::site_of_body(function(2001)),
                            &other = weft::detail::site_of_body(function(2002));
    EXPECT_EQ(&one, &other) << "the table is full";
    for (int i = 0; i < 100; ++i) {
      const weft::detail::work_way way = weft::detail::choose_join(one, 5);
      EXPECT_EQ(way, weft::detail::work_way::apart_measured);
      weft::detail::work_timer timer;
      weft::detail::begin_timer(timer, one, 5, way);
    }
    EXPECT_EQ(one.estimate.largest(), 0u) << "small work of one function says nothing of another";
  });
  EXPECT_TRUE(end.exited(0)) << end;
}

TEST(in_place, a_time_without_all_of_its_work_is_not_kept) {
  const with_mode here(in_place_mode::by_time);
  static weft::detail::work_site site("F = another site]");
  const auto measure = [&](auto body) {
    const weft::detail::work_way way = weft::detail::choose_join(site, 5);
    EXPECT_EQ(way, weft::detail::work_way::apart_measured);
    weft::detail::work_timer timer;
    weft::detail::begin_timer(timer, site, 5, way);
    body();
  };
  measure([] { weft::detail::note_elsewhere(); });
  EXPECT_EQ(site.estimate.largest(), 0u) << "a branch that was stolen";
  measure([] { weft::spawn([] {}, weft::cost(0), weft::may_inline); });
  EXPECT_EQ(site.estimate.largest(), 0u) << "a task that was spawned apart";
  weft::taskwait();
  EXPECT_THROW(measure([] { throw std::runtime_error("pruned"); }), std::runtime_error);
  EXPECT_EQ(site.estimate.largest(), 0u);
  for (int i = 0; i < 1000 && site.estimate.largest() == 0; ++i) // it may be preempted
    measure([] {});
  EXPECT_EQ(site.estimate.largest(), 5u);
}

TEST(in_place, settings_say_what_may) {
  const auto mode_with = [](test::environment settings, in_place_mode wanted) {
    return test::in_process(std::move(settings), [wanted] {
      weft::taskwait();
      EXPECT_EQ(weft::rt::g_in_place_mode.load(), wanted);
    });
  };
  const struct {
    test::environment settings;
    in_place_mode wanted;
  } rows[] = {{{}, in_place_mode::by_time},
              {{{"WEFT_TUNE", "off"}}, in_place_mode::never},
              {{{"WEFT_TUNE", "replay:/nothing"}}, in_place_mode::never},
              {{{"WEFT_SCHED_SEED", "3"}, {"WEFT_WORKERS", "1"}, {"WEFT_SCHED_POLICY", ""}},
               in_place_mode::never},
              {{{"WEFT_TUNE_INLINE", "never"}}, in_place_mode::never},
              {{{"WEFT_TUNE_INLINE", "always"}, {"WEFT_TUNE", "off"}}, in_place_mode::always}};
  if (test::is_child()) { // the settings of the row that the parent runs
    const char *row = std::getenv("TEST_ROW");
    mode_with({}, rows[row ? std::atoi(row) : 0].wanted);
  }
  for (std::size_t i = 0; i < std::size(rows); ++i) {
    test::environment settings = rows[i].settings;
    settings.emplace_back("TEST_ROW", std::to_string(i));
    auto end = mode_with(settings, rows[i].wanted);
    EXPECT_TRUE(end.exited(0)) << i << end;
  }
}

// ---- The corpus: recursions that wait, lock, spin and send events end wherever they end without
// running in place, with any number of workers.

constexpr int k_depth = 5;

/// Calls leaf(i) for each of 32 leaves, in a recursion of joins, or of tasks; both have a cost.
void recur(bool by_join, int depth, int first, const std::function<void(int)> &leaf) {
  if (depth == 0)
    return leaf(first);
  const auto low = [&] { recur(by_join, depth - 1, first, leaf); };
  const auto high = [&] { recur(by_join, depth - 1, first + (1 << (depth - 1)), leaf); };
  if (by_join)
    return weft::join(weft::cost(1U << depth), low, high);
  weft::spawn([&] { low(); }, weft::cost(1U << (depth - 1)), weft::may_inline);
  weft::spawn([&] { high(); }, weft::cost(1U << (depth - 1)), weft::may_inline);
  weft::taskwait();
}

/// Runs a program in processes with 1, 2 and 8 workers, in place wherever that may be: from the first
/// thread, whose stack cannot leave it, and from a task.
void end_with_any_number_of_workers(void (*program)(bool by_join)) {
  if (test::is_child()) {
    static_cast<void>(test::in_process({}, [program] {
      for (const bool by_join : {true, false}) {
        program(by_join);
        weft::spawn([&] { program(by_join); });
        weft::taskwait();
      }
    }));
    return;
  }
  for (const char *workers : {"1", "2", "8"}) {
    auto end = test::in_process({{"WEFT_WORKERS", workers},
                                 {"WEFT_TUNE_INLINE", "always"},
                                 {"WEFT_WATCH_COMPUTE", "2ms"}},
                                [] {});
    EXPECT_TRUE(end.exited(0)) << workers << " workers\n" << end;
  }
}

TEST(in_place_corpus, leaves_that_take_a_mutex) {
  end_with_any_number_of_workers([](bool by_join) {
    weft::mutex lock;
    std::mutex plain;
    int count = 0, plain_count = 0;
    recur(by_join, k_depth, 0, [&](int) {
      {
        const std::lock_guard hold(lock);
        weft::taskyield();
        ++count;
      }
      const std::lock_guard hold(plain);
      ++plain_count;
    });
    EXPECT_EQ(count, 1 << k_depth);
    EXPECT_EQ(plain_count, 1 << k_depth);
  });
}

TEST(in_place_corpus, leaves_that_wait_for_earlier_tasks) {
  end_with_any_number_of_workers([](bool by_join) {
    std::atomic<int> ended{0};
    recur(by_join, k_depth, 0, [&](int i) {
      weft::event set;
      auto before = weft::spawn([&] { return set.set(), 1; });
      set.wait();
      weft::task_group group;
      group.spawn([&] { weft::taskyield(); });
      group.spawn([] {}, weft::cost(1), weft::may_inline);
      group.wait();
      auto small = weft::spawn([i] { return i; }, weft::cost(1), weft::may_inline);
      ended += before.get() + small.get() - i;
    });
    EXPECT_EQ(ended, 1 << k_depth);
  });
}

TEST(in_place_corpus, a_task_that_waits_for_what_its_creator_spawned_before) {
  end_with_any_number_of_workers([](bool by_join) {
    std::atomic<int> sum{0};
    recur(by_join, k_depth, 0, [&](int) {
      weft::event set;
      int data = 0;
      weft::spawn(
          [&] {
            weft::taskyield();
            ++data;
            set.set();
          },
          weft::inout(data));
      weft::spawn([&] { set.wait(), ++sum; }, weft::cost(1), weft::may_inline);
      weft::spawn([&] { sum += data; }, weft::in(data), weft::cost(1), weft::may_inline);
      weft::taskwait();
    });
    EXPECT_EQ(sum, 2 << k_depth);
  });
}

TEST(in_place_corpus, a_task_that_spins_for_what_its_creator_spawned_before) {
  end_with_any_number_of_workers([](bool by_join) {
    std::atomic<int> sum{0};
    recur(by_join, 1, 0, [&](int leaf) {
      if (leaf != 0) // a spare that has such a task, too, gets no spare of its own
        return;
      std::atomic<bool> flag{false};
      weft::spawn([&] { flag = true; });
      weft::spawn(
          [&] {
            while (!flag)
              std::this_thread::yield();
            ++sum;
          },
          weft::cost(1), weft::may_inline);
      weft::taskwait();
    });
    EXPECT_EQ(sum, 1);
  });
}

TEST(in_place_corpus, leaves_whose_tasks_have_events) {
  end_with_any_number_of_workers([](bool by_join) {
    std::atomic<int> ended{0};
    recur(by_join, k_depth, 0, [&](int) {
      int data = 0;
      weft::spawn(
          [&] {
            weft::this_task::increase_events(1);
            const weft::task_ref self = weft::this_task::self();
            weft::spawn([self] { weft::decrease_events(self); });
            ++data;
          },
          weft::inout(data));
      weft::spawn([&] { ended += data; }, weft::in(data), weft::cost(1), weft::may_inline);
      weft::taskwait();
    });
    EXPECT_EQ(ended, 1 << k_depth);
  });
}

TEST(in_place_corpus, the_second_branch_waits_for_the_first_one) {
  end_with_any_number_of_workers([](bool by_join) {
    std::atomic<int> ended{0};
    recur(by_join, k_depth - 1, 0, [&](int) {
      weft::event set;
      weft::join(weft::cost(2), [&] { set.set(); }, [&] { set.wait(), ++ended; });
    });
    EXPECT_EQ(ended, 1 << (k_depth - 1));
  });
}

TEST(in_place_corpus, threads_of_the_program_end_the_waits) {
  end_with_any_number_of_workers([](bool by_join) {
    std::atomic<int> ended{0};
    recur(by_join, 2, 0, [&](int) {
      weft::event set;
      std::thread other([&] { set.set(); });
      set.wait();
      other.join();
      ++ended;
    });
    EXPECT_EQ(ended, 4);
  });
}

TEST(in_place_corpus, tasks_below_that_are_not_waited_for) {
  end_with_any_number_of_workers([](bool by_join) {
    std::atomic<int> sum{0};
    recur(by_join, k_depth, 0, [&](int) { weft::spawn([&] { ++sum; }); });
    weft::taskwait();
    EXPECT_EQ(sum, 1 << k_depth);
  });
}

TEST(in_place, what_ends_while_tasks_below_go_on_is_not_measured) {
  const with_mode here(in_place_mode::by_time);
  std::atomic<int> ran{0};
  auto body = [&ran] {
    for (int i = 0; i < 3; ++i)
      weft::spawn([&ran] { ++ran; });
  };
  for (int i = 0; i < 4; ++i)
    weft::spawn(body, weft::cost(7), weft::may_inline);
  weft::taskwait();
  EXPECT_EQ(ran, 12);
  EXPECT_EQ(weft::detail::task_site<decltype(body)>.estimate.largest(), 0u);
}

TEST(in_place, what_ends_by_an_exception_is_not_measured) {
  const with_mode here(in_place_mode::by_time);
  auto body = [] { throw 1; };
  auto &estimate = weft::detail::task_site<decltype(body)>.estimate;
  estimate.note(100, 10);
  weft::spawn(body, weft::cost(150), weft::may_inline);
  EXPECT_THROW(weft::taskwait(), int);
  EXPECT_EQ(estimate.largest(), 100u);
}

} // namespace
