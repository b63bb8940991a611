// SPDX-License-Identifier: Apache-2.0
#include "weft_net/boot/pmi.hpp"

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <stdexcept>

#include <dlfcn.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

namespace weft_net {

namespace {

void write_line(int descriptor, const std::string &line) {
  if (write(descriptor, line.data(), line.size()) != static_cast<ssize_t>(line.size()))
    throw std::runtime_error(std::string("PMI: cannot write to PMI_FD: ") + std::strerror(errno));
}

std::string read_line(int descriptor) {
  std::string line;
  char c;
  while (read(descriptor, &c, 1) == 1)
    if (c == '\n')
      return line;
    else
      line += c;
  throw std::runtime_error("PMI: the program that started the ranks has closed PMI_FD");
}

/// Returns the value of a field of an answer, whose command must be the one given.
std::string answer(int descriptor, const std::string &command, const std::string &field) {
  const std::string line = " " + read_line(descriptor) + " ";
  const auto value = [&line](const std::string &name) {
    const std::size_t at = line.find(" " + name + "=");
    if (at == std::string::npos)
      return std::string();
    const std::size_t first = at + name.size() + 2;
    return line.substr(first, line.find(' ', first) - first);
  };
  const std::string rc = value("rc");
  if (value("cmd") != command || (!rc.empty() && rc != "0"))
    throw std::runtime_error("PMI: the answer is '" + line + "', and not " + command);
  return value(field);
}

} // namespace

std::string share_by_pmi(int descriptor, int rank, const std::string &value) {
  write_line(descriptor, "cmd=init pmi_version=1 pmi_subversion=1\n");
  static_cast<void>(answer(descriptor, "response_to_init", "rc"));
  write_line(descriptor, "cmd=get_my_kvsname\n");
  const std::string space = answer(descriptor, "my_kvsname", "kvsname");
  if (rank == 0) {
    write_line(descriptor, "cmd=put kvsname=" + space + " key=weft-net value=" + value + "\n");
    static_cast<void>(answer(descriptor, "put_result", "rc"));
  }
  write_line(descriptor, "cmd=barrier_in\n");
  static_cast<void>(answer(descriptor, "barrier_out", "rc"));
  write_line(descriptor, "cmd=get kvsname=" + space + " key=weft-net\n");
  return answer(descriptor, "get_result", "value");
}

namespace {

/// Is the line of this process, which exit() finalizes.
struct kept_line {
  int descriptor;
  pid_t process;
  dev_t device;
  ino_t inode; ///< of the socket: the number of the descriptor may be another file's later
};
kept_line g_line{};
std::atomic<bool> g_is_open{false};

constexpr int k_answer_ms = 2000;

bool is_mpi_initialized() noexcept {
  void *const found = dlsym(RTLD_DEFAULT, "MPI_Initialized");
  if (!found)
    return false;
  int is_initialized = 0;
  return reinterpret_cast<int (*)(int *)>(found)(&is_initialized) == 0 && is_initialized != 0;
}

} // namespace

void finalize_pmi_at_exit(int descriptor) {
  struct stat now{};
  if (fstat(descriptor, &now) != 0)
    return; // share_by_pmi says so
  g_line = {descriptor, getpid(), now.st_dev, now.st_ino};
  g_is_open.store(true);
  static_cast<void>(std::atexit([] { finalize_pmi(); }));
}

void finalize_pmi() noexcept {
  if (!g_is_open.exchange(false))
    return;
  const kept_line line = g_line;
  struct stat now{};
  if (line.process != getpid() || fstat(line.descriptor, &now) != 0 || now.st_dev != line.device ||
      now.st_ino != line.inode || is_mpi_initialized())
    return;
  constexpr char k_text[] = "cmd=finalize\n";
  if (send(line.descriptor, k_text, sizeof k_text - 1, MSG_NOSIGNAL) < 0)
    return; // the process manager has gone
  // It answers, and takes a process that is gone by then for a failed one.
  pollfd answer_of{line.descriptor, POLLIN, 0};
  char taken = 0;
  while (taken != '\n' && poll(&answer_of, 1, k_answer_ms) > 0 &&
         recv(line.descriptor, &taken, 1, MSG_DONTWAIT) == 1)
    ;
}

} // namespace weft_net
