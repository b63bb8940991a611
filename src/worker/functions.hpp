// SPDX-License-Identifier: Apache-2.0
// The parent of independent functions. It has no accesses and no body; only the end of the program
// waits for it.
#pragma once

#include "task/task.hpp"

namespace weft::inline v0 {
namespace rt {

task &functions_root() noexcept;
/// Returns whether functions have been spawned that are not complete.
[[nodiscard]] bool functions_are_pending() noexcept;

/// Forgets the functions of the parent process in the child of a fork(). Streams that were made
/// before the fork are recognized by the generation.
void forget_functions_after_fork();
[[nodiscard]] unsigned functions_generation() noexcept;

} // namespace rt
} // namespace weft::inline v0
