// SPDX-License-Identifier: Apache-2.0
// Independent functions, their completion, and streams of them.
#include "support/case_process.hpp"
#include "support/gate.hpp"

#include <weft/weft.hpp>

#include <atomic>
#include <cstdio>
#include <functional>
#include <gtest/gtest.h>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace {

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
static_assert(std::is_same_v<weft::stream, weft::function_stream>); // until 1.0
#pragma GCC diagnostic pop

/// What is called, as f and arg.
using code = std::function<void()>;
void run(void *p) { (*static_cast<code *>(p))(); }

weft::function_options in(weft::function_stream &s) {
  weft::function_options o;
  o.in = &s;
  return o;
}

TEST(function, completes_after_its_descendants_and_its_events) {
  std::atomic<int> steps{0}, at_completion{-1};
  std::atomic<bool> over{false};
  test::gate deep;
  code body = [&] {
    weft::spawn([&] {
      weft::spawn([&] {
        EXPECT_TRUE(deep.pass());
        ++steps;
      });
    });
    weft::this_task::increase_events();
    weft::spawn([&, self = weft::this_task::self()] { ++steps, weft::decrease_events(self); });
  };
  code completion = [&] { at_completion = steps.load(), over = true; };
  weft::spawn_function(&run, &body, &run, &completion);
  test::dawdle();
  EXPECT_FALSE(over);
  deep.open();
  EXPECT_TRUE(test::eventually([&] { return over.load(); }));
  EXPECT_EQ(at_completion, 2);
}

TEST(function, is_not_waited_for_by_its_spawner_nor_ordered_with_its_tasks) {
  int x = 0;
  test::gate free, done;
  code child_of_function = [&] {
    weft::spawn([&] { x = 1; }, weft::inout(x));
    weft::taskwait();
    done.open();
  };
  weft::spawn([&] { EXPECT_TRUE(free.pass()); }, weft::inout(x)); // holds x in another namespace
  weft::spawn_function(&run, &child_of_function);
  EXPECT_TRUE(done.pass()) << "the function's child waited for an unrelated task";
  free.open();
  weft::taskwait();

  test::gate held, ended;
  code waits = [&] {
    EXPECT_TRUE(held.pass());
    ended.open();
  };
  weft::spawn([&] { weft::spawn_function(&run, &waits); });
  weft::taskwait();
  EXPECT_FALSE(ended.is_open());
  held.open();
  EXPECT_TRUE(ended.pass());
}

TEST(function, knows_its_label_and_its_completion_may_wait_and_spawn) {
  std::string label, of_completion;
  std::atomic<bool> over{false};
  code body = [&] { label = weft::this_task::label(); };
  code completion = [&] {
    of_completion = weft::this_task::label();
    int x = 0;
    weft::spawn([&] { weft::taskyield(), x = 1; });
    weft::taskwait();
    over = x == 1;
  };
  weft::function_options o;
  o.label = "job";
  o.priority = 4;
  weft::spawn_function(&run, &body, &run, &completion, o);
  EXPECT_TRUE(test::eventually([&] { return over.load(); }));
  EXPECT_EQ(label, "job");
  EXPECT_EQ(of_completion, "job");
}

TEST(function, may_be_spawned_from_any_thread) {
  std::atomic<int> ran{0}, completed{0};
  code body = [&] { ++ran; }, completion = [&] { ++completed; };
  std::vector<std::thread> threads;
  for (int i = 0; i != 3; ++i)
    threads.emplace_back([&] {
      for (int k = 0; k != 50; ++k)
        weft::spawn_function(&run, &body, &run, &completion);
    });
  for (auto &t : threads)
    t.join();
  EXPECT_TRUE(test::eventually([&] { return completed == 150; }));
  EXPECT_EQ(ran, 150);
}

