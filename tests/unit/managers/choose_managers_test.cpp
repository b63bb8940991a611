// SPDX-License-Identifier: Apache-2.0
#include "managers/managers.hpp"
#include "support/recorded_tree.hpp"

#include "weft/error.hpp"

#include <algorithm>
#include <gtest/gtest.h>
#include <vector>

namespace {

using namespace weft::rt;
using ids = std::vector<unsigned>;

/// Two big cores and two little ones.
machine two_kinds() {
  machine m;
  for (int cpu = 0; cpu != 4; ++cpu)
    m.cpus.push_back({cpu, 0, 0, cpu, cpu >= 2});
  return m;
}

settings with(const char *which, bind_kind bind = bind_kind::compact) {
  settings s;
  s.manage_workers = which;
  s.bind = bind;
  return s;
}

TEST(choose_managers, all_is_no_restriction_and_asks_for_no_binding) {
  EXPECT_EQ(choose_managers(with("all", bind_kind::none), two_kinds(), 4), ids{});
}

TEST(choose_managers, classes_of_cores_are_those_of_the_workers_cpus) {
  EXPECT_EQ(choose_managers(with("big"), two_kinds(), 4), (ids{0, 1}));
  EXPECT_EQ(choose_managers(with("little"), two_kinds(), 4), (ids{2, 3}));
  EXPECT_EQ(choose_managers(with("little"), two_kinds(), 7), (ids{2, 3, 6}))
      << "workers go round the cpus";
}

/// CPUs that the chosen ones of four workers are bound to.
std::vector<int> cpus_of(const machine &m, const char *which) {
  std::vector<int> cpus;
  for (const unsigned id : choose_managers(with(which), m, 4))
    cpus.push_back(m.compact_order()[id]);
  std::sort(cpus.begin(), cpus.end());
  return cpus;
}

TEST(choose_managers, classes_are_those_that_recorded_machines_tell) {
  test::fake_tree arm, intel;
  test::load(arm, "big_little"); // cpu_capacity
  const machine first = read_machine(arm.root(), {0, 1, 2, 3});
  EXPECT_EQ(cpus_of(first, "little"), (std::vector{0, 1}));
  EXPECT_EQ(cpus_of(first, "big"), (std::vector{2, 3}));
  EXPECT_EQ(cpus_of(first, "1-2"), (std::vector{1, 2}));
  test::load(intel, "hybrid_cores"); // cpu_atom
  const machine second = read_machine(intel.root(), {0, 1, 2, 3});
  EXPECT_EQ(cpus_of(second, "little"), (std::vector{2, 3}));
  EXPECT_EQ(cpus_of(second, "big"), (std::vector{0, 1}));
}

TEST(choose_managers, lists_name_cpus) {
  EXPECT_EQ(choose_managers(with("1,3-9"), two_kinds(), 4), (ids{1, 3}));
}

TEST(choose_managers, nobody_left_is_refused) {
  EXPECT_THROW(choose_managers(with("little"), two_kinds(), 2), weft::error);
  EXPECT_THROW(choose_managers(with("17"), two_kinds(), 4), weft::error);
}

} // namespace
