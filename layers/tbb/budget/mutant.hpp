// SPDX-License-Identifier: Apache-2.0
// Seeded bugs of this library.
#pragma once

#include <weft_common/mutant.hpp>

namespace weft_tcm {

enum class bug : int {
#define WEFT_MUTANT(number, name, place, breaks, killers) name = number,
#include "mutants.def"
#undef WEFT_MUTANT
};

using weft_common::order_unless;
using weft_common::unless;

} // namespace weft_tcm