TEST(function, that_throws_is_reported_and_completes) {
  auto end = test::in_process({}, [] {
    std::atomic<int> completed{0};
    code body = [] { throw std::runtime_error("sad"); }, completion = [&] { ++completed; };
    weft::function_options o;
    o.label = "broken";
    for (int i = 0; i != 2; ++i)
      weft::spawn_function(&run, &body, &run, &completion, o);
    EXPECT_TRUE(test::eventually([&] { return completed == 2; }));
  });
  EXPECT_TRUE(end.exited(0)) << end;
  const std::size_t first =
      end.output.find("task 'broken' threw, and no caller asked for the exception: sad");
  EXPECT_NE(first, std::string::npos) << end;
  EXPECT_NE(end.output.find("'broken'", first + 10), std::string::npos)
      << "each failure is told: " << end;
  EXPECT_TRUE(end.printed("sad; nothing can wait for it there; catch exceptions within it")) << end;
  EXPECT_FALSE(end.printed("taskwait")) << end;
}

TEST(function, is_waited_for_by_the_end_of_the_program) {
  auto end = test::in_process({}, [] {
    static code completion = [] { std::puts("1-completed"); };
    static code body = [] {
      weft::this_task::sleep_for(std::chrono::milliseconds(5));
      weft::spawn([] { weft::this_task::sleep_for(std::chrono::milliseconds(5)); });
    };
    weft::spawn_function(&run, &body, &run, &completion);
    weft::shutdown();
    std::puts("2-over");
  });
  EXPECT_TRUE(end.exited(0)) << end;
  const std::size_t completed = end.output.find("1-completed");
  EXPECT_NE(completed, std::string::npos) << end;
  EXPECT_LT(completed, end.output.find("2-over")) << end;
}

TEST(function, without_a_function_is_refused) {
  weft::errc code{};
  try {
    weft::spawn_function(nullptr, nullptr);
  } catch (const weft::error &e) {
    code = e.code();
  }
  EXPECT_EQ(code, weft::errc::invalid_argument);
}

TEST(stream, runs_its_functions_in_order_one_at_a_time) {
  weft::function_stream s("ordered");
  std::vector<int> order;
  std::atomic<int> inside{0};
  std::vector<code> bodies, completions;
  for (int i = 0; i != 30; ++i) {
    bodies.push_back([&, i] {
      EXPECT_EQ(++inside, 1);
      weft::spawn([&, i] { weft::taskyield(), order.push_back(2 * i); });
    });
    completions.push_back([&, i] {
      EXPECT_EQ(inside, 1);
      weft::taskyield();
      order.push_back(2 * i + 1);
      --inside;
    });
  }
  for (std::size_t i = 0; i != bodies.size(); ++i)
    weft::spawn_function(&run, &bodies[i], &run, &completions[i], in(s));
  s.wait();
  ASSERT_EQ(order.size(), 60u);
  for (int i = 0; i != 60; ++i)
    EXPECT_EQ(order[static_cast<std::size_t>(i)], i);
  s.wait(); // nothing is left
}

TEST(stream, does_not_hold_up_another_stream) {
  weft::function_stream slow, fast;
  test::gate held;
  std::atomic<int> ran{0};
  code waits = [&] { EXPECT_TRUE(held.pass()); }, counts = [&] { ++ran; };
  weft::spawn_function(&run, &waits, nullptr, nullptr, in(slow));
  weft::spawn_function(&run, &counts, nullptr, nullptr, in(slow));
  for (int i = 0; i != 5; ++i)
    weft::spawn_function(&run, &counts, nullptr, nullptr, in(fast));
  fast.wait();
  EXPECT_EQ(ran, 5);
  held.open();
  slow.wait();
  EXPECT_EQ(ran, 6);
}

TEST(stream, is_waited_for_by_several_and_outlived_by_its_functions) {
  std::atomic<int> ran{0};
  code body = [&] { weft::taskyield(), ++ran; };
  {
    weft::function_stream s;
    for (int i = 0; i != 10; ++i)
      weft::spawn_function(&run, &body, nullptr, nullptr, in(s));
    for (int i = 0; i != 3; ++i)
      weft::spawn([&] {
        s.wait();
        EXPECT_GE(ran, 10);
      });
    std::thread other([&] {
      s.wait();
      EXPECT_GE(ran, 10);
    });
    other.join();
    weft::taskwait();
    for (int i = 0; i != 10; ++i)
      weft::spawn_function(&run, &body, nullptr, nullptr, in(s));
  }
  EXPECT_TRUE(test::eventually([&] { return ran == 20; }));
}

