// SPDX-License-Identifier: Apache-2.0
// What LPF promises, with 1 to 5 processes. The tests have WEFT_NET_SIZE=5.
#include "lpf_process.hpp"

#include <lpf/abort.h>
#include <lpf/core.h>
#include <lpf/cost.h>
#include <lpf/noc.h>
#include <lpf/pthread.h>
#include <lpf/talpf.h>

#include <weft/task.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <random>
#include <stdexcept>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

#include <sys/wait.h>
#include <unistd.h>

extern "C" int hello_in_c(unsigned processes);

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
class Processes : public testing::TestWithParam<lpf_pid_t> {
 protected:
  void run_good(const body &f) const { EXPECT_EQ(run(GetParam(), f), LPF_SUCCESS); }
};
INSTANTIATE_TEST_SUITE_P(Lpf, Processes, testing::Range(1U, k_processes + 1));

TEST(Lpf, RunsAProgramInC) {
  EXPECT_EQ(hello_in_c(4), 1 + 2 + 3 + 4);
  EXPECT_EQ(hello_in_c(1), 1);
}

TEST(Lpf, StartsAsManyProcessesAsThereAre) {
  for (const lpf_pid_t asked : {0U, 1U, 3U, k_processes, k_processes + 1, LPF_MAX_P}) {
    std::atomic<unsigned> started{0}, numbers{0};
    const lpf_pid_t expected = std::clamp(asked, 1U, k_processes);
    EXPECT_EQ(run(asked,
                  [&](const process &p) {
                    EXPECT_EQ(p.count, expected);
                    ++started;
                    numbers += 1U << p.pid;
                  }),
              LPF_SUCCESS);
    EXPECT_EQ(started, expected);
    EXPECT_EQ(numbers, (1U << expected) - 1);
  }
}

TEST_P(Processes, PutsArriveAtTheNextSync) {
  run_good([](const process &p) {
    p.resize(2, 4 * p.count);
    for (const std::size_t bytes : {1, 8, 2048, 2049, 5000, 3 << 20}) {
      std::vector<std::uint8_t> from(bytes, static_cast<std::uint8_t>(p.pid + 1));
      std::vector<std::uint8_t> to(bytes * p.count, 99);
      const auto own = p.local(from), there = p.global(to);
      p.sync();
      for (lpf_pid_t peer = 0; peer != p.count; ++peer)
        p.put(own, 0, peer, there, p.pid * bytes, bytes);
      p.sync();
      for (std::size_t i = 0; i != to.size(); ++i)
        ASSERT_EQ(to[i], i / bytes + 1) << i << " of " << bytes;
      EXPECT_EQ(lpf_deregister(p.ctx, own), LPF_SUCCESS);
      EXPECT_EQ(lpf_deregister(p.ctx, there), LPF_SUCCESS);
    }
  });
}

TEST_P(Processes, GetsArriveAtTheNextSync) {
  run_good([](const process &p) {
    p.resize(2, 4 * p.count);
    for (const std::size_t bytes : {1, 8, 2048, 2049, 5000, 3 << 20}) {
      std::vector<std::uint8_t> from(bytes, static_cast<std::uint8_t>(p.pid + 1));
      std::vector<std::uint8_t> to(bytes * p.count, 99);
      const auto there = p.global(from), own = p.local(to);
      p.sync();
      for (lpf_pid_t peer = 0; peer != p.count; ++peer)
        p.get(peer, there, 0, own, peer * bytes, bytes);
      p.sync();
      for (std::size_t i = 0; i != to.size(); ++i)
        ASSERT_EQ(to[i], i / bytes + 1) << i << " of " << bytes;
      EXPECT_EQ(lpf_deregister(p.ctx, own), LPF_SUCCESS);
      EXPECT_EQ(lpf_deregister(p.ctx, there), LPF_SUCCESS);
    }
  });
}

TEST_P(Processes, OffsetsAreThoseOfBothSides) {
  run_good([](const process &p) {
    p.resize(2, 8);
    std::vector<int> a(3000), b(3000, -1);
    for (std::size_t i = 0; i != a.size(); ++i)
      a[i] = static_cast<int>(p.pid * 10000 + i);
    const auto own = p.global(a), there = p.global(b);
    p.sync();
    const lpf_pid_t next = (p.pid + 1) % p.count;
    p.put(own, 4 * 5, next, there, 4 * 7, 4 * 2);         // short
    p.put(own, 4 * 100, next, there, 4 * 1100, 4 * 900);  // long
    p.get(next, own, 4 * 11, there, 4 * 20, 4 * 3);       // short
    p.get(next, own, 4 * 1000, there, 4 * 2001, 4 * 800); // long
    p.sync();
    const int before = static_cast<int>((p.pid + p.count - 1) % p.count * 10000);
    const int after = static_cast<int>(next * 10000);
    for (int i = 0; i != 3000; ++i) {
      const int expected = i >= 7 && i < 9         ? before + i - 2
                           : i >= 20 && i < 23     ? after + i - 9
                           : i >= 1100 && i < 2000 ? before + i - 1000
                           : i >= 2001 && i < 2801 ? after + i - 1001
                                                   : -1;
      ASSERT_EQ(b[static_cast<std::size_t>(i)], expected) << i;
    }
  });
}

// ---- costs

