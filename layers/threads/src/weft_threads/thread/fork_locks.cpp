// SPDX-License-Identifier: Apache-2.0
#include "weft_threads/thread/fork_locks.hpp"

#include "weft_threads/thread/fatal.hpp"

#include <mutex>

#include <pthread.h>

namespace weft_threads {
namespace {

constexpr unsigned k_most = 16;

/// What doors hold by functions of theirs. It is taken before the locks: to take it may need them.
struct held {
  void (*take)();
  void (*give_back)(bool is_child);
};

/// Locks, none of which is taken while another one is held.
struct fork_locks {
  spin_lock adding; // for what follows; held over forks, too
  spin_lock *all[k_most] = {};
  unsigned count = 0;
  held of_doors[k_most] = {};
  unsigned doors = 0;
};
constinit fork_locks g_fork_locks;

void take_all() {
  g_fork_locks.adding.lock();
  for (unsigned i = 0; i < g_fork_locks.doors; ++i)
    g_fork_locks.of_doors[i].take();
  for (unsigned i = 0; i < g_fork_locks.count; ++i)
    g_fork_locks.all[i]->lock();
}
template <bool is_child>
void give_all_back() {
  for (unsigned i = 0; i < g_fork_locks.count; ++i)
    g_fork_locks.all[i]->unlock();
  for (unsigned i = 0; i < g_fork_locks.doors; ++i)
    g_fork_locks.of_doors[i].give_back(is_child);
  g_fork_locks.adding.unlock();
}

// When the library is loaded, which is before any door is: the handler that was registered last runs
// first, and some handlers of doors and of programs let other threads run, which may take the locks.
[[maybe_unused]] const int g_takes_all =
    pthread_atfork(&take_all, &give_all_back<false>, &give_all_back<true>);

} // namespace

void hold_over_fork(spin_lock &lock) noexcept {
  std::lock_guard guard(g_fork_locks.adding);
  if (g_fork_locks.count == k_most)
    fatal("too many locks that are held over a fork");
  g_fork_locks.all[g_fork_locks.count++] = &lock;
}

void hold_over_fork(void (*take)(), void (*give_back)(bool)) noexcept {
  std::lock_guard guard(g_fork_locks.adding);
  if (g_fork_locks.doors == k_most)
    fatal("too many doors that hold something over a fork");
  g_fork_locks.of_doors[g_fork_locks.doors++] = {take, give_back};
}

} // namespace weft_threads
