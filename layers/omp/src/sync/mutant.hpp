// SPDX-License-Identifier: Apache-2.0
// Seeded bugs of this layer, like those of src/base/mutant.hpp. They leave no code,
// except in builds with WEFT_MUTANTS.
#pragma once

#include <weft_threads/sync/mutant.hpp>

namespace weft_omp {

enum class bug : int {
#define WEFT_MUTANT(number, name, place, breaks, killers) name = number,
#include "sync/mutants.def"
#undef WEFT_MUTANT
};

using weft_threads::order_unless;
using weft_threads::unless;

} // namespace weft_omp
