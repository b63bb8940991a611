// SPDX-License-Identifier: Apache-2.0
// Unstable: tasks that a layer runs by itself, ordered by Weft. Changes with any version.
#pragma once

#include <weft/access.hpp>
#include <weft/detail/core.hpp>
#include <weft/layer/external_body.hpp>
#include <weft/region.hpp>

#include <cstddef>

namespace weft::inline v0 {
namespace layer {

using external_task = detail::task;

/// Enters a task without a body.
///
/// - True: the accesses of the task allow it to run.
/// - False: the thread that makes the task ready calls `onready(context)`, perhaps before this call
///   returns. `onready` must not wait or throw.
/// - The task lasts until end_external_task().
/// - `parent` is an external task that has not ended, or null. With null the parent is anonymous,
///   and the task has no accesses.
/// - Siblings are ordered as by spawn().
/// - `*self` is written before `onready` can be called.
///
/// Threads. Any; one call at a time for one parent.
/// Errors. out_of_resources, shut_down.
WEFT_API bool enter_external_task(external_task *parent, const access *list, std::size_t count,
                                  void (*onready)(void *), void *context, external_task **self);

/// Says in which slot a creation is counted and recorded, and by what name.
struct noted_creation {
  body_log *log;
  described_body what;
  std::uint32_t number = 0; ///< of the task in a trace, for begin_body()
};

/// Does the same for a task whose accesses are regions: they are ordered where their bytes overlap.
/// All children of one parent name objects, or all name regions. `label` is for messages. `noted`
/// may be null: then nothing counts the task.
///
/// Threads. As enter_external_task().
/// Errors. As enter_external_task(); invalid_argument for an impossible region, and where earlier
/// children have named objects. After an error there is no task.
WEFT_API bool enter_external_regions(external_task &parent, const region_access *list,
                                     std::size_t count, const char *label, void (*onready)(void *),
                                     void *context, external_task **self,
                                     noted_creation *noted = nullptr);

/// Calls `visit(context, address)` for each address that children of `parent` have named and that
/// may have to be waited for; the calls may include other addresses. Where accesses are ordered as
/// regions, the address is the one where each run of bytes begins. `visit` must not use Weft.
///
/// Threads. The thread that enters the children.
WEFT_API void visit_addresses(external_task &parent,
                              void (*visit)(void *context, const void *address), void *context);

/// Ends a task that has run: tasks that wait for its accesses may go on. The task is complete when
/// the tasks below it are complete. The call is the last use of the task. With `ready`, Weft calls
/// `ready(receiver, context)` for external tasks that this end lets run, instead of their
/// `onready`; tasks that other workers find are an exception.
///
/// Threads. Any.
WEFT_API void end_external_task(external_task &task,
                                void (*ready)(void *receiver, void *context) = nullptr,
                                void *receiver = nullptr);

} // namespace layer
} // namespace weft::inline v0
