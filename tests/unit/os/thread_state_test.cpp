// SPDX-License-Identifier: Apache-2.0
#include "os/thread_state.hpp"

#include "os/thread.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <mutex>
#include <thread>
#include <time.h>
#include <unistd.h>

using namespace weft::rt;

namespace {

/// Is a thread that does something until its owner ends it.
struct another {
  std::atomic<int> tid{0};
  std::atomic<bool> ends{false};
  std::thread thread;
  explicit another(std::function<void(another &)> body)
      : thread([this, body] {
          tid = this_thread_id();
          body(*this);
        }) {
    while (tid == 0)
      std::this_thread::yield();
  }
  ~another() { thread.join(); }
  void await_sleep() const {
    while (!thread_sleeps(tid))
      std::this_thread::yield();
  }
};

TEST(thread_state_test, who_waits_for_a_mutex_waits_for_a_word) {
  std::mutex m;
  m.lock();
  another t([&m](another &) { std::lock_guard lock(m); });
  t.await_sleep();
  EXPECT_TRUE(wait_of_thread(t.tid).for_word);
  EXPECT_FALSE(thread_has_ended(t.tid));
  m.unlock();
}

TEST(thread_state_test, who_waits_for_one_for_a_limited_time_or_just_sleeps_does_not) {
  std::timed_mutex m;
  m.lock();
  {
    another t([&m](another &) { EXPECT_TRUE(m.try_lock_for(std::chrono::hours(1))); });
    t.await_sleep();
    EXPECT_FALSE(wait_of_thread(t.tid).for_word);
    m.unlock();
  }
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  char byte = 0;
  {
    another t([&](another &) { EXPECT_EQ(read(ends[0], &byte, 1), 1); });
    t.await_sleep();
    EXPECT_FALSE(wait_of_thread(t.tid).for_word);
    EXPECT_EQ(write(ends[1], &byte, 1), 1);
  }
  close(ends[0]);
  close(ends[1]);
}

TEST(thread_state_test, nor_does_one_that_runs_or_is_not_there) {
  another t([](another &me) {
    while (!me.ends) {
    }
  });
  EXPECT_FALSE(wait_of_thread(t.tid).for_word);
  EXPECT_FALSE(wait_of_thread(1 << 30).for_word);
  EXPECT_FALSE(thread_has_ended(1 << 30));
  t.ends = true;
}

} // namespace
