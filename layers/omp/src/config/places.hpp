// SPDX-License-Identifier: Apache-2.0
// Places as OMP_PLACES writes them.
#pragma once

#include "config/icv.hpp"

namespace weft_omp {

/// Reads a text in the form of OMP_PLACES. False: the text cannot be read.
/// `missing` gets a cpu that the text names and the machine does not have; it is unchanged if there
/// is none.
bool parse_places(const char *text, std::vector<place> &into, int *missing = nullptr);
/// Returns the abstract name with which a text begins; null: none.
[[nodiscard]] const char *places_kind(const char *text) noexcept;

} // namespace weft_omp
