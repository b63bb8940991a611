// SPDX-License-Identifier: Apache-2.0
// Task-aware LPF: messages and supersteps as tasks, with 1 to 5 processes. The tests have WEFT_NET_SIZE=5.
#include "listings.h"
#include "lpf_process.hpp"

#include <lpf/core.h>
#include <lpf/pthread.h>
#include <lpf/talpf.h>

#include <weft/error.hpp>
#include <weft/layer/environment.hpp>
#include <weft/sync/event.hpp>
#include <weft/sync/latch.hpp>
#include <weft/task.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include <sched.h>
#include <unistd.h>

namespace {

constexpr lpf_pid_t k_processes = 5;
constexpr lpf_sync_attr_t k_default = 0;

struct process {
  lpf_t ctx;
  lpf_pid_t pid, count;

  template <class T>
  [[nodiscard]] lpf_memslot_t global(std::vector<T> &memory) const {
    lpf_memslot_t slot = LPF_INVALID_MEMSLOT;
    EXPECT_EQ(lpf_register_global(ctx, memory.data(), memory.size() * sizeof(T), &slot),
              LPF_SUCCESS);
    return slot;
  }
  void sync(lpf_sync_attr_t how = k_default) const { ASSERT_EQ(talpf_sync(ctx, how), LPF_SUCCESS); }
  /// Ends a superstep before a failure, which may be there at another process already.
  void meet(lpf_sync_attr_t how = k_default) const { static_cast<void>(talpf_sync(ctx, how)); }
  void put(lpf_memslot_t from, std::size_t from_offset, lpf_pid_t to_pid, lpf_memslot_t to,
           std::size_t to_offset, std::size_t bytes) const {
    ASSERT_EQ(talpf_put(ctx, from, from_offset, to_pid, to, to_offset, bytes, LPF_MSG_DEFAULT),
              LPF_SUCCESS);
  }
  void get(lpf_pid_t from_pid, lpf_memslot_t from, std::size_t from_offset, lpf_memslot_t to,
           std::size_t to_offset, std::size_t bytes) const {
    ASSERT_EQ(talpf_get(ctx, from_pid, from, from_offset, to, to_offset, bytes, LPF_MSG_DEFAULT),
              LPF_SUCCESS);
  }
  [[nodiscard]] lpf_pid_t right() const { return (pid + 1) % count; }
  [[nodiscard]] lpf_pid_t left() const { return (pid + count - 1) % count; }
};

using body = std::function<void(const process &)>;

void call(lpf_t ctx, lpf_pid_t pid, lpf_pid_t nprocs, lpf_args_t args) {
  const body &f = *reinterpret_cast<const body *>(args.f_symbols);
  f({ctx, pid, nprocs});
}
lpf_args_t args_of(const body &f) {
  lpf_args_t args = LPF_NO_ARGS;
  args.f_symbols = reinterpret_cast<const lpf_func_t *>(&f);
  return args;
}
lpf_err_t run(lpf_pid_t count, const body &f) { return lpf_exec(LPF_ROOT, count, &call, args_of(f)); }

lpf_err_t run_apart(lpf_pid_t count, const body &f) {
  return test::hook_threads(count, &call, args_of(f));
}

class TaskAware : public testing::TestWithParam<lpf_pid_t> {
 protected:
  static void run_good(const body &f) { EXPECT_EQ(run(GetParam(), f), LPF_SUCCESS); }
};
INSTANTIATE_TEST_SUITE_P(Talpf, TaskAware, testing::Range(1U, k_processes + 1));

// ---- messages

TEST_P(TaskAware, PutsArriveWithTheirSuperstep) {
  run_good([](const process &p) {
    for (const std::size_t bytes : {1, 8, 5000, 3 << 20}) {
      std::vector<std::uint8_t> from(bytes, static_cast<std::uint8_t>(p.pid + 1));
      std::vector<std::uint8_t> to(bytes * p.count, 99);
      const auto own = p.global(from), there = p.global(to);
      p.sync();
      for (lpf_pid_t peer = 0; peer != p.count; ++peer)
        weft::spawn([&, peer] { p.put(own, 0, peer, there, p.pid * bytes, bytes); },
                    weft::in(from[0]), weft::concurrent(to[0]));
      weft::spawn([&] { p.sync(); }, weft::inout(to[0]));
      weft::spawn(
          [&] {
            for (std::size_t i = 0; i != to.size(); ++i)
              ASSERT_EQ(to[i], i / bytes + 1) << i << " of " << bytes;
          },
          weft::in(to[0]));
      weft::taskwait();
      p.sync();
      EXPECT_EQ(lpf_deregister(p.ctx, own), LPF_SUCCESS);
      EXPECT_EQ(lpf_deregister(p.ctx, there), LPF_SUCCESS);
    }
  });
}

TEST_P(TaskAware, AGetIsThereWhenItsTaskHasEnded) {
  run_good([](const process &p) {
    for (const std::size_t words : {std::size_t{1}, std::size_t{700}, std::size_t{1} << 19}) {
      std::vector<std::uint64_t> from(words, 10 + p.pid), to(words);
      const auto there = p.global(from), own = p.global(to);
      p.sync();
      weft::spawn([&] { p.get(p.right(), there, 0, own, 0, words * 8); }, weft::out(to[0]));
      std::uint64_t seen = 0;
      weft::spawn([&] { seen = to[0] + to[words - 1]; }, weft::in(to[0]));
      weft::taskwait();
      EXPECT_EQ(seen, 2 * (10 + p.right()));
      p.sync(); // counts the reader's message: the memory may change now
      from.assign(words, 0);
      p.sync();
    }
  });
}

TEST_P(TaskAware, AtomicOperationsGiveWhatWasThere) {
  run_good([](const process &p) {
    constexpr int k_each = 50;
    std::vector<std::uint64_t> words(2), before(k_each + 1, 99);
    const auto there = p.global(words), own = p.global(before);
    p.sync();
    for (int i = 0; i != k_each; ++i)
      weft::spawn([&, i] {
        EXPECT_EQ(talpf_atomic_fetch_and_add(p.ctx, own, i * sizeof(std::uint64_t), 0, there, 0, 3),
                  LPF_SUCCESS);
      });
    weft::spawn([&] {
      EXPECT_EQ(talpf_atomic_cmp_and_swp(p.ctx, own, k_each * sizeof(std::uint64_t), 0, there, 8, 0,
                                         p.pid + 1),
                LPF_SUCCESS);
    });
    weft::taskwait();
    p.sync();
    for (int i = 0; i != k_each; ++i) {
      EXPECT_EQ(before[i] % 3, 0U);
      EXPECT_LT(before[i], 3U * k_each * p.count);
    }
    EXPECT_LE(before[k_each], p.count);
    if (p.pid == 0) {
      EXPECT_EQ(words[0], 3U * k_each * p.count);
      EXPECT_TRUE(words[1] >= 1 && words[1] <= p.count);
    }
    p.sync();
  });
}

TEST_P(TaskAware, MessagesOfNothingAreCounted) {
  run_good([](const process &p) {
    std::vector<int> memory(1);
    const auto slot = p.global(memory);
    p.sync();
    p.put(slot, 0, p.right(), slot, 0, 0);
    p.sync(LPF_SYNC_MSG(1));
    p.sync();
  });
}

// ---- modes

/// Goes round a ring for some supersteps, in one mode, with all tasks spawned ahead.
void go_round(const process &p, lpf_sync_attr_t how, int rounds) {
  std::vector<std::uint64_t> own(1, p.pid), all(2);
  const auto from = p.global(own);
  lpf_memslot_t ring = LPF_INVALID_MEMSLOT;
  ASSERT_EQ(talpf_register_double(p.ctx, sizeof(std::uint64_t), &ring), LPF_SUCCESS);
  p.sync();
  const std::uint64_t first = talpf_superstep(p.ctx);
  for (int i = 0; i != rounds; ++i) {
    weft::spawn([&] { p.put(from, 0, p.right(), ring, 0, sizeof(std::uint64_t)); },
                weft::in(own[0]), weft::inout(all[0]));
    weft::spawn([&, how] { p.sync(how); }, weft::inout(own[0]), weft::inout(all[0]));
    weft::spawn(
        [&, i] {
          own[0] = *static_cast<const std::uint64_t *>(
              talpf_half(p.ctx, ring, first + static_cast<unsigned>(i)));
        },
        weft::inout(own[0]), weft::in(all[0]));
  }
  weft::taskwait();
  EXPECT_EQ(own[0],
            (p.pid + p.count * static_cast<unsigned>(rounds) - static_cast<unsigned>(rounds)) %
                p.count);
  EXPECT_EQ(talpf_superstep(p.ctx), first + static_cast<unsigned>(rounds));
  p.sync();
  EXPECT_EQ(talpf_half(p.ctx, from, first), nullptr);
  EXPECT_EQ(lpf_deregister(p.ctx, ring), LPF_SUCCESS);
}

TEST_P(TaskAware, AllModesBringTheSameData) {
  run_good([](const process &p) {
    for (const lpf_sync_attr_t how :
         {k_default, LPF_SYNC_CACHED, LPF_SYNC_MSG(1), LPF_SYNC_CACHED | LPF_SYNC_BARRIER,
          LPF_SYNC_MSG(1) | LPF_SYNC_BARRIER, LPF_SYNC_BARRIER})
      go_round(p, how, 12);
  });
}

TEST_P(TaskAware, ADefaultCallForgetsTheCachedCounts) {
  run_good([](const process &p) {
    std::vector<int> memory(8);
    const auto slot = p.global(memory);
    p.sync();
    for (const int messages : {1, 3, 0}) {
      for (int round = 0; round != 3; ++round) {
        for (int i = 0; i != messages; ++i)
          p.put(slot, 0, p.right(), slot, 4 * sizeof(int), sizeof(int));
        p.sync(LPF_SYNC_CACHED);
      }
      p.sync();
    }
  });
}

TEST_P(TaskAware, SeveralSuperstepsAreUnderWay) {
  run_good([](const process &p) {
    constexpr unsigned k_steps = 6;
    std::vector<int> memory(k_steps), own(1, 7);
    const auto slot = p.global(memory), from = p.global(own);
    p.sync();
    for (const lpf_sync_attr_t how : {k_default, LPF_SYNC_CACHED, LPF_SYNC_MSG(1)}) {
      memory.assign(k_steps, 0);
      p.sync();
      int order = 0;
      weft::spawn(
          [&] { // all of them are called before one is over, and the task ends behind the last
            for (unsigned i = 0; i != k_steps; ++i) {
              p.put(from, 0, p.right(), slot, i * sizeof(int), sizeof(int));
              p.sync(how);
            }
          },
          weft::out(order));
      int sum = 0;
      weft::spawn(
          [&] {
            for (const int m : memory)
              sum += m;
          },
          weft::in(order));
      weft::taskwait();
      EXPECT_EQ(sum, 7 * static_cast<int>(k_steps));
      p.sync();
    }
  });
}

TEST_P(TaskAware, RandomPatternsArrive) {
  run_good([](const process &p) {
    constexpr std::size_t k_capacity = 64;
    std::mt19937 random(p.count);
    std::vector<std::uint32_t> own(k_capacity), all(2 * k_capacity * p.count);
    const auto from = p.global(own), to = p.global(all);
    p.sync();
    for (int step = 0; step != 20; ++step) {
      const std::size_t half = static_cast<unsigned>(step) % 2 * k_capacity * p.count;
      std::vector<std::uint32_t> counts(p.count * p.count);
      for (auto &c : counts)
        c = random() % 4 == 0 ? random() % 20 : 0;
      own.assign(k_capacity, static_cast<unsigned>(step) * 100 + p.pid);
      unsigned mine = 0;
      for (lpf_pid_t peer = 0; peer != p.count; ++peer) {
        mine += counts[peer * p.count + p.pid];
        for (std::uint32_t i = 0; i != counts[p.pid * p.count + peer]; ++i)
          weft::spawn([&, peer, i, half] {
            p.put(from, i * 4, peer, to, (half + p.pid * k_capacity + i) * 4, 4);
          });
      }
      weft::taskwait();
      // The next superstep has other senders, which no acknowledgement of this one keeps back.
      p.sync(step % 2 == 0 ? k_default
                           : static_cast<lpf_sync_attr_t>(LPF_SYNC_MSG(mine) | LPF_SYNC_BARRIER));
      for (lpf_pid_t peer = 0; peer != p.count; ++peer)
        for (std::uint32_t i = 0; i != counts[peer * p.count + p.pid]; ++i)
          ASSERT_EQ(all[half + peer * k_capacity + i], static_cast<unsigned>(step) * 100 + peer);
    }
    p.sync();
  });
}

TEST_P(TaskAware, ContextsOfRehookDoNotMix) {
  run_good([](const process &p) {
    p.sync();
    for (int i = 0; i != 3; ++i) {
      const body inner = [](const process &self) {
        EXPECT_EQ(talpf_superstep(self.ctx), 1U);
        go_round(self, LPF_SYNC_CACHED, 3);
      };
      lpf_args_t args = LPF_NO_ARGS;
      args.f_symbols = reinterpret_cast<const lpf_func_t *>(&inner);
      EXPECT_EQ(lpf_rehook(p.ctx, &call, args), LPF_SUCCESS);
    }
    EXPECT_EQ(talpf_superstep(p.ctx), 2U);
    p.sync();
  });
}

TEST(Talpf, MessagesWithoutASuperstepArriveBeforeTheEnd) {
  std::vector<std::vector<int>> memory(3, std::vector<int>(3));
  EXPECT_EQ(run(3,
                [&](const process &p) {
                  memory[p.pid][p.pid] = 5;
                  const auto slot = p.global(memory[p.pid]);
                  p.sync();
                  p.put(slot, p.pid * sizeof(int), p.right(), slot, p.pid * sizeof(int),
                        sizeof(int));
                }),
            LPF_SUCCESS);
  for (unsigned pid = 0; pid != 3; ++pid)
    EXPECT_EQ(memory[pid][(pid + 2) % 3], 5);
}

// ---- the race of one-way traffic (figure 5.3 of the source)

/// Process 0 puts numbers into process 1, which sends nothing back and reads late. Returns what it has read,
/// and how far the sender was.
struct race {
  std::uint64_t read = 0;
  int sender = 0;
};
race run_race(lpf_sync_attr_t sender_how, lpf_sync_attr_t receiver_how, bool overtakes) {
  race seen;
  std::atomic<int> sent{0};
  EXPECT_EQ(run(2,
                [&](const process &p) {
                  constexpr int k_steps = 4;
                  std::vector<std::uint64_t> own(1);
                  const auto from = p.global(own);
                  lpf_memslot_t to = LPF_INVALID_MEMSLOT;
                  ASSERT_EQ(talpf_register_double(p.ctx, 8, &to), LPF_SUCCESS);
                  p.sync();
                  const auto first = talpf_superstep(p.ctx);
                  for (unsigned step = 0; step != k_steps; ++step) {
                    if (p.pid == 0) {
                      own[0] = 100 + step;
                      p.put(from, 0, 1, to, 0, 8);
                      p.sync(sender_how);
                      ++sent;
                      continue;
                    }
                    p.sync(receiver_how);
                    if (step != 0)
                      continue;
                    // A slow reader: until the sender is two supersteps on, or has had the time for it.
                    const auto end =
                        std::chrono::steady_clock::now() + std::chrono::milliseconds(300);
                    while (sent < 3 && (overtakes || std::chrono::steady_clock::now() < end))
                      sched_yield();
                    seen.sender = sent;
                    seen.read = *static_cast<const std::uint64_t *>(talpf_half(p.ctx, to, first));
                  }
                  p.sync();
                }),
            LPF_SUCCESS);
  return seen;
}

bool is_never() { return weft::layer::setting("lpf.acknowledge") == "never"; }

TEST(Talpf, ASenderDoesNotOvertakeAReader) {
  for (const bool cached : {true, false}) {
    const race seen = run_race(cached ? LPF_SYNC_CACHED : LPF_SYNC_MSG(0),
                               cached ? LPF_SYNC_CACHED : LPF_SYNC_MSG(1), is_never());
    if (is_never()) { // without acknowledgements the sender comes round
      EXPECT_GE(seen.sender, 3);
      EXPECT_EQ(seen.read, 102U);
    } else {
      EXPECT_LE(seen.sender, 1);
      EXPECT_EQ(seen.read, 100U);
    }
  }
}

TEST(Talpf, ABarrierKeepsSendersBackAsWell) {
  const race seen =
      run_race(LPF_SYNC_CACHED | LPF_SYNC_BARRIER, LPF_SYNC_CACHED | LPF_SYNC_BARRIER, false);
  EXPECT_LE(seen.sender, 1);
  EXPECT_EQ(seen.read, 100U);
}

// ---- failures

lpf_err_t run_failing(lpf_pid_t count, const std::string &text, const body &f) {
  testing::internal::CaptureStderr();
  const lpf_err_t code = run_apart(count, f);
  const std::string printed = testing::internal::GetCapturedStderr();
  EXPECT_NE(printed.find(text), std::string::npos) << printed;
  return code;
}

TEST(Talpf, ACachedCountThatIsWrongNamesThePair) {
  const bool checks = weft::layer::setting("lpf.check") == "true";
  std::atomic<int> failed{0};
  EXPECT_EQ(run_failing(3,
                        checks ? "talpf_sync 3 (cached) of process 1 uses the counts of talpf_sync "
                                 "2: process 0 has sent 2 messages to process 1, and 1 then"
                               : "process 0", // when it is found depends on when it comes
                        [&](const process &p) {
                          std::vector<int> memory(2);
                          const auto slot = p.global(memory);
                          p.meet();
                          p.put(slot, 0, p.right(), slot, 4, 4);
                          p.meet(LPF_SYNC_CACHED);
                          static_cast<void>(talpf_put(p.ctx, slot, 0, p.right(), slot, 4, 4,
                                                      0)); // or it has failed
                          if (p.pid == 0)
                            static_cast<void>(talpf_put(p.ctx, slot, 0, p.right(), slot, 4, 4,
                                                        0)); // or it has failed
                          failed += talpf_sync(p.ctx, LPF_SYNC_CACHED) == LPF_ERR_FATAL;
                          failed += talpf_sync(p.ctx, k_default) == LPF_ERR_FATAL;
                        }),
            LPF_ERR_FATAL);
  EXPECT_GE(failed, 3);
}

TEST(Talpf, WrongUsesAreNamed) {
  const auto fails =
      [](const std::string &text,
         const std::function<lpf_err_t(const process &, lpf_memslot_t, lpf_memslot_t)> &use) {
        EXPECT_EQ(run_failing(2, text,
                              [&](const process &p) {
                                std::vector<std::uint64_t> memory(4);
                                const auto slot = p.global(memory);
                                lpf_memslot_t both = LPF_INVALID_MEMSLOT;
                                ASSERT_EQ(talpf_register_double(p.ctx, 16, &both), LPF_SUCCESS);
                                p.meet();
                                if (p.pid == 0) {
                                  const lpf_err_t code = use(p, slot, both);
                                  EXPECT_TRUE(code == LPF_ERR_FATAL ||
                                              talpf_sync(p.ctx, k_default) == LPF_ERR_FATAL);
                                } else {
                                  EXPECT_EQ(talpf_sync(p.ctx, k_default), LPF_ERR_FATAL);
                                }
                              }),
                  LPF_ERR_FATAL);
      };
  fails("talpf_put names process 7 of 2", [](const process &p, lpf_memslot_t slot, lpf_memslot_t) {
    return talpf_put(p.ctx, slot, 0, 7, slot, 0, 8, 0);
  });
  fails("talpf_put of process 0: 8 bytes from 25 are not in slot",
        [](const process &p, lpf_memslot_t slot, lpf_memslot_t) {
          return talpf_put(p.ctx, slot, 25, 1, slot, 0, 8, 0);
        });
  fails("talpf_put of process 0: 8 bytes from 32 are not in slot",
        [](const process &p, lpf_memslot_t slot, lpf_memslot_t) {
          return talpf_put(p.ctx, slot, 0, 1, slot, 32, 8, 0);
        });
  fails("of process 1, which is not registered",
        [](const process &p, lpf_memslot_t slot, lpf_memslot_t) {
          return talpf_put(p.ctx, slot, 0, 1, slot + 400, 0, 8, 0);
        });
  fails("a double buffer, which takes puts only",
        [](const process &p, lpf_memslot_t slot, lpf_memslot_t both) {
          return talpf_get(p.ctx, 1, both, 0, slot, 0, 8, 0);
        });
  fails("a double buffer, which takes puts only",
        [](const process &p, lpf_memslot_t slot, lpf_memslot_t both) {
          return talpf_get(p.ctx, 0, both, 0, slot, 0, 8, 0);
        });
  fails("not aligned", [](const process &p, lpf_memslot_t slot, lpf_memslot_t) {
    return talpf_atomic_fetch_and_add(p.ctx, slot, 0, 1, slot, 4, 1);
  });
  fails("which are none of lpf/talpf.h", [](const process &p, lpf_memslot_t, lpf_memslot_t) {
    return talpf_sync(p.ctx, LPF_SYNC_CACHED | LPF_SYNC_MSG(1));
  });
}

TEST(Talpf, AMessageTooManyIsNamed) {
  std::atomic<bool> is_over{false};
  EXPECT_EQ(run_failing(
                2, "talpf_sync 2 of process 1 is over, and a message of process 0 comes behind it",
                [&](const process &p) {
                  std::vector<int> memory(2);
                  const auto slot = p.global(memory);
                  p.meet();
                  if (p.pid == 0) {
                    static_cast<void>(talpf_put(p.ctx, slot, 0, 1, slot, 4, 4, 0));
                    while (!is_over)
                      sched_yield();
                    while (talpf_put(p.ctx, slot, 0, 1, slot, 4, 0, 0) != LPF_ERR_FATAL)
                      sched_yield();
                  } else {
                    static_cast<void>(talpf_sync(p.ctx, LPF_SYNC_MSG(1)));
                    is_over = true;
                    while (talpf_sync(p.ctx, LPF_SYNC_MSG(0)) != LPF_ERR_FATAL)
                      sched_yield();
                  }
                }),
            LPF_ERR_FATAL);
}

TEST(Talpf, AFailureIsOneOfTheTask) {
  std::atomic<int> thrown{0}, seen{0};
  testing::internal::CaptureStderr();
  EXPECT_EQ(
      run_apart(2,
          [&](const process &p) {
            std::vector<int> memory(2);
            const auto slot = p.global(memory);
            std::atomic<bool> is_seen{false};
            p.meet();
            if (p.pid == 0) // that it is wrong is known when process 1 has answered
              weft::spawn([&] { static_cast<void>(talpf_put(p.ctx, slot, 0, 1, slot, 8, 4, 0)); });
            else
              weft::spawn([&] { is_seen = talpf_sync(p.ctx, LPF_SYNC_MSG(1)) == LPF_ERR_FATAL; });
            try {
              weft::taskwait();
            } catch (const weft::error &e) {
              EXPECT_EQ(e.code(), weft::errc::invalid_argument);
              ++thrown;
              is_seen = true;
            }
            seen += is_seen; // the failure was there before the call returned, or comes to the task
          }),
      LPF_ERR_FATAL);
  testing::internal::GetCapturedStderr();
  EXPECT_GE(thrown, 1);
  EXPECT_EQ(seen, 2);
}

/// Waits until a part of a report is out, which is in the file of CaptureStderr().
void be_late_until(const std::string &part) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::minutes(1);
  std::vector<char> said(1 << 16);
  for (std::size_t length = 0; std::string(said.data(), length).find(part) == std::string::npos &&
                               std::chrono::steady_clock::now() < end;) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    const ssize_t got = pread(STDERR_FILENO, said.data(), said.size(), 0);
    length = got > 0 ? static_cast<std::size_t>(got) : 0;
  }
}

