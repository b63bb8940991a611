// SPDX-License-Identifier: Apache-2.0
// Lightweight threads that wait for a futex, and threads of every kind that wake them. The program
// is linked with the library, whose syscall() comes before the C library's.
#include <gtest/gtest.h>

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include <linux/futex.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

extern "C" int weft_rayon_start_thread(void (*run)(void *), void *argument, std::size_t stack_bytes,
                                       const char **reason) noexcept;
extern "C" unsigned weft_rayon_workers() noexcept;
extern "C" std::size_t weft_rayon_threads() noexcept;

namespace {

using word = std::atomic<std::uint32_t>;

long futex(word &at, int operation, std::uint32_t value, const timespec *limit = nullptr) {
  return syscall(SYS_futex, &at, operation | FUTEX_PRIVATE_FLAG, value, limit, nullptr,
                 FUTEX_BITSET_MATCH_ANY);
}

void start(std::function<void()> body) {
  auto *const b = new std::function<void()>(std::move(body));
  const char *reason = nullptr;
  ASSERT_EQ(weft_rayon_start_thread(
                [](void *p) {
                  auto *const run = static_cast<std::function<void()> *>(p);
                  (*run)();
                  delete run;
                },
                b, 0, &reason),
            0)
      << reason;
}

void wait_until(const std::function<bool()> &holds) {
  while (!holds())
    sched_yield();
}

struct waits : testing::Test {
  void TearDown() override {
    wait_until([] { return weft_rayon_threads() == 0; });
  }
};

TEST_F(waits, end_at_once_where_the_value_is_another) {
  word at{1};
  std::atomic<int> answer{0};
  start([&] { answer = futex(at, FUTEX_WAIT, 2) == -1 ? errno : -1; });
  wait_until([&] { return answer != 0; });
  EXPECT_EQ(answer, EAGAIN);
}

TEST_F(waits, end_in_the_order_in_which_they_began_and_as_many_as_are_woken) {
  word at{0}, other{0};
  std::mutex lock;
  std::vector<int> went_on;
  std::atomic<int> begun{0};
  for (int i = 0; i < 5; ++i) {
    start([&, i] {
      ++begun;
      futex(i == 2 ? other : at, FUTEX_WAIT_BITSET, 0);
      const std::lock_guard here(lock);
      went_on.push_back(i);
    });
    wait_until([&] { return begun == i + 1; });
    usleep(2000); // the thread waits
  }
  const auto woken = [&] {
    const std::lock_guard here(lock);
    return went_on;
  };
  EXPECT_EQ(futex(at, FUTEX_WAKE, 0), 0);
  EXPECT_EQ(futex(at, FUTEX_WAKE, 1), 1);
  wait_until([&] { return woken().size() == 1; });
  EXPECT_EQ(woken(), std::vector<int>{0});
  EXPECT_EQ(futex(at, FUTEX_WAKE, 1), 1);
  wait_until([&] { return woken().size() == 2; });
  EXPECT_EQ(woken(), (std::vector<int>{0, 1}));
  EXPECT_EQ(futex(at, FUTEX_WAKE, 100), 2);
  EXPECT_EQ(futex(at, FUTEX_WAKE, 100), 0);
  wait_until([&] { return woken().size() == 4; });
  EXPECT_EQ(futex(other, FUTEX_WAKE, INT32_MAX), 1);
  wait_until([&] { return woken().size() == 5; });
  EXPECT_EQ(woken().back(), 2);
}

TEST_F(waits, of_lightweight_threads_and_of_others_end_by_one_call) {
  word at{0};
  std::atomic<int> begun{0}, ended{0};
  const auto body = [&] {
    ++begun;
    while (at == 0)
      futex(at, FUTEX_WAIT, 0);
    ++ended;
  };
  start(body);
  std::thread kernel(body);
  wait_until([&] { return begun == 2; });
  usleep(10'000);
  at = 1;
  futex(at, FUTEX_WAKE, 2);
  wait_until([&] { return ended == 2; });
  kernel.join();
}

TEST_F(waits, with_a_limit_end_by_it) {
  word at{0};
  const timespec limit{0, 2'000'000};
  std::atomic<int> answer{0};
  start([&] { answer = futex(at, FUTEX_WAIT, 0, &limit) == -1 ? errno : -1; });
  wait_until([&] { return answer != 0; });
  EXPECT_EQ(answer, ETIMEDOUT);
}

/// Pairs of threads take turns: each step of one needs the wake-up of the other.
TEST_F(waits, lose_no_wake_up) {
  constexpr int k_pairs = 8;
  constexpr std::uint32_t k_turns = 4000;
  std::vector<word> turns(k_pairs);
  std::atomic<int> ended{0};
  const auto play = [&](word &turn, std::uint32_t own) {
    for (std::uint32_t now = turn; now < k_turns; now = turn)
      if (now % 2 == own) {
        ++turn;
        futex(turn, FUTEX_WAKE, 1);
      } else {
        futex(turn, FUTEX_WAIT, now);
      }
    futex(turn, FUTEX_WAKE, 1);
    ++ended;
  };
  std::thread kernel([&] { play(turns[0], 1); }); // one of the pairs has a thread of the program
  for (int i = 0; i < k_pairs; ++i)
    for (std::uint32_t own = 0; own < 2; ++own)
      if (i != 0 || own == 0)
        start([&, i, own] { play(turns[static_cast<std::size_t>(i)], own); });
  wait_until([&] { return ended == 2 * k_pairs; });
  kernel.join();
  for (const word &turn : turns)
    EXPECT_EQ(turn, k_turns);
}

TEST(rayon_door, names_why_a_thread_cannot_start) {
  const char *reason = nullptr;
  EXPECT_EQ(weft_rayon_start_thread([](void *) {}, nullptr, std::size_t{1} << 62, &reason), EAGAIN);
  ASSERT_NE(reason, nullptr);
  EXPECT_NE(*reason, '\0');
}

TEST(rayon_door, counts_workers) { EXPECT_EQ(weft_rayon_workers(), 2u); }

} // namespace
