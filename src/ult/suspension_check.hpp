// SPDX-License-Identifier: Apache-2.0
// Checks what a task takes along over a wait, because another thread may continue it. Forbidden are
// a locked std::mutex, and the address of a thread_local variable or of errno. Setting
// check.suspensions; docs/design/tls.md says how they are found.
//
// The same byte says whether a layer moves data of a kernel thread along with the stacks.
#pragma once

#include "config/settings.hpp"

#include <weft/layer/thread.hpp>

#include <atomic>

namespace weft::inline v0 {
namespace rt {

/// Notes one suspension. Written on the stack that is left; is in its frame.
struct suspension_note {
  const void *address; // of thread-local memory, found in the frames of the stack; or null
  const void *thread; // the thread that the memory belongs to
  int locks; // locked by this stack
};

enum suspension_watch : std::uint8_t {
  k_checks_suspensions = 1,
  k_traces_suspensions = 2,
  k_moves_data = 4
};
// The first two bits are set before the first worker, the last one at any time.
extern std::atomic<std::uint8_t> g_watch_suspensions;
inline std::uint8_t watch_of_suspensions() noexcept {
  return g_watch_suspensions.load(std::memory_order_relaxed); // publishes nothing
}
inline bool suspensions_are_watched() noexcept { return watch_of_suspensions() != 0; }
inline bool suspensions_are_checked() noexcept {
  return watch_of_suspensions() & k_checks_suspensions;
}
inline bool suspensions_move_data() noexcept { return watch_of_suspensions() & k_moves_data; }

/// Sets the kind of check. `label`: returns that of the running task; null when a thread's own code
/// runs.
void check_suspensions(check_kind kind, const char *(*label)()) noexcept;

/// Records suspensions in the trace. Called before the first worker.
void trace_suspensions(bool on) noexcept;

// O1: release and acquire: a thread that calls the functions sees what they rely on.
extern std::atomic<const layer::suspension_calls *> g_suspension_calls;
/// Makes suspensions call the functions from now on. Another thread may miss that for a while unless
/// it has synchronized with the caller. `calls` stays valid for ever.
void call_at_suspensions(const layer::suspension_calls &calls) noexcept;

/// Notes a suspension, on the stack that will be left. If the stack may go on on another thread,
/// reports its locks and notes addresses up to `top`, the high end of the stack. `top` is null if
/// it may not.
WEFT_NOINLINE void note_suspension(suspension_note &note, const void *top) noexcept;
/// Reports the address that was noted if the thread is another one. Called on the same stack,
/// continued.
WEFT_NOINLINE void check_resumption(const suspension_note &note) noexcept;

} // namespace rt
} // namespace weft::inline v0