TEST_P(Processes, ShortPutsTakeOneMessageToEachAndOneStep) {
  run_good([](const process &p) {
    p.resize(1, 1000);
    std::vector<std::uint64_t> memory(1000);
    const auto slot = p.global(memory);
    p.sync();
    EXPECT_EQ(p.cost().messages, p.count - 1); // of a registration as of nothing
    EXPECT_EQ(p.cost().steps, p.count == 1 ? 0U : 1U);
    p.put(slot, 0, (p.pid + 1) % p.count, slot, 8 * 500, 8 * 100);
    p.sync();
    EXPECT_EQ(p.cost().messages, p.count - 1);
    EXPECT_EQ(p.cost().steps, p.count == 1 ? 0U : 1U);
    EXPECT_EQ(p.cost().reads, 0U);
  });
}

TEST_P(Processes, ManyPutsToOneAreTogether) {
  run_good([](const process &p) {
    constexpr std::size_t k_puts = 1000;
    p.resize(2, k_puts);
    std::vector<std::uint64_t> from(k_puts, p.pid + 1), to(k_puts);
    const auto own = p.local(from), there = p.global(to);
    p.sync();
    for (std::size_t i = 0; i != k_puts; ++i)
      p.put(own, 8 * i, (p.pid + 1) % p.count, there, 8 * i, 8);
    p.sync();
    const std::size_t bytes = k_puts * (8 + 32) + 8;
    EXPECT_LE(p.cost().messages, p.count == 1 ? 0 : p.count - 2 + (bytes + 3999) / 4000);
    EXPECT_LE(p.cost().bytes, bytes + 8 * p.count);
    for (const std::uint64_t value : to)
      ASSERT_EQ(value, (p.pid + p.count - 1) % p.count + 1);
  });
}

TEST_P(Processes, GetsTakeAnAnswerOfThoseThatAreAsked) {
  run_good([](const process &p) {
    p.resize(1, 100);
    std::vector<std::uint64_t> memory(100, p.pid);
    const auto slot = p.global(memory);
    p.sync();
    for (std::size_t i = 1; p.pid != 0 && i != 20; ++i)
      p.get(0, slot, 0, slot, 8 * i, 8);
    p.sync();
    EXPECT_EQ(p.cost().messages, p.pid == 0 ? 2 * (p.count - 1) : p.count - 1);
    EXPECT_EQ(p.cost().steps, p.count == 1 ? 0U : p.pid == 0 ? 1U : 2U);
    EXPECT_EQ(memory[19], 0U);
  });
}

TEST_P(Processes, LongPutsAreReadAndThankedFor) {
  run_good([](const process &p) {
    p.resize(2, 100);
    std::vector<char> from(5 << 20, static_cast<char>(p.pid)), to(5 << 20, 'x');
    const auto own = p.local(from), there = p.global(to);
    p.sync();
    p.put(own, 0, (p.pid + 1) % p.count, there, 0, from.size());
    p.sync();
    if (p.count == 1)
      return;
    EXPECT_EQ(p.cost().messages, p.count - 1 + 1);
    EXPECT_EQ(p.cost().steps, 3U);
    EXPECT_EQ(p.cost().reads, 5U); // of 1 MiB
    EXPECT_LT(p.cost().bytes, 1000U);
  });
}

// ---- conflicts

struct write {
  lpf_pid_t by, at; // `at` does it: by a put if these differ from the target, else by a get
  std::size_t first, bytes;
};

/// Checks that bytes which name their writers are the result of an order of the writes.
void expect_an_order(const std::vector<std::uint8_t> &memory, const std::vector<write> &writes) {
  const std::size_t n = writes.size();
  std::vector<std::vector<bool>> before(n, std::vector<bool>(n));
  for (std::size_t i = 0; i != memory.size(); ++i) {
    std::size_t winner = n;
    bool is_covered = false;
    for (std::size_t w = 0; w != n; ++w)
      if (i >= writes[w].first && i - writes[w].first < writes[w].bytes) {
        is_covered = true;
        if (memory[i] == w + 1)
          winner = w;
      }
    if (!is_covered) {
      ASSERT_EQ(memory[i], 0) << i;
      continue;
    }
    ASSERT_NE(winner, n) << "byte " << i << " is " << int(memory[i]);
    for (std::size_t w = 0; w != n; ++w)
      if (w != winner && i >= writes[w].first && i - writes[w].first < writes[w].bytes)
        before[w][winner] = true;
  }
  for (std::size_t k = 0; k != n; ++k) // transitive closure
    for (std::size_t i = 0; i != n; ++i)
      for (std::size_t j = 0; j != n; ++j)
        if (before[i][k] && before[k][j])
          before[i][j] = true;
  for (std::size_t w = 0; w != n; ++w)
    ASSERT_FALSE(before[w][w]) << "write " << w << " is before itself";
}

