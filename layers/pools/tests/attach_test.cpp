// SPDX-License-Identifier: Apache-2.0
// What the preloaded library hands over when Weft is loaded into a program that has threads already.
#include <weft/layer/pool_thread.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <fstream>
#include <iterator>
#include <map>
#include <string>
#include <thread>

#include <semaphore.h>
#include <unistd.h>

namespace {

using weft::layer::pool_thread;
using weft::layer::pool_thread_calls;

std::map<int, bool> g_added; // thread, and whether it waited
std::atomic<int> g_runs{0};
int g_other_calls = 0;

constexpr pool_thread_calls k_calls{
    weft::layer::k_pool_thread_version,
    [](pool_thread &thread) noexcept { g_added[thread.tid] = thread.waits != 0; },
    [](pool_thread &) noexcept {}, [](pool_thread &) noexcept { ++g_runs; },
    []() noexcept { return false; }, [](sigset_t &) noexcept { return false; }};
constexpr pool_thread_calls k_other{
    weft::layer::k_pool_thread_version, [](pool_thread &) noexcept { ++g_other_calls; },
    [](pool_thread &) noexcept { ++g_other_calls; },
    [](pool_thread &) noexcept { ++g_other_calls; }, []() noexcept { return false; }, [](sigset_t &) noexcept { return false; }};

bool sleeps(int tid) {
  std::ifstream stat("/proc/self/task/" + std::to_string(tid) + "/stat");
  const std::string line((std::istreambuf_iterator<char>(stat)), {});
  return line.find(") S ") != std::string::npos;
}

TEST(attach, hands_over_the_threads_that_exist_and_what_they_do) {
  sem_t semaphore;
  sem_init(&semaphore, 0, 0);
  std::atomic<int> sleeper{0}, computer{0};
  std::atomic<bool> ends{false};
  std::thread waits([&] {
    sleeper = gettid();
    sem_wait(&semaphore);
  });
  std::thread computes([&] {
    usleep(1); // a wait before Weft is there
    computer = gettid();
    while (!ends) {
    }
  });
  std::thread([] {}).join(); // has ended, and is in the list
  while (sleeper == 0 || computer == 0)
    usleep(1000);
  while (!sleeps(sleeper))
    usleep(1000);
  const pool_thread_calls wrong{weft::layer::k_pool_thread_version + 1, nullptr, nullptr, nullptr,
                                nullptr, nullptr};
  weft_attach_pool_threads(&wrong); // of another version: left alone
  weft_attach_pool_threads(&k_calls);
  EXPECT_EQ(g_added.count(computer), 1u);
  EXPECT_FALSE(g_added[computer]);
  EXPECT_EQ(g_added.count(sleeper), 1u);
  EXPECT_TRUE(g_added[sleeper]);
  weft_attach_pool_threads(&k_other); // a second Weft makes no room
  sem_post(&semaphore);
  ends = true;
  waits.join();
  computes.join();
  EXPECT_EQ(g_runs, 1) << "the sleeper's wait has ended";
  EXPECT_EQ(g_other_calls, 0);
}

} // namespace
