// SPDX-License-Identifier: Apache-2.0
// What this folder calls and a higher folder supplies at link time.
#pragma once

#include "task/task.hpp"

namespace weft::inline v0 {
namespace rt {

// Supplied by deps/.

/// Throws weft::error if the two do not add up in the same way, and the task names both for one
/// address.
void check_same(const task &t, const detail::reduction_spec &a, const detail::reduction_spec &b);
/// Throws weft::error for an impossible number of elements.
void check_extent(const task &t, const detail::reduction_spec &spec);

} // namespace rt
} // namespace weft::inline v0
