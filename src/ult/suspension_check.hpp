// SPDX-License-Identifier: Apache-2.0
// What a task must not take along over a wait, because another thread may continue it: a locked std::mutex, and the address of
// a thread_local variable or of errno. Setting check.suspensions; docs/design/tls.md says how it finds them.
#pragma once

#include "config/settings.hpp"

#include <weft/config.hpp>

namespace weft::inline v0 {
namespace rt {

/// Of one suspension. Written on the stack that is left; lies in its frame.
struct suspension_note {
  const void *address; // of thread-local memory, found in the frames of the stack; or null
  const void *thread;  // that it belongs to
  int locks;           // that the stack holds
};

enum suspension_watch : std::uint8_t { k_checks_suspensions = 1, k_traces_suspensions = 2 };
extern std::uint8_t g_watch_suspensions; // before the first worker, then constant
inline bool suspensions_are_watched() noexcept { return g_watch_suspensions != 0; }
inline bool suspensions_are_checked() noexcept { return g_watch_suspensions & k_checks_suspensions; }

/// `label`: that of the running task; null when a thread's own code runs.
void check_suspensions(check_kind kind, const char *(*label)()) noexcept;

/// Suspensions are told to the trace. Before the first worker.
void trace_suspensions(bool on) noexcept;

/// On the stack that will be left: what may go on on another thread reports its locks and notes addresses up to
/// `top`, the high end of its stack; `top` is null for what may not.
WEFT_NOINLINE void note_suspension(suspension_note &note, const void *top) noexcept;
/// On the same stack, continued: reports the address that was noted when the thread is another one.
WEFT_NOINLINE void check_resumption(const suspension_note &note) noexcept;

} // namespace rt
} // namespace weft::inline v0
