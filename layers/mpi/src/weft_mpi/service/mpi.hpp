// SPDX-License-Identifier: Apache-2.0
// MPI's C interface, alone, and what the library must know of the two MPIs.
#pragma once

#define OMPI_SKIP_MPICXX 1
#define MPICH_SKIP_MPICXX 1
// The functions that the library defines are visible, which MPICH's header leaves to the compiler.
#pragma GCC visibility push(default)
#include <mpi.h>
#pragma GCC visibility pop

namespace weft_mpi {

#if defined(OPEN_MPI)
inline constexpr const char k_this_mpi[] = "Open MPI";
inline constexpr const char k_other_mpi[] = "MPICH";
inline constexpr const char k_this_library[] = "libweft-mpi-openmpi.so";
inline constexpr const char k_other_library[] = "libweft-mpi-mpich.so";
#elif defined(MPICH)
inline constexpr const char k_this_mpi[] = "MPICH";
inline constexpr const char k_other_mpi[] = "Open MPI";
inline constexpr const char k_this_library[] = "libweft-mpi-mpich.so";
inline constexpr const char k_other_library[] = "libweft-mpi-openmpi.so";
#else
#error "layers/mpi knows Open MPI and MPICH; this mpi.h is of another MPI"
#endif

} // namespace weft_mpi
