// SPDX-License-Identifier: Apache-2.0
// fork() of a program that uses Weft.
#pragma once

namespace weft::inline v0 {
namespace rt {

/// Ends a process that was forked inside of a task and uses Weft.
[[noreturn]] void refuse_forked_task() noexcept;

} // namespace rt
} // namespace weft::inline v0
