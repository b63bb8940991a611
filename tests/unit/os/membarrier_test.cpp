// SPDX-License-Identifier: Apache-2.0
#include "atomic/atomic.hpp"
#include "support/scale.hpp"

#include <atomic>
#include <gtest/gtest.h>
#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace {

using namespace weft::rt;

long call(int command) { return syscall(SYS_membarrier, command, 0, 0); }

#if defined(__SANITIZE_THREAD__)
constexpr bool k_under_tsan = true;
#elif defined(__has_feature)
constexpr bool k_under_tsan = __has_feature(thread_sanitizer);
#else
constexpr bool k_under_tsan = false;
#endif

bool kernel_can() {
  const long commands = call(MEMBARRIER_CMD_QUERY);
  return commands >= 0 && (commands & MEMBARRIER_CMD_PRIVATE_EXPEDITED) != 0;
}

TEST(membarrier, the_light_half_is_free_where_the_kernel_can) {
  EXPECT_EQ(g_light_barrier_is_full,
            k_under_tsan || !kernel_can()); // TSan cannot see what the kernel orders
}

// Store, barrier, load on both sides: at least one side sees the other's store.
void meet(int rounds) {
  std::atomic<int> x{0}, y{0}, turn{0};
  int seen_x = 0, seen_y = 0, lost = 0;
  std::thread sleeper([&] {
    for (int round = 1; round <= rounds; ++round) {
      real_atomics::await(
          turn, [&](int t) { return t >= 2 * round - 1; }, std::memory_order_acquire);
      y.store(round, std::memory_order_relaxed);
      real_atomics::heavy_barrier();
      seen_x = x.load(std::memory_order_relaxed);
      turn.fetch_add(1, std::memory_order_release);
    }
  });
  for (int round = 1; round <= rounds; ++round) {
    turn.fetch_add(1, std::memory_order_release);
    for (int pause = round % 64; pause > 0; --pause)
      cpu_pause();
    x.store(round, std::memory_order_relaxed);
    real_atomics::light_barrier();
    seen_y = y.load(std::memory_order_relaxed);
    real_atomics::await(turn, [&](int t) { return t >= 2 * round; }, std::memory_order_acquire);
    lost += seen_x != round && seen_y != round;
  }
  sleeper.join();
  EXPECT_EQ(lost, 0);
}

TEST(membarrier, of_a_light_and_a_heavy_side_one_sees_the_other) { meet(test::scaled(20000)); }

TEST(membarrier, full_barriers_on_both_sides_do_the_same) {
  const bool was = g_light_barrier_is_full;
  g_light_barrier_is_full = true;
  meet(test::scaled(20000));
  g_light_barrier_is_full = was;
}

TEST(membarrier, a_forked_child_inherits_the_registration) {
  if (g_light_barrier_is_full)
    GTEST_SKIP() << "membarrier is not used here";
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    const bool inherited = call(MEMBARRIER_CMD_PRIVATE_EXPEDITED) == 0;
    os_heavy_barrier(); // aborts where it cannot
    _exit(inherited ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

} // namespace
