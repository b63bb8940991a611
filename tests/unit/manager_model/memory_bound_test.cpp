// SPDX-License-Identifier: Apache-2.0
// The model of memory-bound tasks: times and energies worked out by hand, and what the goals of
// tune.workers do with such a program.
#include "memory_bound.hpp"

#include "observe/power.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <unistd.h>
#include <utility>

namespace {

using memory_model::goal;
using memory_model::simulate;
using program = memory_model::parameters;

/// Two workers, each of which could fill the memory alone; tasks of 100 ns.
program memory_by_hand(double tasks) {
  program p;
  p.workers = 2;
  p.tasks = tasks;
  p.compute_ns = 100;
  p.bytes = 1000;
  p.bandwidth = 10;
  p.jitter = 0;
  return p;
}

TEST(memory_model, tasks_that_run_at_once_share_the_memory) {
  EXPECT_DOUBLE_EQ(simulate(memory_by_hand(1), goal::all).time_ns, 100);
  EXPECT_DOUBLE_EQ(simulate(memory_by_hand(2), goal::all).time_ns, 200) << "each at half its speed";
  const auto three = simulate(memory_by_hand(3), goal::all);
  EXPECT_DOUBLE_EQ(three.time_ns, 300) << "and then one alone";
  EXPECT_DOUBLE_EQ(three.busy_ns, 500);
  EXPECT_DOUBLE_EQ(three.energy_uj, (500 * 5 + 100 * 1) / 1000.0);
  program p = memory_by_hand(2);
  p.bandwidth = 20; // enough for both
  EXPECT_DOUBLE_EQ(simulate(p, goal::all).time_ns, 100);
  p.bandwidth = 15;
  EXPECT_DOUBLE_EQ(simulate(p, goal::all).time_ns, 100 * 20 / 15.0);
}

/// Compares a goal with all workers. Returns the part of the time, and of the energy.
struct compared {
  double time, energy;
  memory_model::outcome with_goal;
};
compared compare(const program &p, goal aim, const memory_model::meter &read = {}) {
  const auto all = simulate(p, goal::all), those = simulate(p, aim, read);
  return {those.time_ns / all.time_ns, those.energy_uj / all.energy_uj, those};
}

TEST(memory_model, energy_takes_a_tenth_less_at_no_loss_of_time) {
  for (const auto &[workers, seed] : {std::pair{8U, 1U}, {16U, 1U}, {16U, 2U}}) {
    program p;
    p.workers = workers;
    p.seed = seed;
    p.tasks = 400'000;
    const compared c = compare(p, goal::energy);
    EXPECT_LT(c.with_goal.kept, workers);
    EXPECT_LE(c.time, 1.05) << workers << " workers, seed " << seed;
    EXPECT_LE(c.energy, 0.9) << workers << " workers, seed " << seed;
  }
}

TEST(memory_model, many_workers_take_less_energy_too) {
  program p; // 64 workers, of which 16 fill the memory
  p.workers = 64;
  p.compute_ns /= 4;
  p.bytes /= 4;
  p.bandwidth *= 4;
  p.tasks *= 3;
  const compared c = compare(p, goal::energy);
  EXPECT_LT(c.with_goal.kept, 32u);
  EXPECT_LE(c.time, 1.05);
  EXPECT_LE(c.energy, 0.9);
}

/// Is a processor package as the kernel shows it, whose count begins anew at its range.
class powercap_of_model {
 public:
  powercap_of_model() {
    std::filesystem::create_directories(m_domain);
    write("name", "package-0");
    write("max_energy_range_uj", std::to_string(k_range));
    put(0);
    m_found = weft::rt::find_energy(m_root, "package");
  }
  ~powercap_of_model() { std::filesystem::remove_all(m_root); }
  powercap_of_model(const powercap_of_model &) = delete;
  powercap_of_model &operator=(const powercap_of_model &) = delete;

  [[nodiscard]] bool is_found() const { return m_found.found.size() == 1; }
  [[nodiscard]] unsigned long begun_anew() const { return m_begun_anew; }
  /// Writes what the processors have taken, and reads it as the counter /power/package does.
  double read(double energy_uj) {
    put(static_cast<std::uint64_t>(energy_uj));
    return static_cast<double>(weft::rt::spent_energy(m_found.found));
  }

