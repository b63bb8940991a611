// SPDX-License-Identifier: Apache-2.0
// The checker itself: each search finds a known bug, finds none where there is none, repeats itself, and reductions lose nothing.
#include "model/checker/models.hpp"

#include <algorithm>
#include <gtest/gtest.h>
#include <string>

namespace {

using namespace weft_model;
using enum std::memory_order;

#if defined(__SANITIZE_THREAD__)
constexpr bool k_under_tsan = true;
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
constexpr bool k_under_tsan = true;
#else
constexpr bool k_under_tsan = false;
#endif
#else
constexpr bool k_under_tsan = false;
#endif

/// Peterson's lock; Broken forgets to look at the turn, so both may enter, or both wait for ever.
template <bool Broken>
struct peterson {
  static constexpr int threads = 2;
  model_atomic<int> wants[2] = {0, 0};
  model_atomic<int> turn{0};
  model_atomic<int> inside{0};
  void run(int t) {
    wants[t].store(1, seq_cst);
    if (!Broken)
      turn.exchange(1 - t, seq_cst);
    while (wants[1 - t].load(seq_cst) == 1 && (Broken || turn.load(seq_cst) == 1 - t))
      model_atomics::pause();
    expect(inside.fetch_add(1, acq_rel) == 0, "one at a time");
    inside.fetch_sub(1, acq_rel);
    wants[t].store(0, seq_cst);
  }
  void check() {}
};

/// Two increments that are not atomic get lost; the whole ones do not.
template <bool Broken>
struct increments {
  static constexpr int threads = 2;
  model_atomic<int> n{0};
  void run(int) {
    for (int i = 0; i < 2; ++i)
      if (Broken)
        n.store(n.load(acquire) + 1, release);
      else
        n.fetch_add(1, acq_rel);
  }
  void check() { expect(n.load(acquire) == 4, "every increment counts"); }
};

/// Broken when thread 0 stops between its two long runs of steps while thread 1 goes through all of its own: two changes of
/// the running thread at the right places, in 60 steps. Choices at random change threads at almost every step.
struct needs_two_changes {
  static constexpr int threads = 2;
  static constexpr int half = 15;
  model_atomic<int> progress{0}, other{0}, work[2] = {0, 0};
  bool stood_still = false;
  void toil(int t) {
    for (int i = 0; i < half; ++i)
      work[t].fetch_add(1, relaxed);
  }
  void run(int t) {
    if (t == 0) {
      toil(0);
      progress.store(1, release);
      if (other.load(acquire) == 2) // between the two: all of the other's steps
        stood_still = true;
      progress.store(2, release);
      return;
    }
    if (progress.load(acquire) != 1)
      return;
    other.store(1, release);
    toil(1);
    other.store(progress.load(acquire) == 1 ? 2 : 0, release);
  }
  void check() { expect(!stood_still, "nobody stands still"); }
};

/// A reader that may see the flag without the data, unless the flag is released.
template <bool Broken>
struct message_passing {
  static constexpr int threads = 2;
  model_var<int> data{0};
  model_atomic<int> flag{0};
  void run(int t) {
    if (t == 0) {
      data.set(1);
      flag.store(1, Broken ? relaxed : release);
    } else if (flag.load(acquire) == 1)
      expect(data.get() == 1, "the data is there");
  }
  void check() {}
};

/// Many interleavings of independent steps, few of dependent ones.
struct mostly_independent {
  static constexpr int threads = 3;
  model_atomic<int> own[3] = {0, 0, 0};
  model_atomic<int> shared{0};
  void run(int t) {
    for (int i = 0; i < 2; ++i)
      own[t].fetch_add(1, acq_rel);
    shared.fetch_add(1, acq_rel);
  }
  void check() {
    expect(shared.load(acquire) == 3, "all counted");
    observe(static_cast<std::uint64_t>(shared.load(acquire)));
  }
};

limits searching(search how, std::uint64_t seed = 7) {
  limits l;
  l.how = how;
  l.seed = seed;
  l.executions = 20'000;
  return l;
}

template <class M>
outcome run(const limits &l) {
  return the_engine().explore(program_of<M>("toy"), l);
}

class Search : public testing::TestWithParam<search> {
 protected:
  void SetUp() override {
    if (k_under_tsan)
      GTEST_SKIP() << "a thread sanitizer cannot follow model threads";
  }
};

TEST_P(Search, FindsALockThatLetsTwoInOrNobody) {
  const outcome o = run<peterson<true>>(searching(GetParam()));
  EXPECT_TRUE(o.failed);
  EXPECT_NE(o.failure.find("deadlock"), std::string::npos) << o.failure;
  EXPECT_FALSE(run<peterson<false>>(searching(GetParam())).failed);
}

TEST_P(Search, FindsALostIncrement) {
  EXPECT_TRUE(run<increments<true>>(searching(GetParam())).failed);
  EXPECT_FALSE(run<increments<false>>(searching(GetParam())).failed);
}

TEST_P(Search, FindsARace) {
  EXPECT_NE(run<message_passing<true>>(searching(GetParam())).failure.find("data race"),
            std::string::npos);
  EXPECT_FALSE(run<message_passing<false>>(searching(GetParam())).failed);
}

TEST_P(Search, PrintsAStringThatRepeatsTheFailure) {
  const outcome found = run<increments<true>>(searching(GetParam()));
  ASSERT_TRUE(found.failed);
  EXPECT_EQ(found.replay.find("toy:"), 0u);
  const outcome again = the_engine().replay(program_of<increments<true>>("toy"), found.replay);
  EXPECT_TRUE(again.failed);
  EXPECT_EQ(again.failure, found.failure);
  EXPECT_NE(again.trace.find("store"), std::string::npos) << again.trace;
  EXPECT_FALSE(the_engine().replay(program_of<increments<false>>("toy"), "toy:a-").failed);
}

TEST_P(Search, IsAFunctionOfItsSeed) {
  const outcome one = run<increments<true>>(searching(GetParam(), 3)),
                same = run<increments<true>>(searching(GetParam(), 3));
  EXPECT_EQ(one.executions, same.executions);
  EXPECT_EQ(one.replay, same.replay);
}

INSTANTIATE_TEST_SUITE_P(Of, Search,
                         testing::Values(search::exhaustive, search::random, search::pct),
                         [](const auto &info) {
                           return info.param == search::pct      ? "Pct"
                                  : info.param == search::random ? "Random"
                                                                 : "Exhaustive";
                         });

class Checker : public testing::Test {
 protected:
  void SetUp() override {
    if (k_under_tsan)
      GTEST_SKIP() << "a thread sanitizer cannot follow model threads";
  }
};

TEST_F(Checker, PctFindsABugOfDepthThreeSoonerThanChance) {
  std::uint64_t by_chance = 0, by_priorities = 0;
  for (std::uint64_t seed = 1; seed <= 8; ++seed) {
    const outcome random = run<needs_two_changes>(searching(search::random, seed));
    const outcome pct = run<needs_two_changes>(searching(search::pct, seed));
    EXPECT_TRUE(pct.failed);
    by_chance += random.executions;
    by_priorities += pct.executions;
  }
  EXPECT_LT(by_priorities * 4, by_chance);
}

TEST_F(Checker, PctOfDepthOneNeverChangesTheRunningThread) {
  limits l = searching(search::pct);
  l.depth = 1;
  l.executions = 2000;
  EXPECT_FALSE(run<needs_two_changes>(l).failed);
}

TEST_F(Checker, ReductionsSeeTheSameWithFewerSteps) {
  outcome o[3];
  for (reduction r : {reduction::none, reduction::sleep_sets, reduction::states}) {
    limits l = searching(search::exhaustive);
    l.executions = UINT64_MAX;
    l.reduce = r;
    o[static_cast<int>(r)] = run<mostly_independent>(l);
    EXPECT_TRUE(o[static_cast<int>(r)].exhausted);
    EXPECT_FALSE(o[static_cast<int>(r)].failed);
    EXPECT_EQ(o[static_cast<int>(r)].observed, std::set<std::uint64_t>{3});
  }
  EXPECT_EQ(o[0].executions, 1680u) << "9! / 3!^3";
  EXPECT_EQ(o[1].executions, 6u) << "the orders of the three shared steps";
  EXPECT_LT(o[1].steps, o[0].steps);
  EXPECT_LE(o[2].steps, o[1].steps);
}

TEST_F(Checker, ReductionsKeepEveryBug) {
  for (reduction r : {reduction::none, reduction::sleep_sets, reduction::states}) {
    limits l = searching(search::exhaustive);
    l.executions = UINT64_MAX;
    l.reduce = r;
    EXPECT_TRUE(run<increments<true>>(l).failed);
    EXPECT_TRUE(run<message_passing<true>>(l).failed);
    EXPECT_TRUE(run<peterson<true>>(l).failed);
    const outcome fine = run<peterson<false>>(l);
    EXPECT_FALSE(fine.failed);
    EXPECT_TRUE(fine.exhausted);
  }
}

TEST_F(Checker, AStringOfAnotherModelIsRefusedOrHarmless) {
  const outcome o = the_engine().replay(program_of<increments<false>>("toy"), "toy:s-9(77)1");
  EXPECT_TRUE(o.failed);
  EXPECT_NE(o.failure.find("does not repeat itself"), std::string::npos) << o.failure;
}

TEST(Sources, AreNamedBelowTheRootOfTheRepository) {
  EXPECT_EQ(below_root("/home/src/weft/src/park/some.hpp"), "src/park/some.hpp");
  EXPECT_EQ(below_root("../layers/lpf/src/some.hpp"), "layers/lpf/src/some.hpp");
  EXPECT_EQ(below_root("/x/tests/model/layers/some.cpp"), "tests/model/layers/some.cpp");
  EXPECT_EQ(below_root("tests/unit/some.cpp"), "tests/unit/some.cpp");
  EXPECT_EQ(below_root("/elsewhere/some.hpp"), "/elsewhere/some.hpp");
}

// clang-format off
#line 1 "/root/src/some.hpp"
int by_one_path(const model_atomic<int> &flag) { return flag.load(acquire); }
#line 1 "../src/some.hpp"
int by_another_(const model_atomic<int> &flag) { return flag.load(acquire); }
#line 2 "../src/some.hpp"
int of_next_line(const model_atomic<int> &flag) { return flag.load(acquire); }
#line 267 "tests/unit/checker/search_test.cpp"
// clang-format on

/// A reader that is right while its load acquires.
template <int (*Load)(const model_atomic<int> &)>
struct reads_by {
  static constexpr int threads = 2;
  model_var<int> data{0};
  model_atomic<int> flag{0};
  void run(int t) {
    if (t == 0) {
      data.set(1);
      flag.store(1, release);
    } else if (Load(flag) == 1)
      expect(data.get() == 1, "the data is there");
  }
  void check() {}
};

/// Returns the number of the site in this line of the source; the number of sites if there is none.
std::size_t site_at(const std::string &file, unsigned line) {
  const auto &sites = the_engine().sites();
  return static_cast<std::size_t>(
      std::find_if(sites.begin(), sites.end(),
                   [&](const site &s) { return s.file == file && s.line == line; }) -
      sites.begin());
}

// A mutant of a place weakens it in every object of the program, whatever a compiler cache has made of their paths.
TEST_F(Checker, APlaceIsOneWithEveryPathToIt) {
  const limits l = searching(search::exhaustive);
  EXPECT_FALSE(run<reads_by<by_one_path>>(l).failed);
  EXPECT_FALSE(run<reads_by<by_another_>>(l).failed);
  EXPECT_FALSE(run<reads_by<of_next_line>>(l).failed);
  ASSERT_LT(site_at("src/some.hpp", 1), the_engine().sites().size());
  ASSERT_LT(site_at("src/some.hpp", 2), the_engine().sites().size());
  the_engine().weaken(static_cast<int>(site_at("src/some.hpp", 1)), relaxed);
  EXPECT_TRUE(run<reads_by<by_one_path>>(l).failed);
  EXPECT_TRUE(run<reads_by<by_another_>>(l).failed);
  EXPECT_FALSE(run<reads_by<of_next_line>>(l).failed);
  the_engine().weaken(-1, relaxed);
}

} // namespace
