// SPDX-License-Identifier: Apache-2.0
// A wait for a static variable that another thread initializes keeps errno, also where a signal or
// the end of the initialization disturbs the wait.
#include <gtest/gtest.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <thread>

#include <pthread.h>

namespace {

std::atomic<bool> g_initializes{false}, g_goes_on{false};

int slow_variable() {
  static const int variable = [] {
    g_initializes = true;
    while (!g_goes_on)
      std::this_thread::yield();
    return 1;
  }();
  return variable;
}

TEST(statics, a_wait_for_a_static_variable_keeps_errno) {
  using namespace std::chrono_literals;
  constexpr int k_mark = 1234;
  struct sigaction before{}, returns{};
  returns.sa_handler = [](int) {}; // without SA_RESTART: the wait in the kernel fails with EINTR
  ASSERT_EQ(sigaction(SIGUSR1, &returns, &before), 0);
  std::thread first([] { EXPECT_EQ(slow_variable(), 1); });
  while (!g_initializes)
    std::this_thread::yield();
  std::atomic<bool> is_over{false};
  int seen = 0, value = 0;
  std::thread second([&] {
    errno = k_mark;
    value = slow_variable();
    seen = errno;
    is_over = true;
  });
  for (int i = 0; i < 20; ++i) {
    pthread_kill(second.native_handle(), SIGUSR1);
    std::this_thread::sleep_for(1ms);
  }
  EXPECT_FALSE(is_over);
  g_goes_on = true;
  first.join();
  second.join();
  sigaction(SIGUSR1, &before, nullptr);
  EXPECT_EQ(seen, k_mark);
  EXPECT_EQ(value, 1);
}

} // namespace
