// SPDX-License-Identifier: Apache-2.0
// What the machine counts, where it does; and why not, where it does not.
#include "monitor/watcher.hpp"
#include "observe/format.hpp"
#include "observe/hardware.hpp"
#include "observe/power.hpp"
#include "observe/reading.hpp"
#include "observe/store.hpp"
#include "os/thread.hpp"
#include "os/thread_state.hpp"
#include "support/case_process.hpp"
#include "support/fake_tree.hpp"
#include "support/listener.hpp"

#include <weft/counters.hpp>
#include <weft/error.hpp>
#include <weft/weft.hpp>

#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <linux/perf_event.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <system_error>
#include <thread>
#include <unistd.h>
#include <utility>
#include <vector>

namespace {

using namespace weft::rt;
using namespace std::chrono_literals;

void put_domain(test::fake_tree &tree, const std::string &folder, const char *name,
                const char *energy, const char *range = "1000\n") {
  tree.put("/powercap/" + folder + "/name", std::string(name) + "\n");
  tree.put("/powercap/" + folder + "/energy_uj", energy);
  tree.put("/powercap/" + folder + "/max_energy_range_uj", range);
}

TEST(power, sums_the_packages_of_a_machine_and_goes_on_over_their_range) {
  test::fake_tree tree;
  put_domain(tree, "intel-rapl:0", "package-0", "900\n");
  put_domain(tree, "intel-rapl:0:0", "core", "1\n");
  put_domain(tree, "intel-rapl:0:1", "dram", "10\n");
  put_domain(tree, "intel-rapl:1", "package-1", "100\n");
  put_domain(tree, "intel-rapl:1:0", "dram", "20\n");
  energy_domains packages = find_energy(tree.root() + "/powercap", "package"),
                 memory = find_energy(tree.root() + "/powercap", "dram");
  ASSERT_EQ(packages.found.size(), 2u);
  ASSERT_EQ(memory.found.size(), 2u);
  EXPECT_EQ(spent_energy(packages.found), 0u);
  tree.put("/powercap/intel-rapl:0/energy_uj", "50\n"); // over the range
  tree.put("/powercap/intel-rapl:1/energy_uj", "107\n");
  EXPECT_EQ(spent_energy(packages.found), 150u + 7u);
  tree.put("/powercap/intel-rapl:1:0/energy_uj", "25\n");
  EXPECT_EQ(spent_energy(memory.found), 5u);
  tree.put("/powercap/intel-rapl:0/energy_uj", "?\n"); // not to be read for a moment
  EXPECT_EQ(spent_energy(packages.found), 0u);
  tree.put("/powercap/intel-rapl:0/energy_uj", "60\n");
  EXPECT_EQ(spent_energy(packages.found), 10u);
}

TEST(power, of_a_domain_without_a_range_counts_what_it_shows_after_it_has_begun_anew) {
  test::fake_tree tree;
  put_domain(tree, "intel-rapl:0", "package-0", "900\n", "none\n");
  put_domain(tree, "intel-rapl:1", "package-1", "900\n", "500\n"); // nor one that is wrong
  energy_domains all = find_energy(tree.root() + "/powercap", "package");
  tree.put("/powercap/intel-rapl:0/energy_uj", "50\n");
  EXPECT_EQ(spent_energy(all.found), 50u);
  tree.put("/powercap/intel-rapl:1/energy_uj", "7\n");
  EXPECT_EQ(spent_energy(all.found), 7u);
}

TEST(power, is_read_before_a_counter_can_have_begun_anew_twice) {
  const std::uint64_t second = 1'000'000'000;
  EXPECT_EQ(longest_pause_ns({}), 0u) << "never";
  EXPECT_EQ(longest_pause_ns({{"", 0, 262'143'328'850}}) / second, 131u) << "half of it at 1 kW";
  EXPECT_EQ(longest_pause_ns({{"", 0, 262'143'328'850}, {"", 0, 65'532'610'987}}) / second, 32u);
  EXPECT_EQ(longest_pause_ns({{"", 0, 0}}) / second, 30u) << "it is not known";
  EXPECT_EQ(longest_pause_ns({{"", 0, UINT64_MAX}, {"", 0, 0}}) / second, 30u);
}

/// Is a world in which nothing happens but that energy is used.
struct quiet_world final : watched {
  std::atomic<std::uint64_t> energy{0};
  unsigned slots() const override { return 0; }
  bool read(unsigned, reading &) const override { return false; }
  bool any_worker_searches() const override { return false; }
  bool work_waits() const override { return false; }
  bool chores_wait() const override { return false; }
  std::uint64_t cpu_ns(int) const override { return 0; }
  bool sleeps(int) const override { return false; }
  void publish() override {
    publish_hardware(false);
    energy = peek(process_counters().energy_package);
  }
  unsigned spares() const override { return 0; }
  bool add_spare() override { return false; }
  void retire_spare(unsigned) override {}
  external_list<weft::layer::external_thread> none;
  external_list<weft::layer::external_thread> &external_threads() override { return none; }
};

TEST(power, is_read_while_nothing_happens) {
  const auto end = test::in_process({}, [] {
    test::fake_tree tree;
    put_domain(tree, "intel-rapl:0", "package-0", "100\n"); // begins anew after a moment
    open_store({2, 2, 8, false, false, false});
    open_hardware({false, true}, (tree.root() + "/powercap").c_str());
    EXPECT_EQ(longest_pause_of_hardware_ns(), 200'000'000u) << "a reading is not for nothing";
    quiet_world world;
    eventcount<> idle{1};
    watcher w{world, idle, 0, 50'000'000, 50'000'000};
    ASSERT_EQ(w.start(), 0);
    for (const std::uint64_t total : {100, 300}) {
      const std::string shown = std::to_string(100 + total) + "\n";
      tree.put("/powercap/intel-rapl:0/energy_uj", shown.c_str());
      for (int i = 0; i < 20'000 && world.energy < total; ++i)
        std::this_thread::sleep_for(1ms);
      EXPECT_EQ(world.energy, total) << "no thread wakes the watcher";
    }
    w.stop();
  });
  EXPECT_TRUE(end.exited(0)) << end;
}

TEST(power, says_why_there_is_none) {
  test::fake_tree tree;
  const std::string root = tree.root() + "/powercap";
  EXPECT_NE(find_energy(root, "package").why.find("no powercap"), std::string::npos);
  put_domain(tree, "intel-rapl:0", "package-0", "900\n");
  EXPECT_NE(find_energy(root, "dram").why.find("does not count it"), std::string::npos);
  put_domain(tree, "intel-rapl:0:0", "dram", "denied\n");
  EXPECT_NE(find_energy(root, "dram").why.find("intel-rapl:0:0/energy_uj"), std::string::npos);
  EXPECT_EQ(find_energy(root, "package").why, "");
}

TEST(hardware, the_kernel_tells_how_often_a_thread_has_slept) {
  const auto before = thread_switches(this_thread_id());
  if (!before)
    GTEST_SKIP() << "/proc does not tell";
  for (int i = 0; i < 5; ++i)
    std::this_thread::sleep_for(1ms);
  EXPECT_GE(*thread_switches(this_thread_id()), *before + 5);
  EXPECT_FALSE(thread_switches(0x7ffffff));
}

/// Sleeps, faults and computes in tasks.
void toil() {
  for (int i = 0; i < 8; ++i)
    weft::spawn([] {
      constexpr std::size_t k_bytes = 64 << 12;
      auto *const p = static_cast<char *>(
          mmap(nullptr, k_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
      for (std::size_t at = 0; at < k_bytes; at += 4096)
        p[at] = 1;
      munmap(p, k_bytes);
      usleep(1000);
    });
  weft::taskwait();
}

std::vector<weft::counters::info> of_the_machine() {
  auto all = weft::counters::list("/hardware/*");
  for (const weft::counters::info &i : weft::counters::list("/power/*"))
    if (i.name != "/power/estimate")
      all.push_back(i);
  return all;
}

TEST(hardware, each_counter_counts_or_says_why_not) {
  const auto end =
      test::in_process({{"WEFT_COUNTERS_HARDWARE", "true"}, {"WEFT_WORKERS", "2"}}, [] {
        const auto before = weft::counters::take();
        toil();
        const auto spent = weft::counters::take() - before;
        int seen = 0, absent = 0;
        for (const weft::counters::info &i : of_the_machine()) {
          ++seen;
          if (i.absent) {
            ++absent;
            EXPECT_GT(i.help.size(), 10u) << i.name;
            EXPECT_EQ(i.help.find("counters.hardware"), std::string::npos)
                << "it was asked for: " << i.name;
          }
        }
        EXPECT_EQ(seen, 9);
        EXPECT_LT(absent, 9) << "context switches are told by /proc";
        EXPECT_GE(spent.value("/hardware/context-switches"), 8);
        const auto faults = weft::counters::list("/hardware/page-faults");
        if (!faults.at(0).absent) {
          EXPECT_GE(spent.value("/hardware/page-faults"), 8 * 32);
        }
      });
  EXPECT_TRUE(end.exited(0)) << end;
}

/// Whether the kernel counts an event of its own for this thread.
bool kernel_counts(std::uint64_t event) {
  perf_event_attr a{};
  a.size = sizeof a;
  a.type = PERF_TYPE_SOFTWARE;
  a.config = event;
  const long file = syscall(SYS_perf_event_open, &a, 0, -1, -1, 0ul);
  if (file >= 0)
    close(static_cast<int>(file));
  return file >= 0;
}

/// How many descriptors of the process are events of perf_event_open.
int open_events() {
  int n = 0;
  for (const auto &file : std::filesystem::directory_iterator("/proc/self/fd")) {
    std::error_code gone;
    n += std::filesystem::read_symlink(file.path(), gone).string() == "anon_inode:[perf_event]";
  }
  return n;
}

TEST(hardware, an_event_that_one_thread_cannot_count_is_absent_and_gives_its_descriptors_back) {
  const test::environment settings{{"WEFT_COUNTERS_HARDWARE", "true"},
                                   {"WEFT_WORKERS", "8"},
                                   {"WEFT_WATCH_MAX_SPARES", "0"}}; // which would begin one of eight tasks
  const auto end = test::in_process(settings, [] {
    if (!kernel_counts(PERF_COUNT_SW_PAGE_FAULTS) || !kernel_counts(PERF_COUNT_SW_CPU_MIGRATIONS))
      std::_Exit(77);
    const int next = dup(0);
    close(next);
    rlimit files{};
    getrlimit(RLIMIT_NOFILE, &files);
    const rlim_t before = std::exchange(files.rlim_cur, static_cast<rlim_t>(next) + 16);
    const test::listener said;
    setrlimit(RLIMIT_NOFILE, &files); // for the store, and for less than two of each worker
    std::atomic<int> begun{0};
    for (int i = 0; i < 8; ++i)
      weft::spawn([&begun] {
        ++begun;
        while (begun < 8) // each worker is here, and so has tried
          std::this_thread::yield();
      });
    weft::taskwait();
    files.rlim_cur = before;
    setrlimit(RLIMIT_NOFILE, &files);
    int counted = 0;
    for (const weft::counters::info &i : weft::counters::list("/hardware/*")) {
      if (i.absent && i.help.find("no file descriptor is left") != std::string::npos) {
        EXPECT_TRUE(said.has_heard("counters.hardware: " + i.name + " is not counted any more: no"))
            << i.name;
      }
      counted += !i.absent;
    }
    EXPECT_LT(counted, 3) << "there is no room for 24 descriptors";
    EXPECT_EQ(open_events(), 8 * counted) << "those that are left, of all workers";
    toil();
    const auto all = weft::counters::take();
    for (const weft::counters::info &i : weft::counters::list("/hardware/*"))
      if (i.absent) {
        EXPECT_THROW(static_cast<void>(all.value(i.name)), weft::error) << i.name;
      }
  });
  if (WIFEXITED(end.status) && WEXITSTATUS(end.status) == 77)
    GTEST_SKIP() << "perf_event_open counts no page faults and migrations here";
  EXPECT_TRUE(end.exited(0)) << end;
}

TEST(power, is_estimated_in_every_system) {
  const test::environment settings{
      {"WEFT_WORKERS", "2"}, {"WEFT_POWER_BUSY", "3"}, {"WEFT_POWER_IDLE", "3"}};
  const auto end = test::in_process(settings, [] {
    toil();
    const auto before = weft::counters::take();
    toil();
    const auto after = weft::counters::take();
    const double first = before.value("/power/estimate"), last = after.value("/power/estimate");
    EXPECT_GE(last, first);
    // in microjoules: 3 W for each of two processors, and more where other threads are busy, too
    EXPECT_GE(last, 2 * 3 * before.value("/runtime/uptime") / 1000);
    EXPECT_LE(first, 16 * 3 * after.value("/runtime/uptime") / 1000);
  });
  EXPECT_TRUE(end.exited(0)) << end;
}

TEST(hardware, energy_is_measured_for_policies_of_energy_alone) {
  const test::environment settings{
      {"WEFT_WORKERS", "2"}, {"WEFT_TUNE", "on"}, {"WEFT_TUNE_WORKERS", "energy"}};
  const auto end = test::in_process(settings, [] {
    toil();
    for (const weft::counters::info &i : of_the_machine())
      EXPECT_EQ(i.absent && i.help.find("set counters.hardware=true") != std::string::npos,
                i.name.rfind("/power/", 0) != 0)
          << i.name;
  });
  EXPECT_TRUE(end.exited(0)) << end;
}

TEST(hardware, is_absent_unless_it_is_asked_for) {
  const auto end = test::in_process({{"WEFT_WORKERS", "1"}}, [] {
    toil();
    for (const weft::counters::info &i : of_the_machine())
      EXPECT_TRUE(i.absent && i.help.find("set counters.hardware=true") != std::string::npos)
          << i.name;
    const auto all = weft::counters::take();
    const std::string sum = "/arithmetics/add@/hardware/cycles,/runtime/uptime";
    EXPECT_THROW(static_cast<void>(all.value(sum)), weft::error);
    const auto both = all.values(sum + ";/runtime/uptime");
    ASSERT_EQ(both.size(), 2u);
    EXPECT_TRUE(std::isnan(both[0].number));
    EXPECT_GT(both[1].number, 0);
  });
  EXPECT_TRUE(end.exited(0)) << end;
}

} // namespace
