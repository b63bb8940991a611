// SPDX-License-Identifier: Apache-2.0
// HPX's names on Weft: how an algorithm may run.
#pragma once

#include <weft/algorithm.hpp>

#include <cstddef>

namespace hpx::execution {

using weft::execution::par;
using weft::execution::par_unseq;
using weft::execution::parallel_policy;
using weft::execution::parallel_unsequenced_policy;
using weft::execution::seq;
using weft::execution::sequenced_policy;
using weft::execution::task;
using weft::execution::unseq;

namespace experimental {

/// Gives a block so many elements; without a number the algorithm chooses.
struct static_chunk_size : weft::execution::grain {
  explicit constexpr static_chunk_size(std::size_t n = 0) noexcept : grain(n) {}
};
struct dynamic_chunk_size : weft::execution::grain {
  explicit constexpr dynamic_chunk_size(std::size_t n = 1) noexcept : grain(n) {}
};
/// Lets the algorithm choose: its blocks shrink towards the end by themselves.
struct guided_chunk_size : weft::execution::grain {
  explicit constexpr guided_chunk_size(std::size_t /*least*/ = 1) noexcept : grain(0) {}
};
struct auto_chunk_size : weft::execution::grain {
  constexpr auto_chunk_size() noexcept : grain(0) {}
};
using persistent_auto_chunk_size = auto_chunk_size;

} // namespace experimental

using experimental::auto_chunk_size;
using experimental::dynamic_chunk_size;
using experimental::guided_chunk_size;
using experimental::static_chunk_size;

} // namespace hpx::execution
