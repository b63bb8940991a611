// SPDX-License-Identifier: Apache-2.0
// How writes that overlap become writes that do not.
#pragma once

#include <weft/net/transport.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace weft_lpf {

/// Is a long copy into memory of this process, which it reads from another one.
struct long_read {
  std::byte *to = nullptr;
  std::size_t bytes = 0;
  int from = 0; ///< the process that has the source
  weft::net::memory_key key; ///< of the source
  std::uint64_t offset = 0;  ///< in it
};

/// Cuts reads so that none overlaps another one: of those that share bytes, one has them all, which is
/// the result of doing them one after the other, the first of the list last. So they may run at once.
///
/// Cost. Of n reads, n log n; no byte is read twice, and at most 2n - 1 reads result.
/// Errors. std::bad_alloc; then the list is unchanged.
void make_disjoint(std::vector<long_read> &reads);

} // namespace weft_lpf
