// SPDX-License-Identifier: Apache-2.0
// Tasks whose bodies have ended and that external events keep from ending: nobody else may know them.
#pragma once

#include "task/task.hpp"

namespace weft::inline v0 {
namespace rt {

/// By who ends the body, before it takes the body's hold off the events.
void note_held(task &t, task_extra &x) noexcept;
/// By who took the last event back, or by who noted it when there was none left.
void forget_held(task_extra &x) noexcept;
/// No task of the list ends meanwhile. `f` must not call either of the others.
void for_each_held(void (*f)(task &, void *), void *context);
void forget_held_in_child() noexcept;

} // namespace rt
} // namespace weft::inline v0
