// SPDX-License-Identifier: Apache-2.0
// Regions that tasks of Weft's own begin. Such a task is on a stack that any worker continues, with the thread-local block of that worker, so it cannot be a
// member of a team: the code of a member is compiled for a block that stays. A lightweight thread, its proxy, begins the region, and the task waits for the end of it.
#pragma once

#include "team/team.hpp"

namespace weft_omp {

/// Whether a region that the thread begins is one of these.
[[nodiscard]] inline bool needs_proxy(const thread &t) noexcept { return t.hosts_weft_task && t.team->level == 0; }

/// Calls `call(argument)` on a lightweight thread whose initial task has the settings of the caller's, or on the caller's stack where there is none to be had.
[[gnu::cold]] void on_proxy_thread(thread &t, void (*call)(void *), void *argument);
template <class F>
void on_proxy_thread(thread &t, F f) {
  on_proxy_thread(t, [](void *p) { (*static_cast<F *>(p))(); }, &f);
}

/// Of the child of fork(): they are the parent's.
void forget_proxies() noexcept;

} // namespace weft_omp
