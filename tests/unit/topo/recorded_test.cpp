// SPDX-License-Identifier: Apache-2.0
// Whole machines as they describe themselves: tests/trees/*.tree, files of /proc and /sys behind lines "==
// PATH".
#include "support/recorded_tree.hpp"
#include "topo/machine.hpp"

#include <gtest/gtest.h>
#include <string>

namespace {

using namespace weft::rt;
using cpus = std::vector<int>;

using test::load;

TEST(recorded_machine, hybrid_with_a_quota_of_version_1) {
  test::fake_tree tree;
  load(tree, "hybrid_v1");
  const auto m = read_machine(tree.root(), {0, 1});
  EXPECT_DOUBLE_EQ(m.quota.cpus, 1.5);
  EXPECT_EQ(m.quota.origin, "/sys/fs/cgroup/cpu/job/cpu.cfs_quota_us");
  EXPECT_EQ(m.effective_cpus(), 2);
  EXPECT_EQ(m.memory.bytes, std::uint64_t{16} << 30);
  EXPECT_EQ(read_machine(tree.root(), {1}).effective_cpus(), 1);
}

TEST(recorded_machine, container_of_version_2_with_half_a_cpu) {
  test::fake_tree tree;
  load(tree, "container_v2");
  const auto m = read_machine(tree.root(), {0, 1, 2, 3, 4, 5, 6, 7});
  EXPECT_DOUBLE_EQ(m.quota.cpus, 0.5);
  EXPECT_EQ(m.effective_cpus(), 1);
  EXPECT_EQ(m.memory.bytes, std::uint64_t{512} << 20);
}

TEST(recorded_machine, nested_groups_of_version_2) {
  test::fake_tree tree;
  load(tree, "nested_v2");
  const auto m = read_machine(tree.root(), {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15});
  EXPECT_DOUBLE_EQ(m.quota.cpus, 2.5);
  EXPECT_EQ(m.effective_cpus(), 3);
  EXPECT_EQ(m.memory.bytes, std::uint64_t{4} << 30);
  EXPECT_EQ(read_machine(tree.root(), {3, 9}).effective_cpus(), 2);
}

TEST(recorded_machine, two_nodes_of_cores_with_two_threads) {
  test::fake_tree tree;
  load(tree, "smt_two_nodes");
  const auto m = read_machine(tree.root(), {0, 1, 2, 3, 4, 5, 6, 7});
  EXPECT_FALSE(m.quota.limited());
  EXPECT_EQ(m.effective_cpus(), 8);
  EXPECT_EQ(m.nodes, 2);
  EXPECT_EQ(m.compact_order(), (cpus{0, 4, 1, 5, 2, 6, 3, 7}));
  EXPECT_EQ(m.spread_order(), (cpus{0, 2, 1, 3, 4, 6, 5, 7}));
}

TEST(recorded_machine, a_mask_with_holes_on_two_nodes) {
  test::fake_tree tree;
  load(tree, "smt_two_nodes");
  const auto m = read_machine(tree.root(), {1, 4, 7});
  EXPECT_EQ(m.effective_cpus(), 3);
  EXPECT_EQ(m.nodes, 2);
  EXPECT_EQ(m.compact_order(), (cpus{4, 1, 7}));
  EXPECT_EQ(m.spread_order(), (cpus{4, 7, 1}));
}

cpus little_of(const machine &m) {
  cpus little;
  for (const auto &entry : m.cpus)
    if (entry.little)
      little.push_back(entry.cpu);
  return little;
}

TEST(recorded_machine, cores_of_less_capacity_are_little) {
  test::fake_tree tree;
  load(tree, "big_little");
  EXPECT_EQ(little_of(read_machine(tree.root(), {0, 1, 2, 3})), (cpus{0, 1}));
  EXPECT_EQ(little_of(read_machine(tree.root(), {0, 1})), cpus{})
      << "of those that we may use all are equal";
}

TEST(recorded_machine, atoms_of_a_hybrid_machine_are_little) {
  test::fake_tree tree;
  load(tree, "hybrid_cores");
  EXPECT_EQ(little_of(read_machine(tree.root(), {0, 1, 2, 3})), (cpus{2, 3}));
}

} // namespace
