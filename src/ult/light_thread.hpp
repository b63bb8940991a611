// SPDX-License-Identifier: Apache-2.0
// Threads of layers on stacks of their own.
#pragma once

#include "ult/thread_context.hpp"

#include <weft/layer/thread.hpp>

namespace weft::inline v0 {
namespace rt {

/// Makes a frame that, when continued, calls body(argument) on a stack of its own of at least
/// `bytes`, and then ends. The frame represents no task. `runs`: the runtime that the stack runs for.
/// Throws weft::error, out_of_resources.
[[nodiscard]] runnable &make_light_thread(std::size_t bytes, void (*body)(void *), void *argument,
                                          layer::client runs);

} // namespace rt
} // namespace weft::inline v0
