// SPDX-License-Identifier: Apache-2.0
// Workers for the threads that come and go.
#pragma once

#include "task/task.hpp"

#include <weft/layer/thread.hpp>

namespace weft::inline v0 {
namespace rt {

class runtime;
struct spare;
struct worker;

/// Returns the calling thread's worker. On first use it adopts the thread, and starts the runtime.
/// Throws weft::error after shutdown or when there is no slot.
WEFT_COLD worker &adopt();
/// Makes the calling thread the worker's thread.
void settle_on_thread(worker &w);
/// Makes a worker for a spare, in a free slot; returns null when all slots are taken.
worker *make_spare_worker(runtime &rt, spare &taker);
/// Returns a slot for a thread that is not adopted; null when all are taken. The caller has the start
/// lock.
worker *lend_slot(runtime &rt);
/// Makes a slot's worker, without a thread. The caller has the start lock.
worker &make_worker(runtime &rt, unsigned id);
/// Ends what a thread has done as a task; throws what that has thrown.
void end_root(task &root);
/// Adopts the timer's thread, once there are services that it calls.
thread_context *adopt_timer() noexcept;
/// Does what layer::park_on_carriers says.
void set_carrier(const layer::carrier_calls &calls) noexcept;
/// Returns the functions that park lightweight threads with blocks of their own; null: there are none.
const layer::carrier_calls *carrier() noexcept;

} // namespace rt
} // namespace weft::inline v0
