// SPDX-License-Identifier: Apache-2.0
// Seeded bugs of the library.
#pragma once

#include <weft_common/mutant.hpp>

namespace weft::inline v0 {
namespace rt {

enum class bug : int {
#define WEFT_MUTANT(number, name, place, breaks, killers) name = number,
#include "base/mutants.def"
#undef WEFT_MUTANT
};

using weft_common::order_unless;
using weft_common::unless;

} // namespace rt
} // namespace weft::inline v0
