// SPDX-License-Identifier: Apache-2.0
// Programs that hang for ever say why; programs that only wait say nothing.
#include "diagnose/live_tasks.hpp"
#include "observe/segment.hpp"
#include "os/thread_state.hpp"
#include "support/case_process.hpp"
#include "support/gate.hpp"
#include "support/policies.hpp"
#include "support/scale.hpp"
#include "worker/runtime.hpp"

#include <weft/layer/task.hpp>
#include <weft/weft.hpp>

#include <array>
#include <chrono>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace {

using namespace weft::rt;
using namespace std::chrono_literals;
using test::k_policies;

/// The environment of a program that is expected to hang: it says so and aborts.
test::environment doomed(const char *workers = "2", const char *policy = "stealing") {
  return {{"WEFT_WORKERS", workers},
          {"WEFT_SCHED_POLICY", policy},
          {"WEFT_WATCH_HANG", "abort"},
          {"WEFT_WATCH_PATIENCE", "50ms"}};
}

/// For a program that is to say nothing: nor how long the watcher's looks take where others have the cpus.
test::environment silent(test::environment settings) {
  settings.emplace_back("WEFT_POLL_SLOW", "off");
  return settings;
}

test::environment patient(const char *workers = "2") {
  return silent(
      {{"WEFT_WORKERS", workers}, {"WEFT_WATCH_HANG", "report"}, {"WEFT_WATCH_PATIENCE", "20ms"}});
}

/// The watcher looks as often as it can.
test::environment hasty() {
  return silent({{"WEFT_WORKERS", "2"},
                 {"WEFT_WATCH_HANG", "abort"},
                 {"WEFT_WATCH_PATIENCE", "1ms"},
                 {"WEFT_SPIN_US", "0"}});
}