TEST_P(Processes, ConflictsHaveTheResultOfAnOrder) {
  const lpf_pid_t count = GetParam();
  for (unsigned seed = 0; seed != 30; ++seed) {
    std::mt19937 random(seed);
    constexpr std::size_t k_bytes = 20000;
    std::vector<write> writes(2 + random() % 12);
    for (write &w : writes) {
      w.by = random() % count;
      w.at = random() % 2;
      w.bytes = 1 + random() % (random() % 2 ? 100 : 8000);
      w.first = random() % (k_bytes - w.bytes);
    }
    std::vector<std::uint8_t> result(k_bytes);
    run_good([&](const process &p) {
      p.resize(2, writes.size());
      std::vector<std::uint8_t> to(k_bytes), from(k_bytes * writes.size());
      for (std::size_t w = 0; w != writes.size(); ++w)
        std::fill_n(from.begin() + static_cast<std::ptrdiff_t>(w * k_bytes), k_bytes,
                    static_cast<std::uint8_t>(w + 1));
      const auto source = p.global(from), target = p.global(to);
      p.sync();
      for (std::size_t w = 0; w != writes.size(); ++w)
        if (writes[w].at == 0 ? p.pid == writes[w].by : p.pid == 0) {
          if (writes[w].at == 0)
            p.put(source, w * k_bytes, 0, target, writes[w].first, writes[w].bytes);
          else
            p.get(writes[w].by, source, w * k_bytes, target, writes[w].first, writes[w].bytes);
        }
      p.sync();
      if (p.pid == 0)
        result = to;
    });
    expect_an_order(result, writes);
    if (HasFatalFailure())
      FAIL() << "seed " << seed;
  }
}

// ---- registration

TEST_P(Processes, LocalSlotsDoNotDisturbGlobalOnes) {
  run_good([](const process &p) {
    p.resize(100, 10);
    std::vector<int> memory{static_cast<int>(p.pid), -1};
    for (lpf_pid_t i = 0; i != p.pid; ++i)
      static_cast<void>(p.local(memory));
    std::vector<int> unused(1);
    const auto first = p.global(unused), second = p.global(memory);
    EXPECT_EQ(lpf_deregister(p.ctx, first), LPF_SUCCESS);
    static_cast<void>(p.local(memory));
    const auto third = p.global(unused);
    EXPECT_NE(second, third);
    p.sync();
    p.put(second, 0, (p.pid + 1) % p.count, second, 4, 4);
    p.sync();
    EXPECT_EQ(memory[1], static_cast<int>((p.pid + p.count - 1) % p.count));
  });
}

TEST_P(Processes, SlotsOfNothingAreSlots) {
  run_good([](const process &p) {
    p.resize(2, 1);
    lpf_memslot_t slot = LPF_INVALID_MEMSLOT;
    EXPECT_EQ(lpf_register_global(p.ctx, nullptr, 0, &slot), LPF_SUCCESS);
    EXPECT_NE(slot, LPF_INVALID_MEMSLOT);
    p.sync();
    p.put(slot, 0, 0, slot, 0, 0);
    p.sync();
    EXPECT_EQ(lpf_deregister(p.ctx, slot), LPF_SUCCESS);
  });
}

TEST(Lpf, RoomThatThereIsNotIsRefused) {
  for (const std::size_t most : {SIZE_MAX, SIZE_MAX / 10}) {
    EXPECT_EQ(lpf_resize_message_queue(LPF_ROOT, most), LPF_ERR_OUT_OF_MEMORY);
    EXPECT_EQ(lpf_resize_memory_register(LPF_ROOT, most), LPF_ERR_OUT_OF_MEMORY);
    EXPECT_EQ(lpf_noc_resize_memory_register(LPF_ROOT, most), LPF_ERR_OUT_OF_MEMORY);
  }
  EXPECT_EQ(lpf_resize_message_queue(LPF_ROOT, 10), LPF_SUCCESS);
  EXPECT_EQ(run(2,
                [](const process &p) {
                  EXPECT_EQ(lpf_resize_message_queue(p.ctx, SIZE_MAX), LPF_ERR_OUT_OF_MEMORY);
                  p.resize(1, 1); // and goes on
                }),
            LPF_SUCCESS);
}

TEST(Lpf, TheRootIsOneProcess) {
  std::vector<int> from{1, 2, 3}, to(3);
  const process root{LPF_ROOT, 0, 1};
  root.resize(2, 2);
  const auto own = root.local(from), there = root.global(to);
  root.sync();
  root.put(own, 0, 0, there, 4, 8);
  root.get(0, own, 8, there, 0, 4);
  EXPECT_EQ(to, std::vector<int>(3));
  root.sync();
  EXPECT_EQ(to, (std::vector<int>{3, 1, 2}));
  EXPECT_EQ(lpf_deregister(LPF_ROOT, own), LPF_SUCCESS);
  EXPECT_EQ(lpf_deregister(LPF_ROOT, there), LPF_SUCCESS);
}

// ---- failures

TEST(Lpf, AProcessThatReturnsEarlyFailsTheOthers) {
  for (lpf_pid_t early = 0; early != 4; ++early) {
    testing::internal::CaptureStderr();
    int reached = 0;
    EXPECT_EQ(
        run_apart(4,
            [&](const process &p) {
              // The early one may be gone while another one is still in the first superstep.
              EXPECT_TRUE(lpf_sync(p.ctx, LPF_SYNC_DEFAULT) == LPF_SUCCESS || p.pid != early);
              if (p.pid == early)
                return;
              EXPECT_EQ(lpf_sync(p.ctx, LPF_SYNC_DEFAULT), LPF_ERR_FATAL);
              EXPECT_EQ(lpf_sync(p.ctx, LPF_SYNC_DEFAULT), LPF_ERR_FATAL);
              EXPECT_EQ(lpf_rehook(p.ctx, &call, args_of([](const process &) {})), LPF_ERR_FATAL);
              EXPECT_EQ(lpf_exec(p.ctx, 1, &call, args_of([](const process &) {})), LPF_ERR_FATAL);
              if (p.pid == (early + 1) % 4)
                reached = 1;
            }),
        LPF_ERR_FATAL);
    EXPECT_EQ(reached, 1);
    const std::string text = testing::internal::GetCapturedStderr();
    EXPECT_NE(text.find("process " + std::to_string(early) + " has returned"), std::string::npos)
        << text;
  }
  EXPECT_EQ(run(4, [](const process &p) { p.sync(); }), LPF_SUCCESS); // of another process
}

