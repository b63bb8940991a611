// SPDX-License-Identifier: Apache-2.0
// The atomic types of layers/threads, under the names of this layer.
#pragma once

#include <weft_threads/sync/atomics.hpp>

namespace weft_omp {
using namespace weft_threads;
} // namespace weft_omp
