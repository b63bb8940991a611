// SPDX-License-Identifier: Apache-2.0
#include "tools/weft/support/child.hpp"

#include <cerrno>
#include <cstdio>
#include <cstring>

#include <fcntl.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

extern "C" char **environ;

namespace weft_tool {

namespace {

constexpr off_t k_most_output = 64 << 20;
constexpr std::chrono::milliseconds k_look{100}; // between two looks at the size of the output

/// Is memory that a program writes to as to a file: unlike a pipe it is never full, and no
/// grandchild holds it open.
class captured {
 public:
  captured() : fd(memfd_create("weft-output", MFD_CLOEXEC)) {}
  captured(const captured &) = delete;
  captured &operator=(const captured &) = delete;
  ~captured() {
    if (fd >= 0)
      close(fd);
  }
  [[nodiscard]] std::string text() const {
    struct stat s{};
    fstat(fd, &s);
    std::string all(static_cast<std::size_t>(s.st_size < k_most_output ? s.st_size : k_most_output),
                    '\0');
    std::size_t at = 0;
    for (ssize_t n;
         at < all.size() && (n = pread(fd, &all[at], all.size() - at, static_cast<off_t>(at))) > 0;)
      at += static_cast<std::size_t>(n);
    all.resize(at);
    return all;
  }
  const int fd;
};

off_t size_of(int fd) {
  struct stat s{};
  return fstat(fd, &s) == 0 ? s.st_size : 0;
}

/// Starts the program; returns posix_spawn's errno.
int start(const words &program, int in, int out, int err, const sigset_t &mask, pid_t &child) {
  std::vector<char *> argv;
  for (const auto &word : program)
    argv.push_back(const_cast<char *>(word.c_str())); // spawn does not write to them
  argv.push_back(nullptr);
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  if (in < 0)
    posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&files, out, 1);
  posix_spawn_file_actions_adddup2(&files, err, 2);
  posix_spawnattr_t how;
  posix_spawnattr_init(&how);
  posix_spawnattr_setflags(&how, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK);
  posix_spawnattr_setpgroup(&how, 0);
  posix_spawnattr_setsigmask(&how, &mask);
  const int e = posix_spawnp(&child, argv[0], &files, &how, argv.data(), environ);
  posix_spawnattr_destroy(&how);
  posix_spawn_file_actions_destroy(&files);
  return e;
}

bool has_ended(pid_t child) {
  siginfo_t info{};
  return waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
         info.si_pid == child;
}

/// Kills the whole group, so that no process of it runs beside the next run; then waits for the
/// child.
int end_group(pid_t child) {
  kill(-child, SIGKILL);
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return status;
}

} // namespace

std::string text_of(const outcome &result, std::chrono::milliseconds limit) {
  char text[96];
  switch (result.how) {
  case ending::exited:
    return "exit code " + std::to_string(result.number);
  case ending::signalled:
    return "signal " + std::to_string(result.number) + " (" + strsignal(result.number) + ")";
  case ending::out_of_time:
    std::snprintf(text, sizeof text, "no end within %g s",
                  static_cast<double>(limit.count()) / 1000);
    return text;
  case ending::too_talkative:
    return "more than 64 MiB of output";
  case ending::not_started:
    return std::strerror(result.number);
  }
  return "";
}

watcher::watcher(std::chrono::milliseconds limit) : m_limit(limit), m_input(lseek(0, 0, SEEK_CUR)) {
  sigemptyset(&m_ours);
  sigaddset(&m_ours, SIGCHLD);
  for (const int s : {SIGINT, SIGTERM, SIGHUP})
    if (struct sigaction now{};
        sigaction(s, nullptr, &now) == 0 && now.sa_handler != SIG_IGN) // nohup ignores
      sigaddset(&m_ours, s);
  sigprocmask(SIG_BLOCK, &m_ours, &m_before);
}

watcher::~watcher() { sigprocmask(SIG_SETMASK, &m_before, nullptr); }

void watcher::leave(int child, int signal) const {
  end_group(child);
  sigprocmask(SIG_SETMASK, &m_before, nullptr);
  std::signal(signal, SIG_DFL);
  std::raise(signal);
  _exit(128 + signal);
}

void watcher::wait(int child, outcome &result, int out, int err) const {
  const auto end = std::chrono::steady_clock::now() + m_limit;
  while (!has_ended(child)) {
    const timespec tick{0, std::chrono::nanoseconds(k_look).count()};
    const int signal = sigtimedwait(&m_ours, nullptr, &tick);
    if (signal > 0 && signal != SIGCHLD)
      leave(child, signal);
    if (std::chrono::steady_clock::now() > end)
      result.how = ending::out_of_time;
    else if (size_of(out) > k_most_output || size_of(err) > k_most_output)
      result.how = ending::too_talkative;
    else
      continue;
    end_group(child);
    return;
  }
  const int status = end_group(child);
  result.how = WIFEXITED(status) ? ending::exited : ending::signalled;
  result.number = WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status);
}

outcome watcher::run(const words &program) const {
  outcome o;
  captured out, err;
  if (out.fd < 0 || err.fd < 0) {
    o.number = errno;
    return o;
  }
  if (m_input >= 0)
    lseek(0, m_input, SEEK_SET);
  pid_t child = -1;
  o.number = start(program, m_input >= 0 ? 0 : -1, out.fd, err.fd, m_before, child);
  if (o.number != 0)
    return o;
  wait(child, o, out.fd, err.fd);
  o.output = out.text();
  o.complaints = err.text();
  return o;
}

} // namespace weft_tool
