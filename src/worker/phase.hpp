// SPDX-License-Identifier: Apache-2.0
// The phase of this process's runtime, on which starting, adopting threads, forking and stopping
// agree.
#pragma once

#include "worker/runtime.hpp"

#include <atomic>
#include <pthread.h>

namespace weft::inline v0 {
namespace rt {

enum class phase { not_started, running, stopped, forked_in_task };

extern pthread_mutex_t g_start_mutex;
extern std::atomic<phase> g_phase;

struct start_lock {
  start_lock() { pthread_mutex_lock(&g_start_mutex); }
  ~start_lock() { pthread_mutex_unlock(&g_start_mutex); }
};

/// Starts the runtime. The caller has the start lock. Throws weft::error after shutdown.
void start_locked();
/// Makes a slot's worker, without a thread. The caller has the start lock.
worker &make_worker(runtime &rt, unsigned id);
/// Ends what a thread has done as a task; throws what that has thrown.
void end_root(task &root);
/// Does what layer::outlive_exit says.
void outlive_exit(bool (*threads_compute)()) noexcept;
/// Adopts the timer's thread, once there are services that it calls.
thread_context *adopt_timer() noexcept;
/// Ends a process that was forked inside of a task and uses Weft.
[[noreturn]] void refuse_forked_task() noexcept;

} // namespace rt
} // namespace weft::inline v0
