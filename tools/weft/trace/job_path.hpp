// SPDX-License-Identifier: Apache-2.0
// The critical path of a job: from the end of the rank that ended last back through what each step waited
// for, over messages from rank to rank. It is that of the run as it was, so its parts add up to its time.
#pragma once

#include "tools/weft/trace/rank_traces.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace weft_tool {

/// Is one part of the path.
struct path_part {
  enum kind : unsigned char {
    computing,
    message, // on its way: from its send to its arrival, or to the end of the operation
    runtime // all else: until a worker runs what could run
  };
  kind what = computing;
  std::uint32_t trace = 0; // the index; of a message: where it arrives
  std::uint16_t from = 0; // of a message: the rank that sent it
  std::uint16_t type = 0; // of a body
  unsigned slot = 0; // of a body
  std::int64_t begin = 0, end = 0; // since the first of the traces began
  [[nodiscard]] std::int64_t ns() const noexcept { return end - begin; }
};

struct job_path {
  std::vector<path_part> parts; // the first of the run first
  [[nodiscard]] std::int64_t ns() const noexcept {
    return parts.empty() ? 0 : parts.back().end - parts.front().begin;
  }
};

/// Finds the path. Throws weft::error where a trace is of a lower level than graph.
[[nodiscard]] job_path find_job_path(rank_traces &traces, const std::vector<message_mark> &messages);

} // namespace weft_tool
