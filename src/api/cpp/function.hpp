// SPDX-License-Identifier: Apache-2.0
// Spawning an independent function whose body is called in a way of its own.
// Bodies: function.cpp, worker_set.cpp
#pragma once

#include <weft/detail/core.hpp>
#include <weft/function.hpp>

namespace weft::inline v0 {
namespace rt {

using any_function = void (*)(); // to be cast back

/// Returns the number of a set of workers; 0 is that of all workers. Throws weft::error for a set
/// of another process.
[[nodiscard]] unsigned number_of(const worker_set &set);

/// Spawns as spawn_function() a function whose body `invoke` calls. The storage that `invoke` gets
/// starts with `f` and `arg`.
void spawn_function_with(void (*invoke)(void *storage), any_function f, void *arg,
                         void (*on_completion)(void *), void *completion_arg,
                         const function_options &options);

} // namespace rt
} // namespace weft::inline v0
