// SPDX-License-Identifier: Apache-2.0
#include "weft_mpi/service/errors.hpp"

#if defined(MPICH)
#include "weft_mpi/service/message.hpp"

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <mutex>
#include <utility>

namespace weft_mpi {

thread_local int silence::depth = 0;

namespace {

using function = MPI_Comm_errhandler_function;

/// Bounds the different functions of a program that may be error handlers of communicators.
constexpr std::size_t k_functions = 64;

std::mutex g_lock;
std::array<std::atomic<function *>, k_functions> g_functions;
MPI_Errhandler g_fatal = MPI_ERRHANDLER_NULL;

/// Is what MPI calls for the function in place `I`.
template <std::size_t I>
void call_unless_silent(MPI_Comm *comm, int *error, ...) {
  if (silence::depth == 0)
    g_functions[I].load(std::memory_order_acquire)(comm, error); // O1: after function_for_mpi
}

template <std::size_t... I>
constexpr std::array<function *, sizeof...(I)> make_table(std::index_sequence<I...>) noexcept {
  return {&call_unless_silent<I>...};
}
constexpr auto k_table = make_table(std::make_index_sequence<k_functions>());

void end_unless_silent(MPI_Comm *comm, int *error, ...) {
  if (silence::depth != 0)
    return;
  end_soon(EXIT_FAILURE);
  PMPI_Comm_set_errhandler(*comm, MPI_ERRORS_ARE_FATAL);
  PMPI_Comm_call_errhandler(*comm, *error);
}

} // namespace

void take_over_handlers() noexcept {
  MPI_Errhandler now;
  if (PMPI_Comm_create_errhandler(&end_unless_silent, &g_fatal) != MPI_SUCCESS ||
      PMPI_Comm_get_errhandler(MPI_COMM_WORLD, &now) != MPI_SUCCESS)
    return;
  if (now == MPI_ERRORS_ARE_FATAL)
    PMPI_Comm_set_errhandler(MPI_COMM_WORLD, g_fatal);
}

MPI_Errhandler handler_for_mpi(MPI_Errhandler of_user) noexcept {
  return of_user == MPI_ERRORS_ARE_FATAL && g_fatal != MPI_ERRHANDLER_NULL ? g_fatal : of_user;
}
MPI_Errhandler handler_for_user(MPI_Errhandler of_mpi) noexcept {
  return of_mpi == g_fatal && g_fatal != MPI_ERRHANDLER_NULL ? MPI_ERRORS_ARE_FATAL : of_mpi;
}

MPI_Comm_errhandler_function *function_for_mpi(MPI_Comm_errhandler_function *of_user) noexcept {
  if (!of_user)
    return of_user;
  const std::lock_guard lock(g_lock);
  for (std::size_t i = 0; i < k_functions; ++i) {
    function *const here = g_functions[i].load(std::memory_order_relaxed); // O2: under the lock
    if (here && here != of_user)
      continue;
    g_functions[i].store(of_user, std::memory_order_release); // O1
    return k_table[i];
  }
  static std::atomic<bool> warned{false};
  if (!warned.exchange(true))
    warn(
        "MPI_Comm_create_errhandler: more than %zu different functions; an error of a blocking call in a "
        "task may call the later ones in place of the communicator's handler. Use fewer functions",
        k_functions);
  return of_user;
}

} // namespace weft_mpi
#endif
