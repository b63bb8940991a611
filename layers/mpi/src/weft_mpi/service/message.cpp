// SPDX-License-Identifier: Apache-2.0
#include "weft_mpi/service/message.hpp"

#include "weft_mpi/service/mpi.hpp"

#include <chrono>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>

#include <unistd.h>

namespace weft_mpi {
namespace {

bool mpi_runs() noexcept {
  int begun = 0, over = 0;
  return PMPI_Initialized(&begun) == MPI_SUCCESS && begun && PMPI_Finalized(&over) == MPI_SUCCESS &&
         !over;
}

/// Writes one whole line by one call, so that lines of several threads and ranks do not mix.
void put(const char *prefix, const char *format, va_list arguments) noexcept {
  char line[2000];
  std::snprintf(line, sizeof line, "weft: %s", prefix);
  int rank = 0;
  if (mpi_runs() && PMPI_Comm_rank(MPI_COMM_WORLD, &rank) == MPI_SUCCESS)
    std::snprintf(line + std::strlen(line), sizeof line - std::strlen(line), "rank %d: ", rank);
  const std::size_t begun = std::strlen(line);
  std::vsnprintf(line + begun, sizeof line - begun - 1, format, arguments);
  std::strcat(line, "\n");
  [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, line, std::strlen(line));
}

} // namespace

void warn(const char *format, ...) noexcept {
  va_list arguments;
  va_start(arguments, format);
  put("warning: ", format, arguments);
  va_end(arguments);
}

void fatal(const char *format, ...) noexcept {
  va_list arguments;
  va_start(arguments, format);
  put("fatal: ", format, arguments);
  va_end(arguments);
  end_soon(EXIT_FAILURE);
  if (mpi_runs())
    PMPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
  _exit(EXIT_FAILURE);
}

void end_soon(int code) noexcept {
  try {
    std::thread([code] {
      std::this_thread::sleep_for(std::chrono::seconds(1));
      _exit(code);
    }).detach();
  } catch (...) { // without a thread the abort may have to be waited for
  }
}

} // namespace weft_mpi
