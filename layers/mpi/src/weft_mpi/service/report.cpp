// SPDX-License-Identifier: Apache-2.0
#include "weft_mpi/service/report.hpp"

#include "weft_mpi/service/mpi.hpp"
#include "weft_mpi/service/service.hpp"

#include <cstdio>
#include <cstring>

#include <csignal>
#include <ctime>
#include <unistd.h>

namespace weft_mpi {
namespace {

constexpr std::size_t k_named = 16; // so that the line stays one

// Written before the handler is installed.
char g_head[MPI_MAX_PROCESSOR_NAME + 100];
struct sigaction g_before;

void append(char *line, std::size_t bytes, const char *text) noexcept {
  const std::size_t used = std::strlen(line);
  std::strncat(line, text, bytes - used - 1);
}

void append_number(char *line, std::size_t bytes, std::size_t number) noexcept {
  char digits[24];
  char *at = digits + sizeof digits;
  *--at = 0;
  do
    *--at = static_cast<char>('0' + number % 10);
  while ((number /= 10) != 0);
  append(line, bytes, at);
}

void when_terminated(int signal) {
  char names[600];
  name_what_is_in_flight(names, sizeof names);
  if (names[0]) {
    char line[1200] = "";
    append(line, sizeof line, g_head);
    append(line, sizeof line, " is terminated by signal ");
    append_number(line, sizeof line, static_cast<std::size_t>(signal));
    append(line, sizeof line, " while tasks wait in: ");
    append(line, sizeof line, names);
    append(line, sizeof line, "\n");
    [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, line, std::strlen(line));
  }
  sigaction(signal, &g_before, nullptr);
  raise(signal);
}

} // namespace

void name_what_is_in_flight(char *to, std::size_t bytes) noexcept {
  to[0] = 0;
  std::size_t named = 0;
  const auto visit = [&](const char *name) noexcept {
    if (named == k_named)
      append(to, bytes, ", and others");
    else if (named < k_named) {
      append(to, bytes, named ? ", " : "");
      append(to, bytes, name);
    }
    ++named;
  };
  // The poller may be inside; if it is the interrupted thread, it stays inside.
  for (int tries = 0; tries < 50 && !service::of_process().try_visit(k_named + 1, visit); ++tries) {
    const timespec moment{0, 1'000'000};
    nanosleep(&moment, nullptr);
  }
}

void report_at_termination() {
  service::of_process(); // made here, because a signal handler may not
  if (sigaction(SIGTERM, nullptr, &g_before) != 0 || g_before.sa_handler != SIG_DFL)
    return;
  int rank = 0, length = 0;
  char host[MPI_MAX_PROCESSOR_NAME] = "";
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  PMPI_Get_processor_name(host, &length);
  std::snprintf(g_head, sizeof g_head, "weft: rank %d on %s", rank, host);
  struct sigaction ours = {};
  ours.sa_handler = &when_terminated;
  sigfillset(&ours.sa_mask);
  sigaction(SIGTERM, &ours, nullptr);
}

void end_report() noexcept {
  struct sigaction now;
  if (sigaction(SIGTERM, nullptr, &now) == 0 && now.sa_handler == &when_terminated)
    sigaction(SIGTERM, &g_before, nullptr);
}

} // namespace weft_mpi
