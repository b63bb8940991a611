// SPDX-License-Identifier: Apache-2.0
// Independent functions that a layer waits for, names and moves.
#include "support/case_process.hpp"
#include "support/gate.hpp"

#include <weft/layer/function.hpp>
#include <weft/layer/thread.hpp>
#include <weft/weft.hpp>

#include <atomic>
#include <functional>
#include <gtest/gtest.h>
#include <stdexcept>

namespace {

/// What is called, as f and arg.
using code = std::function<void()>;
void run(void *p) { (*static_cast<code *>(p))(); }
void run_other(void *p) { (*static_cast<code *>(p))(); }

weft::detail::task &started(code &f, const weft::function_options &options = {}) {
  weft::detail::task &t = weft::layer::make_function(&run, &f, options);
  weft::layer::submit_function(t);
  return t;
}
void wait_and_drop(weft::detail::task &t) {
  weft::detail::task_wait_done(&t);
  weft::detail::task_drop_handle(&t);
}

TEST(layer_function, does_not_run_before_it_is_submitted) {
  std::atomic<bool> ran{false};
  code f = [&] { ran = true; };
  weft::detail::task &t = weft::layer::make_function(&run, &f, {});
  test::dawdle();
  EXPECT_FALSE(ran);
  EXPECT_FALSE(weft::detail::task_is_done(&t));
  weft::layer::submit_function(t);
  weft::detail::task_wait_done(&t);
  EXPECT_TRUE(ran);
  EXPECT_TRUE(weft::detail::task_is_done(&t));
  weft::detail::task_drop_handle(&t);
}

TEST(layer_function, is_waited_for_without_its_children) {
  test::gate open;
  std::atomic<bool> child_ended{false};
  code f = [&] {
    weft::spawn([&] {
      EXPECT_TRUE(open.pass());
      child_ended = true;
    });
  };
  wait_and_drop(started(f));
  EXPECT_FALSE(child_ended);
  open.open();
  EXPECT_TRUE(test::eventually([&] { return child_ended.load(); }));
}

TEST(layer_function, may_run_in_a_stream_and_has_a_label) {
  weft::function_stream s("line");
  weft::function_options options;
  options.in = &s;
  options.label = "named";
  std::vector<int> order;
  code first = [&] {
    EXPECT_STREQ(weft::this_task::label(), "named");
    weft::taskyield();
    order.push_back(1);
  };
  code second = [&] { order.push_back(2); };
  weft::detail::task &a = started(first, options), &b = started(second, options);
  wait_and_drop(b);
  wait_and_drop(a);
  EXPECT_EQ(order, (std::vector<int>{1, 2}));
}

TEST(layer_function, without_a_function_it_is_refused) {
  try {
    static_cast<void>(weft::layer::make_function(nullptr, nullptr, {}));
    ADD_FAILURE();
  } catch (const weft::error &e) {
    EXPECT_EQ(e.code(), weft::errc::invalid_argument);
  }
}

TEST(argument_of_running, is_that_of_the_function_and_of_branches_in_it) {
  int branches = 0;
  code f;
  f = [&] {
    EXPECT_EQ(weft::layer::argument_of_running(&run), &f);
    EXPECT_EQ(weft::layer::argument_of_running(&run_other), nullptr);
    weft::join([&] { branches += weft::layer::argument_of_running(&run) == &f; },
               [&] { EXPECT_EQ(weft::layer::argument_of_running(&run), &f); });
    weft::spawn([] { EXPECT_EQ(weft::layer::argument_of_running(&run), nullptr); });
    weft::taskwait();
    EXPECT_EQ(weft::layer::argument_of_running(&run), &f);
  };
  wait_and_drop(started(f));
  EXPECT_EQ(branches, 1);
  EXPECT_EQ(weft::layer::argument_of_running(&run), nullptr);
  weft::spawn([] { EXPECT_EQ(weft::layer::argument_of_running(&run), nullptr); });
  weft::taskwait();
}

TEST(move_to, continues_on_a_worker_of_the_set) {
  const auto end = test::in_process({{"WEFT_WORKERS", "3"}}, [] {
    code f = [&] {
      for (int round = 0; round < 20; ++round)
        for (const int id : {2, 0, 1}) {
          weft::layer::move_to(weft::worker_set::of_workers({id}));
          EXPECT_EQ(weft::worker_id(), id);
          weft::taskyield();
          EXPECT_EQ(weft::worker_id(), id);
          weft::spawn([id] { EXPECT_EQ(weft::worker_id(), id); });
          weft::taskwait();
        }
      weft::layer::move_to({});
    };
    wait_and_drop(started(f));
  });
  EXPECT_TRUE(end.exited(0)) << end;
}

TEST(move_to, a_thread_keeps_to_its_worker) {
  try {
    weft::layer::move_to(weft::worker_set::of_workers({0}));
    ADD_FAILURE();
  } catch (const weft::error &e) {
    EXPECT_EQ(e.code(), weft::errc::not_a_task);
  }
}

TEST(park_blocked, continues_when_it_is_unparked) {
  std::atomic<weft::detail::runnable *> parked{nullptr};
  int order = 0;
  code f = [&] {
    weft::layer::park_blocked(
        [](weft::detail::runnable &self, void *to) {
          static_cast<std::atomic<weft::detail::runnable *> *>(to)->store(&self);
        },
        &parked);
    EXPECT_EQ(order, 1);
    order = 2;
  };
  weft::detail::task &t = started(f);
  ASSERT_TRUE(test::eventually([&] { return parked.load() != nullptr; }));
  order = 1;
  weft::layer::unpark(*parked.load());
  wait_and_drop(t);
  EXPECT_EQ(order, 2);
}

TEST(park_blocked, a_report_names_it) {
  const auto end =
      test::in_process({{"WEFT_WATCH_HANG", "abort"}, {"WEFT_WATCH_PATIENCE", "10ms"}}, [] {
        weft::function_options options;
        options.label = "parked for ever";
        code f = [] {
          weft::layer::park_blocked([](weft::detail::runnable &, void *) {}, nullptr);
        };
        wait_and_drop(started(f, options));
      });
  EXPECT_NE(end.output.find("task 'parked for ever' is blocked"), std::string::npos) << end;
}

} // namespace
