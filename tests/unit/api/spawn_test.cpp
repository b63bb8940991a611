// SPDX-License-Identifier: Apache-2.0
// weft::spawn: the order that accesses give to siblings, and every clause.
#include "support/case_process.hpp"
#include "support/gate.hpp"
#include "support/scale.hpp"

#include <weft/weft.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <gtest/gtest.h>
#include <memory>
#include <numeric>
#include <stdexcept>
#include <string>
#include <thread>
#include <type_traits>
#include <vector>

namespace {

using test::dawdle;

TEST(spawn, runs_the_callable_before_taskwait_returns) {
  bool ran = false;
  weft::spawn([&] { ran = true; });
  weft::taskwait();
  EXPECT_TRUE(ran);
}

TEST(spawn, a_reader_runs_after_the_writer_before_it) {
  int x = 0, seen = -1;
  weft::spawn([&] { dawdle(), x = 7; }, weft::out(x));
  weft::spawn([&] { seen = x; }, weft::in(x));
  weft::taskwait();
  EXPECT_EQ(seen, 7);
}

TEST(spawn, a_writer_runs_after_all_readers_before_it) {
  int x = 1;
  std::array<int, 20> seen{};
  for (int &s : seen)
    weft::spawn([&x, &s] { dawdle(), s = x; }, weft::in(x));
  weft::spawn([&] { x = 2; }, weft::out(x));
  weft::taskwait();
  EXPECT_EQ(std::accumulate(seen.begin(), seen.end(), 0), 20);
  EXPECT_EQ(x, 2);
}

TEST(spawn, a_writer_runs_after_the_writer_before_it) {
  int x = 0;
  weft::spawn([&] { dawdle(), x = 1; }, weft::out(x));
  weft::spawn([&] { x = 2; }, weft::out(x));
  weft::taskwait();
  EXPECT_EQ(x, 2);
}

TEST(spawn, inout_tasks_on_one_address_run_in_order_of_creation) {
  std::vector<int> order;
  const int n = test::scaled(2000);
  for (int i = 0; i != n; ++i)
    weft::spawn([&order, i] { order.push_back(i); }, weft::inout(weft::object(order)));
  weft::taskwait();
  ASSERT_EQ(order.size(), static_cast<std::size_t>(n));
  EXPECT_TRUE(std::is_sorted(order.begin(), order.end()));
}

TEST(spawn, readers_of_one_value_may_all_run_at_the_same_time) {
  int x = 3;
  std::atomic<int> inside{0};
  bool met[4] = {};
  for (bool &m : met)
    weft::spawn([&] { ++inside, m = test::eventually([&] { return inside == 4; }); }, weft::in(x));
  weft::taskwait();
  EXPECT_TRUE(met[0] && met[1] && met[2] && met[3]);
}

TEST(spawn, a_task_goes_on_while_one_with_other_data_waits) {
  int x = 0, y = 0;
  test::gate gate;
  bool passed = false;
  weft::spawn([&] { passed = gate.pass(), x = 1; }, weft::out(x));
  weft::spawn([&] { x = 2; }, weft::out(x));
  weft::spawn([&] { y = 1, gate.open(); }, weft::out(y));
  weft::taskwait();
  EXPECT_TRUE(passed);
  EXPECT_EQ(x, 2);
}

TEST(spawn, alternating_readers_and_writers_see_every_version) {
  int x = 0;
  const int versions = test::scaled(300, 30);
  std::vector<int> seen(static_cast<std::size_t>(versions) * 3, -1);
  for (int v = 0; v != versions; ++v) {
    weft::spawn([&x, v] { x = v; }, weft::out(x));
    for (int r = 0; r != 3; ++r)
      weft::spawn([&x, s = &seen[static_cast<std::size_t>(3 * v + r)]] { *s = x; }, weft::in(x));
  }
  weft::taskwait();
  for (int i = 0; i != 3 * versions; ++i)
    ASSERT_EQ(seen[static_cast<std::size_t>(i)], i / 3);
}

TEST(spawn, a_null_address_is_ignored) {
  test::gate gate;
  bool passed = false;
  weft::access nothing{};
  weft::spawn([&] { passed = gate.pass(); }, nothing);
  weft::spawn([&] { gate.open(); },
              nothing); // would wait for the first one if null were an address
  weft::access list[] = {nothing, nothing};
  bool ran = false;
  weft::spawn([&] { ran = true; }, weft::accesses(list));
  weft::taskwait();
  EXPECT_TRUE(passed);
  EXPECT_TRUE(ran);
}

TEST(spawn, a_task_may_have_a_thousand_accesses) {
  std::vector<int> cells(1000);
  for (int &c : cells)
    weft::spawn([&c] { c = 1; }, weft::out(c));
  std::vector<weft::access> all;
  for (int &c : cells)
    all.push_back(weft::inout(c));
  int sum = 0;
  weft::spawn(
      [&] {
        for (int &c : cells)
          sum += c, c = 2;
      },
      weft::accesses(all));
  for (int &c : cells)
    weft::spawn([&c] { ++c; }, weft::inout(c));
  weft::taskwait();
  EXPECT_EQ(sum, 1000);
  EXPECT_EQ(std::count(cells.begin(), cells.end(), 3), 1000);
}

TEST(spawn, fixed_accesses_and_a_list_may_be_given_together) {
  int a = 0, b = 0, c = 0, sum = 0;
  weft::spawn([&] { dawdle(), a = 1; }, weft::out(a));
  weft::spawn([&] { dawdle(), b = 2; }, weft::out(b));
  weft::spawn([&] { dawdle(), c = 4; }, weft::out(c));
  std::vector<weft::access> list{weft::in(b), weft::in(c)};
  weft::spawn([&] { sum = a + b + c; }, weft::in(a), weft::accesses(list), weft::label("sum"));
  list.clear(); // the list was read before spawn returned
  weft::taskwait();
  EXPECT_EQ(sum, 7);
}

TEST(spawn, an_empty_list_is_no_access) {
  bool ran = false;
  weft::spawn([&] { ran = true; }, weft::accesses({}));
  weft::taskwait();
  EXPECT_TRUE(ran);
}

TEST(spawn, an_address_named_twice_counts_with_its_strongest_mode) {
  for (auto first : {weft::access_mode::in, weft::access_mode::out, weft::access_mode::inout})
    for (auto second : {weft::access_mode::in, weft::access_mode::out, weft::access_mode::inout}) {
      int x = 0, seen = -1;
      weft::spawn([&] { dawdle(), x = 1; }, weft::out(x));
      weft::spawn([&] { dawdle(), seen = x; }, weft::access{&x, first}, weft::access{&x, second});
      if (first == weft::access_mode::in && second == weft::access_mode::in)
        weft::spawn([] {}, weft::in(x));
      weft::spawn([&] { x = 2; }, weft::out(x));
      weft::taskwait();
      EXPECT_EQ(seen, 1) << static_cast<int>(first) << static_cast<int>(second);
      EXPECT_EQ(x, 2);
    }
}

TEST(spawn, a_list_may_hold_null_and_the_same_address_in_every_mode) {
  using mode = weft::access_mode;
  const mode modes[] = {mode::in,      mode::out,      mode::inout,
                        mode::weak_in, mode::weak_out, mode::weak_inout};
  int x = 0, y = 0;
  std::vector<weft::access> list;
  for (int i = 0; i != 30; ++i) {
    list.push_back({&x, modes[i % 6]});
    list.push_back({nullptr, modes[i % 5]});
    list.push_back({&y, modes[i % 4]});
  }
  for (int i = 0; i != 50; ++i)
    weft::spawn([&, i] { x = x == i ? i + 1 : -1000, y = x; }, weft::accesses(list),
                weft::inout(x));
  weft::taskwait(list);
  EXPECT_EQ(x, 50);
  EXPECT_EQ(y, 50);
  weft::taskwait();
  const weft::access nothing[3] = {};
  weft::taskwait(nothing); // names no data, so there is nothing to wait for
}

TEST(spawn, volatile_data_and_arrays_can_be_named) {
  volatile int v = 0;
  int a[4] = {};
  weft::spawn(
      [&] {
        dawdle();
        v = 1;
        a[0] = 2;
      },
      weft::out(v), weft::out(a));
  int sum = 0;
  weft::spawn([&] { sum = v + a[0]; }, weft::in(v), weft::in(a[0]), weft::out(sum));
  weft::taskwait(weft::in(sum));
  EXPECT_EQ(sum, 3);
  weft::taskwait();
}

TEST(spawn, in_and_inout_of_one_address_still_exclude_a_reader) {
  int x = 0, seen = -1;
  weft::spawn([&] { dawdle(), ++x; }, weft::in(x), weft::inout(x));
  weft::spawn([&] { seen = x; }, weft::in(x));
  weft::taskwait();
  EXPECT_EQ(seen, 1);
}

TEST(spawn, an_address_may_be_named_many_times_by_one_task) {
  int x = 0;
  std::vector<weft::access> list(50, weft::inout(x));
  for (int i = 0; i != 20; ++i)
    weft::spawn([&] { ++x; }, weft::accesses(list), weft::in(x));
  weft::taskwait();
  EXPECT_EQ(x, 20);
}

TEST(spawn, parts_of_an_array_are_named_by_their_first_element) {
  std::array<int, 8> a{};
  int *block[] = {&a[0], &a[4]};
  for (int *b : block)
    weft::spawn([b] { dawdle(), std::fill(b, b + 4, 1); }, weft::out(*b));
  for (int *b : block)
    weft::spawn([b] { std::for_each(b, b + 4, [](int &v) { v *= 3; }); }, weft::inout(*b));
  weft::taskwait();
  EXPECT_EQ(std::accumulate(a.begin(), a.end(), 0), 24);
}

TEST(spawn, a_label_is_the_name_of_the_running_task) {
  weft::start();
  std::string inside, nested, outside = weft::this_task::label();
  weft::spawn(
      [&] {
        inside = weft::this_task::label();
        weft::spawn([&] { nested = weft::this_task::label(); }, weft::label("inner"));
        weft::taskwait();
      },
      weft::label("outer"));
  weft::taskwait();
  EXPECT_EQ(inside, "outer");
  EXPECT_EQ(nested, "inner");
  EXPECT_EQ(outside, "main");
  EXPECT_STREQ(weft::this_task::label(), "main");
}

TEST(spawn, an_external_thread_is_labelled_thread) {
  weft::start(); // by the main thread
  std::string label;
  std::thread([&] {
    weft::spawn([] {});
    weft::taskwait();
    label = weft::this_task::label();
  }).join();
  EXPECT_EQ(label, "thread");
}

TEST(spawn, any_priority_is_accepted) {
  std::atomic<int> ran{0};
  for (int p : {0, 1, -1, 100, 32767, -32768, 1'000'000, -1'000'000})
    weft::spawn([&] { ++ran; }, weft::priority(p));
  weft::taskwait();
  EXPECT_EQ(ran, 8);
}

/// A manager would make them ready one by one, beside the worker.
TEST(spawn, the_central_policy_runs_the_higher_priority_first) {
  auto end = test::in_process({{"WEFT_WORKERS", "1"},
                               {"WEFT_SCHED_POLICY", "central"},
                               {"WEFT_MANAGE_MODE", "direct"},
                               {"WEFT_SCHED_IMMEDIATE_SUCCESSOR", "0"},
                               {"WEFT_WATCH_MAX_SPARES", "0"}},
                              [] {
                                std::vector<int> order;
                                int gate = 0;
                                // All become ready at once, by the end of a task on which they depend.
                                weft::spawn([&] { gate = 1; }, weft::out(gate));
                                for (int p : {3, 9, 1, 7, 5, -4})
                                  weft::spawn([&order, p] { order.push_back(p); }, weft::in(gate),
                                              weft::priority(p));
                                EXPECT_TRUE(test::eventually([&] {
                                  return order.size() == 6;
                                })); // a taskwait would choose by itself
                                weft::taskwait();
                                EXPECT_EQ(order, (std::vector<int>{9, 7, 5, 3, 1, -4}));
                              });
  EXPECT_TRUE(end.exited(0)) << end;
}

/// All become ready at once, by the end of a task on which they depend; the worker goes on with one of them.
std::vector<int> order_of_priorities() {
  std::vector<int> order;
  int gate = 0;
  weft::spawn([&] { gate = 1; }, weft::out(gate));
  for (int p : {3, -4, 9, 0, 7, -9})
    weft::spawn([&order, p] { order.push_back(p); }, weft::in(gate), weft::priority(p));
  EXPECT_TRUE(
      test::eventually([&] { return order.size() == 6; })); // a taskwait would choose by itself
  weft::taskwait();
  return order;
}

TEST(spawn, every_policy_runs_the_higher_priority_first) {
  for (const char *policy : {"stealing", "delegated", "local-fifo", "central"})
    for (const char *successor : {"0", "1"}) {
      if (test::is_child() &&
          (std::string(std::getenv("WEFT_SCHED_POLICY")) != policy ||
           std::string(std::getenv("WEFT_SCHED_IMMEDIATE_SUCCESSOR")) != successor))
        continue;
      auto end = test::in_process(
          {{"WEFT_WORKERS", "1"},
           {"WEFT_SCHED_POLICY", policy},
           {"WEFT_MANAGE_MODE", "direct"},
           {"WEFT_SCHED_IMMEDIATE_SUCCESSOR", successor},
           {"WEFT_WATCH_MAX_SPARES", "0"}},
          [] { EXPECT_EQ(order_of_priorities(), (std::vector<int>{9, 7, 3, 0, -4, -9})); });
      EXPECT_TRUE(end.exited(0)) << policy << ", immediate successor " << successor << ": " << end;
    }
}

/// A chain, each task of which is made ready by the one before; its second task spawns an urgent one.
std::vector<int> order_of_chain_and_urgent(int chain_priority, int urgent_priority) {
  std::vector<int> order;
  int x = 0;
  weft::spawn([] {}, weft::priority(1)); // programs without priorities do not ask
  weft::taskwait();
  for (int i = 0; i < 4; ++i)
    weft::spawn(
        [&order, i, urgent_priority] {
          if (i == 1)
            weft::spawn([&order, urgent_priority] { order.push_back(urgent_priority); },
                        weft::priority(urgent_priority));
          order.push_back(-i);
        },
        weft::inout(x), weft::priority(chain_priority));
  EXPECT_TRUE(
      test::eventually([&] { return order.size() == 5; })); // a taskwait would choose by itself
  weft::taskwait();
  return order;
}

TEST(spawn, an_immediate_successor_lets_more_urgent_work_of_larger_priority_go_first) {
  for (const char *policy : {"stealing", "delegated", "local-fifo", "central"}) {
    if (test::is_child() && std::string(std::getenv("WEFT_SCHED_POLICY")) != policy)
      continue;
    auto end = test::in_process(
        {{"WEFT_WORKERS", "1"},
         {"WEFT_SCHED_POLICY", policy},
         {"WEFT_SCHED_IMMEDIATE_SUCCESSOR", "1"},
         {"WEFT_WATCH_MAX_SPARES", "0"}},
        [] {
          EXPECT_EQ(order_of_chain_and_urgent(0, 7), (std::vector<int>{0, -1, 7, -2, -3}));
          EXPECT_EQ(order_of_chain_and_urgent(5, 7), (std::vector<int>{0, -1, 7, -2, -3}));
          EXPECT_EQ(order_of_chain_and_urgent(7, 5), (std::vector<int>{0, -1, -2, -3, 5}));
        });
    EXPECT_TRUE(end.exited(0)) << policy << ": " << end;
  }
}

TEST(spawn, priority_never_overrules_the_data_flow) {
  int x = 0;
  std::vector<int> order;
  for (int i = 0; i != 50; ++i)
    weft::spawn([&order, i] { order.push_back(i); }, weft::inout(x), weft::priority(i));
  weft::taskwait();
  EXPECT_TRUE(std::is_sorted(order.begin(), order.end()));
  EXPECT_EQ(order.size(), 50u);
}

TEST(spawn, children_of_a_final_task_run_in_place_and_in_order) {
  std::vector<int> order;
  bool in_final = false, deep_in_final = false, outside = weft::this_task::in_final();
  weft::spawn(
      [&] {
        in_final = weft::this_task::in_final();
        order.push_back(0);
        weft::spawn([&] {
          order.push_back(1);
          weft::spawn([&] { deep_in_final = weft::this_task::in_final(), order.push_back(2); });
          order.push_back(3);
        });
        order.push_back(4);
        weft::spawn([&] { order.push_back(5); }, weft::inout(weft::object(order)));
        order.push_back(6);
      },
      weft::final());
  weft::taskwait();
  EXPECT_EQ(order, (std::vector<int>{0, 1, 2, 3, 4, 5, 6}));
  EXPECT_TRUE(in_final);
  EXPECT_TRUE(deep_in_final);
  EXPECT_FALSE(outside);
}

TEST(spawn, final_false_is_an_ordinary_task) {
  bool in_final = true;
  weft::spawn([&] { in_final = weft::this_task::in_final(); }, weft::final(false));
  weft::taskwait();
  EXPECT_FALSE(in_final);
}

TEST(spawn, a_final_task_waits_for_the_data_of_its_weak_accesses) {
  int x = 0, seen = -1;
  weft::spawn([&] { dawdle(), x = 5; }, weft::out(x));
  weft::spawn([&] { weft::spawn([&] { seen = x; }, weft::in(x)); }, weft::weak_in(x),
              weft::final());
  weft::taskwait();
  EXPECT_EQ(seen, 5);
}

TEST(spawn, an_undeferred_task_has_run_when_spawn_returns) {
  int x = 0;
  weft::spawn([&] { dawdle(), x = 1; }, weft::out(x));
  bool ran = false;
  weft::spawn([&] { ran = true, x += 10; }, weft::inout(x), weft::if_(false));
  EXPECT_TRUE(ran);
  EXPECT_EQ(x, 11);
  weft::taskwait();
}

TEST(spawn, an_undeferred_task_that_need_not_wait_runs_on_the_thread_of_its_creator) {
  std::thread::id creator, child;
  weft::spawn([&] {
    creator = std::this_thread::get_id();
    weft::spawn([&] { child = std::this_thread::get_id(); }, weft::if_(false));
  });
  weft::taskwait();
  EXPECT_EQ(creator, child);
}

TEST(spawn, an_undeferred_task_waits_for_its_own_data_only) {
  int x = 0, y = 0;
  test::gate gate;
  bool passed = false;
  weft::spawn([&] { passed = gate.pass(), x = 1; }, weft::out(x));
  weft::spawn([&] { y = 1; }, weft::out(y), weft::if_(false));
  gate.open(); // reached while the first task still runs
  weft::taskwait();
  EXPECT_TRUE(passed);
  EXPECT_EQ(x + y, 2);
}

TEST(spawn, if_true_is_an_ordinary_task) {
  bool ran = false;
  weft::spawn([&] { ran = true; }, weft::if_(true));
  weft::taskwait();
  EXPECT_TRUE(ran);
}

TEST(spawn, the_wait_clause_holds_all_accesses_until_the_children_are_complete) {
  int x = 0, seen = -1;
  bool child_done = false;
  weft::spawn(
      [&] {
        x = 1;
        weft::spawn(
            [&] { dawdle(), child_done = true; }); // touches nothing that its parent declares
      },
      weft::out(x), weft::wait);
  weft::spawn([&] { seen = child_done ? x : -2; }, weft::in(x));
  weft::taskwait();
  EXPECT_EQ(seen, 1);
}

void count_call(void *context) { ++*static_cast<std::atomic<int> *>(context); }

TEST(spawn, onready_is_called_once_before_the_body) {
  int x = 0, calls_at_start = -1;
  std::atomic<int> calls{0};
  test::gate gate;
  weft::spawn([&] { (void)gate.pass(), x = 1; }, weft::out(x));
  weft::spawn([&] { calls_at_start = calls; }, weft::in(x), weft::onready(&count_call, &calls));
  dawdle();
  EXPECT_EQ(calls, 0) << "the task's data is not there yet";
  gate.open();
  weft::taskwait();
  EXPECT_EQ(calls_at_start, 1);
  EXPECT_EQ(calls, 1);
}

TEST(spawn, onready_is_called_for_every_kind_of_task) {
  std::atomic<int> calls{0};
  weft::onready clause(&count_call, &calls);
  weft::spawn([] {}, clause);
  weft::spawn([] {}, clause, weft::if_(false));
  weft::spawn([&] { weft::spawn([] {}, clause); }, weft::final());
  weft::spawn([] { return 1; }, clause).get();
  weft::taskwait();
  EXPECT_EQ(calls, 4);
}

TEST(spawn, onready_sees_its_task_and_what_it_spawns_are_its_children) {
  struct seen {
    const char *label = nullptr;
    int order = 0, child = 0, body = 0;
  } s;
  int x = 0;
  weft::spawn([&] { dawdle(), x = 1; }, weft::out(x));
  weft::spawn(
      [&] {
        weft::taskwait(); // for the child
        s.body = ++s.order;
      },
      weft::in(x), weft::label("owner"),
      weft::onready(
          [](void *p) {
            auto &s = *static_cast<seen *>(p);
            s.label = weft::this_task::label();
            weft::spawn([&s] { dawdle(), s.child = ++s.order; });
          },
          &s));
  weft::taskwait();
  EXPECT_STREQ(s.label, "owner");
  EXPECT_EQ(s.child, 1);
  EXPECT_EQ(s.body, 2);
}

TEST(spawn, onready_must_not_wait) {
  std::string what;
  weft::spawn([] {}, weft::label("hasty"),
              weft::onready(
                  [](void *p) {
                    try {
                      weft::this_task::block();
                    } catch (const weft::error &e) {
                      if (e.code() == weft::errc::no_block)
                        *static_cast<std::string *>(p) = e.what();
                    }
                  },
                  &what));
  weft::taskwait();
  EXPECT_NE(what.find("the onready function of task 'hasty' must not wait"), std::string::npos)
      << what;
}

TEST(spawn, onready_must_not_wait_where_nothing_is_to_be_waited_for_either) {
  int refused = 0;
  weft::spawn([] {}, weft::onready(
                         [](void *p) {
                           weft::task_group g;
                           for (const auto wait : {+[](weft::task_group &) { weft::taskwait(); },
                                                   +[](weft::task_group &own) { own.wait(); }})
                             try {
                               wait(g);
                             } catch (const weft::error &e) {
                               *static_cast<int *>(p) += e.code() == weft::errc::no_block;
                             }
                         },
                         &refused));
  weft::taskwait();
  EXPECT_EQ(refused, 2);
}

struct alignas(128) wide {
  int value = 0;
};
bool is_aligned(const wide &w) { return reinterpret_cast<std::uintptr_t>(&w) % 128 == 0; }

TEST(spawn, a_callable_and_a_result_may_be_aligned_as_they_like) {
  wide w;
  w.value = 7;
  std::atomic<int> right{0};
  for (int i = 0; i != 20; ++i) {
    weft::spawn([w, &right] { right += is_aligned(w) && w.value == 7; });
    weft::handle<wide> result = weft::spawn([w] { return w; });
    auto both = weft::spawn([i] { return std::pair(wide{i}, std::make_shared<int>(i)); });
    const wide got = result.get();
    right += is_aligned(got) && got.value == 7;
    right += both.get().first.value == i;
    static_cast<void>(weft::spawn([w] { return w; })); // the result goes with the task
  }
  weft::taskwait();
  weft::taskloop(weft::range(10), [w, &right](int) { right += is_aligned(w); });
  weft::taskfor(weft::range(10), [w, &right](int) { right += is_aligned(w); });
  weft::taskiter(2, [w, &right] { weft::spawn([w, &right] { right += is_aligned(w); }); });
  weft::taskwait();
  EXPECT_EQ(right, 60 + 10 + 10 + 2);
}

TEST(spawn, an_onready_that_throws_ends_the_program_and_names_the_task) {
  auto end = test::in_process({}, [] {
    int x = 0;
    weft::spawn([&] { dawdle(), x = 1; }, weft::out(x));
    weft::spawn([] {}, weft::in(x), weft::label("hasty"),
                weft::onready([](void *) { throw std::runtime_error("too early"); }, nullptr));
    weft::taskwait();
  });
  EXPECT_TRUE(end.aborted()) << end;
  EXPECT_TRUE(end.printed(
      "weft: fatal: the onready function of task 'hasty' threw: too early; let it catch"))
      << end;
}

// Uses about `bytes` of stack.
WEFT_NOINLINE int deep(std::size_t bytes) {
  volatile char room[1024];
  room[0] = 1;
  room[1023] = 1;
  return bytes < 2048 ? room[0] : deep(bytes - 1024) + room[1023];
}

TEST(spawn, stack_bytes_gives_room_for_deep_recursion) {
  for (std::size_t mib : {1, 4, 16}) {
    int levels = 0;
    weft::spawn([&] { levels = deep((mib << 20) / 2); }, weft::stack_bytes(mib << 20));
    weft::taskwait();
    EXPECT_GT(levels, 100);
  }
}

TEST(spawn, stack_bytes_holds_for_a_task_that_suspends_and_has_accesses) {
  int x = 0, levels = 0;
  weft::spawn([&] { dawdle(), x = 1; }, weft::out(x));
  weft::spawn([&] { dawdle(), levels = deep(x << 19), dawdle(); }, weft::inout(x),
              weft::stack_bytes(1 << 20));
  weft::spawn([&] { levels += deep(1 << 19); }, weft::inout(x), weft::stack_bytes(1 << 20),
              weft::if_(false));
  weft::taskwait();
  EXPECT_GT(levels, 200);
}

TEST(spawn, a_move_only_callable_is_moved_into_the_task) {
  auto value = std::make_unique<int>(5);
  int seen = 0;
  weft::spawn([&seen, value = std::move(value)] { seen = *value; });
  weft::taskwait();
  EXPECT_EQ(seen, 5);
}

TEST(spawn, an_lvalue_callable_is_copied_and_may_be_mutable) {
  int sum = 0;
  auto f = [&sum, i = 1]() mutable { sum += i++; };
  weft::spawn(f, weft::inout(sum));
  weft::spawn(f, weft::inout(sum));
  weft::taskwait();
  EXPECT_EQ(sum, 2);
}

TEST(spawn, a_function_pointer_is_a_callable) {
  static std::atomic<int> calls{0};
  calls = 0;
  weft::spawn(+[] { ++calls; });
  weft::taskwait();
  EXPECT_EQ(calls, 1);
}

TEST(spawn, a_large_and_aligned_callable_arrives_intact) {
  struct alignas(32) block {
    std::array<int, 1024> values;
  } b;
  std::iota(b.values.begin(), b.values.end(), 0);
  int sum = 0;
  bool aligned = false;
  weft::spawn([&sum, &aligned, b] {
    sum = std::accumulate(b.values.begin(), b.values.end(), 0);
    aligned = reinterpret_cast<std::uintptr_t>(&b) % 32 == 0;
  });
  weft::taskwait();
  EXPECT_EQ(sum, 1023 * 512);
  EXPECT_TRUE(aligned);
}

struct witness {
  explicit witness(std::atomic<int> &alive) : alive(&alive) { ++alive; }
  witness(const witness &o) : alive(o.alive) { ++*alive; }
  ~witness() { --*alive; }
  std::atomic<int> *alive;
};

TEST(spawn, the_callable_is_destroyed_once_for_each_construction) {
  std::atomic<int> alive{0};
  int x = 0;
  for (int i = 0; i != 100; ++i)
    weft::spawn([w = witness(alive), &x] { ++x; }, weft::inout(x), weft::if_(i % 3 != 0),
                weft::final(i % 5 == 0));
  weft::taskwait();
  EXPECT_EQ(x, 100);
  EXPECT_EQ(alive, 0);
}

TEST(spawn, the_callable_lives_until_the_descendants_are_complete) {
  std::atomic<int> alive{0};
  int seen = 0;
  test::gate gate;
  weft::spawn([w = witness(alive), value = 41, &seen, &gate] {
    weft::spawn([&value, &seen, &gate] {
      weft::spawn([&] {
        (void)gate.pass(), seen = value + 1;
      }); // value lives in the grandparent's callable
    });
  });
  dawdle();
  gate.open();
  weft::taskwait();
  EXPECT_EQ(seen, 42);
  EXPECT_EQ(alive, 0);
}

struct refuses_copy {
  refuses_copy() = default;
  refuses_copy(const refuses_copy &) { throw std::runtime_error("no copy"); }
  void operator()() const {}
};

TEST(spawn, a_callable_whose_copy_throws_makes_spawn_throw_and_leaves_no_task) {
  refuses_copy f;
  int x = 0;
  auto before = weft::stats().live_bytes;
  for (int i = 0; i != 10; ++i)
    EXPECT_THROW(weft::spawn(f, weft::inout(x)), std::runtime_error);
  weft::spawn([&] { ++x; }, weft::inout(x)); // nothing holds x
  weft::taskwait();
  EXPECT_EQ(x, 1);
  EXPECT_LE(weft::stats().live_bytes, before + (64u << 10));
}

TEST(spawn, ten_thousand_independent_tasks_run_once_each) {
  const int n = test::scaled(10'000);
  std::vector<std::atomic<int>> ran(static_cast<std::size_t>(n));
  for (auto &r : ran)
    weft::spawn([&r] { ++r; });
  weft::taskwait();
  EXPECT_TRUE(std::all_of(ran.begin(), ran.end(), [](auto &r) { return r == 1; }));
}

TEST(spawn, a_wave_over_a_grid_is_computed_in_order) {
  constexpr int n = test::scaled(60, 12);
  static int grid[n + 1][n + 1];
  for (int i = 0; i <= n; ++i)
    for (int j = 0; j <= n; ++j)
      grid[i][j] = i == 0 || j == 0 ? 1 : 0;
  for (int i = 1; i <= n; ++i)
    for (int j = 1; j <= n; ++j)
      weft::spawn([=] { grid[i][j] = (grid[i - 1][j] + grid[i][j - 1]) % 1'000'003; },
                  weft::in(grid[i - 1][j]), weft::in(grid[i][j - 1]), weft::out(grid[i][j]));
  weft::taskwait();
  static int expected[n + 1][n + 1];
  for (int i = 0; i <= n; ++i)
    for (int j = 0; j <= n; ++j) {
      expected[i][j] = i == 0 || j == 0 ? 1 : (expected[i - 1][j] + expected[i][j - 1]) % 1'000'003;
      ASSERT_EQ(grid[i][j], expected[i][j]) << i << ',' << j;
    }
}

TEST(onready, calls_a_callable_that_it_refers_to) {
  int x = 0, calls = 0;
  test::gate free;
  auto note = [&] { ++calls; };
  const auto note_too = [&] { calls += 10; };
  weft::spawn([&] { EXPECT_TRUE(free.pass()); }, weft::inout(x));
  weft::spawn([&] { EXPECT_EQ(calls, 1); }, weft::inout(x), weft::onready(note));
  EXPECT_EQ(calls, 0);
  free.open();
  weft::taskwait();
  EXPECT_EQ(calls, 1);
  weft::spawn([&] { EXPECT_EQ(calls, 11); }, weft::onready(note_too));
  weft::taskwait();
  EXPECT_EQ(calls, 11);
  using callable = decltype(note);
  static_assert(!std::is_constructible_v<weft::onready, callable>);
  static_assert(!std::is_constructible_v<weft::onready, const callable>);
  static_assert(std::is_constructible_v<weft::onready, callable &>);
}

} // namespace
