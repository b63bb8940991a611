// SPDX-License-Identifier: Apache-2.0
// Reads the variables of binding and places.
#pragma once

#include "config/icv.hpp"

namespace weft_omp {

/// Reads OMP_PROC_BIND and OMP_PLACES or, if these are not set, GOMP_CPU_AFFINITY and KMP_AFFINITY.
void read_places(globals &all);
/// Reads LLVM's variables of hidden helper threads.
void read_helpers(globals &all);

} // namespace weft_omp
