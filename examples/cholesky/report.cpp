// SPDX-License-Identifier: Apache-2.0
#include "report.hpp"

#include "error.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <spawn.h>
#include <string>
#include <sys/wait.h>
#include <unistd.h>

namespace demo {

double median(std::vector<double> seconds) {
  std::sort(seconds.begin(), seconds.end());
  const std::size_t half = seconds.size() / 2;
  return seconds.size() % 2 ? seconds[half] : (seconds[half - 1] + seconds[half]) / 2;
}

void print_tasks(const tally &t, const std::vector<double> &seconds) {
  const auto tasks = static_cast<double>(t.tasks());
  const double wall = std::accumulate(seconds.begin(), seconds.end(), 0.0);
  const double overhead = weft::worker_count() * wall - t.seconds();
  std::printf("tasks %lld, mean %.1f us, overhead %.2f us per task (waiting included)\n",
              static_cast<long long>(t.tasks()) / static_cast<long long>(seconds.size()),
              t.seconds() / tasks * 1e6, overhead / tasks * 1e6);
}

namespace {

[[noreturn]] void give_up(const std::string &what) {
  throw numerical_error("the run with one worker " + what + "; run the program with --workers 1 to see why");
}

/// Starts a child whose standard output is the pipe's end `out`.
pid_t start_child(std::vector<char *> &arguments, int out) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, out, STDOUT_FILENO);
  posix_spawn_file_actions_addclose(&actions, out);
  pid_t child = 0;
  const int failure = posix_spawn(&child, "/proc/self/exe", &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (failure != 0)
    give_up("could not be started");
  return child;
}

std::string read_all(int from) {
  std::string text;
  char bytes[64];
  while (true) {
    const ssize_t n = read(from, bytes, sizeof bytes);
    if (n > 0)
      text.append(bytes, static_cast<std::size_t>(n));
    else if (n == 0 || errno != EINTR)
      return text;
  }
}

} // namespace

double seconds_with_one_worker(int argc, char **argv) {
  std::string measure = "--measure", workers = "--workers=1"; // the last of two options counts
  std::vector<char *> arguments(argv, argv + argc);
  arguments.insert(arguments.end(), {measure.data(), workers.data(), nullptr});
  int ends[2];
  if (pipe(ends) != 0)
    give_up("could not be started");
  const pid_t child = start_child(arguments, ends[1]);
  close(ends[1]);
  const std::string answer = read_all(ends[0]);
  close(ends[0]);
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  const double seconds = std::strtod(answer.c_str(), nullptr);
  if (status != 0 || !(seconds > 0))
    give_up("failed");
  return seconds;
}

} // namespace demo
