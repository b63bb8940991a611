// SPDX-License-Identifier: Apache-2.0
// Calls for which there is no memory, at each place where they ask for some, and what measuring takes. The tests have
// WEFT_NET_SIZE=24.
#include "lpf_process.hpp"
#include "../../net/tests/short_memory.hpp"

#include <lpf/core.h>
#include <lpf/talpf.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace {

using test::args_of;
using test::body;
using test::call;
using test::process;
using test::run;
using test::run_apart;

/// Calls `once(n)` for n = 0, 1 and so on: it makes a call in which the allocation behind n others fails, and returns whether
/// there was one.
void at_each_allocation(const std::function<bool(long)> &once) {
  constexpr long k_most = 2000;
  testing::internal::CaptureStderr(); // contexts that have failed say so
  long n = 0;
  while (n != k_most && once(n) && !testing::Test::HasFailure())
    ++n;
  const std::string said = testing::internal::GetCapturedStderr();
  EXPECT_GT(n, 0) << said;
  EXPECT_LT(n, k_most) << said;
  if (testing::Test::HasFailure())
    ADD_FAILURE() << "allocation " << n << ":\n" << said;
}

/// Ends a superstep before a failure, which may be there at another process already.
void meet(const process &p) { static_cast<void>(lpf_sync(p.ctx, LPF_SYNC_DEFAULT)); }

TEST(Memory, PutsThatCouldNotBeIssuedStayQueued) {
  int without_memory = 0;
  at_each_allocation([&](long n) {
    bool has_failed = false;
    static_cast<void>(run_apart(2, [&](const process &p) {
      constexpr std::size_t k_puts = 8;
      p.resize(2, k_puts);
      std::vector<std::uint64_t> from(k_puts, 7), to(k_puts);
      const auto own = p.local(from), there = p.global(to);
      meet(p);
      if (p.pid == 0) {
        for (std::size_t i = 0; i != k_puts; ++i)
          p.put(own, 8 * i, 1, there, 8 * i, 8);
        std::size_t sent = 0;
        test::fail_allocation_behind(n);
        const lpf_err_t code = lpf_get_sent_msg_count(p.ctx, &sent);
        has_failed = test::has_failed_allocation();
        if (code == LPF_ERR_OUT_OF_MEMORY) {
          ++without_memory;
          EXPECT_EQ(lpf_flush_sent(p.ctx), LPF_SUCCESS);
        }
      }
      if (lpf_sync(p.ctx, LPF_SYNC_DEFAULT) == LPF_SUCCESS && p.pid == 1) { // or the context has failed
        EXPECT_EQ(std::ranges::count(to, 7U), static_cast<long>(k_puts));
      }
    }));
    return has_failed;
  });
  EXPECT_GT(without_memory, 1);
}

TEST(Memory, ARehookWithoutMemoryMayBeCalledAgain) {
  int without_memory = 0;
  at_each_allocation([&](long n) {
    bool has_failed = false;
    EXPECT_EQ(run(2,
                  [&](const process &p) {
                    const body inner = [&](const process &q) {
                      if (q.pid == 0)
                        has_failed = test::has_failed_allocation();
                      q.sync();
                    };
                    lpf_err_t code = LPF_ERR_OUT_OF_MEMORY;
                    for (int i = 0; i != 2 && code == LPF_ERR_OUT_OF_MEMORY; ++i) {
                      if (p.pid == 0 && i == 0)
                        test::fail_allocation_behind(n);
                      code = lpf_rehook(p.ctx, &call, args_of(inner));
                      without_memory += code == LPF_ERR_OUT_OF_MEMORY;
                    }
                    EXPECT_EQ(code, LPF_SUCCESS);
                    p.sync();
                  }),
              LPF_SUCCESS);
    return has_failed;
  });
  EXPECT_GT(without_memory, 1);
}

TEST(Memory, ALockIsNotTakenByACallWithoutMemory) {
  int without_memory = 0;
  at_each_allocation([&](long n) {
    bool has_failed = false;
    static_cast<void>(run_apart(2, [&](const process &p) {
      p.resize(2, 1);
      std::vector<std::uint64_t> swaps(1), lock(1);
      const auto own = p.local(swaps), there = p.global(lock);
      meet(p);
      if (p.pid == 0) {
        const auto take = [&] {
          return lpf_lock_slot(p.ctx, own, 0, 1, there, 0, 8, LPF_MSG_DEFAULT);
        };
        test::fail_allocation_behind(n);
        lpf_err_t code = take();
        has_failed = test::has_failed_allocation();
        if (code == LPF_ERR_OUT_OF_MEMORY) {
          ++without_memory;
          code = take(); // or it would wait for this process
          EXPECT_EQ(code, LPF_SUCCESS);
        }
      }
      static_cast<void>(lpf_sync(p.ctx, LPF_SYNC_DEFAULT)); // or the context has failed
    }));
    return has_failed;
  });
  EXPECT_GT(without_memory, 0);
}

