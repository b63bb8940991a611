// SPDX-License-Identifier: Apache-2.0
// taskiter: tasks that reduce, round after round.
#include "support/gate.hpp"
#include "support/refusal.hpp"

#include <weft/weft.hpp>

#include <array>
#include <atomic>
#include <gtest/gtest.h>
#include <numeric>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

using test::dawdle;

using test::refusal;

void spawn_adders(long &x, int n) {
  for (int i = 1; i <= n; ++i)
    weft::spawn([&x, i] { weft::reduction_local(x) += i; }, weft::reduction(x, weft::sum));
}

TEST(taskiter, reduces_for_the_reader_of_the_round) {
  long x = 0;
  std::vector<long> seen;
  weft::taskiter(
      50,
      [&] {
        spawn_adders(x, 10);
        weft::spawn([&] { seen.push_back(x); }, weft::in(x), weft::inout(weft::object(seen)));
      },
      weft::inout(x), weft::inout(weft::object(seen)));
  weft::taskwait();
  ASSERT_EQ(seen.size(), 50u);
  for (long r = 0; r != 50; ++r)
    EXPECT_EQ(seen[static_cast<std::size_t>(r)], 55 * (r + 1));
}

TEST(taskiter, reduces_for_who_comes_next_whatever_the_round) {
  long x = 0;
  std::vector<long> seen;
  weft::taskiter(30, [&] {
    spawn_adders(x, 4); // one team with those at the end of the round before
    weft::spawn([&] { seen.push_back(x); }, weft::in(x), weft::inout(weft::object(seen)));
    weft::spawn([&] { x *= 2; }, weft::inout(x));
    spawn_adders(x, 3);
    weft::spawn([&] { weft::reduction_local(x) += 100; }, weft::reduction(x, weft::sum));
  });
  weft::taskwait();
  long expected = 0;
  for (std::size_t r = 0; r != 30; ++r) {
    expected += 10;
    ASSERT_EQ(seen.at(r), expected) << "round " << r;
    expected = expected * 2 + 106;
  }
  EXPECT_EQ(x, expected) << "the last tasks are added at the end of all";
}

TEST(taskiter, reduces_what_nobody_reads_in_between) {
  long x = 7, after = 0;
  weft::spawn([&] { dawdle(), x = 1; }, weft::out(x));
  weft::taskiter(40, [&] { spawn_adders(x, 5); }, weft::inout(x));
  weft::spawn([&] { after = x; }, weft::in(x));
  weft::taskwait();
  EXPECT_EQ(after, 1 + 40 * 15);
}

TEST(taskiter, reducing_tasks_run_at_once) {
  if (weft::worker_count() < 2)
    GTEST_SKIP() << "needs two workers";
  std::atomic<int> inside{0};
  long x = 0;
  int wrong = 0;
  weft::taskiter(10, [&] {
    for (int i = 0; i != 2; ++i)
      weft::spawn(
          [&] {
            ++inside;
            while (inside % 2 != 0)
              weft::taskyield();
            ++weft::reduction_local(x);
          },
          weft::reduction(x, weft::sum));
    weft::spawn([&] { wrong += inside != x; }, weft::in(x), weft::inout(wrong));
  });
  weft::taskwait();
  EXPECT_EQ(x, 20);
  EXPECT_EQ(wrong, 0);
}

TEST(taskiter, reduces_by_one_operation_after_the_other) {
  long x = 1;
  weft::taskiter(12, [&] {
    for (int i = 0; i != 3; ++i)
      weft::spawn([&] { weft::reduction_local(x) *= 3; }, weft::reduction(x, weft::product));
    for (int i = 0; i != 3; ++i)
      weft::spawn([&] { weft::reduction_local(x) += 5; }, weft::reduction(x, weft::sum));
    weft::spawn([&] { x %= 1009; }, weft::inout(x));
    weft::spawn([&] { weft::reduction_local(x) = 500; }, weft::reduction(x, weft::maximum));
  });
  weft::taskwait();
  long expected = 1;
  for (int r = 0; r != 12; ++r)
    expected = std::max((expected * 27 + 15) % 1009, 500L);
  EXPECT_EQ(x, expected);
}

