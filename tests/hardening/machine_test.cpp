// SPDX-License-Identifier: Apache-2.0
// The machine as it is at run time: masks of CPUs, also such that change, and live quotas of control groups.
#include "hardening/work.hpp"
#include "os/affinity.hpp"
#include "os/file.hpp"
#include "os/thread.hpp"
#include "support/scale.hpp"

#include <weft/tune.hpp>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <optional>
#include <sched.h>
#include <sys/wait.h>
#include <thread>
#include <tuple>
#include <unistd.h>
#include <vector>

namespace {

using test::in_process;
using test::k_rough;
using test::rough;
using test::works;
using weft::rt::bind_this_thread;
using weft::rt::current_affinity;

// ---- masks
// ----------------------------------------------------------------------------------------------------------

class narrow_mask : public testing::TestWithParam<std::tuple<const char *, const char *>> {};

TEST_P(narrow_mask, of_one_cpu_runs_four_workers) {
  const auto [policy, bind] = GetParam();
  auto end = in_process(
      rough({{"WEFT_WORKERS", "4"}, {"WEFT_SCHED_POLICY", policy}, {"WEFT_BIND", bind}}), [] {
        const int cpu = current_affinity().back();
        ASSERT_EQ(bind_this_thread(cpu), 0);
        EXPECT_EQ(weft::worker_count(), 4);
        for (int i = 0; i != test::scaled(20, 2); ++i)
          ASSERT_TRUE(works());
        weft::spawn([cpu] { EXPECT_EQ(sched_getcpu(), cpu); });
        weft::taskwait();
      });
  EXPECT_TRUE(end.exited(0)) << end;
}
INSTANTIATE_TEST_SUITE_P(machine, narrow_mask,
                         testing::Combine(testing::Values("stealing", "delegated", "local-fifo",
                                                          "central"),
                                          testing::Values("none", "compact")),
                         [](const auto &info) {
                           std::string name =
                               std::string(std::get<0>(info.param)) + "_" + std::get<1>(info.param);
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

TEST(mask, of_one_cpu_makes_one_worker) {
  auto end = in_process(k_rough, [] {
    unsetenv("WEFT_WORKERS");
    ASSERT_EQ(bind_this_thread(current_affinity().back()), 0);
    EXPECT_EQ(weft::worker_count(), 1);
    EXPECT_TRUE(works());
  });
  EXPECT_TRUE(end.exited(0)) << end;
}

TEST(mask, with_holes_is_kept_to) {
  const auto all = current_affinity();
  if (all.size() < 3)
    GTEST_SKIP() << "a mask with holes: this machine has " << all.size()
                 << " CPUs; the recorded trees stand for it";
  auto end = in_process(rough({{"WEFT_BIND", "compact"}}), [&] {
    unsetenv("WEFT_WORKERS");
    const std::vector<int> holes{all[0], all[2]};
    ASSERT_EQ(bind_this_thread(holes), 0);
    EXPECT_EQ(weft::worker_count(), 2);
    std::atomic<int> outside{0};
    for (int i = 0; i != 200; ++i)
      weft::spawn(
          [&] { outside += std::find(holes.begin(), holes.end(), sched_getcpu()) == holes.end(); });
    weft::taskwait();
    EXPECT_EQ(outside, 0);
    EXPECT_TRUE(works());
  });
  EXPECT_TRUE(end.exited(0)) << end;
}

/// Every thread of the process gets the mask, as `taskset -ap` does it.
void bind_all_threads(const std::vector<int> &cpus) {
  cpu_set_t set;
  CPU_ZERO(&set);
  for (const int cpu : cpus)
    CPU_SET(cpu, &set);
  for (const auto &entry : std::filesystem::directory_iterator("/proc/self/task"))
    sched_setaffinity(std::stoi(entry.path().filename()), sizeof set,
                      &set); // the thread may just have ended
}

TEST(mask, that_changes_while_tasks_run_is_borne) {
  auto end = in_process(rough({{"WEFT_WORKERS", "3"}, {"WEFT_BIND", "compact"}}), [] {
    const auto all = current_affinity();
    std::atomic<bool> stop{false};
    std::thread changer([&] {
      for (int i = 0; !stop; ++i) {
        bind_all_threads(i % 2 ? all
                               : std::vector<int>{all[static_cast<std::size_t>(i) % all.size()]});
        usleep(2000);
      }
      bind_all_threads(all);
    });
    for (int i = 0; i != test::scaled(40, 3); ++i)
      ASSERT_TRUE(works());
    stop = true;
    changer.join();
    EXPECT_TRUE(works());
  });
  EXPECT_TRUE(end.exited(0)) << end;
}

TEST(mask, of_each_cpu_alone_runs_four_workers) { // as `taskset -c 0`, `taskset -c 1` and so on
  auto end = in_process(rough({{"WEFT_WORKERS", "4"}}), [] {
    for (const int cpu : current_affinity())
      if (fork() == 0) {
        alarm(60);
        _exit(bind_this_thread(cpu) == 0 && works() && sched_getcpu() == cpu ? 0 : 1);
      }
    for (int status; wait(&status) > 0;)
      EXPECT_EQ(status, 0);
  });
  EXPECT_TRUE(end.exited(0)) << end;
}

TEST(oversubscription,
     by_twelve_programs_comes_to_an_end) { // twenty-four workers on the CPUs that there are
  auto end = in_process(rough({{"WEFT_WORKERS", "2"}}), [] {
    for (int i = 0; i != 12; ++i)
      if (fork() == 0) {
        alarm(100);
        for (int k = 0; k != test::scaled(20, 2); ++k)
          if (!works())
            _exit(1);
        _exit(0);
      }
    for (int status; wait(&status) > 0;)
      EXPECT_EQ(status, 0);
  });
  EXPECT_TRUE(end.exited(0)) << end;
}

// ---- quotas
// ---------------------------------------------------------------------------------------------------------

/// Where version 1's controller of cpu time is mounted.
std::optional<std::string> cpu_hierarchy_v1() {
  std::optional<std::string> found;
  weft::rt::for_each_line(
      weft::rt::read_file("/proc/self/mounts").value_or(""), [&](std::string_view line) {
        const auto first = line.find(' '), second = line.find(' ', first + 1),
                   third = line.find(' ', second + 1);
        if (third == std::string_view::npos ||
            line.substr(second + 1, third - second - 1) != "cgroup")
          return;
        const auto options =
            "," + std::string(line.substr(third + 1, line.find(' ', third + 1) - third - 1)) + ",";
        if (options.find(",cpu,") != std::string::npos)
          found = std::string(line.substr(first + 1, second - first - 1));
      });
  return found;
}

bool put(const std::string &file, const std::string &text) {
  std::ofstream out(file);
  out << text;
  out.close();
  return !out.fail();
}

/// A group of its own below the root of the hierarchy, gone at the end.
class group_of_quota {
 public:
  group_of_quota(const std::string &hierarchy, int percent)
      : m_path(hierarchy + "/weft-test-" + std::to_string(getpid())) {
    std::error_code failed;
    m_made = std::filesystem::create_directory(m_path, failed) &&
             put(m_path + "/cpu.cfs_period_us", "100000") &&
             put(m_path + "/cpu.cfs_quota_us", std::to_string(percent * 1000));
  }
  group_of_quota(const group_of_quota &) = delete;
  group_of_quota &operator=(const group_of_quota &) = delete;
  ~group_of_quota() { rmdir(m_path.c_str()); }
  [[nodiscard]] bool made() const { return m_made; }
  [[nodiscard]] std::string members() const { return m_path + "/cgroup.procs"; }

 private:
  std::string m_path;
  bool m_made = false;
};

template <class F>
void under_quota(int percent, test::environment settings, F f) {
  settings = rough(settings);
  if (test::is_child()) {
    in_process(settings, [&] {
      ASSERT_TRUE(put(std::getenv("TEST_GROUP"), std::to_string(getpid())));
      f();
    });
    return;
  }
  const auto hierarchy = cpu_hierarchy_v1();
  if (!hierarchy)
    GTEST_SKIP() << "a live quota of version 1: no hierarchy with the controller cpu is mounted";
  const group_of_quota group(*hierarchy, percent);
  if (!group.made())
    GTEST_SKIP() << "a live quota of version 1: no group could be made in " << *hierarchy;
  settings.emplace_back("TEST_GROUP", group.members());
  auto end = in_process(settings, [] {});
  EXPECT_TRUE(end.exited(0)) << end;
}

TEST(live_quota, below_one_cpu_makes_one_worker) {
  under_quota(50, {}, [] {
    unsetenv("WEFT_WORKERS");
    EXPECT_EQ(weft::worker_count(), 1);
    EXPECT_TRUE(works());
  });
}

TEST(live_quota, of_a_fifth_of_a_cpu_runs_four_workers) {
  under_quota(20, {{"WEFT_WORKERS", "4"}}, [] {
    EXPECT_EQ(weft::worker_count(), 4);
    EXPECT_TRUE(works());
  });
}

/// Returns how often the kernel has stopped the group of this process for its quota.
std::uint64_t times_throttled(const std::string &group) {
  std::uint64_t times = 0;
  weft::rt::for_each_line(weft::rt::read_file(group + "/cpu.stat").value_or(""), [&](std::string_view line) {
    constexpr std::string_view k_name = "nr_throttled ";
    if (line.substr(0, k_name.size()) == k_name)
      times = weft::rt::parse_unsigned(line.substr(k_name.size())).value_or(0);
  });
  return times;
}

TEST(live_quota, that_changes_while_the_program_runs_leaves_results_right) {
  under_quota(100,
              {{"WEFT_WORKERS", "2"},
               {"WEFT_TUNE", "on"},
               {"WEFT_TUNE_WORKERS", "work"},
               {"WEFT_TUNE_HISTORY", "none"}},
              [] {
                const std::string members = std::getenv("TEST_GROUP");
                const std::string group = members.substr(0, members.rfind('/'));
                weft::start();
                for (const int percent : {10, 200, 10, 100}) {
                  ASSERT_TRUE(put(group + "/cpu.cfs_quota_us", std::to_string(percent * 1000)));
                  const std::uint64_t before = times_throttled(group);
                  int rounds = 0;
                  for (bool is_stopped = percent > 10; rounds < test::scaled(20, 4) || !is_stopped; ++rounds) {
                    ASSERT_TRUE(works()) << percent << " %, round " << rounds;
                    ASSERT_LT(rounds, 100'000) << percent << " %: the kernel stops nothing";
                    is_stopped = is_stopped || times_throttled(group) > before;
                  }
                  EXPECT_EQ(weft::worker_count(), 2) << "the quota of the start counts";
                }
                for (const std::string &decision : weft::tune::decisions())
                  EXPECT_TRUE(decision.rfind("worker cap: sched.workers=1: ", 0) == 0 ||
                              decision.rfind("worker cap: sched.workers=2: ", 0) == 0)
                      << decision;
              });
}

TEST(live_quota, of_one_and_a_half_cpus_makes_two_workers) {
  if (current_affinity().size() < 2)
    GTEST_SKIP() << "a quota above one CPU: the mask has one";
  under_quota(150, {}, [] {
    unsetenv("WEFT_WORKERS");
    EXPECT_EQ(weft::worker_count(), 2);
    EXPECT_TRUE(works());
  });
}

} // namespace
