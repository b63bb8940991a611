// SPDX-License-Identifier: Apache-2.0
#include "atomic/atomic.hpp"
#include "base/clock.hpp"

#include <atomic>
#include <cerrno>
#include <gtest/gtest.h>
#include <thread>
#include <vector>

namespace {

using namespace weft::rt;

std::int64_t in_ms(std::int64_t ms) { return static_cast<std::int64_t>(now_ns()) + ms * 1'000'000; }

TEST(futex, a_wait_on_another_value_returns_at_once) {
  std::atomic<std::uint32_t> word{1};
  EXPECT_TRUE(os_futex_wait(word, 2, 0));
}

TEST(futex, a_wait_ends_at_its_deadline) {
  std::atomic<std::uint32_t> word{1};
  const auto deadline = in_ms(20);
  while (os_futex_wait(word, 1, deadline)) { // a signal may end it early
  }
  EXPECT_GE(static_cast<std::int64_t>(now_ns()), deadline);
}

TEST(futex, a_deadline_in_the_past_has_passed) {
  std::atomic<std::uint32_t> word{1};
  EXPECT_FALSE(os_futex_wait(word, 1, 1));
}

TEST(futex, a_wake_ends_every_wait) {
  std::atomic<std::uint32_t> word{0};
  std::vector<std::thread> sleepers;
  for (int i = 0; i != 4; ++i)
    sleepers.emplace_back([&] {
      while (word.load() == 0)
        os_futex_wait(word, 0, 0);
    });
  word = 1;
  os_futex_wake(word, INT32_MAX);
  for (auto &sleeper : sleepers)
    sleeper.join();
}

TEST(futex, one_wake_ends_one_wait) {
  std::atomic<std::uint32_t> word{0};
  std::atomic<int> passed{0};
  std::vector<std::thread> sleepers;
  for (int i = 0; i != 2; ++i)
    sleepers.emplace_back([&] {
      auto tickets = word.load();
      while (tickets == 0 || !word.compare_exchange_weak(tickets, tickets - 1))
        if (tickets == 0) {
          os_futex_wait(word, 0, 0);
          tickets = word.load();
        }
      ++passed;
    });
  for (int i = 0; i != 2; ++i) {
    word.fetch_add(1);
    os_futex_wake(word, 1);
  }
  for (auto &sleeper : sleepers)
    sleeper.join();
  EXPECT_EQ(passed, 2);
  EXPECT_EQ(word, 0u);
}

TEST(futex, errno_is_kept) {
  std::atomic<std::uint32_t> word{1};
  errno = 77;
  os_futex_wait(word, 1, 1);
  os_futex_wait(word, 2, 0);
  os_futex_wake(word, 1);
  EXPECT_EQ(errno, 77);
}

} // namespace
