// SPDX-License-Identifier: Apache-2.0
// Seeded bugs of this module. A layer above has a table `bug` of its own, and the same wrappers.
#pragma once

#include <weft_common/mutant.hpp>

namespace weft_threads {

enum class bug : int {
#define WEFT_MUTANT(number, name, place, breaks, killers) name = number,
#include "weft_threads/sync/mutants.def"
#undef WEFT_MUTANT
};

using weft_common::order_unless;
using weft_common::unless;

} // namespace weft_threads
