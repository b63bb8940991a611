// SPDX-License-Identifier: Apache-2.0
// Setting stack.watermark: measures how much of its stack a task uses.
#pragma once

#include "task/task.hpp"

namespace weft::inline v0 {
namespace rt {

WEFT_COLD void run_measured(task &t, void (*invoke)(task &) noexcept) noexcept;

} // namespace rt
} // namespace weft::inline v0