TEST(taskiter, reduces_arrays_and_types_of_the_user) {
  static std::atomic<int> alive{0};
  struct set_of {
    std::uint64_t bits = 0;
    set_of() { ++alive; }
    set_of(const set_of &o) : bits(o.bits) { ++alive; }
    set_of &operator=(const set_of &) = default;
    ~set_of() { --alive; }
  };
  const auto unite = [](set_of &into, const set_of &from) { into.bits |= from.bits; };
  {
    set_of x;
    std::array<long, 3> a{};
    int rounds = 0, wrong = 0;
    weft::taskiter(20, [&] {
      for (std::uint64_t i = 0; i != 6; ++i)
        weft::spawn(
            [&, i] {
              weft::reduction_local(x).bits |= std::uint64_t{1} << i;
              long *const mine = weft::reduction_local(a.data(), 3);
              for (std::size_t k = 0; k != 3; ++k)
                mine[k] += static_cast<long>(k * i);
            },
            weft::reduction(x, unite, set_of()), weft::reduction(a.data(), 3, weft::sum));
      weft::spawn(
          [&] {
            ++rounds;
            wrong += x.bits != 0b111111 || a[0] != 0 || a[1] != 15 * rounds || a[2] != 30 * rounds;
            x.bits = 0;
          },
          weft::inout(x), weft::in(a[0]), weft::inout(rounds));
    });
    weft::taskwait();
    EXPECT_EQ(rounds, 20);
    EXPECT_EQ(wrong, 0);
  }
  EXPECT_EQ(alive, 0);
}

TEST(taskiter, a_condition_sees_what_was_reduced) {
  long x = 0, asked = 0;
  weft::taskiter([&] { return x == 6 * asked && ++asked <= 15; }, [&] { spawn_adders(x, 3); });
  weft::taskwait();
  EXPECT_EQ(asked, 16);
  EXPECT_EQ(x, 90);
}

TEST(taskiter, branches_of_reducing_tasks_add_to_copies) {
  long x = 0;
  weft::taskiter(20, [&] {
    for (int i = 0; i != 3; ++i)
      weft::spawn(
          [&] {
            weft::join([&] { weft::reduction_local(x) += 1; },
                       [&] { test::dawdle(), weft::reduction_local(x) += 1; });
          },
          weft::reduction(x, weft::sum));
    weft::spawn([&] { x += 10; }, weft::inout(x));
  });
  weft::taskwait();
  EXPECT_EQ(x, 20 * 16);
}

TEST(taskiter, children_add_to_the_copies) {
  long x = 0, y = 0;
  std::vector<long> seen;
  weft::taskiter(20, [&] {
    for (int i = 0; i != 3; ++i) {
      weft::spawn(
          [&] {
            for (int k = 0; k != 4; ++k)
              weft::spawn(
                  [&] {
                    weft::spawn([&] { weft::reduction_local(x) += 2; },
                                weft::reduction(x, weft::sum));
                  },
                  weft::weak_reduction(x, weft::sum));
          },
          weft::weak_reduction(x, weft::sum));
      weft::spawn(
          [&] {
            weft::reduction_local(x) += 1;
            weft::spawn([&] { weft::reduction_local(x) += 3; }, weft::reduction(x, weft::sum));
          },
          weft::reduction(x, weft::sum), weft::concurrent(y));
    }
    weft::spawn([&] { seen.push_back(x); }, weft::in(x), weft::inout(weft::object(seen)));
  });
  weft::taskwait();
  ASSERT_EQ(seen.size(), 20u);
  for (std::size_t r = 0; r != 20; ++r)
    EXPECT_EQ(seen[r], static_cast<long>(36 * (r + 1)));
}

// The copies of a round are added and begin anew: one that a child takes again must be seen to be in use again.
TEST(taskiter, children_alone_add_in_each_round) {
  long x = 0;
  std::vector<long> seen;
  weft::taskiter(6, [&] {
    weft::spawn(
        [&] {
          for (int k = 0; k != 3; ++k)
            weft::spawn([&] { weft::reduction_local(x) += 1; }, weft::reduction(x, weft::sum));
        },
        weft::weak_reduction(x, weft::sum));
    weft::spawn([&] { seen.push_back(x); }, weft::in(x), weft::inout(weft::object(seen)));
  });
  weft::taskwait();
  EXPECT_EQ(seen, (std::vector<long>{3, 6, 9, 12, 15, 18}));
}

TEST(taskiter, that_reduces_adds_with_its_siblings) {
  long x = 3, seen = 0;
  spawn_adders(x, 4);
  for (int i = 0; i != 2; ++i)
    weft::taskiter(
        10,
        [&] {
          spawn_adders(x, 4);
          weft::taskiter(2, [&] { spawn_adders(x, 1); }, weft::reduction(x, weft::sum));
        },
        weft::weak_reduction(x, weft::sum));
  spawn_adders(x, 4);
  weft::spawn([&] { seen = x; }, weft::in(x));
  weft::taskwait();
  EXPECT_EQ(seen, 3 + 22 * 10 + 2 * 10 * 2);
}

