// SPDX-License-Identifier: Apache-2.0
// Lightweight threads that wait for a futex, and threads of every kind that wake them. The program
// is linked with the library, whose syscall() comes before the C library's.
#include "support/case_process.hpp"

#include <gtest/gtest.h>

#include <weft/group.hpp>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <limits>
#include <mutex>
#include <thread>
#include <vector>

#include <linux/futex.h>
#include <sched.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

extern "C" int weft_rayon_start_thread(void (*run)(void *), void *argument, std::size_t stack_bytes,
                                       const char **reason) noexcept;
extern "C" unsigned weft_rayon_workers() noexcept;
extern "C" std::size_t weft_rayon_threads() noexcept;
extern "C" int weft_rayon_is_task() noexcept;
extern "C" void weft_rayon_event_make(void *event) noexcept;
extern "C" void weft_rayon_event_set(void *event) noexcept;
extern "C" void weft_rayon_event_wait(void *event) noexcept;

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
  const auto end = test::in_process({{"WEFT_WORKERS", "2"}, {"WEFT_WATCH_MAX_SPARES", "0"}}, [] {
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
      std::atomic<bool> next{false}; // runs on the only kernel thread there is, when the one before waits
      start([&] { next = true; });
      wait_until([&] { return next.load(); });
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
  });
  EXPECT_TRUE(end.exited(0)) << end;
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

constexpr timespec k_long{1000, 0};

timespec in(std::int64_t ns, clockid_t clock) {
  timespec t{};
  clock_gettime(clock, &t);
  ns += t.tv_nsec;
  return {t.tv_sec + ns / 1'000'000'000, ns % 1'000'000'000};
}

/// Returns the errno of a wait on a lightweight thread; 0 if it was woken.
int error_of_wait(int operation, const timespec &limit, std::uint32_t expected = 0) {
  word at{0};
  std::atomic<int> answer{-1};
  start([&] { answer = futex(at, operation, expected, &limit) == -1 ? errno : 0; });
  wait_until([&] { return answer != -1; });
  return answer;
}

