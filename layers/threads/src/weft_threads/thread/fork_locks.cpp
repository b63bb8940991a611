// SPDX-License-Identifier: Apache-2.0
#include "weft_threads/thread/fork_locks.hpp"

#include "weft_threads/thread/fatal.hpp"

#include <mutex>

#include <pthread.h>

namespace weft_threads {
namespace {

/// Locks, none of which is taken while another one is held.
struct fork_locks {
  static constexpr unsigned k_most = 16;
  spin_lock adding; // for what follows; held over forks, too
  spin_lock *all[k_most] = {};
  unsigned count = 0;
};
constinit fork_locks g_fork_locks;

void take_all() {
  g_fork_locks.adding.lock();
  for (unsigned i = 0; i < g_fork_locks.count; ++i)
    g_fork_locks.all[i]->lock();
}
void give_all_back() {
  for (unsigned i = 0; i < g_fork_locks.count; ++i)
    g_fork_locks.all[i]->unlock();
  g_fork_locks.adding.unlock();
}

// When the library is loaded, which is before any door is: the handler that was registered last runs
// first, and some handlers of doors and of programs let other threads run, which may take the locks.
[[maybe_unused]] const int g_takes_all = pthread_atfork(&take_all, &give_all_back, &give_all_back);

} // namespace

void hold_over_fork(spin_lock &lock) noexcept {
  std::lock_guard guard(g_fork_locks.adding);
  if (g_fork_locks.count == fork_locks::k_most)
    fatal("too many locks that are held over a fork");
  g_fork_locks.all[g_fork_locks.count++] = &lock;
}

} // namespace weft_threads