TEST(stream, is_not_waited_for_by_its_own_function) {
  weft::function_stream s("circular");
  weft::errc of_function{}, of_child{};
  std::string text;
  code body = [&] {
    try {
      s.wait();
    } catch (const weft::error &e) {
      of_function = e.code();
      text = e.what();
    }
    weft::spawn([&] {
      try {
        s.wait();
      } catch (const weft::error &e) {
        of_child = e.code();
      }
    });
    weft::taskwait();
  };
  weft::spawn_function(&run, &body, nullptr, nullptr, in(s));
  s.wait();
  EXPECT_EQ(of_function, weft::errc::deadlock);
  EXPECT_EQ(of_child, weft::errc::deadlock);
  EXPECT_NE(text.find("'circular'"), std::string::npos) << text;
}

/// Counts the objects that own something, and cannot be copied.
struct counted {
  explicit counted(std::atomic<int> &n) : alive(&n) { ++*alive; }
  counted(counted &&other) noexcept : alive(std::exchange(other.alive, nullptr)) {}
  counted &operator=(counted &&) = delete;
  ~counted() {
    if (alive)
      --*alive;
  }
  std::atomic<int> *alive;
};

TEST(function, takes_a_callable_that_can_only_be_moved_and_destroys_it_after_the_call) {
  std::atomic<int> alive{0}, alive_in_f{-1}, alive_at_completion{-1};
  std::atomic<bool> over{false};
  weft::spawn_function([&, own = counted(alive)] { alive_in_f = alive.load(); },
                       [&, own = counted(alive)] {
                         alive_at_completion = alive.load(); // its own; that of f is gone
                         over = true;
                       });
  EXPECT_TRUE(test::eventually([&] { return over && alive == 0; }));
  EXPECT_EQ(alive_in_f, 2);
  EXPECT_EQ(alive_at_completion, 1);
}

TEST(function, callables_run_in_the_order_of_their_stream) {
  std::vector<int> order;
  weft::function_stream s;
  for (int i = 0; i != 8; ++i)
    weft::spawn_function([&order, i] { order.push_back(i); }, in(s));
  weft::spawn_function([&] { order.push_back(8); }, [&] { order.push_back(9); }, in(s));
  s.wait();
  EXPECT_EQ(order, (std::vector<int>{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}));
}

TEST(function, a_callable_that_throws_is_destroyed_and_its_completion_runs) {
  std::atomic<int> alive{0};
  std::atomic<bool> over{false};
  weft::spawn_function([own = counted(alive)] { throw std::runtime_error("of a callable"); },
                       [&] { over = true; });
  EXPECT_TRUE(test::eventually([&] { return over.load(); }));
  EXPECT_EQ(alive, 0);
}

TEST(function, an_lvalue_is_copied) {
  std::atomic<int> sum{0};
  int step = 1;
  auto add = [&sum, step] { sum += step; };
  weft::function_stream s;
  weft::spawn_function(add, in(s));
  weft::spawn_function(add, add, in(s));
  s.wait();
  EXPECT_EQ(sum, 3);
}

TEST(function, a_spawn_that_fails_destroys_its_callables) {
  std::atomic<int> alive{0};
  struct refuses {
    refuses() = default;
    refuses(const refuses &) { throw std::runtime_error("no copy"); }
    void operator()() const {}
  } const completion;
  bool ran = false;
  EXPECT_THROW(weft::spawn_function([&, own = counted(alive)] { ran = true; }, completion),
               std::runtime_error);
  EXPECT_EQ(alive, 0);
  EXPECT_FALSE(ran);
}

} // namespace
