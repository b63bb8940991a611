// SPDX-License-Identifier: Apache-2.0
#include "managers/mode_chooser.hpp"

#include <gtest/gtest.h>
#include <random>

namespace {

using namespace weft::rt;
using mode = mode_chooser::mode;

constexpr std::uint64_t k_second = 1'000'000'000;

/// A machine that begins so many tasks in a millisecond in each mode, give or take a share by chance.
struct machine {
  double direct, distributed, noise = 0;
  double begun = 0;
  std::uint64_t time = 0, in_distributed = 0, tried = 0;
  int windows = 0;
  std::mt19937 chance{1};

  void run(mode_chooser &c, std::uint64_t ns) {
    for (const std::uint64_t end = time + ns; time < end; ++windows) {
      const std::uint64_t window = c.window_ns();
      const double lucky = 1 + std::uniform_real_distribution(-noise, noise)(chance);
      const double tasks = (c.now() == mode::direct ? direct : distributed) * lucky *
                           static_cast<double>(window) / 1e6;
      in_distributed += c.now() == mode::distributed ? window : 0;
      tried += c.tries() ? window : 0;
      time += window;
      begun += tasks;
      static_cast<void>(c.next(static_cast<std::uint64_t>(tasks), window));
    }
  }
  [[nodiscard]] double share(std::uint64_t of) const {
    return static_cast<double>(of) / static_cast<double>(time);
  }
  [[nodiscard]] double of_the_better() const {
    return begun / (std::max(direct, distributed) * static_cast<double>(time) / 1e6);
  }
};

TEST(mode_chooser, stays_direct_where_that_runs_more_tasks) {
  mode_chooser c;
  machine m{500, 0};
  m.run(c, 20 * k_second);
  EXPECT_GT(m.tried, 0u);
  EXPECT_EQ(m.tried, m.in_distributed);
  EXPECT_GT(m.of_the_better(), 0.99) << "not even where nothing is done in the other mode";
}

TEST(mode_chooser, tries_less_and_less_what_loses) {
  mode_chooser c;
  machine m{500, 450};
  m.run(c, k_second);
  const std::uint64_t first = m.tried;
  m.run(c, 9 * k_second);
  EXPECT_LT(m.share(m.tried), 0.001);
  EXPECT_LT(m.tried, 3 * first);
}

TEST(mode_chooser, a_short_program_meets_no_try) {
  mode_chooser c;
  machine m{500, 100};
  m.run(c, k_second / 5);
  EXPECT_EQ(m.in_distributed, 0u);
}

TEST(mode_chooser, changes_to_distributed_where_that_runs_more_and_stays) {
  mode_chooser c;
  machine m{500, 600};
  m.run(c, k_second / 2);
  EXPECT_EQ(c.now(), mode::distributed);
  m.run(c, 20 * k_second);
  EXPECT_EQ(c.now(), mode::distributed);
  EXPECT_GT(m.of_the_better(), 0.97);
}

TEST(mode_chooser, stays_distributed_over_windows_that_differ_by_a_fifth) {
  mode_chooser c;
  machine m{500, 750, 0.2};
  m.run(c, 60 * k_second);
  EXPECT_GT(m.of_the_better(), 0.97);
}

TEST(mode_chooser, comes_back_when_the_program_changes) {
  mode_chooser c;
  machine first{500, 750};
  first.run(c, 10 * k_second);
  ASSERT_EQ(c.now(), mode::distributed);
  machine second{200, 100};
  second.run(c, k_second);
  EXPECT_EQ(c.now(), mode::direct);
}

TEST(mode_chooser, what_differs_by_chance_takes_no_time_for_tries) {
  for (const double noise : {0.01, 0.1, 0.3, 0.9}) {
    mode_chooser c;
    machine m{500, 500, noise};
    m.run(c, 60 * k_second);
    EXPECT_LT(m.share(m.tried), 0.01) << noise;
  }
}

TEST(mode_chooser, windows_that_differ_by_a_fifth_lose_less_than_a_percent) {
  for (const double slower : {0.97, 0.9, 0.7}) {
    mode_chooser c;
    machine m{500, 500 * slower, 0.2};
    m.run(c, 120 * k_second);
    EXPECT_LT(m.share(m.in_distributed) * (1 - slower), 0.01) << slower;
  }
}

TEST(mode_chooser, lucky_tries_change_nothing) {
  mode_chooser c;
  int tries = 0;
  for (int i = 0; i != 2000; ++i) {
    const bool lucky = c.tries() && ++tries % 3 != 0; // two of three
    static_cast<void>(c.next(lucky && tries < 10 ? 2000 : 1000, 1'000'000));
    ASSERT_TRUE(c.now() == mode::direct || c.tries());
  }
  EXPECT_GT(tries, 10);
}

TEST(mode_chooser, looks_seldom_and_tries_nothing_while_little_happens) {
  mode_chooser c;
  machine m{1, 1};
  m.run(c, 10 * k_second);
  EXPECT_EQ(m.tried, 0u);
  EXPECT_LT(m.windows, 100);
}

TEST(mode_chooser, ends_a_series_when_little_happens) {
  mode_chooser c;
  while (!c.tries())
    static_cast<void>(c.next(1'000'000, c.window_ns()));
  static_cast<void>(c.next(2'000'000, c.window_ns()));
  EXPECT_EQ(c.next(1, c.window_ns()), mode::direct);
  EXPECT_FALSE(c.tries());
  EXPECT_GT(c.window_ns(), 50'000'000u);
}

} // namespace
