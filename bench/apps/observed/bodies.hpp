// SPDX-License-Identifier: Apache-2.0
// What the tasks of an observed application say of themselves. Not inline: a thread's own variables are not to be remembered across a spawn,
// which may wait.
#pragma once

#include <cstdint>

namespace observed {

/// The time, for end_body().
[[nodiscard]] std::uint64_t begin_body();
void end_body(std::uint64_t began);
/// True: no task's body spawns, but the program itself; for after_spawn().
[[nodiscard]] bool before_spawn();
void after_spawn(bool by_program);

} // namespace observed
