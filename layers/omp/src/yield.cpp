// SPDX-License-Identifier: Apache-2.0
// sched_yield() of an OpenMP thread gives way to other OpenMP threads: libraries wait with it for flags that these set, and the kernel knows
// of the worker only. In place of the C library's, under its version, wherever this library comes first.
#include "team.hpp"

#include <sched.h>

using namespace weft_omp;

namespace {

/// Code of the program runs, in a region; not Weft, which calls sched_yield() as well.
bool may_give_way(const thread *t) noexcept {
  if (!t || t_spin_locks != 0)
    return false;
  return t->block ? t->block == thread_pointer() : !t->in_weft && t->crew->level != 0;
}

constexpr unsigned k_kernel_each = 8; // the one that sets the flag may wait for a cpu

} // namespace

extern "C" __attribute__((visibility("default"))) int sched_yield() noexcept {
  thread *const t = known_self();
  if (!may_give_way(t)) {
    yield_kernel_thread();
    return 0;
  }
  give_way(*t);
  if (++t->yields % k_kernel_each == 0)
    yield_kernel_thread();
  return 0;
}
