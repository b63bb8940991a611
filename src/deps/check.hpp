// SPDX-License-Identifier: Apache-2.0
// Setting deps.check: what a task names must be covered by what its parent declares.
#pragma once

#include "task/task.hpp"

namespace weft::inline v0 {
namespace rt {

/// Reports the accesses of `t`, filled and not yet entered, that its parent does not cover. A parent that declares nothing covers all.
WEFT_COLD void report_undeclared(task &t) noexcept;

} // namespace rt
} // namespace weft::inline v0