 private:
  static constexpr std::uint64_t k_range = 50'000'000; // less than a second of 80 W
  void put(std::uint64_t all) {
    m_begun_anew = all / k_range;
    write("energy_uj", std::to_string(all % k_range));
  }
  void write(const char *file, const std::string &text) {
    std::ofstream(m_domain / file) << text << '\n';
  }
  const std::filesystem::path m_root = std::filesystem::temp_directory_path() /
                                       ("weft-powercap-" + std::to_string(getpid()));
  const std::filesystem::path m_domain = m_root / "intel-rapl:0";
  weft::rt::energy_domains m_found;
  unsigned long m_begun_anew = 0;
};

TEST(memory_model, a_meter_of_the_kernel_leads_to_the_same) {
  powercap_of_model package;
  ASSERT_TRUE(package.is_found());
  const compared c =
      compare(program{}, goal::energy, [&](double energy) { return package.read(energy); });
  EXPECT_GT(package.begun_anew(), 10u);
  EXPECT_LE(c.time, 1.05);
  EXPECT_LE(c.energy, 0.9);
  EXPECT_EQ(c.with_goal.kept, simulate(program{}, goal::energy).kept);
}

TEST(memory_model, without_a_meter_energy_moves_nothing) {
  const compared c = compare(program{}, goal::energy, [](double) { return 0.0; });
  EXPECT_EQ(c.with_goal.kept, 16u);
  EXPECT_EQ(c.with_goal.changes, 0u);
}

TEST(memory_model, watts_come_into_their_band) {
  program p;
  p.low = 30;
  p.high = 40;
  const compared c = compare(p, goal::watts);
  EXPECT_EQ(c.with_goal.kept, 4u) << "32 W: half of the workers went twice";
  EXPECT_EQ(c.with_goal.changes, 2u);
  EXPECT_LE(c.time, 1.05);
  EXPECT_LE(c.energy, 0.5);
}

TEST(memory_model, work_leaves_what_adds_nothing) {
  const compared c = compare(program{}, goal::work);
  EXPECT_LE(c.with_goal.kept, 6u);
  EXPECT_LE(c.time, 1.05);
}

TEST(memory_model, work_that_scales_keeps_its_workers) {
  for (const goal aim : {goal::work, goal::energy}) {
    program p;
    p.bytes = 1000;
    const compared c = compare(p, aim);
    EXPECT_GE(c.with_goal.kept, 15u) << name_of(aim);
    EXPECT_LE(c.time, 1.02) << name_of(aim);
  }
}

TEST(memory_model, workers_that_come_back_begin_late) {
  program p = memory_by_hand(1);
  p.bytes = 0;
  p.compute_ns = 1e6;
  p.tasks = 4000;
  p.low = 9;
  p.high = 9.5; // two workers take 10 W, one 6 W: one goes, comes back, goes
  p.wake_ns = 0;
  const auto at_once = simulate(p, goal::watts);
  p.wake_ns = 100e6;
  const auto late = simulate(p, goal::watts);
  EXPECT_GE(at_once.changes, 3u);
  EXPECT_GT(late.time_ns, at_once.time_ns);
  EXPECT_LT(late.time_ns, at_once.time_ns + 100e6 * at_once.changes);
}

TEST(memory_model, equal_seeds_give_equal_runs) {
  program p;
  p.tasks = 20'000;
  const double first = simulate(p, goal::energy).time_ns;
  EXPECT_EQ(simulate(p, goal::energy).time_ns, first);
  p.seed = 2;
  EXPECT_NE(simulate(p, goal::energy).time_ns, first);
}

TEST(memory_model, refuses_numbers_that_make_no_sense) {
  for (const auto member : {&program::tasks, &program::compute_ns, &program::bytes, &program::bandwidth,
                            &program::jitter, &program::wake_ns, &program::busy, &program::idle}) {
    program p;
    p.*member = -1;
    EXPECT_THROW(static_cast<void>(simulate(p, goal::all)), std::invalid_argument);
    p.*member = std::nan("");
    EXPECT_THROW(static_cast<void>(simulate(p, goal::all)), std::invalid_argument);
  }
  program p;
  p.low = p.high;
  EXPECT_THROW(static_cast<void>(simulate(p, goal::all)), std::invalid_argument);
  p = program{};
  p.workers = 0;
  EXPECT_THROW(static_cast<void>(simulate(p, goal::all)), std::invalid_argument);
}

} // namespace
