// SPDX-License-Identifier: Apache-2.0
// Chains of a taskiter, whose members run as one: what the program sees is what it sees without.
#include "support/case_process.hpp"

#include <weft/weft.hpp>

#include <cstdint>
#include <gtest/gtest.h>
#include <stdexcept>
#include <utility>

namespace {

test::environment chains_of(const char *workers) {
  return {{"WEFT_TUNE_INLINE", "always"}, {"WEFT_WORKERS", workers}};
}

TEST(taskiter_chain, runs_each_member_in_each_round_in_order) {
  const test::ending end = test::in_process(chains_of("2"), [] {
    weft::taskwait();
    const auto before = weft::stats();
    std::uint64_t x = 1, expected = 1;
    weft::taskiter(50, [&] {
      for (std::uint64_t i = 0; i != 40; ++i)
        weft::spawn([&x, i] { x = x * 31 + i; }, weft::inout(x));
    });
    for (int n = 0; n != 50; ++n)
      for (std::uint64_t i = 0; i != 40; ++i)
        expected = expected * 31 + i;
    EXPECT_EQ(x, expected);
    EXPECT_EQ(weft::stats().executed - before.executed, 50u * 40 + 1);
  });
  EXPECT_TRUE(end.exited(0)) << end;
}

TEST(taskiter_chain, lets_the_threads_own_stack_go_on_after_a_member) {
  const test::ending end = test::in_process(chains_of("1"), [] {
    int x = 0, members = 0, at_unblock = 0;
    const weft::task_ref me = weft::this_task::self();
    weft::taskiter(
        3,
        [&] {
          for (int i = 0; i != 100; ++i)
            weft::spawn(
                [&] {
                  if (++members == 150) {
                    at_unblock = members;
                    weft::unblock(me);
                  }
                },
                weft::inout(x));
        },
        weft::nogroup);
    weft::this_task::block();
    EXPECT_LE(members - at_unblock, 1);
    weft::taskwait();
    EXPECT_EQ(members, 300);
  });
  EXPECT_TRUE(end.exited(0)) << end;
}

TEST(taskiter_chain, a_member_that_suspends_holds_up_no_other_chain) {
  const test::ending end = test::in_process(chains_of("1"), [] {
    int x = 0, y = 0;
    weft::task_ref blocked;
    weft::taskiter(10, [&] {
      for (int i = 0; i != 20; ++i)
        weft::spawn(
            [&, i] {
              if (i == 7) { // the other chain wakes it
                blocked = weft::this_task::self();
                weft::this_task::block();
              }
              ++x;
            },
            weft::inout(x));
      for (int i = 0; i != 20; ++i)
        weft::spawn(
            [&, i] {
              while (i == 19 && !blocked)
                weft::taskyield();
              if (i == 19)
                weft::unblock(std::exchange(blocked, weft::task_ref{}));
              ++y;
            },
            weft::inout(y));
    });
    EXPECT_EQ(x, 200);
    EXPECT_EQ(y, 200);
  });
  EXPECT_TRUE(end.exited(0)) << end;
}

TEST(taskiter_chain, no_member_runs_after_one_that_has_thrown) {
  const test::ending end = test::in_process(chains_of("2"), [] {
    int x = 0;
    EXPECT_THROW(weft::taskiter(1000,
                                [&] {
                                  for (int i = 0; i != 10; ++i)
                                    weft::spawn(
                                        [&x] {
                                          if (++x == 57)
                                            throw std::runtime_error("stop");
                                        },
                                        weft::inout(x));
                                }),
                 std::runtime_error);
    EXPECT_EQ(x, 57);
  });
  EXPECT_TRUE(end.exited(0)) << end;
}

} // namespace
