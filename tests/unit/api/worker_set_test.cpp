// SPDX-License-Identifier: Apache-2.0
// Functions that only some workers run, and all that descends from them.
#include "support/case_process.hpp"
#include "support/gate.hpp"
#include "support/refusal.hpp"

#include <weft/weft.hpp>

#include <array>
#include <atomic>
#include <functional>
#include <gtest/gtest.h>
#include <sched.h>
#include <string>
#include <vector>

namespace {

using code = std::function<void()>;
void run(void *p) { (*static_cast<code *>(p))(); }

weft::function_options on(const weft::worker_set &set) {
  weft::function_options o;
  o.on = set;
  o.label = "confined";
  return o;
}

/// The last workers, half of them, or the only one.
std::vector<int> upper_half() {
  std::vector<int> ids;
  for (int id = weft::worker_count() / 2; id < weft::worker_count(); ++id)
    ids.push_back(id);
  return ids;
}

using test::refusal;

/// Everything that has children, or goes on elsewhere; `look` is called in each of them.
void do_everything(const code &look) {
  look();
  int x = 0, y = 0;
  for (int i = 0; i != 20; ++i) {
    weft::spawn([&] { look(), ++x; }, weft::inout(x), weft::priority(i % 3 - 1));
    weft::spawn([&] { look(); }, weft::in(x), weft::concurrent(y));
  }
  weft::spawn(
      [&] {
        for (int i = 0; i != 10; ++i)
          weft::spawn([&] { look(), weft::taskyield(), look(); });
        weft::taskwait();
        look();
      },
      weft::weak_in(x));
  weft::spawn([&] { look(), weft::spawn(look); }, weft::final());
  weft::spawn(look, weft::if_(false), weft::commutative(y));
  weft::taskwait();
  EXPECT_EQ(x, 20);
  for (int i = 0; i != 5; ++i)
    weft::join([&] { look(), weft::spawn(look); },
               [&] { weft::join(look, [&] { test::dawdle(), look(); }); });
  weft::taskloop(weft::range(40), [&](int) { look(); }, weft::grain_size(3));
  weft::taskfor(weft::range(40), [&](int) { look(); }, weft::grain_size(3));
  weft::taskiter(10, [&] {
    for (int i = 0; i != 4; ++i)
      weft::spawn([&] { look(), weft::spawn(look); }, weft::concurrent(y));
    weft::spawn([&] { look(), ++y; }, weft::inout(y));
  });
  weft::task_group g;
  for (int i = 0; i != 10; ++i)
    g.spawn([&] { weft::this_task::sleep_for(std::chrono::microseconds(20)), look(); });
  g.wait();
  weft::taskwait();
  look();
}

TEST(worker_set, runs_functions_with_all_that_descends_from_them) {
  const auto set = weft::worker_set::of_workers(upper_half());
  std::atomic<int> looks{0}, outside{0}, completed{0};
  const code look = [&] { ++looks, outside += !set.includes(weft::worker_id()); };
  code body = [&] { do_everything(look); },
       completion = [&] { look(), weft::taskyield(), look(), ++completed; };
  std::atomic<bool> stop{false};
  for (int i = 0; i != 3; ++i) {
    weft::spawn_function(&run, &body, &run, &completion, on(set));
    weft::spawn([&] {
      while (!stop) {
        for (int k = 0; k != 20; ++k)
          weft::spawn([] { weft::taskyield(); });
        weft::taskwait();
      }
    });
  }
  EXPECT_TRUE(test::eventually([&] { return completed == 3; }));
  stop = true;
  weft::taskwait();
  EXPECT_EQ(outside, 0);
  EXPECT_GT(looks, 3 * 200);
}

TEST(worker_set, members_work_at_once_and_others_wake_them) {
  if (weft::worker_count() < 3)
    GTEST_SKIP() << "needs two workers beside the first";
  const int last = weft::worker_count() - 1;
  const auto two = weft::worker_set::of_workers({last, last - 1, last});
  EXPECT_EQ(two.size(), 2);
  for (int round = 0; round != 30; ++round) {
    std::atomic<int> inside{0};
    std::atomic<bool> over{false};
    code body =
             [&] {
               for (int i = 0; i != 2; ++i)
                 weft::spawn([&] { // on two workers, or never
                   for (++inside; inside < 2;)
                     sched_yield();
                 });
             },
         completion = [&] { over = true; };
    weft::spawn_function(&run, &body, &run, &completion, on(two));
    ASSERT_TRUE(test::eventually([&] { return over.load(); }));
  }
}

TEST(worker_set, tasks_that_others_let_go_on_come_back) {
  const auto set = weft::worker_set::of_workers({weft::worker_count() - 1});
  weft::task_ref blocked;
  std::atomic<bool> there{false}, over{false};
  std::atomic<int> elsewhere{0};
  weft::mutex m;
  code body =
           [&] {
             blocked = weft::this_task::self();
             weft::this_task::increase_events(); // what follows the task is confined, too
             there = true;
             weft::this_task::block();
             elsewhere += !set.includes(weft::worker_id());
             m.lock();
             elsewhere += !set.includes(weft::worker_id());
             m.unlock();
             int x = 0;
             weft::spawn([] {}, weft::out(x));
             weft::taskwait();
           },
       completion = [&] { elsewhere += !set.includes(weft::worker_id()), over = true; };
  m.lock();
  weft::spawn_function(&run, &body, &run, &completion, on(set));
  EXPECT_TRUE(test::eventually([&] { return there.load(); }));
  weft::unblock(blocked);
  test::dawdle();
  m.unlock();
  weft::decrease_events(blocked);
  EXPECT_TRUE(test::eventually([&] { return over.load(); }));
  EXPECT_EQ(elsewhere, 0);
}

TEST(worker_set, streams_keep_their_order_over_sets) {
  std::vector<int> seen;
  weft::function_stream s;
  std::array<code, 6> bodies;
  for (int i = 0; i != 6; ++i) {
    auto &body =
        bodies[static_cast<std::size_t>(i)] = [&, i] { test::dawdle(), seen.push_back(i); };
    weft::function_options o = on(weft::worker_set::of_workers({i % weft::worker_count()}));
    o.in = &s;
    weft::spawn_function(&run, &body, nullptr, nullptr, o);
  }
  s.wait();
  EXPECT_EQ(seen, (std::vector{0, 1, 2, 3, 4, 5}));
}

TEST(worker_set, keeps_to_cpus_where_workers_are_bound) {
  auto end = test::in_process({{"WEFT_BIND", "compact"}}, [] {
    if (weft::worker_count() < 2)
      return;
    int chosen = -1; // that of the last worker
    for (int cpu = 0; cpu != CPU_SETSIZE && chosen < 0; ++cpu)
      try {
        if (weft::worker_set::of_cpus({cpu}).includes(weft::worker_count() - 1))
          chosen = cpu;
      } catch (const weft::error &) { // no worker is bound to it
      }
    ASSERT_GE(chosen, 0);
    const auto set = weft::worker_set::of_cpus({chosen});
    EXPECT_TRUE(!set.includes(0) || set.size() == weft::worker_count())
        << "the first thread is not bound";
    std::atomic<int> elsewhere{0};
    std::atomic<bool> over{false};
    code body = [&] { do_everything([&] { elsewhere += sched_getcpu() != chosen; }); },
         completion = [&] { over = true; };
    weft::spawn_function(&run, &body, &run, &completion, on(set));
    EXPECT_TRUE(test::eventually([&] { return over.load(); }));
    EXPECT_EQ(elsewhere, 0);
  });
  EXPECT_TRUE(end.exited(0)) << end;
}

TEST(worker_set, equal_sets_are_one_and_their_number_is_bounded) {
  auto end = test::in_process({{"WEFT_WORKERS", "8"}}, [] {
    const auto number = [](std::initializer_list<int> ids) {
      return weft::worker_set::of_workers(ids).internals().number;
    };
    EXPECT_EQ(number({1, 2}), number({2, 1, 2}));
    EXPECT_NE(number({1}), number({2}));
    EXPECT_EQ(weft::worker_set().size(), 8);
    EXPECT_TRUE(weft::worker_set().includes(7));
    EXPECT_FALSE(weft::worker_set().includes(8));
    int made = 3;
    std::string said;
    for (int mask = 1; mask != 256 && said.empty(); ++mask)
      try {
        std::vector<int> ids;
        for (int id = 0; id != 8; ++id)
          if (mask >> id & 1)
            ids.push_back(id);
        (void)weft::worker_set::of_workers(ids);
        made = mask;
      } catch (const weft::error &e) {
        EXPECT_EQ(e.code(), weft::errc::out_of_resources);
        said = e.what();
      }
    EXPECT_EQ(made, 63) << "these masks are the first sets, the three above among them";
    EXPECT_NE(said.find("more than 63 sets of workers"), std::string::npos) << said;
  });
  EXPECT_TRUE(end.exited(0)) << end;
}

TEST(worker_set, that_nobody_is_in_is_refused) {
  const int count = weft::worker_count();
  EXPECT_NE(refusal([&] {
              (void)weft::worker_set::of_workers({count});
            }).find("names worker " + std::to_string(count)),
            std::string::npos);
  EXPECT_NE(refusal([] { (void)weft::worker_set::of_workers({-1}); }).find("names worker -1"),
            std::string::npos);
  EXPECT_NE(refusal([] { (void)weft::worker_set::of_workers({}); }).find("made of no workers"),
            std::string::npos);
  EXPECT_NE(refusal([] { (void)weft::worker_set::of_cpus({}); }).find("made of no cpus"),
            std::string::npos);
  const std::string said = refusal([] { (void)weft::worker_set::of_cpus({CPU_SETSIZE + 5}); });
  EXPECT_NE(said.find("cpu " + std::to_string(CPU_SETSIZE + 5)), std::string::npos) << said;
  EXPECT_NE(refusal([] { (void)weft::worker_set::of_cpus({-1}); }).find("cpu -1"),
            std::string::npos);
  code body = [] {};
  const auto forged = refusal(
      [&] { weft::spawn_function(&run, &body, nullptr, nullptr, on(weft::worker_set({60, 99}))); });
  EXPECT_NE(forged.find("made before fork()"), std::string::npos) << forged;
}

} // namespace
