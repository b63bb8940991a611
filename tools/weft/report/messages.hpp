// SPDX-License-Identifier: Apache-2.0
// What ranks have sent to each other, summed up by pairs of ranks.
#pragma once

#include "tools/weft/trace/rank_traces.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace weft_tool {

/// Is what one rank has sent to another one.
struct rank_pair {
  std::uint16_t from = 0, to = 0;
  std::uint64_t operations = 0, bytes = 0;
  std::uint64_t arrived = 0; // of the operations, those whose other end is in a trace
  double arrival_ns = 0, longest_ns = 0; // from the send to the arrival: the median, the longest
};

/// Sums up all sends; the pair with most bytes first, of equals the one with most operations.
[[nodiscard]] std::vector<rank_pair> pairs_of(const std::vector<message_mark> &messages);

/// Returns a sentence on all messages, "" where there are none.
[[nodiscard]] std::string sentence_of(const std::vector<rank_pair> &pairs);

/// Returns the part of a page that lists the pairs, "" where there are none.
[[nodiscard]] std::string message_table(const std::vector<rank_pair> &pairs);

} // namespace weft_tool