TEST(Lpf, AnExceptionFailsAllProcesses) {
  testing::internal::CaptureStderr();
  EXPECT_EQ(run_apart(3,
                [](const process &p) {
                  if (p.pid == 1)
                    throw std::runtime_error("no more");
                  EXPECT_EQ(lpf_sync(p.ctx, LPF_SYNC_DEFAULT), LPF_ERR_FATAL);
                }),
            LPF_ERR_FATAL);
  const std::string text = testing::internal::GetCapturedStderr();
  EXPECT_NE(text.find("process 1 has thrown an exception: no more"), std::string::npos) << text;
}

/// Runs two processes, of which process 1 does something that cannot be, and returns the messages.
std::string message_of(const std::function<void(const process &, lpf_memslot_t)> &wrong) {
  testing::internal::CaptureStderr();
  EXPECT_EQ(run_apart(2,
                [&](const process &p) {
                  p.resize(2, 4);
                  std::vector<char> memory(p.pid == 0 ? 5000 : 10000);
                  const auto slot = p.global(memory);
                  p.sync();
                  if (p.pid == 1)
                    wrong(p, slot);
                  static_cast<void>(lpf_sync(p.ctx, LPF_SYNC_DEFAULT)); // it may have all it needs
                  EXPECT_EQ(lpf_sync(p.ctx, LPF_SYNC_DEFAULT), LPF_ERR_FATAL);
                }),
            LPF_ERR_FATAL);
  return testing::internal::GetCapturedStderr();
}
TEST(Lpf, BytesOutsideOfSlotsAreNamed) {
  expect_in(message_of([](const process &p, lpf_memslot_t s) { p.put(s, 0, 0, s, 4999, 2); }),
            "lpf_put of process 1: 2 bytes from 4999 are not in slot");
  expect_in(message_of([](const process &p, lpf_memslot_t s) { p.put(s, 0, 0, s, 0, 5001); }),
            "5001 bytes from 0 are not in slot");
  expect_in(message_of([](const process &p, lpf_memslot_t s) { p.get(0, s, SIZE_MAX, s, 0, 2); }),
            "of process 0, which has 5000 bytes");
  expect_in(message_of([](const process &p, lpf_memslot_t s) { p.put(s, 9999, 0, s, 0, 2); }),
            "of process 1, which has 10000 bytes");
  expect_in(message_of([](const process &p, lpf_memslot_t s) { p.put(s, 0, 0, s + 40, 0, 2); }),
            "which is not registered");
  expect_in(message_of([](const process &p, lpf_memslot_t s) { p.put(s, 0, 1, s + 40, 0, 2); }),
            "which is not registered");
  expect_in(message_of([](const process &p, lpf_memslot_t s) { p.put(s, 0, 2, s, 0, 2); }),
            "lpf_put names process 2 of 2");
  expect_in(message_of([](const process &p, lpf_memslot_t s) { p.get(7, s, 0, s, 0, 2); }),
            "lpf_get names process 7 of 2");
  expect_in(message_of([](const process &p, lpf_memslot_t s) { lpf_deregister(p.ctx, s + 40); }),
            "which process 1 does not have");
}

TEST(Lpf, AFailureWhileLongDataAreReadEndsEverywhere) {
  for (int round = 0; round != 20; ++round) {
    testing::internal::CaptureStderr();
    EXPECT_EQ(run_apart(3,
                  [&](const process &p) {
                    p.resize(2, 8);
                    std::vector<char> memory(1 << 20);
                    const auto slot = p.global(memory);
                    std::vector<char> more(1 << 20);
                    const auto target = p.global(more);
                    p.sync();
                    for (lpf_pid_t peer = 0; peer != p.count; ++peer)
                      p.put(slot, 0, peer, target, 0, memory.size());
                    if (p.pid == 2)
                      p.put(slot, 0, 1, target, 8, memory.size()); // outside
                    static_cast<void>(lpf_sync(p.ctx, LPF_SYNC_DEFAULT));
                    EXPECT_EQ(lpf_sync(p.ctx, LPF_SYNC_DEFAULT), LPF_ERR_FATAL);
                  }),
              LPF_ERR_FATAL);
    testing::internal::GetCapturedStderr();
  }
}

using LpfDeathTest = testing::Test;
TEST(LpfDeathTest, AbortEndsWithItsCode) {
  EXPECT_NE(LPF_HAS_ABORT, 0);
  EXPECT_EXIT(static_cast<void>(lpf_abort(LPF_ROOT)), testing::ExitedWithCode(6), "");
}

// ---- exec, hook, rehook

void some_function() {}

