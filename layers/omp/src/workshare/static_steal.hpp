// SPDX-License-Identifier: Apache-2.0
// The schedule static_steal: ranges of chunks, one a member (<weft/detail/chunk_range.hpp>).
#pragma once

#include <weft/detail/chunk_range.hpp>

namespace weft_omp {

using chunk_range = weft::detail::basic_chunk_range<>;
using weft::detail::split_chunks;
using weft::detail::steal_half;

} // namespace weft_omp
