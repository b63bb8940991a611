// SPDX-License-Identifier: Apache-2.0
// The begin and the end of MPI.
#include "weft_mpi/service/caller.hpp"
#include "weft_mpi/service/message.hpp"
#include "weft_mpi/service/pair.hpp"
#include "weft_mpi/service/report.hpp"

#include <weft/layer/default_setting.hpp>
#include <weft/layer/environment.hpp>

#include <chrono>
#include <cstddef>
#include <exception>

using namespace weft_mpi;

namespace {

/// Gives tasks and workers stacks on which MPI can run, unless the user has chosen a size or another layer needs more.
/// MPICH has frames of some 100 KiB below its tests of requests, which overrun Weft's default and its guard page.
[[gnu::constructor]] void when_loaded() {
  try {
    weft::layer::set_default("stack.bytes", "1MiB");
  } catch (...) { // a setting of the user is wrong, which MPI_Init says
  }
}

/// Ends the process by a message if a setting is wrong: the first call of a task would find that otherwise, and could not
/// wait for MPI.
void look_at_settings() noexcept {
  try {
    (void)weft::layer::setting("net.stall"); // reads them all
  } catch (const std::exception &e) {
    fatal("MPI_Init: %s", e.what());
  }
}

int initialise(int *argc, char ***argv, int *level) {
  refuse_other_mpi();
  const int error = PMPI_Init_thread(argc, argv, MPI_THREAD_MULTIPLE, level);
  if (error != MPI_SUCCESS)
    return error;
  forget_thread_level();
  if (*level != MPI_THREAD_MULTIPLE)
    warn(
        "MPI does not give MPI_THREAD_MULTIPLE: tasks cannot call MPI; use an MPI that is built with it");
  look_at_settings();
  take_over_handlers();
  warn_of_other_launcher();
  report_at_termination();
  return error;
}

/// Waits until the polling service has left MPI: it may be in the round that ended the last call.
void wait_for_service() noexcept {
  using clock = std::chrono::steady_clock;
  const clock::time_point last = clock::now() + std::chrono::seconds(1);
  service &all = service::of_process();
  while (all.count() != 0 && clock::now() < last)
    yield_kernel_thread();
  const std::size_t left = all.count();
  if (left == 0)
    return;
  char names[600];
  name_what_is_in_flight(names, sizeof names);
  fatal(
      "MPI_Finalize while tasks wait for MPI (%zu: %s); wait for the tasks first, with weft::taskwait() or "
      "their handles",
      left, names);
}

} // namespace

extern "C" {

int MPI_Init(int *argc, char ***argv) {
  int level = MPI_THREAD_SINGLE;
  return initialise(argc, argv, &level);
}

int MPI_Init_thread(int *argc, char ***argv, int, int *provided) {
  return initialise(argc, argv, provided);
}

#if MPI_VERSION >= 4
int MPI_Session_init(MPI_Info info, MPI_Errhandler handler, MPI_Session *session) {
  note_session();
  return PMPI_Session_init(info, handler, session);
}
#endif

int MPI_Abort(MPI_Comm comm, int code) {
  end_soon(code);
  return PMPI_Abort(comm, code);
}

int MPI_Finalize(void) {
  wait_for_service();
  end_helpers();
  end_report();
  const int error = PMPI_Finalize();
  forget_thread_level();
  return error;
}

} // extern "C"
