// SPDX-License-Identifier: Apache-2.0
// The main program of all applications: serial order first, then the tasks, each run verified against it.
#include "application.hpp"
#include "backend.hpp"
#include "command_line.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <sched.h>

/// Callgrind counts what happens inside of this function: its name is an interface of weft-bench.
extern "C" [[gnu::noinline]] void weft_app_serial(app::application &a) {
  a.run_serial();
}

namespace app {

namespace {

struct result {
  std::uint64_t tasks = 0; // of one run
  double serial_s = 0;
  std::vector<double> seconds;
  double checksum = 0, difference = 0, defect = 0;
  std::string wrong; // what is, if something is
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

/// The better of two: the first one meets cold memory.
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
    r.wrong = "the result of the tasks differs from the serial one by " + std::to_string(difference);
  if (tasks != r.tasks)
    r.wrong = std::to_string(tasks) + " tasks have run, the serial order has " + std::to_string(r.tasks);
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
  std::printf(" tasks=%llu serial_s=%.9g seconds=", static_cast<unsigned long long>(r.tasks), r.serial_s);
  for (std::size_t i = 0; i < r.seconds.size(); ++i)
    std::printf("%s%.9g", i ? "," : "", r.seconds[i]);
  std::printf(" checksum=%.15g difference=%.3g defect=%.3g verified=%s\n", r.checksum, r.difference, r.defect,
              r.wrong.empty() ? "yes" : "no");
}

void print_serial(application &a) {
  a.reset();
  const std::uint64_t before = tasks_run();
  weft_app_serial(a);
  std::printf("app=%s tasks=%llu\n", about.name.c_str(),
              static_cast<unsigned long long>(tasks_run() - before));
}

void print_description() {
  std::printf("app=%s size=%ld coarse=%ld sweep=", about.name.c_str(), about.size.preset, about.tile.preset);
  for (std::size_t i = 0; i < about.sweep.size(); ++i)
    std::printf("%s%ld", i ? "," : "", about.sweep[i]);
  std::printf(" title=%s\n", about.title.c_str()); // the last one: it has blanks
}

int run(const command &c) {
  const std::unique_ptr<application> a = make(c.chosen);
  if (c.what == command::mode::serial) {
    print_serial(*a);
    return 0;
  }
  const int workers = c.workers ? c.workers : cpus();
  result r;
  measure_serial(*a, r);
  backend::inside(workers, [&] { measure_tasks(*a, c.reps, r); });
  print(c, workers, r);
  if (!r.wrong.empty())
    std::fprintf(stderr, "app-%s-%s: %s\n", about.name.c_str(), backend::name, r.wrong.c_str());
  return r.wrong.empty() ? 0 : 1;
}

} // namespace
} // namespace app

int main(int argc, char **argv) {
  const std::string program = "app-" + app::about.name + "-" + app::backend::name;
  try {
    const app::command c = app::parse_command(argc, argv, app::about);
    if (c.what == app::command::mode::help)
      std::fputs(app::help(program, app::about).c_str(), stdout);
    else if (c.what == app::command::mode::describe)
      app::print_description();
    else
      return app::run(c);
    return 0;
  } catch (const app::bad_option &e) {
    std::fprintf(stderr, "%s: %s\n", program.c_str(), e.what());
    return 2;
  } catch (const std::exception &e) {
    std::fprintf(stderr, "%s: %s\n", program.c_str(), e.what());
    return 1;
  }
}
