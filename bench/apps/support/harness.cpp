// SPDX-License-Identifier: Apache-2.0
#include "harness.hpp"

#include "application.hpp"
#include "backend.hpp"
#include "command_line.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <sched.h>

/// Runs the part that callgrind counts: this function's name is an interface of weft-bench.
extern "C" [[gnu::noinline]] void weft_app_serial(app::application &a) { a.run_serial(); }

namespace app {

namespace {

struct result {
  std::uint64_t tasks = 0; // of one run
  double serial_s = 0;
  std::vector<double> seconds;
  double checksum = 0, difference = 0, defect = 0;
  std::string wrong; // describes the fault; empty: none
};

int cpus() {
  cpu_set_t set;
  return sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
}

template <class F>
double seconds_of(F f) {
  const auto begin = std::chrono::steady_clock::now();
  f();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

double time_serial(application &a) {
  a.reset();
  return seconds_of([&] { weft_app_serial(a); });
}

/// Returns the better of two runs: the first one meets cold memory.
void measure_serial(application &a, result &r) {
  r.serial_s = time_serial(a);
  const std::uint64_t before = tasks_run();
  r.serial_s = std::min(r.serial_s, time_serial(a));
  r.tasks = tasks_run() - before;
  a.remember();
  r.defect = a.defect();
  if (!(r.defect <= about.defect_bound))
    r.wrong = "the serial result has a defect of " + std::to_string(r.defect);
}

void verify(const application &a, std::uint64_t tasks, result &r) {
  const double difference = a.difference();
  if (!(difference <= r.difference)) // NaN counts
    r.difference = difference;
  if (!(difference <= about.tolerance))
    r.wrong =
        "the result of the tasks differs from the serial one by " + std::to_string(difference);
  if (tasks != r.tasks)
    r.wrong =
        std::to_string(tasks) + " tasks have run, the serial order has " + std::to_string(r.tasks);
}

void measure_tasks(application &a, int reps, result &r) {
  for (int n = -1; n < reps; ++n) {
    a.reset();
    const std::uint64_t before = tasks_run();
    const double seconds = seconds_of([&] { a.run_tasks(); });
    verify(a, tasks_run() - before, r);
    if (n >= 0) // the first run warms up
      r.seconds.push_back(seconds);
  }
  r.checksum = a.checksum();
}

void print(const command &c, int workers, const result &r) {
  std::printf("app=%s backend=%s workers=%d", about.name.c_str(), backend::name, workers);
  for (const auto &[name, value] : c.chosen.all())
    std::printf(" %s=%ld", name.c_str(), value);
  std::printf(" tasks=%llu serial_s=%.9g seconds=", static_cast<unsigned long long>(r.tasks),
              r.serial_s);
  for (std::size_t i = 0; i < r.seconds.size(); ++i)
    std::printf("%s%.9g", i ? "," : "", r.seconds[i]);
  std::printf(" checksum=%.15g difference=%.3g defect=%.3g verified=%s\n", r.checksum, r.difference,
              r.defect, r.wrong.empty() ? "yes" : "no");
}

void print_serial(application &a) {
  a.reset();
  const std::uint64_t before = tasks_run();
  weft_app_serial(a);
  std::printf("app=%s tasks=%llu\n", about.name.c_str(),
              static_cast<unsigned long long>(tasks_run() - before));
}

void print_description() {
  std::printf("app=%s size=%ld coarse=%ld sweep=", about.name.c_str(), about.size.preset,
              about.tile.preset);
  for (std::size_t i = 0; i < about.sweep.size(); ++i)
    std::printf("%s%ld", i ? "," : "", about.sweep[i]);
  std::printf(" title=%s\n", about.title.c_str()); // the last one: it has blanks
}

/// Returns a description of the fault; empty for none.
std::string run(const command &c) {
  const std::unique_ptr<application> a = make(c.chosen);
  const int workers = c.workers ? c.workers : cpus();
  result r;
  measure_serial(*a, r);
  backend::inside(workers, [&] { measure_tasks(*a, c.reps, r); });
  print(c, workers, r);
  return r.wrong;
}

} // namespace

int main_program(int argc, char **argv) {
  const std::string program = std::filesystem::path(argv[0]).filename().string();
  try {
    const command c = parse_command(argc, argv, about);
    switch (c.what) {
    case command::mode::help:
      std::fputs(help(program, about).c_str(), stdout);
      return 0;
    case command::mode::describe:
      print_description();
      return 0;
    case command::mode::serial:
      print_serial(*make(c.chosen));
      return 0;
    case command::mode::run:
      break;
    }
    const std::string wrong = run(c);
    if (!wrong.empty())
      std::fprintf(stderr, "%s: %s\n", program.c_str(), wrong.c_str());
    return wrong.empty() ? 0 : 1;
  } catch (const bad_option &e) {
    std::fprintf(stderr, "%s: %s\n", program.c_str(), e.what());
    return 2;
  } catch (const std::exception &e) {
    std::fprintf(stderr, "%s: %s\n", program.c_str(), e.what());
    return 1;
  }
}

} // namespace app
