// SPDX-License-Identifier: Apache-2.0
// Promise: errno, the signal mask, the handlers, the affinity and the rounding mode of the user's threads
// stay as they are.
#include "support/gate.hpp"

#include <weft/weft.hpp>

#include <cerrno>
#include <cfenv>
#include <csignal>
#include <cstring>
#include <gtest/gtest.h>
#include <pthread.h>
#include <sched.h>
#include <thread>
#include <unistd.h>

namespace {

struct thread_state {
  sigset_t mask;
  cpu_set_t cpus;
  int rounding;
  thread_state() : rounding(std::fegetround()) {
    std::memset(&mask, 0, sizeof mask);
    pthread_sigmask(SIG_SETMASK, nullptr, &mask);
    CPU_ZERO(&cpus);
    sched_getaffinity(0, sizeof cpus, &cpus);
  }
  bool operator==(const thread_state &o) const {
    return std::memcmp(&mask, &o.mask, sizeof mask) == 0 && CPU_EQUAL(&cpus, &o.cpus) &&
           rounding == o.rounding;
  }
};

void use_everything() {
  int x = 0;
  weft::mutex m;
  for (int i = 0; i != 20; ++i)
    weft::spawn(
        [&] {
          m.lock();
          test::dawdle();
          ++x;
          m.unlock();
        },
        weft::inout(x));
  weft::join([] { weft::taskyield(); }, [] {});
  weft::taskwait();
}

TEST(thread_state, of_the_main_thread_is_left_alone) {
  thread_state before;
  use_everything();
  EXPECT_TRUE(before == thread_state());
}

TEST(thread_state, of_an_external_thread_with_a_mask_of_its_own_is_left_alone) {
  std::thread([] {
    sigset_t mine;
    sigemptyset(&mine);
    sigaddset(&mine, SIGUSR2);
    pthread_sigmask(SIG_BLOCK, &mine, nullptr);
    thread_state before;
    use_everything();
    EXPECT_TRUE(before == thread_state());
  }).join();
}

TEST(thread_state, a_rounding_mode_set_by_a_task_stays_in_that_task) {
  std::atomic<int> wrong{0};
  for (int i = 0; i != 20; ++i)
    weft::spawn([&, i] {
      int mine = i % 2 ? FE_UPWARD : FE_TONEAREST;
      std::fesetround(mine);
      for (int k = 0; k != 5; ++k) {
        weft::taskyield();
        wrong += std::fegetround() != mine;
      }
      std::fesetround(FE_TONEAREST);
    });
  weft::taskwait();
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(std::fegetround(), FE_TONEAREST);
}

WEFT_NOINLINE int read_errno() { return errno; }

TEST(thread_state, errno_of_the_main_thread_survives_spawn_and_yield) {
  errno = 0;
  weft::spawn([] {});
  weft::taskwait();
  EXPECT_EQ(read_errno(), 0);
  errno = ERANGE;
  weft::spawn([] {});
  EXPECT_EQ(read_errno(), ERANGE);
  weft::taskyield();
  EXPECT_EQ(read_errno(), ERANGE);
  weft::taskwait();
  EXPECT_EQ(read_errno(), ERANGE);
  errno = 0;
}

TEST(thread_state, no_signal_handler_of_the_user_is_replaced) {
  struct sigaction act{};
  for (int signal : {SIGUSR1, SIGUSR2, SIGALRM, SIGCHLD, SIGTERM, SIGINT, SIGPIPE}) {
    sigaction(signal, nullptr, &act);
    EXPECT_TRUE(act.sa_handler == SIG_DFL || act.sa_handler == SIG_IGN)
        << signal; // a shell's command in the background ignores some
  }
}

volatile std::sig_atomic_t g_on_worker = 0;

TEST(thread_state, signals_of_the_process_are_not_handled_by_workers) {
  std::signal(SIGUSR1, [](int) { g_on_worker = weft::worker_id() != 0; });
  weft::taskwait();
  kill(getpid(), SIGUSR1);
  test::dawdle();
  std::signal(SIGUSR1, SIG_DFL);
  EXPECT_EQ(g_on_worker, 0);
}

} // namespace
