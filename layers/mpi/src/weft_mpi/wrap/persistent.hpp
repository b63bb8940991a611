// SPDX-License-Identifier: Apache-2.0
// The persistent requests of the program. MPI cannot be asked, and bind() leaves their handles alone.
#pragma once

#include "weft_mpi/service/mpi.hpp"

namespace weft_mpi {

void add_persistent(MPI_Request request) noexcept;
void remove_persistent(MPI_Request request) noexcept;
[[nodiscard]] bool is_persistent(MPI_Request request) noexcept;

} // namespace weft_mpi
