// SPDX-License-Identifier: Apache-2.0
// Tests that a task-aware library that is loaded at run time works with Weft. A thread ends the
// requests of the library.
#include "load_probe.hpp"

#include "support/gate.hpp"

#include <weft/weft.hpp>

#include <atomic>
#include <gtest/gtest.h>
#include <memory>
#include <thread>
#include <vector>

namespace {

struct request {
  std::atomic<bool> started{false}, done{false};
  int value = 0; // written by the thread that ends the request
};

int test_some(int count, void **requests, int *done) {
  int found = 0;
  for (int i = 0; i < count; ++i)
    if (static_cast<request *>(requests[i])->done)
      done[found++] = i;
  return found;
}

/// Ends the requests as a network card does, the last first.
void end_all(std::vector<request> &all) {
  for (std::size_t i = all.size(); i-- > 0;) {
    while (!all[i].started)
      std::this_thread::yield();
    all[i].value = static_cast<int>(i) + 1;
    all[i].done = true;
  }
}

class library : public testing::TestWithParam<bool> {};

TEST_P(library, suspends_more_tasks_than_there_are_workers) {
  const probe_library *p = load_probe();
  ASSERT_NE(p, nullptr);
  ASSERT_TRUE(p->start(&test_some, 20'000, GetParam()));
  std::vector<request> all(40);
  std::atomic<int> sum{0}, failures{0};
  for (request &r : all)
    weft::spawn([&] {
      r.started = true;
      failures += p->wait(&r) != ALPI_SUCCESS;
      sum += r.value;
    });
  std::thread card([&] { end_all(all); });
  weft::taskwait();
  card.join();
  EXPECT_TRUE(p->stop());
  EXPECT_EQ(p->clashes(), 0);
  int blocks = 0, events = 0, rounds = 0;
  p->counts(&blocks, &events, &rounds);
  EXPECT_EQ(failures, 0);
  EXPECT_EQ(sum, 40 * 41 / 2);
  EXPECT_EQ(blocks, 40);
  EXPECT_GT(rounds, 0);
}

TEST_P(library, holds_the_data_of_tasks_that_have_returned) {
  const probe_library *p = load_probe();
  ASSERT_NE(p, nullptr);
  ASSERT_TRUE(p->start(&test_some, 20'000, GetParam()));
  std::vector<request> all(40);
  std::atomic<int> right{0}, failures{0};
  for (std::size_t i = 0; i != all.size(); ++i) {
    request &r = all[i];
    weft::spawn(
        [&] {
          failures += p->bind(&r) != ALPI_SUCCESS;
          r.started = true;
        },
        weft::out(r));
    weft::spawn([&, i] { right += r.value == static_cast<int>(i) + 1; }, weft::in(r));
  }
  std::thread card([&] { end_all(all); });
  weft::taskwait();
  card.join();
  EXPECT_TRUE(p->stop());
  EXPECT_EQ(p->clashes(), 0);
  int blocks = 0, events = 0, rounds = 0;
  p->counts(&blocks, &events, &rounds);
  EXPECT_EQ(failures, 0);
  EXPECT_EQ(right, 40);
  EXPECT_EQ(events, 40);
}

INSTANTIATE_TEST_SUITE_P(polling, library, testing::Bool(),
                         [](const auto &info) { return info.param ? "suspends" : "waits"; });

} // namespace