TEST(Memory, AnExecWithoutRoomForItsProcessesHasDoneNothing) {
  constexpr long k_most = 100000;
  constexpr int k_last = 12; // the last ones before process 0 runs: the last context, the threads, a setting that is read
  long needed = 0;
  const body start = [&](const process &p) {
    if (p.pid == 0)
      needed = k_most - test::t_before_failure;
  };
  for (int i = 0; i != 2; ++i) { // the first time, more is needed
    test::fail_allocation_behind(k_most);
    EXPECT_EQ(run(4, start), LPF_SUCCESS);
  }
  testing::internal::CaptureStderr();
  for (long n = needed - k_last; n != needed; ++n) {
    bool has_failed = false, is_in_body = false;
    std::atomic<int> begun{0};
    test::fail_allocation_behind(n);
    const lpf_err_t code = run(4, [&](const process &p) {
      ++begun;
      if (p.pid == 0) {
        is_in_body = true;
        has_failed = test::has_failed_allocation();
      }
      std::vector<std::uint64_t> memory(2000);
      lpf_memslot_t slot = LPF_INVALID_MEMSLOT;
      static_cast<void>(lpf_register_global(p.ctx, memory.data(), 16000, &slot));
      static_cast<void>(lpf_put(p.ctx, slot, 0, 3, slot, 0, 8000, LPF_MSG_DEFAULT)); // which process 3 reads
      static_cast<void>(lpf_sync(p.ctx, LPF_SYNC_DEFAULT));
    });
    if (!is_in_body)
      has_failed = test::has_failed_allocation();
    EXPECT_EQ(code, is_in_body ? LPF_SUCCESS : LPF_ERR_OUT_OF_MEMORY);
    EXPECT_EQ(begun, is_in_body ? 4 : 0);
    EXPECT_TRUE(has_failed);
    EXPECT_EQ(run(4, [](const process &p) { p.sync(); }), LPF_SUCCESS);
  }
  test::expect_in(testing::internal::GetCapturedStderr(), "lpf_exec cannot start thread 1 of 3: ");
}

TEST(Memory, AStartWithoutMemoryEndsNoProgram) {
  static_cast<void>(run(4, [](const process &p) { p.sync(); }));
  int not_started = 0;
  at_each_allocation([&](long n) {
    test::fail_allocation_behind(n);
    const lpf_err_t code = run(4, [](const process &p) {
      if (p.pid == 0)
        static_cast<void>(test::has_failed_allocation()); // what follows has memory
      static_cast<void>(lpf_sync(p.ctx, LPF_SYNC_DEFAULT));
    });
    const bool has_failed = test::t_has_failed;
    static_cast<void>(test::has_failed_allocation());
    EXPECT_TRUE(has_failed || code == LPF_SUCCESS);
    not_started += code != LPF_SUCCESS;
    return has_failed;
  });
  EXPECT_GT(not_started, 3); // one for each process
}

TEST(Memory, AFailureIsToldWithoutMemory) {
  constexpr lpf_pid_t k_count = 4;
  int told = 0;
  at_each_allocation([&](long n) {
    bool has_failed = false;
    std::atomic<int> failed{0};
    static_cast<void>(run_apart(k_count, [&](const process &p) {
      p.resize(2, k_count);
      std::vector<std::uint64_t> from(k_count, p.pid), to(k_count);
      const auto own = p.local(from), there = p.global(to);
      meet(p);
      for (lpf_pid_t peer = 0; peer != k_count; ++peer)
        p.put(own, 0, peer, there, 8 * p.pid, 8);
      if (p.pid == 0)
        test::fail_allocations_behind(n);
      const lpf_err_t code = lpf_sync(p.ctx, LPF_SYNC_DEFAULT); // the others wait for process 0
      if (p.pid == 0)
        has_failed = test::has_failed_allocation();
      failed += code == LPF_ERR_FATAL;
    }));
    EXPECT_TRUE(has_failed || failed == 0);
    told += failed == static_cast<int>(k_count);
    return has_failed;
  });
  EXPECT_GT(told, 1);
}

TEST(Memory, AFailureOfTalpfSyncIsToldWithoutMemory) {
  std::atomic<int> told{0};
  at_each_allocation([&](long n) {
    bool has_failed = false;
    static_cast<void>(run_apart(3, [&](const process &p) {
      p.resize(2, 1);
      std::vector<std::uint64_t> memory(1, p.pid);
      const auto slot = p.global(memory);
      meet(p);
      if (p.pid == 0)
        test::fail_allocations_behind(n);
      lpf_err_t code = talpf_sync(p.ctx, LPF_SYNC_DEFAULT);
      if (p.pid == 0) {
        has_failed = test::has_failed_allocation();
        if (code == LPF_ERR_OUT_OF_MEMORY) // nothing has happened
          code = talpf_sync(p.ctx, LPF_SYNC_DEFAULT);
      } else {
        told += code == LPF_ERR_FATAL;
      }
      static_cast<void>(slot);
    }));
    return has_failed;
  });
  EXPECT_GT(told, 1);
}

/// Is the last one: the machine is measured once.
TEST(Memory, MeasuringTakesNoMoreOfEachProcessWhereThereAreMany) {
  constexpr std::size_t k_longest = 262144, k_peers = 16; // as in machine.cpp
  test::g_largest = 0;
  lpf_machine_t machine = LPF_INVALID_MACHINE;
  ASSERT_EQ(lpf_probe(LPF_ROOT, &machine), LPF_SUCCESS);
  EXPECT_EQ(machine.p, 24U);
  EXPECT_GT(machine.g(24, 8, LPF_SYNC_DEFAULT), 0);
  EXPECT_EQ(test::g_largest, k_longest * k_peers);
}

} // namespace
