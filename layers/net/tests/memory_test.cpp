// SPDX-License-Identifier: Apache-2.0
// What the engine inproc takes of memory, and what it does without.
#include "ranks.hpp"
#include "short_memory.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

namespace {

using namespace net_test;
using net::action;
using net::outcome;

constexpr std::size_t k_queue = 8;

void notify(test_operation &op, int rank, std::uint32_t id) {
  only(op, action::put_notify, rank);
  op.id = id;
  op.count = 1;
}

TEST(Memory, AWorldTakesSomeBytesForAPairOfRanks) {
  constexpr std::size_t k_ranks = 256, k_of_pair = 8, k_of_rank = 4096;
  const std::size_t before = test::g_in_use;
  const net::inproc_world world(k_ranks); // its queues have the 256 places of net.queue
  std::vector<std::unique_ptr<net::engine>> engines;
  for (std::size_t r = 0; r != k_ranks; ++r)
    engines.push_back(world.make_engine(static_cast<int>(r)));
  EXPECT_LT(test::g_in_use - before, k_ranks * (k_ranks * k_of_pair + k_of_rank));
}

TEST(Memory, PacketsAreUsedAgain) {
  test_job job(inproc_kind("inproc", with(k_queue, 0, false)), 3);
  for (int r = 0; r != 3; ++r)
    job.at(r).begin_wait(); // the polling service, which allocates at its start, stays
  std::uint64_t sent = 0;
  const auto round = [&] {
    std::deque<test_operation> all(2 * k_queue);
    const std::size_t before = test::g_allocations;
    for (std::size_t i = 0; i != all.size(); ++i) { // some wait for a place
      notify(all[i], 1, 5);
      job.at(i % 2 == 0 ? 0 : 2).submit(all[i]);
    }
    sent += all.size();
    job.finish_all(all);
    job.until([&] { return job[1].notifications(5) == sent; });
    return test::g_allocations - before;
  };
  std::size_t least = round();
  for (int i = 0; i != 1000 && least >= k_queue; ++i) // the runtime's own threads allocate as they start
    least = std::min(least, round());
  EXPECT_LT(least, k_queue);
  for (int r = 0; r != 3; ++r)
    job.at(r).end_wait();
}

TEST(Memory, WhatIsKeptForPacketsIsBounded) {
  constexpr int k_ranks = 20;
  constexpr std::size_t k_of_packet = 1024;
  test_job job(inproc_kind("inproc", with(k_queue, 0, false)), k_ranks);
  const std::string text(4096, 'x');
  std::atomic<std::size_t> arrived{0}; // workers make progress at some ranks, and the test at others
  for (int to = 1; to != k_ranks; ++to)
    job[to].on_arrival = [&](std::uint32_t) { ++arrived; };
  const auto send_to_all = [&](std::size_t each) {
    std::deque<test_operation> all(each * (k_ranks - 1));
    for (std::size_t i = 0; i != all.size(); ++i) {
      message(all[i], 1 + static_cast<int>(i) % (k_ranks - 1), 3, text);
      job.at(0).submit(all[i]);
    }
    job.finish_all(all);
    job.until([&] { return arrived == all.size(); });
    EXPECT_EQ(arrived.exchange(0), all.size());
  };
  // The listeners keep the texts of messages: they are dropped with the job, so the difference has them all.
  const std::size_t before = test::g_in_use;
  send_to_all(k_queue); // each may have as many under way
  std::size_t of_texts = 0;
  for (int to = 1; to != k_ranks; ++to)
    of_texts += k_queue * (text.size() + 1) + 16 * sizeof(test_rank::message) + 4096;
  job.at(0).progress(1); // rank 0 takes its packets back, although it sends no more
  EXPECT_LT(test::g_in_use - before, of_texts + (k_queue + 1) * k_of_packet);
}

TEST(Memory, AMessageWithoutMemoryWaits) {
  for (const bool is_notification : {false, true}) {
    bool has_failed = true;
    long n = 0;
    for (int tries = 0; has_failed; ++tries) {
      ASSERT_LT(tries, 10'000);
      test_job job(inproc_kind("inproc", with(k_queue, 0, false)), 2);
      job.at(0).begin_wait(); // so that both are polled already
      job.at(1).begin_wait();
      const std::string text(300, 'y');
      test_operation op;
      if (is_notification)
        notify(op, 1, 7);
      else
        message(op, 1, 7, text);
      test::fail_allocation_behind(n);
      job.at(0).submit(op);
      const bool is_begun_here = test::t_before_failure != n; // and not by a worker that polled rank 0 just then
      const bool has_failed_here = test::has_failed_allocation();
      job.until([&] {
        return is_notification ? job[1].notifications(7) == 1 : job[1].messages().size() == 1;
      });
      job.finish(op);
      EXPECT_EQ(op.result, outcome::done);
      if (!is_notification) {
        EXPECT_EQ(job[1].messages()[0].text, text);
      }
      job.at(0).end_wait();
      job.at(1).end_wait();
      if (is_begun_here) {
        has_failed = has_failed_here;
        ++n;
      }
    }
    EXPECT_GT(n, is_notification ? 1 : 2); // the packet, and its payload
  }
}

TEST(Memory, PacketsOfRanksThatEndAreFreed) {
  const std::size_t before = test::g_in_use;
  {
    test_job job(inproc_kind("inproc", with(k_queue, 0, false)), 3);
    const std::string text(1000, 'z');
    std::deque<test_operation> all(2 * k_queue);
    for (std::size_t i = 0; i != all.size(); ++i) {
      message(all[i], i % 2 == 0 ? 1 : 2, 3, text);
      job.at(0).submit(all[i]);
    }
    job.finish_all(all);
    job.at(1).progress(1); // some are taken, and the others are left
    job[1].end();
  }
  // The polling service; where one of before has ended meanwhile, it is less than nothing.
  EXPECT_LT(static_cast<long>(test::g_in_use - before), 8192);
}

} // namespace