TEST(Lpf, ArgumentsGoToProcessZeroAndFunctionsToAll) {
  int input = 4, output = 0;
  const lpf_func_t functions[] = {&some_function};
  lpf_args_t args{&input, sizeof input, &output, sizeof output, functions, 1};
  const lpf_spmd_t check = [](lpf_t, lpf_pid_t pid, lpf_pid_t, lpf_args_t a) {
    EXPECT_EQ(a.f_size, 1U);
    EXPECT_EQ(a.f_symbols[0], &some_function);
    if (pid == 0) {
      EXPECT_EQ(*static_cast<const int *>(a.input), 4);
      EXPECT_EQ(a.input_size, sizeof(int));
      EXPECT_EQ(a.output_size, sizeof(int));
      *static_cast<int *>(a.output) = 5;
    } else {
      EXPECT_EQ(a.input, nullptr);
      EXPECT_EQ(a.output, nullptr);
      EXPECT_EQ(a.input_size + a.output_size, 0U);
    }
  };
  EXPECT_EQ(lpf_exec(LPF_ROOT, 3, check, args), LPF_SUCCESS);
  EXPECT_EQ(output, 5);
}

TEST(Lpf, NestedProcessesShareWhatIsFree) {
  std::atomic<unsigned> free{0}, inner{0};
  EXPECT_EQ(run(2,
                [&](const process &p) {
                  lpf_machine_t machine = LPF_INVALID_MACHINE;
                  EXPECT_EQ(lpf_probe(p.ctx, &machine), LPF_SUCCESS);
                  EXPECT_EQ(machine.p, k_processes);
                  EXPECT_EQ(machine.free_p, p.pid == 0 ? 3U : 2U);
                  free += machine.free_p;
                  EXPECT_EQ(run(
                                LPF_MAX_P,
                                [&](const process &q) {
                                  EXPECT_EQ(q.count, machine.free_p);
                                  lpf_machine_t own = LPF_INVALID_MACHINE;
                                  EXPECT_EQ(lpf_probe(q.ctx, &own), LPF_SUCCESS);
                                  EXPECT_EQ(own.free_p, 1U);
                                  q.sync();
                                  ++inner;
                                },
                                p.ctx),
                            LPF_SUCCESS);
                  p.sync();
                }),
            LPF_SUCCESS);
  EXPECT_EQ(free, k_processes);
  EXPECT_EQ(inner, k_processes);
}

TEST_P(Processes, ARehookHasAContextOfItsOwn) {
  run_good([](const process &p) {
    p.resize(2, 8);
    std::vector<int> memory{static_cast<int>(p.pid), -1};
    const auto slot = p.global(memory);
    p.sync();
    p.put(slot, 0, (p.pid + 1) % p.count, slot, 4, 4); // stays queued
    for (int round = 0; round != 3; ++round)
      EXPECT_EQ(lpf_rehook(p.ctx, &call, args_of([](const process &q) {
                             q.resize(1, 8);
                             std::vector<int> other{static_cast<int>(q.pid) + 100, 0};
                             const auto own = q.global(other);
                             q.sync();
                             q.get((q.pid + 1) % q.count, own, 0, own, 4, 4);
                             EXPECT_EQ(lpf_rehook(q.ctx, &call,
                                                  args_of([](const process &r) { r.sync(); })),
                                       LPF_SUCCESS);
                             q.sync();
                             EXPECT_EQ(other[1], static_cast<int>((q.pid + 1) % q.count) + 100);
                           })),
                LPF_SUCCESS);
    EXPECT_EQ(memory[1], -1);
    p.sync();
    EXPECT_EQ(memory[1], static_cast<int>((p.pid + p.count - 1) % p.count));
  });
}

/// Expects that whatever the process calls in the context now returns LPF_ERR_FATAL, and runs nothing.
void expect_failure_state(const process &p) {
  const body never = [](const process &) { ADD_FAILURE() << "runs in a failure state"; };
  for (int round = 0; round != 2; ++round) {
    EXPECT_EQ(lpf_sync(p.ctx, LPF_SYNC_DEFAULT), LPF_ERR_FATAL);
    EXPECT_EQ(lpf_rehook(p.ctx, &call, args_of(never)), LPF_ERR_FATAL);
    EXPECT_EQ(lpf_exec(p.ctx, 1, &call, args_of(never)), LPF_ERR_FATAL);
  }
}

/// Runs in a process of the system that ends with it.
TEST(LpfDeathTest, AProgramWhoseExecHasFailedIsInAFailureState) {
  GTEST_FLAG_SET(death_test_style, "threadsafe"); // which begins the program anew
  EXPECT_EXIT(
      {
        EXPECT_EQ(run(3,
                      [](const process &p) {
                        if (p.pid != 1)
                          expect_failure_state(p);
                      }),
                  LPF_ERR_FATAL);
        expect_failure_state({LPF_ROOT, 0, 1});
        EXPECT_EQ(run_apart(3, [](const process &p) { p.sync(); }), LPF_SUCCESS); // others have seen no failure
        std::exit(HasFailure() ? 1 : 0);
      },
      testing::ExitedWithCode(0), "");
}

TEST(Lpf, ARehookThatFailsFailsItsProcesses) {
  testing::internal::CaptureStderr();
  EXPECT_EQ(run_apart(3,
                      [](const process &p) {
                        EXPECT_EQ(lpf_rehook(p.ctx, &call, args_of([](const process &q) {
                                               if (q.pid != 1)
                                                 expect_failure_state(q);
                                             })),
                                  LPF_ERR_FATAL);
                        expect_failure_state(p);
                      }),
            LPF_ERR_FATAL);
  testing::internal::GetCapturedStderr();
}

