// SPDX-License-Identifier: Apache-2.0
#include "os/quota.hpp"

#include "os/file.hpp"
#include "support/fake_tree.hpp"

#include <cerrno>
#include <gtest/gtest.h>
#include <string>

namespace {

using namespace weft::rt;
using test::fake_tree;

// As the kernel writes them, with lines of other file systems around.
constexpr const char *k_v2_mount =
    "22 1 254:1 / / rw,relatime shared:1 - ext4 /dev/vda1 rw\n"
    "30 22 0:26 / /sys/fs/cgroup rw,nosuid shared:9 - cgroup2 cgroup2 rw,nsdelegate\n"
    "31 22 0:27 / /proc rw - proc proc rw\n";
constexpr const char *k_v1_mounts =
    "31 23 0:28 / /sys/fs/cgroup ro - tmpfs tmpfs ro,mode=755\n"
    "32 31 0:29 / /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct\n"
    "33 31 0:30 / /sys/fs/cgroup/cpuset rw - cgroup cgroup rw,cpuset\n"
    "34 31 0:31 / /sys/fs/cgroup/memory rw master:3 - cgroup cgroup rw,memory\n";
constexpr const char *k_v1_groups =
    "4:memory:/job\n3:cpuset:/elsewhere\n2:cpu,cpuacct:/job/step\n1:name=systemd:/\n";

void put_v2(fake_tree &tree, const std::string &group) {
  tree.put("/proc/self/cgroup", "0::" + group + "\n");
  tree.put("/proc/self/mountinfo", k_v2_mount);
}

void put_v1(fake_tree &tree) {
  tree.put("/proc/self/cgroup", k_v1_groups);
  tree.put("/proc/self/mountinfo", k_v1_mounts);
}

void put_v1_quota(fake_tree &tree, const std::string &folder, const std::string &quota,
                  const std::string &period) {
  tree.put("/sys/fs/cgroup/cpu,cpuacct" + folder + "/cpu.cfs_quota_us", quota + "\n");
  tree.put("/sys/fs/cgroup/cpu,cpuacct" + folder + "/cpu.cfs_period_us", period + "\n");
}

TEST(quota, of_an_empty_system_is_none) {
  fake_tree tree;
  EXPECT_FALSE(read_cpu_quota(tree.root()).limited());
  EXPECT_FALSE(read_memory_limit(tree.root()).limited());
}

TEST(quota, of_this_system_can_be_read) {
  const auto quota = read_cpu_quota();
  EXPECT_GE(quota.cpus, 0);
  EXPECT_EQ(quota.limited(), !quota.origin.empty());
  EXPECT_GT(read_memory_limit().bytes, 0u);
}

TEST(quota, of_version_2_is_quota_over_period) {
  fake_tree tree;
  put_v2(tree, "/job");
  tree.put("/sys/fs/cgroup/job/cpu.max", "250000 100000\n");
  const auto quota = read_cpu_quota(tree.root());
  EXPECT_DOUBLE_EQ(quota.cpus, 2.5);
  EXPECT_EQ(quota.origin, "/sys/fs/cgroup/job/cpu.max");
}

TEST(quota, of_version_2_may_be_max) {
  fake_tree tree;
  put_v2(tree, "/job");
  tree.put("/sys/fs/cgroup/job/cpu.max", "max 100000\n");
  EXPECT_FALSE(read_cpu_quota(tree.root()).limited());
}

TEST(quota, below_one_cpu_is_kept_as_it_is) {
  fake_tree tree;
  put_v2(tree, "/");
  tree.put("/sys/fs/cgroup/cpu.max", "20000 100000\n");
  EXPECT_DOUBLE_EQ(read_cpu_quota(tree.root()).cpus, 0.2);
}

TEST(quota, on_an_ancestor_only_counts) {
  fake_tree tree;
  put_v2(tree, "/user.slice/session/app");
  tree.put("/sys/fs/cgroup/user.slice/session/app/cpu.max", "max 100000\n");
  tree.put("/sys/fs/cgroup/user.slice/cpu.max", "300000 100000\n");
  const auto quota = read_cpu_quota(tree.root());
  EXPECT_DOUBLE_EQ(quota.cpus, 3);
  EXPECT_EQ(quota.origin, "/sys/fs/cgroup/user.slice/cpu.max");
}

TEST(quota, of_nested_groups_is_the_smallest) {
  fake_tree tree;
  put_v2(tree, "/a/b/c");
  tree.put("/sys/fs/cgroup/a/cpu.max", "400000 100000\n");
  tree.put("/sys/fs/cgroup/a/b/cpu.max", "75000 50000\n");
  tree.put("/sys/fs/cgroup/a/b/c/cpu.max", "800000 100000\n");
  const auto quota = read_cpu_quota(tree.root());
  EXPECT_DOUBLE_EQ(quota.cpus, 1.5);
  EXPECT_EQ(quota.origin, "/sys/fs/cgroup/a/b/cpu.max");
}

TEST(quota, of_a_neighbour_does_not_count) {
  fake_tree tree;
  put_v2(tree, "/job");
  tree.put("/sys/fs/cgroup/job-other/cpu.max", "100000 100000\n");
  tree.put("/sys/fs/cgroup/job/child/cpu.max", "100000 100000\n");
  EXPECT_FALSE(read_cpu_quota(tree.root()).limited());
}

TEST(quota, of_version_1_is_quota_over_period) {
  fake_tree tree;
  put_v1(tree);
  put_v1_quota(tree, "/job/step", "150000", "100000");
  const auto quota = read_cpu_quota(tree.root());
  EXPECT_DOUBLE_EQ(quota.cpus, 1.5);
  EXPECT_EQ(quota.origin, "/sys/fs/cgroup/cpu,cpuacct/job/step/cpu.cfs_quota_us");
}

TEST(quota, of_version_1_may_be_minus_one_with_a_limit_above) {
  fake_tree tree;
  put_v1(tree);
  put_v1_quota(tree, "/job/step", "-1", "100000");
  put_v1_quota(tree, "/job", "50000", "100000");
  put_v1_quota(tree, "", "-1", "100000");
  EXPECT_DOUBLE_EQ(read_cpu_quota(tree.root()).cpus, 0.5);
}

TEST(quota, of_version_1_is_not_looked_for_in_other_controllers) {
  fake_tree tree;
  put_v1(tree);
  tree.put("/sys/fs/cgroup/cpuset/elsewhere/cpu.cfs_quota_us", "100000\n");
  tree.put("/sys/fs/cgroup/cpuset/elsewhere/cpu.cfs_period_us", "100000\n");
  EXPECT_FALSE(read_cpu_quota(tree.root()).limited());
}

TEST(quota, of_a_hybrid_system_is_the_smaller_of_both_versions) {
  fake_tree tree;
  tree.put("/proc/self/cgroup", std::string(k_v1_groups) + "0::/unit\n");
  tree.put("/proc/self/mountinfo",
           std::string(k_v1_mounts) +
               "41 31 0:38 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n");
  put_v1_quota(tree, "/job/step", "400000", "100000");
  EXPECT_DOUBLE_EQ(read_cpu_quota(tree.root()).cpus, 4);
  tree.put("/sys/fs/cgroup/unified/unit/cpu.max", "100000 100000\n");
  EXPECT_DOUBLE_EQ(read_cpu_quota(tree.root()).cpus, 1);
  put_v1_quota(tree, "/job/step", "30000", "100000");
  EXPECT_DOUBLE_EQ(read_cpu_quota(tree.root()).cpus, 0.3);
}

TEST(quota, in_a_container_is_found_below_the_mounted_group) {
  fake_tree tree; // the container's own group is mounted, its path is seen from outside
  tree.put("/proc/self/cgroup", "2:cpu,cpuacct:/docker/4f2a/inner\n");
  tree.put(
      "/proc/self/mountinfo",
      "32 31 0:29 /docker/4f2a /sys/fs/cgroup/cpu,cpuacct ro - cgroup cgroup rw,cpu,cpuacct\n");
  put_v1_quota(tree, "", "200000", "100000");
  EXPECT_DOUBLE_EQ(read_cpu_quota(tree.root()).cpus, 2);
  put_v1_quota(tree, "/inner", "100000", "100000");
  EXPECT_DOUBLE_EQ(read_cpu_quota(tree.root()).cpus, 1);
}

TEST(quota, of_a_group_above_the_namespace_is_that_of_the_mount) {
  fake_tree tree;
  tree.put("/proc/self/cgroup", "0::/../sibling\n");
  tree.put("/proc/self/mountinfo", k_v2_mount);
  tree.put("/sys/fs/cgroup/cpu.max", "200000 100000\n");
  EXPECT_DOUBLE_EQ(read_cpu_quota(tree.root()).cpus, 2);
}

TEST(quota, of_a_mount_that_shows_another_group_says_nothing) {
  fake_tree tree;
  tree.put("/proc/self/cgroup", "0::/mine\n");
  tree.put("/proc/self/mountinfo", "30 22 0:26 /theirs /mnt/theirs rw - cgroup2 cgroup2 rw\n");
  tree.put("/mnt/theirs/cpu.max", "100000 100000\n");
  EXPECT_FALSE(read_cpu_quota(tree.root()).limited());
}

TEST(quota, below_a_mount_point_with_a_blank_is_found) {
  fake_tree tree;
  tree.put("/proc/self/cgroup", "0::/job\n");
  tree.put("/proc/self/mountinfo", "30 22 0:26 / /mnt/my\\040groups rw - cgroup2 cgroup2 rw\n");
  tree.put("/mnt/my groups/job/cpu.max", "100000 100000\n");
  EXPECT_DOUBLE_EQ(read_cpu_quota(tree.root()).cpus, 1);
}

TEST(quota, in_a_malformed_file_sets_no_limit) {
  for (const char *text : {"", "\n", "fast", "100000", "100000 0", "0 100000", "-5 100000",
                           "1e5 1e5", "100000x 100000", "99999999999999999999999 100000"}) {
    fake_tree tree;
    put_v2(tree, "/job");
    tree.put("/sys/fs/cgroup/job/cpu.max", text);
    EXPECT_FALSE(read_cpu_quota(tree.root()).limited()) << text;
    tree.put("/sys/fs/cgroup/cpu.max", "200000 100000\n"); // the others still count
    EXPECT_DOUBLE_EQ(read_cpu_quota(tree.root()).cpus, 2) << text;
  }
}

TEST(quota, malformed_tables_of_groups_and_mounts_set_no_limit) {
  for (const char *text : {"", "\n\n", ":", "::", "0", "0:", "30 22 0:26 / /sys", " - ",
                           " - cgroup2", "a b c d e - cgroup2"}) {
    fake_tree tree;
    put_v2(tree, "/job");
    tree.put("/sys/fs/cgroup/job/cpu.max", "100000 100000\n");
    tree.put("/proc/self/cgroup", text);
    EXPECT_FALSE(read_cpu_quota(tree.root()).limited()) << text;
    put_v2(tree, "/job");
    tree.put("/proc/self/mountinfo", text);
    EXPECT_FALSE(read_cpu_quota(tree.root()).limited()) << text;
  }
}

TEST(memory_limit, is_the_smallest_of_the_group_and_its_ancestors) {
  fake_tree tree;
  put_v2(tree, "/a/b");
  tree.put("/sys/fs/cgroup/a/b/memory.max", "max\n");
  EXPECT_FALSE(read_memory_limit(tree.root()).limited());
  tree.put("/sys/fs/cgroup/a/memory.max", "1073741824\n");
  const auto limit = read_memory_limit(tree.root());
  EXPECT_EQ(limit.bytes, 1u << 30);
  EXPECT_EQ(limit.origin, "/sys/fs/cgroup/a/memory.max");
}

TEST(memory_limit, of_version_1_knows_its_word_for_none) {
  fake_tree tree;
  put_v1(tree);
  tree.put("/sys/fs/cgroup/memory/job/memory.limit_in_bytes", "9223372036854771712\n");
  EXPECT_FALSE(read_memory_limit(tree.root()).limited());
  tree.put("/sys/fs/cgroup/memory/memory.limit_in_bytes", "4096000\n");
  EXPECT_EQ(read_memory_limit(tree.root()).bytes, 4096000u);
}

TEST(file, lines_are_seen_one_by_one) {
  std::string seen;
  for_each_line("a\n\nb", [&](std::string_view line) { seen += "[" + std::string(line) + "]"; });
  EXPECT_EQ(seen, "[a][][b]");
}

TEST(file, that_cannot_be_read_says_why) {
  errno = 0;
  EXPECT_EQ(read_file("/no/such/file"), std::nullopt);
  EXPECT_EQ(errno, ENOENT);
  EXPECT_EQ(read_file("/"), std::nullopt);
  EXPECT_EQ(errno, EISDIR);
}

TEST(file, larger_than_one_block_is_read_whole) {
  fake_tree tree;
  const std::string text(10001, 'x');
  tree.put("/large", text);
  EXPECT_EQ(read_file(tree.root() + "/large"), text);
}

} // namespace
