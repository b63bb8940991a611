// SPDX-License-Identifier: Apache-2.0
// Other processes: started with settings of their own, watched to their end.
#pragma once

#include "support/patience.hpp"

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <iterator>
#include <ostream>
#include <poll.h>
#include <spawn.h>
#include <sstream>
#include <string>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>
#include <vector>

extern "C" char **environ;

namespace test {

using environment = std::vector<std::pair<std::string, std::string>>;

/// How a process ended, and what it wrote on both of its outputs.
struct ending {
  int status = 0; // of waitpid
  bool hung = false;
  std::string output;

  [[nodiscard]] bool exited(int code) const {
    return !hung && WIFEXITED(status) && WEXITSTATUS(status) == code;
  }
  [[nodiscard]] bool aborted() const {
    return !hung && WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT;
  }
  [[nodiscard]] bool printed(const std::string &text) const {
    return output.find(text) != std::string::npos;
  }

  friend std::ostream &operator<<(std::ostream &to, const ending &e) {
    if (e.hung)
      to << "it hung and was killed";
    else if (WIFEXITED(e.status))
      to << "it exited with " << WEXITSTATUS(e.status);
    else
      to << "it was ended by signal " << WTERMSIG(e.status);
    return to << "; its output:\n" << e.output;
  }
};

inline std::string program_path() {
  char path[4096];
  ssize_t n = readlink("/proc/self/exe", path, sizeof path - 1);
  return {path, n > 0 ? static_cast<std::size_t>(n) : 0};
}

/// The path of this build's `weft`.
inline std::string weft_program() {
  const std::string program = program_path();
  const std::string tests = program.substr(0, program.rfind('/'));
  return tests.substr(0, tests.rfind('/')) + "/bin/weft";
}

/// The words that start a program of this build: the kernel does not run those of another machine by itself.
inline std::vector<std::string> command(const std::string &program) {
#ifdef WEFT_TEST_EMULATOR
  std::istringstream emulator(WEFT_TEST_EMULATOR);
  std::vector<std::string> words{std::istream_iterator<std::string>(emulator), {}};
#else
  std::vector<std::string> words;
#endif
  words.push_back(program);
  return words;
}

/// Runs a program of the host to its end, with the given variables over the inherited ones.
inline ending run_as_it_is(const std::vector<std::string> &arguments, const environment &settings,
                           std::chrono::seconds limit = std::chrono::seconds(120)) {
  std::vector<std::string> variables;
  for (const auto &[key, value] : settings)
    variables.push_back(key + "=" + value);
  for (char **v = environ; *v; ++v) {
    std::string inherited = *v;
    bool overridden = false;
    for (const auto &[key, value] : settings)
      overridden = overridden || inherited.rfind(key + "=", 0) == 0;
    if (!overridden)
      variables.push_back(std::move(inherited));
  }
  std::vector<char *> argv, envp;
  for (const auto &s : arguments)
    argv.push_back(const_cast<char *>(s.c_str()));
  for (const auto &s : variables)
    envp.push_back(const_cast<char *>(s.c_str()));
  argv.push_back(nullptr);
  envp.push_back(nullptr);

  ending e;
  int ends[2];
  if (pipe(ends) != 0)
    return e.status = 127 << 8, e.output = "no pipe", e;
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addclose(&actions, ends[0]);
  posix_spawn_file_actions_adddup2(&actions, ends[1], 1);
  posix_spawn_file_actions_adddup2(&actions, ends[1], 2);
  posix_spawn_file_actions_addclose(&actions, ends[1]);
  pid_t child = -1;
  int failed = posix_spawn(&child, argv[0], &actions, nullptr, argv.data(), envp.data());
  posix_spawn_file_actions_destroy(&actions);
  close(ends[1]);
  if (failed) {
    close(ends[0]);
    return e.status = 127 << 8, e.output = "cannot start " + arguments[0], e;
  }
  for (patience hang(child, limit);;) {
    pollfd readable{ends[0], POLLIN, 0};
    int ready = poll(&readable, 1, static_cast<int>(hang.left().count()));
    if (ready == 0 && !hang.is_over())
      continue;
    if (ready == 0) {
      e.hung = true;
      kill(child, SIGKILL);
      break;
    }
    char part[4096];
    ssize_t n = ready > 0 ? read(ends[0], part, sizeof part) : -1;
    if (n == 0)
      break;
    if (n > 0)
      e.output.append(part, static_cast<std::size_t>(n));
    else if (errno != EINTR)
      break;
  }
  close(ends[0]);
  while (waitpid(child, &e.status, 0) < 0 && errno == EINTR) {
  }
  return e;
}

/// The same for a program of this build.
inline ending run(std::vector<std::string> arguments, const environment &settings,
                  std::chrono::seconds limit = std::chrono::seconds(120)) {
  auto words = command(arguments.at(0));
  words.insert(words.end(), arguments.begin() + 1, arguments.end());
  return run_as_it_is(words, settings, limit);
}

} // namespace test