TEST(Lpf, AnExecThatFailsFailsItsProcess) {
  testing::internal::CaptureStderr();
  EXPECT_EQ(run_apart(3,
                      [](const process &p) {
                        if (p.pid == 1) {
                          EXPECT_EQ(run(1, [](const process &) { throw std::runtime_error("no more"); }, p.ctx),
                                    LPF_ERR_FATAL);
                        }
                        expect_failure_state(p); // the others need data of process 1
                      }),
            LPF_ERR_FATAL);
  testing::internal::GetCapturedStderr();
}

TEST(Lpf, AFailureStateOfTasksIsThatOfTheProcess) {
  testing::internal::CaptureStderr();
  EXPECT_EQ(run_apart(2,
                      [](const process &p) {
                        EXPECT_EQ(talpf_put(p.ctx, 0, 0, 2, 0, 0, 8, LPF_MSG_DEFAULT), LPF_ERR_FATAL);
                        expect_failure_state(p);
                      }),
            LPF_ERR_FATAL);
  testing::internal::GetCapturedStderr();
}

/// Has a failure, and hooks again: that begins anew.
TEST(Lpf, AHookBehindAFailureBeginsAnew) {
  testing::internal::CaptureStderr();
  std::vector<std::thread> threads;
  std::atomic<int> good{0};
  for (lpf_pid_t pid = 0; pid != 2; ++pid)
    threads.emplace_back([&, pid] {
      lpf_init_t init = LPF_INIT_NONE;
      ASSERT_EQ(lpf_pthread_initialize(pid, 2, &init), LPF_SUCCESS);
      for (int round = 0; round != 3; ++round) {
        EXPECT_EQ(lpf_hook(init, &call, args_of([](const process &p) {
                             if (p.pid == 0)
                               expect_failure_state(p);
                           })),
                  LPF_ERR_FATAL);
        good += lpf_hook(init, &call, args_of([](const process &p) { p.sync(); })) == LPF_SUCCESS;
      }
      EXPECT_EQ(lpf_pthread_finalize(init), LPF_SUCCESS);
    });
  for (std::thread &t : threads)
    t.join();
  EXPECT_EQ(good, 6);
  testing::internal::GetCapturedStderr();
}

TEST(Lpf, TheMachineIsMeasured) {
  lpf_machine_t machine = LPF_INVALID_MACHINE;
  ASSERT_EQ(lpf_probe(LPF_ROOT, &machine), LPF_SUCCESS);
  EXPECT_EQ(machine.p, k_processes);
  EXPECT_EQ(machine.free_p, k_processes);
  for (const std::size_t bytes : {std::size_t{0}, std::size_t{100}, std::size_t{10000}, SIZE_MAX}) {
    EXPECT_GT(machine.g(machine.p, bytes, LPF_SYNC_DEFAULT), 0);
    EXPECT_LT(machine.g(machine.p, bytes, LPF_SYNC_DEFAULT), 1);
    EXPECT_GT(machine.l(1, bytes, LPF_SYNC_DEFAULT), 0);
  }
}

TEST(Lpf, RunsInTasksAndInSeveralThreads) {
  std::atomic<int> sum{0};
  const auto go = [&] {
    EXPECT_EQ(run(3,
                  [&](const process &p) {
                    p.sync();
                    sum += static_cast<int>(p.pid) + 1;
                    p.sync();
                  }),
              LPF_SUCCESS);
  };
  for (int i = 0; i != 10; ++i)
    weft::spawn(go);
  std::thread beside([&] {
    for (int i = 0; i != 10; ++i)
      go();
  });
  weft::taskwait();
  beside.join();
  EXPECT_EQ(sum, 20 * 6);
}

TEST(Lpf, ThreadsOfTheProgramBecomeProcesses) {
  constexpr lpf_pid_t k_threads = 3;
  for (int round = 0; round != 3; ++round) {
    std::vector<std::thread> threads;
    std::atomic<int> good{0};
    for (lpf_pid_t pid = 0; pid != k_threads; ++pid)
      threads.emplace_back([&, pid] {
        lpf_init_t init = LPF_INIT_NONE;
        ASSERT_EQ(lpf_pthread_initialize(pid, k_threads, &init), LPF_SUCCESS);
        const auto self = std::this_thread::get_id();
        for (int hook = 0; hook != 3; ++hook)
          EXPECT_EQ(lpf_hook(init, &call, args_of([&](const process &p) {
                               EXPECT_EQ(std::this_thread::get_id(), self);
                               EXPECT_EQ(p.pid, pid);
                               EXPECT_EQ(p.count, k_threads);
                               p.resize(1, 1);
                               std::vector<int> memory{static_cast<int>(pid), -1};
                               const auto slot = p.global(memory);
                               p.sync();
                               p.put(slot, 0, (pid + 1) % k_threads, slot, 4, 4);
                               p.sync();
                               good += memory[1] == static_cast<int>((pid + 2) % k_threads);
                             })),
                    LPF_SUCCESS);
        EXPECT_EQ(lpf_pthread_finalize(init), LPF_SUCCESS);
      });
    for (std::thread &t : threads)
      t.join();
    EXPECT_EQ(good, 9);
  }
}

