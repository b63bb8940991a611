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

} // namespace rt
} // namespace weft::inline v0
