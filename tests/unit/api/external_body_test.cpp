// SPDX-License-Identifier: Apache-2.0
// Bodies that threads of a layer run: in which slots they are counted, and what they are asked.
#include <weft/counters.hpp>
#include <weft/layer/external_body.hpp>
#include <weft/layer/external_task.hpp>
#include <weft/weft.hpp>

#include <atomic>
#include <gtest/gtest.h>
#include <thread>

namespace {

using weft::layer::body_log;

struct asked_body {
  int labels = 0, places = 0;
  weft::layer::described_body body() {
    return {[](void *p) {
              ++static_cast<asked_body *>(p)->labels;
              return "external";
            },
            [](void *p, char *, std::size_t) { ++static_cast<asked_body *>(p)->places; }, this, nullptr};
  }
};

template <class F>
void on_other_thread(F f) {
  std::thread(f).join();
}

double counted_since(const weft::counters::snapshot &before, const char *name) {
  return (weft::counters::take() - before).value(name);
}

TEST(external_body, of_an_adopted_thread_is_in_the_slot_of_the_thread) {
  body_log *const own = weft::layer::own_log();
  ASSERT_NE(own, nullptr);
  body_log *const borrowed = weft::layer::borrow_log();
  EXPECT_EQ(borrowed, own);
  weft::layer::give_back_log(*borrowed);
  on_other_thread([own] {
    body_log *const other = weft::layer::borrow_log(); // the thread's own is not free
    ASSERT_NE(other, nullptr);
    EXPECT_NE(other, own);
    weft::layer::give_back_log(*other);
  });
}

TEST(external_body, of_another_thread_is_in_a_slot_that_no_other_thread_has) {
  ASSERT_NE(weft::layer::own_log(), nullptr);
  body_log *first = nullptr;
  on_other_thread([&first] { first = weft::layer::borrow_log(); });
  ASSERT_NE(first, nullptr);
  on_other_thread([first] {
    body_log *const second = weft::layer::borrow_log();
    ASSERT_NE(second, nullptr);
    EXPECT_NE(second, first);
    EXPECT_NE(weft::layer::own_log(), first); // nor does a thread that Weft adopts get it
    EXPECT_NE(weft::layer::own_log(), second);
    weft::layer::give_back_log(*second);
    weft::layer::give_back_log(*first);
  });
  on_other_thread([first] {
    body_log *const again = weft::layer::borrow_log();
    EXPECT_EQ(again, first); // what was given back last
    weft::layer::give_back_log(*again);
  });
}

TEST(external_body, is_counted_like_a_task) {
  ASSERT_NE(weft::layer::own_log(), nullptr);
  const auto before = weft::counters::take();
  asked_body it;
  on_other_thread([&it] {
    body_log *const log = weft::layer::borrow_log();
    ASSERT_NE(log, nullptr);
    EXPECT_EQ(weft::layer::note_creation(*log, it.body()), 0u); // of no trace
    EXPECT_EQ(weft::layer::note_creation(*log, it.body()), 0u);
    weft::layer::running_body self;
    weft::layer::begin_body(*log, 0, it.body(), self);
    const std::uint32_t asleep = weft::layer::sleep_body(log, weft::layer::body_wait::children);
    weft::layer::wake_body(log, asleep);
    weft::layer::end_body(*log, self);
    weft::layer::skip_body(*log, 0, it.body());
    weft::layer::give_back_log(*log);
  });
  EXPECT_EQ(counted_since(before, "/threads/count/spawned"), 2);
  EXPECT_EQ(counted_since(before, "/threads/count/cumulative"), 2);
  EXPECT_EQ(counted_since(before, "/threads/count/suspended"), 1);
  // The watcher may have a spare go on in the place of the first thread, which waits in the kernel.
  EXPECT_GE(counted_since(before, "/threads/count/resumed"), 1);
  EXPECT_EQ(it.places, 0); // but for a trace
  EXPECT_LE(it.labels, 1); // of a sample
}

TEST(external_body, that_waits_on_a_thread_without_a_slot_is_not_counted) {
  ASSERT_NE(weft::layer::own_log(), nullptr);
  const auto before = weft::counters::take();
  on_other_thread([] {
    EXPECT_EQ(weft::layer::sleep_body(nullptr, weft::layer::body_wait::outside), 0u);
    weft::layer::wake_body(nullptr, 0);
    weft::layer::wait_is_over(nullptr, weft::layer::wait_begins(), nullptr);
  });
  EXPECT_EQ(counted_since(before, "/threads/count/suspended"), 0);
}

TEST(external_body, with_regions_is_counted_by_whether_it_had_to_wait) {
  body_log *const log = weft::layer::own_log();
  ASSERT_NE(log, nullptr);
  const auto before = weft::counters::take();
  weft::layer::external_task *parent = nullptr, *first = nullptr, *second = nullptr;
  weft::layer::enter_external_task(nullptr, nullptr, 0, nullptr, nullptr, &parent);
  char data[8];
  asked_body it;
  std::atomic<bool> is_ready{false};
  const auto ready = [](void *p) { *static_cast<std::atomic<bool> *>(p) = true; };
  const weft::region_access named[] = {{weft::region(data, 8), weft::access_mode::inout}};
  const auto enter = [&](weft::layer::external_task **self) {
    weft::layer::noted_creation noted{log, it.body()};
    return weft::layer::enter_external_regions(*parent, named, 1, "external", ready, &is_ready,
                                               self, &noted);
  };
  if (!enter(&first)) // managers may tell it later
    while (!is_ready)
      weft::taskyield();
  is_ready = false;
  EXPECT_FALSE(enter(&second));
  EXPECT_EQ(counted_since(before, "/threads/count/spawned"), 2);
  EXPECT_GE(counted_since(before, "/dependencies/count/waited"), 1);
  weft::layer::end_external_task(*first);
  while (!is_ready)
    weft::taskyield();
  weft::layer::end_external_task(*second);
  weft::layer::end_external_task(*parent);
  EXPECT_EQ(it.places, 0);
}

} // namespace