TEST(Lpf, ThreadsWithNumbersThatDoNotFitAreRefused) {
  testing::internal::CaptureStderr();
  for (const auto &[a, b, of] :
       {std::tuple{0U, 0U, 2U}, std::tuple{0U, 2U, 2U}, std::tuple{5U, 6U, 2U}}) {
    const auto meet = [of](lpf_pid_t pid) {
      lpf_init_t init = LPF_INIT_NONE;
      EXPECT_EQ(lpf_pthread_initialize(pid, of, &init), LPF_ERR_FATAL);
    };
    std::thread one(meet, a), other(meet, b);
    one.join();
    other.join();
  }
  lpf_init_t init = LPF_INIT_NONE;
  EXPECT_EQ(lpf_pthread_initialize(0, 0, &init), LPF_ERR_FATAL);
  EXPECT_EQ(lpf_pthread_initialize(0, 1, &init), LPF_SUCCESS); // the next group is whole
  EXPECT_EQ(lpf_hook(init, &call, args_of([](const process &p) { p.sync(); })), LPF_SUCCESS);
  EXPECT_EQ(lpf_pthread_finalize(init), LPF_SUCCESS);
  EXPECT_EQ(lpf_hook(LPF_INIT_NONE, &call, LPF_NO_ARGS), LPF_ERR_FATAL);
  expect_in(testing::internal::GetCapturedStderr(), "does not fit to a group");
}

TEST(Lpf, AChildOfForkTakesNoPart) {
  std::atomic<bool> is_over{false};
  pid_t child = -1;
  int refused = 0;
  testing::internal::CaptureStderr();
  const lpf_err_t whole = run(2, [&](const process &p) {
    p.resize(1, 1);
    std::vector<int> memory{static_cast<int>(p.pid), -1};
    const auto slot = p.global(memory);
    p.sync();
    if (p.pid == 0) {
      child = fork();
      if (child == 0) {
        refused += talpf_put(p.ctx, slot, 0, 1, slot, 4, 4, LPF_MSG_DEFAULT) == LPF_ERR_FATAL;
        refused += talpf_sync(p.ctx, LPF_SYNC_DEFAULT) == LPF_ERR_FATAL;
        refused += lpf_flush_sent(p.ctx) == LPF_ERR_FATAL;
        refused += lpf_sync(p.ctx, LPF_SYNC_DEFAULT) == LPF_ERR_FATAL;
        return; // and none of these says more than the first one
      }
      int status = -1;
      EXPECT_EQ(waitpid(child, &status, 0), child);
      EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
      is_over = true;
    }
    while (!is_over)
      std::this_thread::yield();
    p.put(slot, 0, 1 - p.pid, slot, 4, 4);
    p.sync();
    EXPECT_EQ(memory[1], static_cast<int>(1 - p.pid));
  });
  if (child == 0)
    _exit(refused == 4 && whole == LPF_ERR_FATAL ? 0 : 1);
  EXPECT_EQ(whole, LPF_SUCCESS);
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "weft: lpf: process 0 is the process " + std::to_string(getpid()) +
                " of the system, and this one is a child of fork(), which takes no part; leave LPF to it, or end "
                "the child by exec or _exit\n");
}

// ---- lpf/noc.h

TEST_P(Processes, LoneSlotsAreSentToThoseThatUseThem) {
  run_good([](const process &p) {
    p.resize(4, 8);
    std::vector<int> data(4, -1), source{static_cast<int>(p.pid)};
    std::vector<lpf_memslot_t> slots(p.count);
    const auto shared = p.global(slots), own = p.local(source);
    p.sync();
    lpf_memslot_t lone = LPF_INVALID_MEMSLOT;
    for (lpf_pid_t i = 0; i != p.pid; ++i) // the numbers differ
      EXPECT_EQ(lpf_noc_register(p.ctx, data.data(), 4, &lone), LPF_SUCCESS);
    EXPECT_EQ(lpf_noc_register(p.ctx, data.data(), 16, &lone), LPF_SUCCESS);
    slots[p.pid] = lone;
    const lpf_pid_t next = (p.pid + 1) % p.count;
    if (next != p.pid)
      p.get(next, shared, next * sizeof lone, shared, next * sizeof lone, sizeof lone);
    p.sync();
    EXPECT_EQ(lpf_noc_put(p.ctx, own, 0, next, slots[next], 8, 4, LPF_MSG_DEFAULT), LPF_SUCCESS);
    p.sync();
    EXPECT_EQ(data[2], static_cast<int>((p.pid + p.count - 1) % p.count));

    char *text = nullptr;
    std::size_t bytes = 0;
    EXPECT_EQ(lpf_noc_serialize_slot(p.ctx, slots[next], &text, &bytes), LPF_SUCCESS);
    EXPECT_EQ(bytes, sizeof lone);
    lpf_memslot_t alias = LPF_INVALID_MEMSLOT;
    EXPECT_EQ(lpf_noc_register(p.ctx, nullptr, 0, &alias), LPF_SUCCESS);
    if (next != p.pid) {
      EXPECT_EQ(lpf_noc_deserialize_slot(p.ctx, text, alias), LPF_SUCCESS);
      std::vector<int> got(1, -5);
      const auto here = p.local(got);
      EXPECT_EQ(lpf_noc_get(p.ctx, next, alias, 8, here, 0, 4, LPF_MSG_DEFAULT), LPF_SUCCESS);
      p.sync();
      EXPECT_EQ(got[0], static_cast<int>(p.pid));
    }
    std::free(text);
    EXPECT_EQ(lpf_noc_deregister(p.ctx, alias), LPF_SUCCESS);
    EXPECT_EQ(lpf_noc_deregister(p.ctx, lone), LPF_SUCCESS);
  });
}