bool examined(std::uint64_t times) {
  for (int i = 0; i != 12'000; ++i, std::this_thread::sleep_for(5ms))
    if (the_runtime().hangs.examinations() >= times)
      return true;
  return false;
}

/// Waits for tasks that sleep until the watcher has examined what waits: it may get no processor for long.
bool examined_meanwhile() {
  for (int i = 0; i != 10'000 && the_runtime().hangs.examinations() == 0; ++i)
    weft::spawn([] { weft::this_task::sleep_for(10ms); }), weft::taskwait();
  return the_runtime().hangs.examinations() != 0;
}

/// Tests work that no thread is left to do: Weft knows this where it can count the process's
/// threads.
struct hang_without_cycle : testing::Test {
  void SetUp() override {
    if (test::k_thread_sanitized)
      GTEST_SKIP() << "the sanitizer has a thread of its own, and who knows what it will do";
    if (process_threads() == 0)
      GTEST_SKIP() << "/proc does not say how many threads there are";
  }
};

TEST(hang, two_mutexes_in_opposite_order_are_reported_with_their_cycle) {
  auto end = test::in_process(doomed(), [] {
    weft::mutex a, b;
    std::atomic<int> have_one{0};
    auto take_both = [&](weft::mutex &first, weft::mutex &second) {
      first.lock();
      ++have_one;
      EXPECT_TRUE(test::eventually([&] { return have_one == 2; }));
      second.lock();
      ++have_one; // so that the frame which waits is not left for the last call
    };
    weft::spawn([&] { take_both(a, b); }, weft::label("left"));
    weft::spawn([&] { take_both(b, a); }, weft::label("right"));
    weft::taskwait();
  });
  EXPECT_TRUE(end.aborted()) << end;
  EXPECT_TRUE(end.printed("nothing goes on")) << end;
  EXPECT_TRUE(end.printed("these wait for each other:")) << end;
  EXPECT_TRUE(end.printed("is held by task 'left'")) << end;
  EXPECT_TRUE(end.printed("is held by task 'right'")) << end;
  EXPECT_TRUE(end.printed("task 'left' waits for mutex 0x")) << end;
  EXPECT_TRUE(end.printed("task 'right' waits for mutex 0x")) << end;
  EXPECT_TRUE(end.printed("where they are:")) << end;
  EXPECT_TRUE(end.printed("task 'left', written as ")) << end;
#if !defined(WEFT_CONTEXT_BOOST)
  EXPECT_TRUE(end.printed("    in ")) << end;
#if !defined(WEFT_TEST_SANITIZED) && !defined(WEFT_TEST_EMULATOR)
  if (std::system("command -v addr2line >/dev/null 2>&1") == 0) {
    EXPECT_TRUE(end.printed("hang_test.cpp:")) << end;
  }
#endif
#endif
  EXPECT_TRUE(end.printed("child task 'left'")) << end;
  EXPECT_TRUE(end.printed("child task 'right'")) << end;
}

TEST(hang, tasks_without_labels_are_called_by_their_closures) {
  auto end = test::in_process(doomed(), [] {
    weft::mutex a;
    weft::spawn([&] {
      a.lock();
      a.lock();
    });
    weft::taskwait();
  });
  EXPECT_TRUE(end.aborted()) << end;
  EXPECT_TRUE(end.printed("::<lambda()> 0x") || end.printed("lambda at ")) << end;
  EXPECT_FALSE(end.printed("task '0x")) << end;
}

TEST(hang, a_mutex_that_was_handed_over_is_held_by_who_has_it_now) {
  auto end = test::in_process(doomed(), [] {
    weft::mutex a, b;
    test::gate first_has_it;
    weft::spawn(
        [&] {
          a.lock();
          first_has_it.open();
          weft::this_task::sleep_for(30ms); // the second one waits by then
          a.unlock();
        },
        weft::label("first"));
    weft::spawn(
        [&] {
          EXPECT_TRUE(first_has_it.pass());
          b.lock();
          a.lock();
          weft::this_task::sleep_for(30ms);
          b.lock(); // a second time
        },
        weft::label("second"));
    weft::taskwait();
  });
  EXPECT_TRUE(end.aborted()) << end;
  EXPECT_TRUE(end.printed("is held on the stack of task 'second'")) << end;
  EXPECT_TRUE(end.printed("these wait for each other:")) << end;
}

TEST(hang, a_child_that_needs_what_its_waiting_parent_holds_is_a_cycle) {
  auto end = test::in_process(doomed(), [] {
    weft::mutex m;
    weft::spawn(
        [&] {
          m.lock();
          weft::spawn([&] { m.lock(); }, weft::label("child"));
          weft::taskwait();
        },
        weft::label("parent"));
    weft::taskwait();
  });
  EXPECT_TRUE(end.aborted()) << end;
  EXPECT_TRUE(end.printed("task 'parent' waits for its child task 'child'"))
      << end; // beside it, or below it
  EXPECT_TRUE(end.printed("these wait for each other:")) << end;
}

TEST(hang, a_cycle_through_accesses_and_handles_is_reported_under_every_policy) {
  if (test::is_child()) {
    int x = 0;
    weft::handle<int> later;
    test::gate go;
    weft::spawn([&] { (void)go.pass(), x = later.get(); }, weft::label("producer"), weft::out(x));
    later = weft::spawn([&] { return x; }, weft::label("consumer"), weft::in(x));
    go.open();
    weft::taskwait();
    std::exit(0);
  }
  for (const char *policy : k_policies) {
    test::environment settings = doomed("2", policy);
    settings.emplace_back("TEST_CHILD", "1");
    auto end = test::run({test::program_path(), "--gtest_filter=hang.a_cycle_through_accesses*"},
                         settings);
    EXPECT_TRUE(end.aborted()) << policy << end;
    EXPECT_TRUE(end.printed("task 'producer' waits for the end of task 'consumer'"))
        << policy << end;
    EXPECT_TRUE(end.printed("task 'consumer' waits, with in(0x")) << policy << end;
    EXPECT_TRUE(end.printed("for task 'producer'")) << policy << end;
    EXPECT_TRUE(end.printed("these wait for each other:")) << policy << end;
  }
}

TEST_F(hang_without_cycle, a_task_that_waits_for_one_that_blocks_for_ever_is_reported) {
  auto end = test::in_process(doomed("1"), [] {
    int x = 0;
    weft::spawn([&] { weft::this_task::block(); }, weft::label("sleeper"), weft::out(x));
    weft::spawn([&] { x = 1; }, weft::label("heir"), weft::inout(x));
    weft::taskwait();
  });
  EXPECT_TRUE(end.aborted()) << end;
  EXPECT_TRUE(end.printed("no thread is left to do what they wait for")) << end;
  EXPECT_TRUE(end.printed("task 'sleeper' is blocked and can only be unblocked by")) << end;
  EXPECT_TRUE(end.printed("task 'heir' waits, with inout(0x")) << end;
  EXPECT_TRUE(end.printed("thread 'main' waits for its child task 'sleeper'"))
      << end; // it is below
}

TEST_F(hang_without_cycle, is_reported_while_counters_are_printed_and_served) {
  auto settings = doomed();
  settings.insert(
      settings.end(),
      {{"WEFT_COUNTERS_PRINT", "/threads/count/cumulative"},
       {"WEFT_COUNTERS_INTERVAL", "3600s"},
       {"WEFT_COUNTERS_FILE", "/dev/null"},
       {"WEFT_COUNTERS_PORT",
        std::to_string(20000 + getpid() % 12000)}}); // in use, it is warned of and not served
  auto end = test::in_process(settings, [] {
    weft::spawn([] { weft::this_task::block(); }, weft::label("left"));
    weft::taskwait();
  });
  EXPECT_TRUE(end.aborted()) << end;
  EXPECT_TRUE(end.printed("task 'left'")) << end;
}

TEST_F(hang_without_cycle, who_waits_for_a_turn_or_behind_a_cohort_is_reported) {
  auto end = test::in_process(doomed(), [] {
    int x = 0;
    test::gate taken;
    weft::spawn([&] { taken.open(), weft::this_task::block(); }, weft::label("has_turn"),
                weft::commutative(x));
    EXPECT_TRUE(taken.pass());
    weft::spawn([&] { ++x; }, weft::label("wants_turn"), weft::commutative(x));
    weft::spawn([&] { ++x; }, weft::label("behind"), weft::inout(x));
    weft::spawn([&] { ++x; }, weft::label("late"), weft::concurrent(x));
    weft::taskwait();
  });
  EXPECT_TRUE(end.aborted()) << end;
  EXPECT_TRUE(end.printed("task 'wants_turn' waits, with commutative(0x")) << end;
  EXPECT_TRUE(end.printed("task 'behind' waits, with inout(0x")) << end;
  EXPECT_TRUE(end.printed("for task 'has_turn'")) << end;
  EXPECT_TRUE(end.printed(", for the tasks with commutative(0x")) << end;
  EXPECT_TRUE(end.printed(") are over only after task 'wants_turn'")) << end;
  EXPECT_TRUE(end.printed("task 'late' waits, with concurrent(0x")) << end;
  EXPECT_TRUE(end.printed("for task 'behind'")) << end;
  EXPECT_FALSE(end.printed("commutative tasks")) << end; // what stands for them is no task
}

TEST_F(hang_without_cycle, a_round_of_a_taskiter_is_reported) {
  auto end = test::in_process(doomed(), [] {
    int x = 0;
    weft::taskiter(
        3,
        [&] {
          weft::spawn([] { weft::this_task::block(); }, weft::label("round"), weft::inout(x));
          weft::spawn([] { weft::this_task::increase_events(); }, weft::label("event"));
        },
        weft::label("iterates"), weft::nogroup);
    weft::taskwait();
  });
  EXPECT_TRUE(end.aborted()) << end;
  EXPECT_TRUE(end.printed("task 'iterates' waits in its rounds for task 'round'")) << end;
  EXPECT_TRUE(end.printed("task 'iterates' waits in its rounds for task 'event'")) << end;
  EXPECT_TRUE(end.printed("task 'event' has ended, but for external events")) << end;
}

TEST_F(hang_without_cycle, who_stands_in_a_stream_behind_a_function_that_never_ends_is_reported) {
  auto end = test::in_process(doomed(), [] {
    weft::function_stream s("line");
    weft::function_options first{"first", 0, &s}, second{"second", 0, &s};
    weft::spawn_function([](void *) { weft::this_task::increase_events(); }, nullptr, [](void *) {},
                         nullptr, first);
    weft::spawn_function([](void *) {}, nullptr, nullptr, nullptr, second);
    s.wait();
  });
  EXPECT_TRUE(end.aborted()) << end;
  EXPECT_TRUE(end.printed("task 'first' has ended, but for external events")) << end;
  EXPECT_TRUE(end.printed("task 'first' is to run after task 'first'"))
      << end; // its completion function
  EXPECT_TRUE(end.printed("task 'second' waits in stream 'line' for task 'first'")) << end;
  EXPECT_TRUE(end.printed("task 'line' waits in stream 'line' for task 'first'")) << end;
  EXPECT_TRUE(end.printed("thread 'main' waits for the end of task 'line'")) << end;
  EXPECT_FALSE(end.printed("'functions'")) << end; // their parent waits for no task
}

TEST_F(hang_without_cycle, who_waits_with_a_region_is_reported) {
  auto end = test::in_process(doomed(), [] {
    std::array<int, 8> x{};
    weft::spawn([] { weft::this_task::block(); }, weft::label("left half"),
                weft::out(weft::region(x.data(), 4)));
    weft::spawn([] {}, weft::label("all of it"), weft::inout(weft::region(x.data(), 8)));
    weft::taskwait();
  });
  EXPECT_TRUE(end.aborted()) << end;
  EXPECT_TRUE(end.printed("task 'left half' is blocked and can only be unblocked by")) << end;
  EXPECT_TRUE(
      end.printed("task 'all of it' waits, with a region that both touch, for task 'left half'"))
      << end;
}

TEST(hang, a_circle_through_a_stream_is_reported) {
  auto end = test::in_process(doomed(), [] {
    static weft::mutex m;
    weft::function_stream s("line");
    m.lock();
    weft::spawn_function([](void *) { m.lock(); }, nullptr, nullptr, nullptr, {"needs", 0, &s});
    s.wait();
  });
  EXPECT_TRUE(end.aborted()) << end;
  EXPECT_TRUE(end.printed("these wait for each other:")) << end;
  EXPECT_TRUE(end.printed("task 'line' waits in stream 'line' for task 'needs'")) << end;
}

TEST_F(hang_without_cycle,
       the_end_of_the_program_waits_for_functions_and_for_what_services_have_spawned) {
  auto end = test::in_process(doomed(), [] {
    weft::spawn_function([](void *) { weft::this_task::block(); }, nullptr, nullptr, nullptr,
                         {"stays"});
    static std::atomic<bool> did{false};
    weft::service s(
        "spawns", weft::poll_point::idle,
        [](void *) {
          if (!did.exchange(true))
            weft::spawn([] { weft::this_task::block(); }, weft::label("child of a service"));
          return true;
        },
        nullptr);
    while (!did)
      weft::taskyield();
  });
  EXPECT_TRUE(end.aborted()) << end;
  EXPECT_TRUE(end.printed("thread 'main' waits at the end of the program for task 'stays'")) << end;
  EXPECT_TRUE(
      end.printed("thread 'main' waits at the end of the program for task 'child of a service'"))
      << end;
  EXPECT_TRUE(end.printed("task 'stays' is blocked and can only be unblocked by")) << end;
  EXPECT_FALSE(end.printed("'service'")) << end;
}

TEST_F(hang_without_cycle, a_task_that_is_to_run_again_is_reported) {
  auto end = test::in_process(doomed(), [] {
    weft::spawn([] { weft::layer::run_again(weft::layer::again::when_unblocked); },
                weft::label("blocks"));
    weft::spawn(
        [] {
          weft::this_task::increase_events();
          weft::layer::run_again(weft::layer::again::without_events);
        },
        weft::label("has events"));
    weft::taskwait();
  });
  EXPECT_TRUE(end.aborted()) << end;
  EXPECT_TRUE(end.printed("task 'blocks' is blocked and can only be unblocked by")) << end;
  EXPECT_TRUE(end.printed(
      "task 'has events' runs again after external events that can only be taken back by"))
      << end;
}

TEST_F(hang_without_cycle, of_a_flood_some_are_named_and_the_rest_is_counted) {
  auto end = test::in_process(doomed(), [] {
    int x = 0;
    for (int i = 0; i < 20'000; ++i)
      weft::spawn([] { weft::layer::run_again(weft::layer::again::when_unblocked); });
    weft::spawn([] { weft::this_task::block(); }, weft::out(x));
    for (int i = 0; i < 20'000; ++i)
      weft::spawn([] {}, weft::in(x));
    weft::taskwait();
  });
  EXPECT_TRUE(end.aborted()) << end;
  // 20,001 are blocked and 20,000 are behind x; main waits for all, or for the one that is above it.
  EXPECT_TRUE(end.printed("and 79962 more") || end.printed("and 39962 more")) << end;
}

TEST(hang, a_circle_through_a_turn_is_reported) {
  auto end = test::in_process(doomed(), [] {
    int x = 0;
    weft::mutex m;
    test::gate taken;
    m.lock();
    weft::spawn([&] { taken.open(), m.lock(); }, weft::label("has_turn"), weft::commutative(x));
    EXPECT_TRUE(taken.pass());
    weft::spawn([&] { return ++x; }, weft::label("wants_turn"), weft::commutative(x)).wait();
  });
  EXPECT_TRUE(end.aborted()) << end;
  EXPECT_TRUE(end.printed("these wait for each other:")) << end;
  EXPECT_TRUE(end.printed("task 'wants_turn' waits, with commutative(0x")) << end;
}

TEST_F(hang_without_cycle, an_event_that_only_a_waiting_task_would_take_back_is_reported) {
  auto end = test::in_process(doomed(), [] {
    int x = 0;
    weft::task_ref held;
    weft::spawn([&] { held = weft::this_task::self(), weft::this_task::increase_events(); },
                weft::label("held"), weft::out(x));
    weft::spawn([&] { weft::decrease_events(held); }, weft::label("releaser"), weft::in(x));
    weft::taskwait();
  });
  EXPECT_TRUE(end.aborted()) << end;
  EXPECT_TRUE(end.printed("task 'held' has ended, but for external events")) << end;
  EXPECT_TRUE(end.printed("task 'releaser' waits, with in(0x")) << end;
  EXPECT_TRUE(end.printed("for task 'held'")) << end;
}

TEST_F(hang_without_cycle, a_group_and_its_tasks_are_named) {
  auto end = test::in_process(doomed(), [] {
    weft::task_group g;
    g.spawn([] { weft::this_task::block(); }, weft::label("member"));
    g.wait();
  });
  EXPECT_TRUE(end.aborted()) << end;
  EXPECT_TRUE(end.printed("thread 'main' waits in its group for task 'member'")) << end;
}

TEST_F(hang_without_cycle, is_noticed_when_the_thread_that_could_have_helped_has_ended) {
  auto end = test::in_process(doomed(), [] {
    weft::start();
    std::thread other([] { EXPECT_TRUE(examined(2)); });
    other.detach();
    weft::spawn([] { weft::this_task::block(); }, weft::label("forgotten"));
    weft::taskwait();
  });
  EXPECT_TRUE(end.aborted()) << end;
  EXPECT_TRUE(end.printed("task 'forgotten' is blocked and can only be unblocked by")) << end;
}

TEST(hang, is_noticed_when_a_thread_that_has_used_weft_has_ended) {
  auto end = test::in_process(doomed(), [] {
    weft::start();
    std::thread other([] {
      weft::taskwait(); // from now on it might come back
      EXPECT_TRUE(examined(2));
    });
    other.detach();
    weft::mutex m;
    m.lock();
    m.lock();
  });
  EXPECT_TRUE(end.aborted()) << end;
  EXPECT_TRUE(end.printed("is held on the stack of thread 'main'")) << end;
}

TEST(hang, is_reported_once_even_where_other_threads_run) {
  auto end = test::in_process(patient("4"), [] {
    weft::start();
    std::thread([] {
      EXPECT_TRUE(examined(1)); // each of the workers asks once
#if !defined(WEFT_CONTEXT_BOOST)
      // Until the report is out; not by a wait of Weft, which something could end.
      while (weft::rt::read_dump_text(getpid()).find("\nstack\t") == std::string::npos)
        std::this_thread::sleep_for(10ms);
#endif
      std::this_thread::sleep_for(300ms);
      std::_Exit(3);
    }).detach();
    weft::mutex m;
    m.lock();
    m.lock();
  });
  EXPECT_TRUE(end.exited(3)) << end;
  const auto first = end.output.find("nothing goes on");
  EXPECT_NE(first, std::string::npos) << end;
  EXPECT_EQ(end.output.find("nothing goes on", first + 1), std::string::npos) << end;
  EXPECT_TRUE(end.printed("is held on the stack of thread 'main'")) << end;
}

TEST(hang, off_says_nothing) {
  auto end = test::in_process(
      silent({{"WEFT_WORKERS", "2"}, {"WEFT_WATCH_HANG", "off"}, {"WEFT_WATCH_PATIENCE", "20ms"}}),
      [] {
        weft::spawn([] { weft::this_task::block(); });
        std::thread([] {
          std::this_thread::sleep_for(300ms);
          std::_Exit(3);
        }).detach();
        weft::taskwait();
      });
  EXPECT_TRUE(end.exited(3)) << end;
  EXPECT_FALSE(end.printed("weft:")) << end;
}

TEST(hang, there_is_no_alarm_while_another_thread_may_unblock) {
  auto end = test::in_process(patient(), [] {
    weft::start();
    weft::task_ref blocked;
    test::gate known;
    weft::spawn([&] {
      blocked = weft::this_task::self();
      known.open();
      weft::this_task::block();
    });
    std::thread other([&] {
      EXPECT_TRUE(examined(1));
      while (!known.is_open())
        std::this_thread::yield();
      weft::unblock(blocked);
    });
    weft::taskwait();
    other.join();
  });
  EXPECT_TRUE(end.exited(0)) << end;
  EXPECT_FALSE(end.printed("weft:")) << end;
}

TEST(hang, is_told_after_a_time_limit_where_another_thread_could_unblock) {
  auto settings = doomed();
  settings.emplace_back("WEFT_WATCH_LIMIT", "120ms");
  auto end = test::in_process(settings, [] {
    weft::start();
    std::thread([] { std::this_thread::sleep_for(1h); }).detach();
    weft::spawn([] { weft::this_task::block(); }, weft::label("left"));
    weft::taskwait();
  });
  EXPECT_TRUE(end.aborted()) << end;
  EXPECT_TRUE(end.printed("nothing has gone on for 120 ms (watch.limit)")) << end;
  EXPECT_TRUE(end.printed("task 'left'")) << end;
}

TEST(hang, is_not_told_while_tasks_run_however_short_the_limit) {
  auto settings = silent(doomed());
  settings.emplace_back("WEFT_WATCH_LIMIT", "1ms");
  auto end = test::in_process(settings, [] {
    weft::start();
    std::atomic<bool> over{false};
    std::thread other([&] { // and nothing else is there to do for a while, again and again
      EXPECT_TRUE(examined(4));
      over = true;
    });
    while (!over)
      weft::spawn([] { weft::this_task::sleep_for(2ms); }), weft::taskwait();
    other.join();
  });
  EXPECT_TRUE(end.exited(0)) << end;
  EXPECT_FALSE(end.printed("weft:")) << end;
}

/// Runs `f(block)` while a thread that is no worker sees to it that Weft looks twice, and then unblocks the task in `block`.
template <class F>
test::ending with_helper(const char *workers, F f) {
  return test::in_process(patient(workers), [&] {
    weft::start();
    weft::task_ref blocked;
    std::atomic<bool> known{false};
    std::thread helper([&] {
      EXPECT_TRUE(examined(4));
      while (!known)
        std::this_thread::sleep_for(1ms);
      std::this_thread::sleep_for(100ms);
      weft::unblock(blocked);
    });
    f([&] {
      blocked = weft::this_task::self();
      known = true;
      weft::this_task::block();
    });
    helper.join();
  });
}

TEST(hang, a_task_of_a_group_is_not_waited_for_by_taskwait) {
  auto end = with_helper("2", [](auto blocks) {
    weft::mutex m;
    weft::spawn([&] {
      m.lock();
      weft::task_group g;
      g.spawn([&] { std::scoped_lock own(m); }); // waits until the taskwait below is over
      weft::spawn(blocks);
      weft::taskwait();
      m.unlock();
      g.wait();
    });
    weft::taskwait();
  });
  EXPECT_TRUE(end.exited(0)) << end;
  EXPECT_FALSE(end.printed("weft:")) << end;
}

TEST(hang, a_task_that_has_ended_passes_on_its_data_before_all_its_children_have_ended) {
  auto end = with_helper("2", [](auto blocks) {
    int x = 0;
    weft::handle<int> reader;
    test::gate reader_known;
    weft::spawn(
        [&] {
          weft::spawn([&] { blocks(), x = 1; }, weft::inout(x));
          weft::spawn([&] { // has nothing to do with x
            EXPECT_TRUE(reader_known.pass());
            EXPECT_EQ(reader.get(), 1);
          });
        },
        weft::inout(x));
    reader = weft::spawn([&] { return x; }, weft::in(x));
    reader_known.open();
    weft::taskwait();
  });
  EXPECT_TRUE(end.exited(0)) << end;
  EXPECT_FALSE(end.printed("weft:")) << end;
}

/// The task dump would follow the access to what is gone.
TEST(hang, who_has_left_its_cohort_is_released_although_children_run) {
  auto end = test::in_process(silent({{"WEFT_WORKERS", "3"}}), [] {
    int x = 0;
    for (const weft::access &how : {weft::commutative(x), weft::concurrent(x)}) {
      test::gate go;
      std::atomic<task *> member{nullptr};
      std::atomic<bool> over{false};
      weft::spawn(
          [&] {
            member = weft::this_task::self().get();
            weft::spawn([&] { EXPECT_TRUE(go.pass()); });
          },
          how);
      weft::spawn([&] { over = true; }, weft::inout(x));
      EXPECT_TRUE(test::eventually([&] { return over.load(); }));
      EXPECT_TRUE(is_released(flags_of(member.load()->accesses()[0])));
      go.open();
      weft::taskwait();
    }
  });
  EXPECT_TRUE(end.exited(0)) << end;
}

TEST(hang, a_join_waits_for_its_own_branch_only) {
  auto end = with_helper("4", [](auto blocks) {
    weft::mutex m;
    test::gate inner_began, outer_began;
    weft::join(
        [&] {
          m.lock();
          weft::join([&] { EXPECT_TRUE(outer_began.pass() && inner_began.pass()); },
                     [&] { inner_began.open(), blocks(); });
          m.unlock();
        },
        [&] { outer_began.open(), m.lock(), m.unlock(); });
  });
  EXPECT_TRUE(end.exited(0)) << end;
  EXPECT_FALSE(end.printed("weft:")) << end;
}

TEST(hang, who_stands_behind_what_was_released_waits_for_those_below_only) {
  auto end = with_helper("2", [](auto blocks) {
    int x = 0;
    weft::handle<int> reader;
    test::gate reader_known;
    weft::spawn(
        [&] {
          weft::spawn([&] { blocks(), x = 1; }, weft::inout(x));
          weft::release(weft::inout(x));
          EXPECT_TRUE(reader_known.pass());
          EXPECT_EQ(reader.get(), 1);
        },
        weft::inout(x));
    reader = weft::spawn([&] { return x; }, weft::in(x));
    reader_known.open();
    weft::taskwait();
  });
  EXPECT_TRUE(end.exited(0)) << end;
  EXPECT_FALSE(end.printed("weft:")) << end;
}

TEST(hang, there_is_no_alarm_while_tasks_run_again_all_the_time) {
  auto end = test::in_process(hasty(), [] {
    static std::atomic<int> runs{0};
    weft::start();
    std::array<weft::task_ref, 3> refs;
    std::atomic<int> known{0};
    constexpr int k_rounds = 100;
    const auto again = [&](int i, weft::layer::again when) {
      weft::spawn([&, i, when, n = 0]() mutable {
        if (n == 0)
          refs[static_cast<std::size_t>(i)] = weft::this_task::self(), ++known;
        if (++n > k_rounds)
          return;
        if (when == weft::layer::again::without_events)
          weft::this_task::increase_events();
        weft::layer::run_again(when, 1'500'000);
        ++runs;
      });
    };
    again(0, weft::layer::again::when_unblocked);
    again(1, weft::layer::again::without_events);
    again(2, weft::layer::again::after);
    std::thread other([&] { // never a worker
      while (known != 3)
        std::this_thread::yield();
      for (int i = 0, freed = 0, taken = 0; freed < k_rounds || taken < k_rounds; ++i) {
        std::this_thread::sleep_for(i % 2 ? 1500us : 500us);
        try {
          if (freed < k_rounds)
            weft::unblock(refs[0]), ++freed;
        } catch (const weft::error &) { // it has not blocked since
        }
        try {
          if (taken < k_rounds)
            weft::decrease_events(refs[1]), ++taken;
        } catch (const weft::error &) { // it has none yet
        }
      }
    });
    weft::taskwait();
    other.join();
    EXPECT_EQ(runs, 3 * k_rounds);
    EXPECT_TRUE(examined_meanwhile());
  });
  EXPECT_TRUE(end.exited(0)) << end;
  EXPECT_FALSE(end.printed("weft:")) << end;
}

TEST(hang, there_is_no_alarm_while_another_thread_holds_the_mutex) {
  auto end = test::in_process(patient(), [] {
    weft::start();
    weft::mutex m;
    std::atomic<bool> held{false};
    std::thread holder([&] { // no worker; its stack lies next to that of the waiter
      m.lock();
      held = true;
      EXPECT_TRUE(examined(3));
      m.unlock();
    });
    std::thread waiter([&] {
      while (!held)
        std::this_thread::yield();
      m.lock();
      m.unlock();
    });
    while (!held)
      std::this_thread::yield();
    weft::spawn([&] { std::scoped_lock both(m); });
    weft::taskwait();
    holder.join();
    waiter.join();
  });
  EXPECT_TRUE(end.exited(0)) << end;
  EXPECT_FALSE(end.printed("weft:")) << end;
}

TEST(hang, there_is_no_alarm_while_other_threads_wake_tasks_all_the_time) {
  auto end = test::in_process(hasty(), [] {
    weft::start();
    constexpr int k_rounds = 300;
    weft::task_ref blocked, held;
    std::atomic<bool> is_held{false};
    std::atomic<int> known{0};
    std::thread other([&] { // never a worker
      for (int i = 1; i <= k_rounds; ++i) {
        while (known != i)
          std::this_thread::yield();
        std::this_thread::sleep_for(
            i % 2 ? 1500us : 500us); // before, during and after a look of the watcher
        weft::unblock(blocked);
        weft::decrease_events(held);
      }
    });
    int data = 0;
    for (int i = 1; i <= k_rounds; ++i) {
      weft::spawn(
          [&] {
            held = weft::this_task::self(), weft::this_task::increase_events(), is_held = true;
          },
          weft::out(data));
      weft::spawn([&, i] {
        blocked = weft::this_task::self();
        while (!is_held) // ends at once
          weft::taskyield();
        known = i;
        weft::this_task::block();
      });
      weft::spawn([&] { ++data; }, weft::inout(data));
      weft::taskwait();
      is_held = false;
    }
    other.join();
    EXPECT_TRUE(examined_meanwhile());
  });
  EXPECT_TRUE(end.exited(0)) << end;
  EXPECT_FALSE(end.printed("weft:")) << end;
}

TEST(hang, there_is_no_alarm_while_time_passes_or_services_are_polled) {
  auto end = test::in_process(patient(), [] {
    weft::spawn([] { weft::this_task::sleep_for(200ms); });
    weft::taskwait();
    EXPECT_TRUE(examined_meanwhile());
    static std::atomic<int> polls{0};
    static weft::task_ref blocked;
    static std::atomic<bool> known{false}, freed{false};
    weft::service s(
        "late", weft::poll_point::idle,
        [](void *) {
          if (++polls >= 500 && known && !freed.exchange(true))
            weft::unblock(blocked);
          return false;
        },
        nullptr);
    weft::spawn([] { blocked = weft::this_task::self(), known = true, weft::this_task::block(); });
    weft::taskwait();
  });
  EXPECT_TRUE(end.exited(0)) << end;
  EXPECT_FALSE(end.printed("weft:")) << end;
}

TEST(hang, there_is_no_alarm_while_the_main_task_does_something_else) {
  auto end = test::in_process(patient(), [] {
    weft::task_ref blocked;
    std::atomic<bool> known{false};
    weft::spawn([&] { blocked = weft::this_task::self(), known = true, weft::this_task::block(); });
    while (!known)
      std::this_thread::sleep_for(1ms);
    std::this_thread::sleep_for(200ms);
    weft::unblock(blocked);
    weft::taskwait();
  });
  EXPECT_TRUE(end.exited(0)) << end;
  EXPECT_FALSE(end.printed("weft:")) << end;
}

} // namespace
