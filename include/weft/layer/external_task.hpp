// SPDX-License-Identifier: Apache-2.0
// Unstable: tasks that a layer runs by itself, ordered by Weft. Changes with any version.
#pragma once

#include <weft/access.hpp>
#include <weft/detail/core.hpp>

#include <cstddef>

namespace weft::inline v0 {
namespace layer {

using external_task = detail::task;

/// Enters a task without a body. True: its accesses allow it to run. Else `onready(context)` is called when they do, by whoever made it so, perhaps before this
/// returns; it must not wait or throw. The task lasts until end_external_task(). `parent` is an external task that has not ended, or null: of an anonymous parent, and then
/// without accesses. Siblings are ordered as by spawn(). `*self` is written before `onready` can be called. For one parent: one call
/// at a time. Throws weft::error, out_of_resources, shut_down.
WEFT_API bool enter_external_task(external_task *parent, const access *list, std::size_t count, void (*onready)(void *), void *context,
                                  external_task **self);

/// Calls `visit(context, address)` for each address that children of `parent` have named and that may have to be waited for; others may be among them.
/// Where accesses are ordered as regions, it is the address where each run of bytes begins. By who enters the children; `visit` is to leave Weft alone.
WEFT_API void visit_addresses(external_task &parent, void (*visit)(void *context, const void *address), void *context);

/// The task has run: what waits for its accesses may go on; it is complete when the tasks below it are. The last touch. Any thread. With `ready`, external tasks
/// that this lets run are told to it, `ready(receiver, context)`, instead of by calls of their `onready`, except for those that other workers find.
WEFT_API void end_external_task(external_task &t, void (*ready)(void *receiver, void *context) = nullptr, void *receiver = nullptr);

} // namespace layer
} // namespace weft::inline v0