TEST(Lpf, ALoneSlotThatIsSentAgainIsTheNewOne) {
  EXPECT_EQ(run(2,
                [](const process &p) {
                  p.resize(4, 8);
                  std::vector<int> first{-1}, second{-1}, source{5};
                  std::vector<lpf_memslot_t> sent{0, 0};
                  const auto box = p.global(sent), own = p.local(source);
                  lpf_memslot_t lone = LPF_INVALID_MEMSLOT, earlier = LPF_INVALID_MEMSLOT;
                  EXPECT_EQ(lpf_noc_register(p.ctx, nullptr, 0, &lone), LPF_SUCCESS); // what stands for another
                  p.sync();
                  for (std::vector<int> *const memory : {&first, &second}) {
                    if (p.pid == 0) {
                      EXPECT_EQ(lpf_noc_register(p.ctx, memory->data(), 4, sent.data()), LPF_SUCCESS);
                      EXPECT_TRUE(memory == &first || sent[0] == earlier) << "or this test tests nothing";
                      earlier = sent[0];
                      p.put(box, 0, 1, box, sizeof lone, sizeof lone);
                    }
                    p.sync();
                    if (p.pid == 1) {
                      char *const text = reinterpret_cast<char *>(&sent[1]);
                      EXPECT_EQ(lpf_noc_deserialize_slot(p.ctx, text, lone), LPF_SUCCESS);
                      EXPECT_EQ(lpf_noc_put(p.ctx, own, 0, 0, lone, 0, 4, LPF_MSG_DEFAULT), LPF_SUCCESS);
                      EXPECT_EQ(lpf_flush_sent(p.ctx), LPF_SUCCESS);
                    }
                    p.sync();
                    if (p.pid == 0) {
                      EXPECT_EQ((*memory)[0], 5);
                      (*memory)[0] = -2;
                      EXPECT_EQ(lpf_noc_deregister(p.ctx, earlier), LPF_SUCCESS);
                    }
                  }
                  EXPECT_EQ(first[0], p.pid == 0 ? -2 : -1);
                }),
            LPF_SUCCESS);
}

TEST(Lpf, OnlyALoneSlotStandsForAnother) {
  testing::internal::CaptureStderr();
  EXPECT_EQ(run_apart(1,
                [](const process &p) {
                  p.resize(1, 1);
                  std::vector<char> memory(8);
                  const auto slot = p.local(memory);
                  EXPECT_EQ(lpf_noc_deserialize_slot(p.ctx, memory.data(), slot), LPF_ERR_FATAL);
                }),
            LPF_ERR_FATAL);
  expect_in(testing::internal::GetCapturedStderr(), "which lpf_noc_register has not made here");
}

// ---- long runs

TEST_P(Processes, RandomSuperstepsAreThoseOfAnOracle) {
  constexpr std::size_t k_words = 4096, k_supersteps = 60;
  const lpf_pid_t count = GetParam();
  run_good([count](const process &p) {
    p.resize(2, 64);
    std::vector<std::uint32_t> from(k_words), to(k_words);
    const auto source = p.global(from), target = p.global(to);
    std::vector<std::vector<std::uint32_t>> oracle(count, std::vector<std::uint32_t>(k_words));
    std::mt19937 random(11); // the same at all processes
    p.sync();
    for (std::size_t step = 0; step != k_supersteps; ++step) {
      for (std::size_t i = 0; i != k_words; ++i)
        from[i] = static_cast<std::uint32_t>(step * 100000000 + p.pid * 10000000 + i);
      std::vector<std::size_t> next(count); // words of the targets that are free
      for (std::size_t n = random() % 40; n != 0; --n) {
        const lpf_pid_t reader = random() % count, writer = random() % count;
        const bool is_put = random() % 2;
        const std::size_t words = 1 + random() % (random() % 4 ? 20 : 1500);
        const std::size_t at = random() % (k_words - words);
        if (next[reader] + words > k_words)
          continue;
        if (is_put ? p.pid == writer : p.pid == reader) {
          if (is_put)
            p.put(source, 4 * at, reader, target, 4 * next[reader], 4 * words);
          else
            p.get(writer, source, 4 * at, target, 4 * next[reader], 4 * words);
        }
        for (std::size_t i = 0; i != words; ++i)
          oracle[reader][next[reader] + i] =
              static_cast<std::uint32_t>(step * 100000000 + writer * 10000000 + at + i);
        next[reader] += words;
      }
      p.sync();
      ASSERT_EQ(to, oracle[p.pid]) << "superstep " << step;
      p.sync(); // sources are written again
    }
  });
}

TEST(Lpf, ManyProgramsRunOneAfterTheOther) {
  for (int round = 0; round != 200; ++round)
    ASSERT_EQ(
        run(1 + static_cast<lpf_pid_t>(round) % k_processes, [](const process &p) { p.sync(); }),
        LPF_SUCCESS);
}

} // namespace
