// SPDX-License-Identifier: Apache-2.0
// Regions that tasks of Weft's own begin.
// Such a task runs on a stack that any worker continues, with the thread-local block of that
// worker. So the task cannot be a member of a team, because the code of a member is compiled for
// one thread-local block. A lightweight thread, the proxy of the task, begins the region. The task
// waits for the end of the region.
#pragma once

#include "team/team.hpp"

namespace weft_omp {

/// Returns whether a region that the thread begins needs a proxy.
[[nodiscard]] inline bool needs_proxy(const thread &self) noexcept {
  return self.hosts_weft_task && self.team->level == 0;
}

/// Calls `call(argument)` on a lightweight thread, whose initial task has the settings of the
/// caller's task.
/// If no such thread can be started, calls it on the caller's stack.
[[gnu::cold]] void on_proxy_thread(thread &self, void (*call)(void *), void *argument);
template <class F>
void on_proxy_thread(thread &self, F f) {
  on_proxy_thread(self, [](void *p) { (*static_cast<F *>(p))(); }, &f);
}

/// Forgets the proxies in the child of fork(), because they are threads of the parent.
void forget_proxies() noexcept;

} // namespace weft_omp
