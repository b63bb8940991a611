// SPDX-License-Identifier: Apache-2.0
// Spawning an independent function whose body is called in a way of its own.
#pragma once

#include <weft/detail/core.hpp>
#include <weft/function.hpp>

namespace weft::inline v0 {
namespace rt {

using any_function = void (*)(); // to be cast back

/// Of a set of workers; 0 is that of all. Throws weft::error for one of another process.
[[nodiscard]] unsigned number_of(const worker_set &set);

/// spawn_function() for a body that `invoke` calls; the storage that it gets starts with `f` and `arg`.
void spawn_function_with(void (*invoke)(void *storage), any_function f, void *arg, void (*on_completion)(void *), void *completion_arg,
                         const function_options &options);

} // namespace rt
} // namespace weft::inline v0
