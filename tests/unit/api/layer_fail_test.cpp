// SPDX-License-Identifier: Apache-2.0
// Tasks whose events end with an error (weft/layer/task.hpp).
#include <weft/future.hpp>
#include <weft/layer/task.hpp>
#include <weft/weft.hpp>

#include <gtest/gtest.h>

#include <exception>
#include <stdexcept>
#include <string>
#include <thread>

namespace {

std::exception_ptr problem(const char *text) {
  return std::make_exception_ptr(std::runtime_error(text));
}

/// Holds the running task, and fails it from another thread.
void fail_later(std::thread &by) {
  weft::this_task::increase_events();
  by = std::thread([self = weft::this_task::self()] {
    weft::layer::fail_task(self, problem("the event"));
    weft::decrease_events(self);
  });
}

template <class F>
std::string text_of(F &&wait) {
  try {
    wait();
  } catch (const std::exception &e) {
    return e.what();
  }
  return "nothing";
}

TEST(layer_fail, the_failure_of_an_event_is_that_of_the_task) {
  std::thread by;
  auto h = weft::spawn([&] { fail_later(by); }, weft::tracked);
  EXPECT_EQ(text_of([&] { h.get(); }), "the event");
  by.join();

  auto f = weft::async([&] {
    fail_later(by);
    return 7;
  });
  EXPECT_EQ(text_of([&] { (void)f.get(); }), "the event");
  by.join();

  weft::task_group g;
  g.spawn([&] { fail_later(by); });
  EXPECT_EQ(text_of([&] { g.wait(); }), "the event");
  by.join();

  weft::spawn([&] { fail_later(by); });
  EXPECT_EQ(text_of([] { weft::taskwait(); }), "the event");
  by.join();
}

TEST(layer_fail, a_successor_runs_although_the_event_failed) {
  std::thread by;
  int data = 0;
  bool ran = false;
  auto h = weft::spawn([&] { fail_later(by); }, weft::out(data), weft::tracked);
  weft::spawn([&] { ran = true; }, weft::in(data));
  EXPECT_EQ(text_of([&] { h.get(); }), "the event");
  weft::taskwait();
  EXPECT_TRUE(ran);
  by.join();
}

TEST(layer_fail, one_of_two_failures_counts) {
  for (int round = 0; round < 100; ++round) {
    testing::internal::CaptureStderr();
    std::thread by;
    auto h = weft::spawn(
        [&] {
          fail_later(by);
          throw std::runtime_error("the body");
        },
        weft::tracked);
    const std::string text = text_of([&] { h.get(); });
    by.join();
    h = {};
    const std::string said = testing::internal::GetCapturedStderr();
    const bool is_of_body = text == "the body";
    EXPECT_TRUE(is_of_body || text == "the event") << text;
    EXPECT_NE(said.find(is_of_body ? "the event" : "the body"), std::string::npos) << said;
  }
}

} // namespace
