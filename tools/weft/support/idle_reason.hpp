// SPDX-License-Identifier: Apache-2.0
// Why workers had nothing to do, as far as counters tell.
#pragma once

#include "observe/reading.hpp"

#include <string>

namespace weft_tool {

struct idle_reason_of {
  const char *word; // for programs: none, stands-still, creation, waiting, held-back, ready
  std::string text; // for people; empty with `none`
};

/// Returns why workers were idle in `spent`, the interval that ends with `now`.
[[nodiscard]] idle_reason_of why_idle(const weft::rt::reading &now, const weft::rt::reading &spent);

} // namespace weft_tool
