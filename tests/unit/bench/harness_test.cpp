// SPDX-License-Identifier: Apache-2.0
// The harness of the applications, over one that can be made to fail.
#include <apps/support/application.hpp>
#include <apps/support/backend.hpp>
#include <apps/support/command_line.hpp>
#include <apps/support/harness.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <thread>
#include <vector>

namespace {

enum fault { none, wrong_result, no_number, lost_task, wrong_serial };

/// Adds up size / tile ones.
class adder final : public app::application {
 public:
  adder(long tasks, long f) : m_tasks(tasks), m_fault(f) {}
  void reset() override { m_sum = 0; }
  void run_serial() override { add(m_tasks); }
  void run_tasks() override {
    add(m_fault == lost_task ? m_tasks - 1 : m_tasks);
    m_sum = m_fault == wrong_result ? m_sum + 1
            : m_fault == no_number  ? NAN
                                    : static_cast<double>(m_tasks);
  }
  void remember() override { m_kept = m_sum; }
  [[nodiscard]] double difference() const override { return std::abs(m_sum - m_kept); }
  [[nodiscard]] double defect() const override { return m_fault == wrong_serial ? 1 : 0; }
  [[nodiscard]] double checksum() const override { return m_sum; }

 private:
  void add(long n) {
    for (long i = 0; i < n; ++i) {
      app::count_task();
      m_sum += 1;
    }
  }

  long m_tasks, m_fault;
  double m_sum = 0, m_kept = 0;
};

int workers_asked = 0;

struct answer {
  int status;
  std::string out, err;
};

answer call(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), "/some/where/app-adder");
  std::vector<char *> argv;
  for (std::string &a : arguments)
    argv.push_back(a.data());
  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();
  const int status = app::main_program(static_cast<int>(argv.size()), argv.data());
  return {status, testing::internal::GetCapturedStdout(), testing::internal::GetCapturedStderr()};
}

bool has(const std::string &text, const std::string &part) {
  return text.find(part) != std::string::npos;
}

} // namespace

const app::description app::about{
    .name = "adder",
    .title = "Additions",
    .size = {"size", 1, 1000, 100, "ones"},
    .tile = {"tile", 1, 1000, 10, "ones of a task"},
    .own = {{"fault", 0, 4, 0, "what goes wrong"}},
    .sweep = {1, 10},
    .small = {20, 5},
};

std::unique_ptr<app::application> app::make(const settings &chosen) {
  if (chosen["size"] % chosen["tile"])
    throw bad_option("--tile must divide --size");
  return std::make_unique<adder>(chosen["size"] / chosen["tile"], chosen["fault"]);
}

const char *const app::backend::name = "toy";

void app::backend::inside(int workers, const std::function<void()> &body) {
  workers_asked = workers;
  body();
}

TEST(apps_harness, a_right_run_prints_one_line) {
  const answer a = call({"--workers", "3", "--reps", "2", "--tile", "5"});
  EXPECT_EQ(a.status, 0);
  EXPECT_EQ(workers_asked, 3);
  EXPECT_EQ(a.err, "");
  EXPECT_TRUE(
      has(a.out, "app=adder backend=toy workers=3 size=100 tile=5 fault=0 tasks=20 serial_s="))
      << a.out;
  EXPECT_TRUE(has(a.out, "checksum=20 difference=0 defect=0 verified=yes\n")) << a.out;
  const std::size_t times = a.out.find("seconds=");
  EXPECT_EQ(std::count(a.out.begin() + static_cast<long>(times), a.out.end(), ','), 1) << a.out;
}

TEST(apps_harness, whatever_is_wrong_is_said_and_fails) {
  const auto check = [](fault f, const char *message) {
    const answer a = call({"--fault", std::to_string(f)});
    EXPECT_EQ(a.status, 1) << message;
    EXPECT_TRUE(has(a.out, "verified=no")) << a.out;
    EXPECT_TRUE(has(a.err, std::string("app-adder: ") + message)) << a.err;
  };
  check(wrong_result, "the result of the tasks differs from the serial one by ");
  check(no_number, "the result of the tasks differs from the serial one by ");
  check(lost_task, "9 tasks have run, the serial order has 10");
  check(wrong_serial, "the serial result has a defect of 1");
}

TEST(apps_harness, bad_options_are_named_with_what_they_take) {
  const auto check = [](const std::vector<std::string> &arguments, const char *message) {
    const answer a = call(arguments);
    EXPECT_EQ(a.status, 2);
    EXPECT_EQ(a.out, "");
    EXPECT_EQ(a.err, std::string("app-adder: ") + message + "\n");
  };
  check({"--tile", "0"}, "--tile takes a whole number from 1 to 1000, not '0'");
  check({"--fault", "2x"}, "--fault takes a whole number from 0 to 4, not '2x'");
  check({"--reps"}, "--reps needs a value");
  check({"--tiles", "3"}, "unknown option '--tiles'; --help lists what there is");
  check({"--tile", "7"}, "--tile must divide --size");
}

TEST(apps_harness, the_driver_gets_its_description_and_callgrind_its_serial_run) {
  EXPECT_EQ(call({"--describe"}).out, "app=adder size=100 coarse=10 sweep=1,10 title=Additions\n");
  EXPECT_EQ(call({"--serial", "--tile", "2"}).out, "app=adder tasks=50\n");
  EXPECT_TRUE(has(call({"--small"}).out, " size=20 tile=5 fault=0 tasks=4 "));
  EXPECT_TRUE(has(call({"--help"}).out, "--fault N         what goes wrong, 0 to 4 (0)"));
}

TEST(apps_harness, tasks_are_counted_over_all_threads) {
  const std::uint64_t before = app::tasks_run();
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; ++i)
    threads.emplace_back([] { app::count_task(), app::count_task(); });
  for (std::thread &t : threads)
    t.join();
  app::count_task();
  EXPECT_EQ(app::tasks_run() - before, 7u);
}
