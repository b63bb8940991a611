// SPDX-License-Identifier: Apache-2.0
#include "topo/machine.hpp"

#include "os/affinity.hpp"
#include "support/fake_tree.hpp"

#include <gtest/gtest.h>
#include <string>

#ifdef WEFT_HAVE_HWLOC
#include <hwloc.h>
#endif

namespace {

using namespace weft::rt;
using cpus = std::vector<int>;
using test::fake_tree;

// Two packages of two NUMA nodes, two cores per node, two siblings per core: cpus 0-7 are first siblings.
void put_large_machine(fake_tree &tree) {
  tree.put("/sys/devices/system/cpu/online", "0-15\n");
  tree.put("/sys/devices/system/node/online", "0-3\n");
  for (int node = 0; node != 4; ++node) {
    const int first = node * 2;
    tree.put("/sys/devices/system/node/node" + std::to_string(node) + "/cpulist",
             std::to_string(first) + "-" + std::to_string(first + 1) + "," +
                 std::to_string(first + 8) + "-" + std::to_string(first + 9) + "\n");
  }
  for (int cpu = 0; cpu != 16; ++cpu) {
    const std::string folder = "/sys/devices/system/cpu/cpu" + std::to_string(cpu) + "/topology/";
    tree.put(folder + "physical_package_id", std::to_string(cpu % 8 / 4) + "\n");
    tree.put(folder + "core_id", std::to_string(cpu % 4) + "\n");
  }
}

const cpus k_all{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};

void put_quota(fake_tree &tree, const std::string &cpu_max) {
  tree.put("/proc/self/cgroup", "0::/\n");
  tree.put("/proc/self/mountinfo", "30 22 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n");
  tree.put("/sys/fs/cgroup/cpu.max", cpu_max);
}

TEST(machine, knows_the_place_of_each_cpu) {
  fake_tree tree;
  put_large_machine(tree);
  const auto m = read_machine(tree.root(), k_all);
  ASSERT_EQ(m.cpus.size(), 16u);
  EXPECT_EQ(m.online_cpus, 16);
  EXPECT_EQ(m.nodes, 4);
  EXPECT_EQ(m.cpus[13].cpu, 13);
  EXPECT_EQ(m.cpus[13].node, 2);
  EXPECT_EQ(m.cpus[13].package, 1);
  EXPECT_EQ(m.cpus[13].core, 1);
}

TEST(machine, counts_only_the_cpus_of_the_mask) {
  fake_tree tree;
  put_large_machine(tree);
  const auto m = read_machine(tree.root(), {1, 4, 12});
  EXPECT_EQ(m.cpus.size(), 3u);
  EXPECT_EQ(m.online_cpus, 16);
  EXPECT_EQ(m.nodes, 2);
  EXPECT_EQ(m.effective_cpus(), 3);
}

TEST(machine, the_quota_is_rounded_up) {
  fake_tree tree;
  put_large_machine(tree);
  put_quota(tree, "250000 100000\n");
  EXPECT_EQ(read_machine(tree.root(), k_all).effective_cpus(), 3);
  EXPECT_EQ(read_machine(tree.root(), {0, 1}).effective_cpus(), 2);
  put_quota(tree, "300000 100000\n");
  EXPECT_EQ(read_machine(tree.root(), k_all).effective_cpus(), 3);
}

TEST(machine, a_quota_below_one_cpu_leaves_one) {
  fake_tree tree;
  put_large_machine(tree);
  put_quota(tree, "1000 100000\n");
  EXPECT_EQ(read_machine(tree.root(), k_all).effective_cpus(), 1);
}

TEST(machine, a_quota_above_the_mask_changes_nothing) {
  fake_tree tree;
  put_large_machine(tree);
  put_quota(tree, "9000000000 1000\n");
  EXPECT_EQ(read_machine(tree.root(), k_all).effective_cpus(), 16);
}

TEST(machine, without_any_file_has_one_cpu) {
  fake_tree tree;
  const auto m = read_machine(tree.root(), {});
  EXPECT_EQ(m.cpus.size(), 1u);
  EXPECT_EQ(m.effective_cpus(), 1);
  EXPECT_EQ(m.nodes, 1);
}

TEST(machine, without_topology_files_takes_each_cpu_for_a_core) {
  fake_tree tree;
  tree.put("/sys/devices/system/cpu/cpu0/topology/core_id", "-1\n");
  tree.put("/sys/devices/system/node/online", "broken\n");
  const auto m = read_machine(tree.root(), {0, 5});
  EXPECT_EQ(m.cpus[0].core, 0);
  EXPECT_EQ(m.cpus[1].core, 5);
  EXPECT_EQ(m.cpus[1].node, 0);
}

TEST(machine, compact_order_fills_core_after_core) {
  fake_tree tree;
  put_large_machine(tree);
  const auto m = read_machine(tree.root(), k_all);
  EXPECT_EQ(m.compact_order(), (cpus{0, 8, 1, 9, 2, 10, 3, 11, 4, 12, 5, 13, 6, 14, 7, 15}));
}

TEST(machine, spread_order_alternates_packages_then_nodes_and_takes_siblings_last) {
  fake_tree tree;
  put_large_machine(tree);
  const auto m = read_machine(tree.root(), k_all);
  EXPECT_EQ(m.spread_order(), (cpus{0, 4, 2, 6, 1, 5, 3, 7, 8, 12, 10, 14, 9, 13, 11, 15}));
}

TEST(machine, orders_hold_each_allowed_cpu_once) {
  fake_tree tree;
  put_large_machine(tree);
  const cpus mask{3, 7, 11};
  const auto m = read_machine(tree.root(), mask);
  EXPECT_EQ(m.compact_order(), (cpus{3, 11, 7}));
  EXPECT_EQ(m.spread_order(), (cpus{3, 7, 11}));
}

TEST(machine, of_this_process_agrees_with_its_affinity) {
  const auto &m = this_machine();
  EXPECT_EQ(&m, &this_machine());
  cpus numbers;
  for (const auto &entry : m.cpus)
    numbers.push_back(entry.cpu);
  EXPECT_EQ(numbers, current_affinity());
  EXPECT_GE(m.effective_cpus(), 1);
  EXPECT_GE(m.online_cpus, static_cast<int>(m.cpus.size()));
  EXPECT_GE(m.page_bytes, 4096u);
}

#ifdef WEFT_HAVE_HWLOC
TEST(machine, agrees_with_hwloc) {
  hwloc_topology_t topology;
  ASSERT_EQ(hwloc_topology_init(&topology), 0);
  ASSERT_EQ(hwloc_topology_load(topology), 0);
  const auto &m = this_machine();
  for (const auto &entry : m.cpus) {
    const auto pu = hwloc_get_pu_obj_by_os_index(topology, static_cast<unsigned>(entry.cpu));
    ASSERT_NE(pu, nullptr) << entry.cpu;
    ASSERT_NE(pu->nodeset, nullptr);
    EXPECT_EQ(hwloc_bitmap_first(pu->nodeset), entry.node) << entry.cpu;
    if (const auto package = hwloc_get_ancestor_obj_by_type(topology, HWLOC_OBJ_PACKAGE, pu)) {
      EXPECT_EQ(static_cast<int>(package->os_index), entry.package) << entry.cpu;
    }
  }
  hwloc_topology_destroy(topology);
}
#endif

} // namespace