TEST(taskiter, reduces_below_a_final_task) {
  long x = 0;
  weft::spawn(
      [&] {
        weft::taskiter(10, [&] {
          spawn_adders(x, 4);
          weft::spawn([&] { spawn_adders(x, 2); }, weft::weak_reduction(x, weft::sum));
        });
      },
      weft::final(), weft::inout(x));
  weft::taskwait();
  EXPECT_EQ(x, 130);
}

TEST(taskiter, a_task_that_has_the_object_needs_no_copy) {
  long x = 0;
  bool in_place = true;
  weft::taskiter(5, [&] {
    weft::spawn([&] { in_place &= &weft::reduction_local(x) == &x; }, weft::reduction(x, weft::sum),
                weft::inout(x));
    weft::spawn([&] { in_place &= &weft::reduction_local(x) == &x; }, weft::commutative(x));
    spawn_adders(x, 1);
  });
  weft::taskwait();
  EXPECT_TRUE(in_place);
  EXPECT_EQ(x, 5);
}

TEST(taskiter, adds_what_was_reduced_before_a_failure) {
  long x = 0;
  std::atomic<long> ran{0};
  int y = 0;
  weft::taskiter(
      1'000'000'000,
      [&] {
        for (int i = 0; i != 3; ++i)
          weft::spawn([&] { weft::reduction_local(x) += 1, ++ran; }, weft::reduction(x, weft::sum));
        weft::spawn(
            [&] {
              if (++y == 7)
                throw std::runtime_error("seventh");
            },
            weft::inout(y));
        weft::spawn([&] { x += 1000, ran += 1000; }, weft::inout(x));
      },
      weft::nogroup);
  EXPECT_THROW(weft::taskwait(), std::runtime_error);
  EXPECT_EQ(x, ran);
}

TEST(taskiter, a_failing_operation_fails_the_loop) {
  static std::atomic<int> combined;
  combined = 0;
  const auto add = [](long &into, const long &from) {
    if (++combined == 3)
      throw std::runtime_error("third");
    into += from;
  };
  long x = 0, later = 0;
  weft::taskiter(
      1'000'000'000,
      [&] {
        weft::spawn([&] { weft::reduction_local(x) += 1; }, weft::reduction(x, add, 0));
        weft::spawn([&] { later = x; }, weft::inout(x));
      },
      weft::nogroup);
  EXPECT_THROW(weft::taskwait(), std::runtime_error);
  EXPECT_EQ(x, 2);
  EXPECT_EQ(later, 2);
}

TEST(taskiter, an_operation_of_a_round_must_not_wait) {
  const auto waits = [](long &into, const long &from) {
    into += from;
    weft::this_task::sleep_for(std::chrono::nanoseconds(1));
  };
  long x = 0;
  weft::taskiter(
      1, [&] { weft::spawn([&] { weft::reduction_local(x) += 1; }, weft::reduction(x, waits, 0)); },
      weft::label("loop"), weft::nogroup);
  try {
    weft::taskwait();
    FAIL() << "it waited";
  } catch (const weft::error &e) {
    EXPECT_EQ(e.code(), weft::errc::no_block);
    EXPECT_NE(std::string(e.what()).find("the operation of a reduction below task 'loop'"),
              std::string::npos)
        << e.what();
  }
}

TEST(taskiter, misuse_of_reductions_names_task_and_object) {
  long x = 0, y = 0;
  std::array<std::string, 4> said;
  weft::taskiter(2, [&] {
    said[0] = refusal([&] {
      weft::spawn([] {}, weft::reduction(x, weft::sum), weft::reduction(x, weft::product),
                  weft::label("both"));
    });
    said[1] = refusal(
        [&] { weft::spawn([] {}, weft::reduction(&x, -1, weft::sum), weft::label("less")); });
    weft::spawn([&] { said[2] = refusal([&] { weft::reduction_local(y) = 1; }); },
                weft::reduction(x, weft::sum), weft::label("other"));
    weft::spawn([&] { said[3] = refusal([&] { weft::reduction_local(x) = 1; }); }, weft::in(x),
                weft::label("reads"));
    weft::spawn([] {}, weft::reduction(static_cast<long *>(nullptr), 1, weft::sum),
                weft::reduction(&y, 0, weft::sum));
  });
  weft::taskwait();
  EXPECT_NE(said[0].find("task 'both' reduces"), std::string::npos) << said[0];
  EXPECT_NE(said[1].find("task 'less' reduces -1 elements"), std::string::npos) << said[1];
  EXPECT_NE(said[2].find("task 'other' has asked for its copy"), std::string::npos) << said[2];
  EXPECT_NE(said[3].find("task 'reads' has asked for its copy"), std::string::npos) << said[3];
}

} // namespace