/// Lets process 0 be late with its part of a superstep, in which it puts to process 1. Looks for a
/// part of the report of that.
void expect_report_of_stall(lpf_sync_attr_t how, lpf_sync_attr_t of_receiver, bool late_call,
                            const std::string &part) {
  testing::internal::CaptureStderr();
  EXPECT_EQ(run(3,
                [&](const process &p) {
                  std::vector<int> memory(2);
                  const auto slot = p.global(memory);
                  p.sync();
                  for (int i = 0; i != 2; ++i) { // the second one is late
                    if (i == 1 && p.pid == 0 && !late_call)
                      be_late_until(part);
                    if (p.pid == 0)
                      p.put(slot, 0, 1, slot, 4, 4);
                    if (i == 1 && p.pid == 1 && late_call)
                      be_late_until(part);
                    p.sync(p.pid == 1 ? of_receiver : how);
                  }
                  p.sync();
                }),
            LPF_SUCCESS);
  const std::string said = testing::internal::GetCapturedStderr();
  EXPECT_NE(said.find(part), std::string::npos) << said;
}

TEST(Talpf, AStallNamesSuperstepsAndProcesses) {
  ASSERT_EQ(weft::layer::setting("net.stall"), "200ms"); // tests/CMakeLists.txt
  expect_report_of_stall(
      LPF_SYNC_CACHED, LPF_SYNC_CACHED, false,
      "rank 1 waits for talpf_sync 3 (cached) of process 1, of whose messages 0 of 1 have come, from "
      "process 0");
  expect_report_of_stall(
      LPF_SYNC_MSG(0), LPF_SYNC_MSG(1), false,
      "rank 1 waits for talpf_sync 3 (msg) of process 1, of whose messages 0 of 1 have come, from any "
      "process");
  expect_report_of_stall(
      k_default, k_default, false,
      "rank 1 waits for talpf_sync 3 (default) of process 1, to get the counts of its call from "
      "process 0");
  expect_report_of_stall(
      LPF_SYNC_CACHED, LPF_SYNC_CACHED, true,
      "rank 0 waits for talpf_sync 3 (cached) of process 0, to get the acknowledgement of process 1");
  expect_report_of_stall(
      LPF_SYNC_CACHED | LPF_SYNC_BARRIER, LPF_SYNC_CACHED | LPF_SYNC_BARRIER, true,
      "rank 2 waits for talpf_sync 3 (cached) of process 2, to meet in its barrier process 1");
  const std::string part = "rank 0 waits for lpf_sync 1 of process 0, to see it called by process 2";
  testing::internal::CaptureStderr();
  EXPECT_EQ(run(3,
                [&](const process &p) {
                  if (p.pid == 2)
                    be_late_until(part);
                  EXPECT_EQ(lpf_sync(p.ctx, LPF_SYNC_DEFAULT), LPF_SUCCESS);
                }),
            LPF_SUCCESS);
  const std::string said = testing::internal::GetCapturedStderr();
  EXPECT_NE(said.find(part), std::string::npos) << said;
}

// ---- the listings of the source

class Listings : public testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Talpf, Listings, testing::Range<int>(0, listing_count));

TEST_P(Listings, OfTheSourceRun) {
  const listing &one = listings[GetParam()];
  testing::internal::CaptureStderr();
  EXPECT_EQ(one.run(), 0) << one.name;
  const std::string printed = testing::internal::GetCapturedStderr();
  EXPECT_EQ(printed.empty(), one.prints == 0) << one.name << ": " << printed;
}

} // namespace