TEST_F(waits, with_a_limit_end_by_it) {
  EXPECT_EQ(error_of_wait(FUTEX_WAIT, {0, 2'000'000}), ETIMEDOUT);
  EXPECT_EQ(error_of_wait(FUTEX_WAIT, {0, 0}), ETIMEDOUT);
  EXPECT_EQ(error_of_wait(FUTEX_WAIT_BITSET, in(2'000'000, CLOCK_MONOTONIC)), ETIMEDOUT);
  EXPECT_EQ(error_of_wait(FUTEX_WAIT_BITSET, {1, 0}), ETIMEDOUT) << "it is over";
  EXPECT_EQ(error_of_wait(FUTEX_WAIT_BITSET | FUTEX_CLOCK_REALTIME, in(2'000'000, CLOCK_REALTIME)),
            ETIMEDOUT);
  EXPECT_EQ(error_of_wait(FUTEX_WAIT, {100, 0}, 1), EAGAIN);
  EXPECT_EQ(error_of_wait(FUTEX_WAIT, {0, 1'000'000'000}), EINVAL);
  EXPECT_EQ(error_of_wait(FUTEX_WAIT, {-1, 0}), EINVAL);
}

TEST_F(waits, with_a_limit_last_as_long_as_they_say) {
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_EQ(error_of_wait(FUTEX_WAIT, {0, 30'000'000}), ETIMEDOUT);
  EXPECT_EQ(error_of_wait(FUTEX_WAIT_BITSET, in(30'000'000, CLOCK_MONOTONIC)), ETIMEDOUT);
  EXPECT_GE(std::chrono::steady_clock::now() - begin, std::chrono::milliseconds(60));
}

/// Many wait with a limit, some of them beyond all clocks, and hold no worker: there are no more
/// kernel threads than before.
TEST_F(waits, with_a_limit_let_other_work_run) {
  constexpr int k_threads = 100;
  const auto kernel_threads = [] {
    return std::distance(std::filesystem::directory_iterator("/proc/self/task"), {});
  };
  const auto before = kernel_threads();
  word at{0};
  std::atomic<int> begun{0}, woken{0};
  for (int i = 0; i < k_threads; ++i)
    start([&, i] {
      ++begun;
      const timespec limit{i % 2 ? 1000 : std::numeric_limits<time_t>::max(), 0};
      while (at == 0)
        EXPECT_EQ(futex(at, FUTEX_WAIT, 0, &limit) == -1 ? errno : 0, at == 0 ? 0 : EAGAIN);
      ++woken;
    });
  wait_until([&] { return begun == k_threads; });
  std::atomic<bool> other{false};
  start([&] { other = true; });
  wait_until([&] { return other.load(); });
  EXPECT_LT(kernel_threads() - before, k_threads / 2);
  at = 1;
  wait_until([&] { // those that have not begun to wait find the new value
    futex(at, FUTEX_WAKE, k_threads);
    return woken == k_threads;
  });
}

/// Pairs of threads take turns: each step of one needs the wake-up of the other.
TEST_F(waits, lose_no_wake_up) {
  constexpr int k_pairs = 8;
  constexpr std::uint32_t k_turns = 12000;
  std::vector<word> turns(k_pairs);
  std::atomic<int> ended{0};
  const auto play = [&](word &turn, std::uint32_t own) {
    for (std::uint32_t now = turn; now < k_turns; now = turn)
      if (now % 2 == own) {
        ++turn;
        futex(turn, FUTEX_WAKE, 1);
      } else if (now % 3 == 0) { // times end as others wake
        const timespec limit{0, (1 + now % 5) * 10'000};
        futex(turn, FUTEX_WAIT, now, &limit);
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

/// Runs `body` in a child of this process. Returns whether it is true and the child ends in time.
template <class Body>
bool holds_in_child(Body body) {
  const pid_t child = fork();
  if (child == 0) {
    alarm(60); // ends a child that hangs
    _exit(body() ? 0 : 1);
  }
  int status = -1;
  waitpid(child, &status, 0);
  return status == 0;
}

TEST(rayon_fork, leaves_the_waiters_to_the_parent) {
  word at{0};
  std::atomic<int> ended{0};
  for (const timespec *limit : {static_cast<const timespec *>(nullptr), &k_long}) {
    std::atomic<bool> begun{false};
    start([&, limit] {
      begun = true;
      while (at == 0)
        futex(at, FUTEX_WAIT, 0, limit);
      ++ended;
    });
    wait_until([&] { return begun.load(); });
  }
  usleep(10'000); // they wait
  EXPECT_TRUE(holds_in_child([&] { return futex(at, FUTEX_WAKE, 9) == 0; }));
  EXPECT_TRUE(holds_in_child([&] { // the child's own are woken
    std::atomic<bool> begun{false}, woken{false};
    start([&] {
      begun = true;
      while (at == 0)
        futex(at, FUTEX_WAIT, 0);
      woken = true;
    });
    wait_until([&] { return begun.load(); });
    at = 1;
    futex(at, FUTEX_WAKE, 9);
    wait_until([&] { return woken.load(); });
    return true;
  }));
  at = 1;
  futex(at, FUTEX_WAKE, 9);
  wait_until([&] { return ended == 2 && weft_rayon_threads() == 0; });
}

/// Threads hold the lock of a bucket for much of their time as the process forks.
TEST(rayon_fork, leaves_the_locks_to_the_parent) {
  std::vector<word> words(1024); // of all buckets
  std::atomic<bool> ends{false};
  std::vector<std::thread> wakers;
  for (int i = 0; i < 3; ++i)
    wakers.emplace_back([&] {
      while (!ends)
        futex(words[0], FUTEX_WAKE, 1);
    });
  for (int i = 0; i < 200; ++i)
    EXPECT_TRUE(holds_in_child([&] {
      long woken = 0;
      for (word &w : words)
        woken += futex(w, FUTEX_WAKE, 1);
      return woken == 0;
    }));
  ends = true;
  for (auto &t : wakers)
    t.join();
}

TEST(rayon_door, names_why_a_thread_cannot_start) {
  const char *reason = nullptr;
  EXPECT_EQ(weft_rayon_start_thread([](void *) {}, nullptr, std::size_t{1} << 62, &reason), EAGAIN);
  ASSERT_NE(reason, nullptr);
  EXPECT_NE(*reason, '\0');
}

TEST(rayon_door, knows_tasks_and_lets_them_wait) {
  EXPECT_FALSE(weft_rayon_is_task()) << "a thread of the program";
  std::atomic<int> on_light_thread{-1}, wrong{0}, waiting{0};
  start([&] { on_light_thread = weft_rayon_is_task(); });
  wait_until([&] { return on_light_thread != -1; });
  EXPECT_EQ(on_light_thread, 0);
  constexpr int k_tasks = 50; // on two workers: all have begun only if those that wait suspend
  alignas(8) std::uint64_t events[k_tasks][2];
  weft::task_group group;
  for (auto &e : events) {
    weft_rayon_event_make(e);
    group.spawn([&wrong, &waiting, event = &e] {
      wrong += !weft_rayon_is_task();
      ++waiting;
      weft_rayon_event_wait(event);
    });
  }
  start([&] {
    while (waiting != k_tasks)
      sched_yield();
    for (auto &e : events)
      weft_rayon_event_set(e);
  });
  group.wait();
  EXPECT_EQ(wrong, 0);
  wait_until([] { return weft_rayon_threads() == 0; });
}

TEST(rayon_door, counts_workers) { EXPECT_EQ(weft_rayon_workers(), 2u); }

} // namespace
