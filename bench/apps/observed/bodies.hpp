// SPDX-License-Identifier: Apache-2.0
// What the tasks of an observed application record of themselves. The functions are not inline: the
// compiler must not keep the address of a thread's own variables across a spawn, which may wait.
#pragma once

#include <cstdint>

namespace observed {

/// Returns the time, for end_body().
[[nodiscard]] std::uint64_t begin_body();
void end_body(std::uint64_t began);
/// Returns true if the program itself spawns, and no task's body does; for after_spawn().
[[nodiscard]] bool before_spawn();
void after_spawn(bool by_program);

} // namespace observed
