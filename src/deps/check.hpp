// SPDX-License-Identifier: Apache-2.0
// Setting deps.check: what a task names must be covered by what its parent declares.
#pragma once

#include "task/task.hpp"

namespace weft::inline v0 {
namespace rt {

class region_scope;

/// Reports the accesses of `t`, filled and not yet entered, that its parent does not cover. A parent that declares nothing covers all.
WEFT_COLD void report_undeclared(task &t) noexcept;
/// The same where accesses are regions: `its` are those of `t`.
WEFT_COLD void report_undeclared(const task &t, const region_scope &its) noexcept;

} // namespace rt
} // namespace weft::inline v0
