// SPDX-License-Identifier: Apache-2.0
// Task reductions. The compiler lays out one array per clause list:
// - [0] the number of variables;
// - [1] the bytes of one thread's copies;
// - [2] the alignment of the copies; afterwards the copies of all threads;
// - [3] an allocator;
// - [4] the next array;
// - [5] for this library: an index;
// - [6] the end of the copies;
// - then three words per variable: its address, its offset in the copies and, for this library, its
//   array.
#pragma once

#include "team/team.hpp"
#include <cstdint>

namespace weft_omp {

/// Register task reductions.
void register_reductions(thread &self, std::uintptr_t *data,
                         const std::uintptr_t *first_of_workshare);
task_group *register_parallel_reductions(std::uintptr_t *data, unsigned threads);
void begin_workshare_group(thread &self);

} // namespace weft_omp
