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

/// Takes the start lock. A lightweight thread keeps its kernel thread until it gives the lock back:
/// the watcher takes the lock, too, and without the watcher no worker may come to a thread that has
/// left. Returns what give_back_start_lock() needs.
inline const layer::carrier_calls *take_start_lock() noexcept {
  pthread_mutex_lock(&g_start_mutex);
  const layer::carrier_calls *const calls = carrier();
  if (!calls || !calls->keep_kernel_thread)
    return nullptr;
  calls->keep_kernel_thread(1);
  return calls;
}
inline void give_back_start_lock(const layer::carrier_calls *calls) noexcept {
  if (calls)
    calls->keep_kernel_thread(-1);
  pthread_mutex_unlock(&g_start_mutex);
}

class start_lock {
 public:
  start_lock() noexcept : m_calls(take_start_lock()) {}
  ~start_lock() { give_back_start_lock(m_calls); }
  start_lock(const start_lock &) = delete;
  start_lock &operator=(const start_lock &) = delete;

 private:
  const layer::carrier_calls *m_calls;
};

} // namespace rt
} // namespace weft::inline v0
