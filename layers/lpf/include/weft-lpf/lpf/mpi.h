// SPDX-License-Identifier: Apache-2.0
// LPF: processes that exist become those of LPF, and how the processes of a job begin.
#pragma once

#include <lpf/core.h>

#include <mpi.h>

#ifdef __cplusplus
extern "C" {
#endif

// Is 1, unless the program defines it. In a job (weft launch, mpiexec), process 0 then runs main(), and the
// others wait for lpf_exec(). A program that defines it as 0 has a main() in each process, which calls
// lpf_hook().
extern const int LPF_MPI_AUTO_INITIALIZE;

// Joins the processes of a communicator, which all call it.
//
// Ownership. lpf_mpi_finalize() frees `init`. Errors. LPF_ERR_OUT_OF_MEMORY; LPF_ERR_FATAL, with a message.
lpf_err_t lpf_mpi_initialize_with_mpicomm(MPI_Comm comm, lpf_init_t *init);

// Joins processes that know one address: that of process 0, which listens there. All call it, with the same
// arguments but for `pid`. The setting net.key (WEFT_NET_KEY) keeps others out.
//
// Blocks. Yes, for `timeout` milliseconds at most.
// Errors. LPF_ERR_OUT_OF_MEMORY; LPF_ERR_FATAL, with a message, also if a process has not come in time.
// Ownership. lpf_mpi_finalize() frees `init`.
lpf_err_t lpf_mpi_initialize_over_tcp(const char *server, const char *port, int timeout,
                                      lpf_pid_t pid, lpf_pid_t nprocs, lpf_init_t *init);

// Leaves the processes. All call it, after the last lpf_hook().
lpf_err_t lpf_mpi_finalize(lpf_init_t init);

#ifdef __cplusplus
}
#endif
