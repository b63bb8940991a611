// SPDX-License-Identifier: Apache-2.0
// The spin lock of layers/threads, under the names of this layer.
#pragma once

#include <weft_threads/sync/spin.hpp>

namespace weft_omp {
using namespace weft_threads;
} // namespace weft_omp
