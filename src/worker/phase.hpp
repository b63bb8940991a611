// SPDX-License-Identifier: Apache-2.0
// How far the runtime of this process is: what starting, adopting threads, forking and stopping agree on.
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

/// With the start lock. Throws weft::error after shutdown.
void start_locked();
/// With the start lock. A slot's worker, without a thread.
worker &make_worker(runtime &rt, unsigned id);
/// The end of what a thread has done as a task; throws what that has thrown.
void end_root(task &root);
/// See layer::outlive_exit.
void outlive_exit(bool (*threads_compute)()) noexcept;
/// For the timer's thread, once there are services that it calls.
thread_context *adopt_timer() noexcept;
/// In a process that was forked inside of a task.
[[noreturn]] void refuse_forked_task() noexcept;

} // namespace rt
} // namespace weft::inline v0
