// SPDX-License-Identifier: Apache-2.0
// Messages that are counted by slots, and locks of slots, with 1 to 5 processes. The tests have
// WEFT_NET_SIZE=5.
#include "lpf_process.hpp"

#include <lpf/core.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <thread>
#include <vector>

namespace {

using test::args_of;
using test::body;
using test::call;
using test::expect_in;
using test::k_processes;
using test::process;
using test::run;
using test::run_apart;

/// Has a case for each number of processes.
class Counts : public testing::TestWithParam<lpf_pid_t> {
 protected:
  void run_good(const body &f) const { EXPECT_EQ(run(GetParam(), f), LPF_SUCCESS); }
};
INSTANTIATE_TEST_SUITE_P(Lpf, Counts, testing::Range(1U, k_processes + 1));

std::size_t count_of(const process &p, lpf_err_t (*counts)(lpf_t, std::size_t *, lpf_memslot_t),
                     lpf_memslot_t slot) {
  std::size_t n = 77;
  EXPECT_EQ(counts(p.ctx, &n, slot), LPF_SUCCESS);
  return n;
}

TEST_P(Counts, PutsAreCountedBySlots) {
  run_good([](const process &p) {
    p.resize(4, 8);
    std::size_t total = 0;
    for (const std::size_t bytes : {4, 5000, 3 << 20}) {
      std::vector<std::uint8_t> from(bytes), to(bytes, 99);
      const auto own = p.local(from), there = p.global(to);
      p.sync();
      const lpf_pid_t next = (p.pid + 1) % p.count, before = (p.pid + p.count - 1) % p.count;
      for (unsigned round = 1; round <= 3; ++round) {
        std::ranges::fill(from, static_cast<std::uint8_t>(10 * round + p.pid));
        p.put(own, 0, next, there, 0, bytes);
        ASSERT_EQ(lpf_counting_sync_per_slot(p.ctx, LPF_SYNC_DEFAULT, own, round, 0), LPF_SUCCESS);
        ASSERT_EQ(lpf_counting_sync_per_slot(p.ctx, LPF_SYNC_DEFAULT, there, 0, round), LPF_SUCCESS);
        ASSERT_EQ(std::ranges::count(to, 10 * round + before), static_cast<long>(bytes));
        p.sync(); // or the next one may come before the look
      }
      EXPECT_EQ(count_of(p, lpf_get_sent_msg_count_per_slot, own), 3U);
      EXPECT_EQ(count_of(p, lpf_get_rcvd_msg_count_per_slot, there), 3U);
      EXPECT_EQ(count_of(p, lpf_get_rcvd_msg_count_per_slot, own), 0U);
      // Those of supersteps count as well.
      p.put(own, 0, next, there, 0, bytes);
      p.sync();
      EXPECT_EQ(count_of(p, lpf_get_sent_msg_count_per_slot, own), 4U);
      EXPECT_EQ(count_of(p, lpf_get_rcvd_msg_count_per_slot, there), 4U);
      ASSERT_EQ(lpf_counting_sync_per_slot(p.ctx, LPF_SYNC_DEFAULT, there, 0, 4), LPF_SUCCESS);
      std::size_t sent = 0, received = 0;
      EXPECT_EQ(lpf_get_sent_msg_count(p.ctx, &sent), LPF_SUCCESS);
      EXPECT_EQ(lpf_get_rcvd_msg_count(p.ctx, &received), LPF_SUCCESS);
      total += 4; // those of slots that are no more, too
      EXPECT_EQ(sent, total);
      EXPECT_EQ(received, total);
      EXPECT_EQ(lpf_deregister(p.ctx, own), LPF_SUCCESS);
      EXPECT_EQ(lpf_deregister(p.ctx, there), LPF_SUCCESS);
    }
  });
}

TEST_P(Counts, OwnMessagesEndWithoutASuperstep) {
  run_good([](const process &p) {
    p.resize(4, 8);
    std::vector<int> mine{static_cast<int>(p.pid)}, shared{static_cast<int>(100 + p.pid)}, got{-1};
    const auto own = p.local(mine), there = p.global(shared), into = p.local(got);
    p.sync();
    const lpf_pid_t next = (p.pid + 1) % p.count;
    p.get(next, there, 0, into, 0, 4);
    ASSERT_EQ(lpf_sync_per_slot(p.ctx, LPF_SYNC_DEFAULT, into), LPF_SUCCESS);
    EXPECT_EQ(got[0], static_cast<int>(100 + next));
    EXPECT_EQ(count_of(p, lpf_get_rcvd_msg_count_per_slot, into), 0U) << "gets are not counted";
    p.sync();
    p.put(own, 0, next, there, 0, 4);
    ASSERT_EQ(lpf_flush_sent(p.ctx), LPF_SUCCESS);
    mine[0] = -1; // it has been sent
    while (count_of(p, lpf_get_rcvd_msg_count_per_slot, there) == 0)
      ASSERT_EQ(lpf_flush_received(p.ctx), LPF_SUCCESS);
    EXPECT_EQ(shared[0], static_cast<int>((p.pid + p.count - 1) % p.count));
  });
}

TEST_P(Counts, ASyncEndsWhatCountsHaveSent) {
  run_good([](const process &p) {
    p.resize(2, 1);
    const lpf_pid_t next = (p.pid + 1) % p.count, before = (p.pid + p.count - 1) % p.count;
    for (const std::size_t bytes : {4, 5000, 3 << 20}) {
      std::vector<std::uint8_t> from(bytes, static_cast<std::uint8_t>(p.pid)), to(bytes, 99);
      const auto own = p.local(from), there = p.global(to);
      p.sync();
      p.put(own, 0, next, there, 0, bytes);
      EXPECT_LE(count_of(p, lpf_get_sent_msg_count_per_slot, own), 1U); // it is on its way
      p.sync();
      ASSERT_EQ(std::ranges::count(to, before), static_cast<long>(bytes));
      EXPECT_EQ(count_of(p, lpf_get_sent_msg_count_per_slot, own), 1U);
      EXPECT_EQ(count_of(p, lpf_get_rcvd_msg_count_per_slot, there), 1U);
      EXPECT_EQ(lpf_deregister(p.ctx, own), LPF_SUCCESS);
      EXPECT_EQ(lpf_deregister(p.ctx, there), LPF_SUCCESS);
    }
  });
}

TEST_P(Counts, ALockOfASlotIsHeldByOne) {
  run_good([](const process &p) {
    p.resize(4, 8);
    std::vector<std::uint64_t> swaps(1), lock(1);
    std::vector<int> x(1), y(1);
    const auto own_swaps = p.local(swaps), own = p.local(x);
    const auto the_lock = p.global(lock), sum = p.global(y);
    p.sync();
    constexpr int k_rounds = 5;
    for (int i = 0; i != k_rounds; ++i) {
      ASSERT_EQ(lpf_lock_slot(p.ctx, own_swaps, 0, 0, the_lock, 0, 8, LPF_MSG_DEFAULT), LPF_SUCCESS);
      p.get(0, sum, 0, own, 0, 4);
      ASSERT_EQ(lpf_sync_per_slot(p.ctx, LPF_SYNC_DEFAULT, own), LPF_SUCCESS);
      ++x[0];
      p.put(own, 0, 0, sum, 0, 4);
      ASSERT_EQ(lpf_sync_per_slot(p.ctx, LPF_SYNC_DEFAULT, own), LPF_SUCCESS);
      ASSERT_EQ(lpf_unlock_slot(p.ctx, own_swaps, 0, 0, the_lock, 0, 8, LPF_MSG_DEFAULT), LPF_SUCCESS);
    }
    p.sync();
    if (p.pid == 0) {
      EXPECT_EQ(y[0], k_rounds * static_cast<int>(p.count));
      EXPECT_EQ(lock[0], 0U);
    }
  });
}

TEST(LpfCounts, CountsOfASlotThatIsNotThereFail) {
  testing::internal::CaptureStderr();
  EXPECT_EQ(run_apart(2,
                [](const process &p) {
                  p.resize(1, 1);
                  if (p.pid == 0) {
                    EXPECT_EQ(lpf_counting_sync_per_slot(p.ctx, LPF_SYNC_DEFAULT, 4000, 0, 1), LPF_ERR_FATAL);
                  }
                }),
            LPF_ERR_FATAL);
  expect_in(testing::internal::GetCapturedStderr(),
            "lpf_counting_sync_per_slot of slot 4000, which process 0 does not have");
}

/// Returns what is printed when process 0 of `count` makes a call with a lock that cannot be good. `f` gets its own slot and
/// that of the lock, which has `value` at each process.
std::string failure_of_lock(lpf_pid_t count, std::uint64_t value,
                            lpf_err_t (*f)(const process &, lpf_memslot_t, lpf_memslot_t)) {
  testing::internal::CaptureStderr();
  EXPECT_EQ(run_apart(count,
                [&](const process &p) {
                  p.resize(2, 1);
                  std::vector<std::uint64_t> swaps(1), lock(1, value);
                  const auto own = p.local(swaps), there = p.global(lock);
                  p.sync();
                  if (p.pid == 0) {
                    EXPECT_EQ(f(p, own, there), LPF_ERR_FATAL);
                  }
                  EXPECT_EQ(lpf_sync(p.ctx, LPF_SYNC_DEFAULT), LPF_ERR_FATAL);
                }),
            LPF_ERR_FATAL);
  return testing::internal::GetCapturedStderr();
}

TEST(LpfCounts, ALockThatCannotBeTakenOrGivenBackIsNamed) {
  const auto lock = [](const process &p, lpf_memslot_t own, lpf_memslot_t there) {
    return lpf_lock_slot(p.ctx, own, 0, p.count - 1, there, 0, 8, LPF_MSG_DEFAULT);
  };
  const auto unlock = [](const process &p, lpf_memslot_t own, lpf_memslot_t there) {
    return lpf_unlock_slot(p.ctx, own, 0, p.count - 1, there, 0, 8, LPF_MSG_DEFAULT);
  };
  for (const lpf_pid_t count : {1U, 2U}) {
    const std::string last = " of process " + std::to_string(count - 1);
    const std::string free = failure_of_lock(count, 0, unlock);
    expect_in(free, "lpf_unlock_slot of process 0: the lock in byte 0 of slot ");
    expect_in(free, last + " is free");
    for (const auto call : {+lock, +unlock})
      expect_in(failure_of_lock(count, 7, call), last + " is 7, neither free (0) nor taken (1)");
  }
  expect_in(failure_of_lock(1, 1, lock), " is taken, and no other process may give it back");
  // Faults of the own side and of the other one have the name of the call.
  expect_in(failure_of_lock(2, 0,
                            [](const process &p, lpf_memslot_t own, lpf_memslot_t there) {
                              return lpf_unlock_slot(p.ctx, own, 1, 1, there, 0, 8, LPF_MSG_DEFAULT);
                            }),
            "lpf_unlock_slot of process 0: 8 bytes from 1 are not in slot");
  expect_in(failure_of_lock(2, 0,
                            [](const process &p, lpf_memslot_t own, lpf_memslot_t) {
                              return lpf_lock_slot(p.ctx, own, 0, 1, 4000, 0, 8, LPF_MSG_DEFAULT);
                            }),
            "lpf_lock_slot of process 0 names slot 4000 of process 1, which is not registered");
}

TEST(LpfCounts, AWaitForCountsEndsWhereTheContextHasFailedBefore) {
  std::atomic<bool> has_come{false}, has_sent{false};
  testing::internal::CaptureStderr();
  EXPECT_EQ(run_apart(2,
                [&](const process &p) {
                  p.resize(2, 1);
                  std::vector<int> memory(1);
                  const auto slot = p.global(memory);
                  p.sync();
                  const body inner = [&](const process &q) {
                    std::vector<int> more(1);
                    const auto counted = q.global(more);
                    if (q.pid == 0) {
                      EXPECT_EQ(lpf_deregister(q.ctx, 4000), LPF_SUCCESS); // fails the context
                      p.put(slot, 0, 1, slot, 0, 4);
                      EXPECT_EQ(lpf_flush_sent(p.ctx), LPF_SUCCESS);
                      has_sent = true;
                      while (!has_come) // or the outer context fails before
                        std::this_thread::yield();
                    } else {
                      has_come = true;
                      while (!has_sent) // the end of this function fails the outer context
                        std::this_thread::yield();
                      EXPECT_EQ(lpf_counting_sync_per_slot(q.ctx, LPF_SYNC_DEFAULT, counted, 0, 1), LPF_ERR_FATAL);
                    }
                  };
                  if (p.pid == 1) { // the message comes behind the failure
                    EXPECT_EQ(lpf_counting_sync_per_slot(p.ctx, LPF_SYNC_DEFAULT, slot, 0, 1), LPF_SUCCESS);
                  }
                  EXPECT_EQ(lpf_rehook(p.ctx, &call, args_of(inner)), LPF_ERR_FATAL);
                }),
            LPF_ERR_FATAL);
  expect_in(testing::internal::GetCapturedStderr(), "lpf_deregister of slot 4000, which process 0 does not have");
}

TEST(LpfCounts, AWaitForCountsEndsWithTheContext) {
  testing::internal::CaptureStderr();
  EXPECT_EQ(run_apart(2,
                [](const process &p) {
                  p.resize(1, 1);
                  std::vector<int> memory(1);
                  const auto slot = p.global(memory);
                  p.sync();
                  if (p.pid == 0) {
                    EXPECT_EQ(lpf_counting_sync_per_slot(p.ctx, LPF_SYNC_DEFAULT, slot, 0, 1), LPF_ERR_FATAL);
                  } else {
                    p.put(slot, 0, 0, 4000, 0, 4);
                  }
                  static_cast<void>(lpf_flush_sent(p.ctx));
                }),
            LPF_ERR_FATAL);
  expect_in(testing::internal::GetCapturedStderr(), "slot 4000 of process 0, which is not registered");
}

} // namespace
