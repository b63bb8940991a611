// SPDX-License-Identifier: Apache-2.0
#include "process.hpp"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <poll.h>
#include <spawn.h>
#include <stdexcept>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace bench {

namespace {

std::string name_of(const std::string &variable) {
  return variable.substr(0, variable.find('=') + 1);
}

std::vector<std::string> environment_with(const std::vector<std::string> &settings) {
  std::vector<std::string> all = settings;
  for (char **v = environ; *v; ++v)
    if (std::none_of(settings.begin(), settings.end(),
                     [v](const std::string &s) { return name_of(s) == name_of(*v); }))
      all.emplace_back(*v);
  return all;
}

std::vector<char *> pointers(const std::vector<std::string> &strings) {
  std::vector<char *> all;
  for (const std::string &s : strings)
    all.push_back(const_cast<char *>(s.c_str()));
  all.push_back(nullptr);
  return all;
}

/// Collects the output from `end` until it is closed; returns false when that takes longer than
/// `limit`.
bool read_all(int end, std::string &to, std::chrono::seconds limit) {
  using clock = std::chrono::steady_clock;
  const auto over = clock::now() + limit;
  for (char part[4096];;) {
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(over - clock::now()).count();
    pollfd readable{end, POLLIN, 0};
    if (left <= 0 || poll(&readable, 1, static_cast<int>(left)) == 0)
      return false;
    const ssize_t n = read(end, part, sizeof part);
    if (n == 0)
      return true;
    if (n > 0)
      to.append(part, static_cast<std::size_t>(n));
    else if (errno != EINTR)
      return true;
  }
}

std::string describe(int status) {
  return WIFEXITED(status) ? "it exited with " + std::to_string(WEXITSTATUS(status))
                           : "it was ended by signal " + std::to_string(WTERMSIG(status));
}

} // namespace

outcome run(const std::vector<std::string> &command, const std::vector<std::string> &settings,
            std::chrono::seconds limit) {
  int ends[2];
  if (pipe(ends) != 0)
    throw std::runtime_error(std::string("no pipe: ") + std::strerror(errno));
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addclose(&actions, ends[0]);
  posix_spawn_file_actions_adddup2(&actions, ends[1], 1);
  posix_spawn_file_actions_adddup2(&actions, ends[1], 2);
  posix_spawn_file_actions_addclose(&actions, ends[1]);
  const std::vector<std::string> variables = environment_with(settings);
  pid_t child = -1;
  const int failed = posix_spawnp(&child, command[0].c_str(), &actions, nullptr,
                                  pointers(command).data(), pointers(variables).data());
  posix_spawn_file_actions_destroy(&actions);
  close(ends[1]);
  outcome result;
  if (failed) {
    close(ends[0]);
    result.output = command[0] + " could not be started: " + std::strerror(failed);
    return result;
  }
  const bool ended = read_all(ends[0], result.output, limit);
  close(ends[0]);
  if (!ended)
    kill(child, SIGKILL);
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  result.ok = ended && WIFEXITED(status) && WEXITSTATUS(status) == 0;
  if (!ended)
    result.output += "it was killed after " + std::to_string(limit.count()) + " s";
  else if (!result.ok && result.output.empty())
    result.output = describe(status);
  while (!result.ok && result.output.ends_with('\n'))
    result.output.pop_back();
  return result;
}

busy_processes::busy_processes(int count) {
  for (int i = 0; i < count; ++i) {
    const pid_t pid = fork();
    if (pid < 0)
      throw std::runtime_error(std::string("no process: ") + std::strerror(errno));
    if (pid == 0) {
      prctl(PR_SET_PDEATHSIG, SIGKILL);
      for (volatile unsigned x = 0;;)
        x = x + 1;
    }
    m_pids.push_back(pid);
  }
}

busy_processes::~busy_processes() {
  for (const int pid : m_pids) {
    kill(pid, SIGKILL);
    waitpid(pid, nullptr, 0);
  }
}

std::string build_folder() {
  return std::filesystem::read_symlink("/proc/self/exe").parent_path().parent_path().string();
}

} // namespace bench
