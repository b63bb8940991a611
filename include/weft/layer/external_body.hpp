// SPDX-License-Identifier: Apache-2.0
// Unstable: how a layer that runs tasks on threads of its own has them counted, and recorded in
// traces. Changes with any version.
#pragma once

#include <weft/config.hpp>

#include <cstddef>
#include <cstdint>

namespace weft::inline v0 {
namespace rt {
struct worker;
}
namespace layer {

/// Is a slot in the table of workers, in which a thread counts and records bodies. One thread at a
/// time has it.
using body_log = rt::worker;

/// Returns the slot of the calling thread, which Weft adopts. Null where it cannot: too many threads
/// use Weft, or it has shut down.
///
/// Threads. Any.
[[nodiscard]] WEFT_API body_log *own_log() noexcept;
/// Returns a slot in which the caller may run bodies, until give_back_log(): its own, or one that is
/// lent. Null where none is left.
///
/// Threads. Any.
[[nodiscard]] WEFT_API body_log *borrow_log() noexcept;
/// Gives the slot back. No body is in it: the last one has ended, or sleeps.
WEFT_API void give_back_log(body_log &log) noexcept;

/// Describes a task when a counter or a trace needs that: few tasks are asked without a trace.
struct described_body {
  const char *(*label)(void *task); ///< the text lives as long as the task
  /// Writes where the task was spawned, "FILE:LINE"; nothing where that is not known. Asked for the
  /// first task of a label.
  void (*spawn_site)(void *task, char *text, std::size_t size);
  void *task;
  const void *group; ///< null: the parent waits for it
};

/// Counts a task without accesses that the running body, or the thread, has created; records it in
/// a trace of level `task` or more. Returns its number there; 0 for none.
[[nodiscard]] WEFT_API std::uint32_t note_creation(body_log &log,
                                                   const described_body &what) noexcept;

/// Is a body that runs: what begin_body() hands to end_body().
struct running_body {
  std::uint32_t task = 0, outer = 0; ///< numbers in the trace; 0 for none
  std::uint16_t type = 0;
  std::uint64_t timing[5]{};
};
/// Counts a body that begins, on top of the one that runs in the slot. `task` is the number of its
/// creation.
WEFT_API void begin_body(body_log &log, std::uint32_t task, const described_body &what,
                         running_body &self) noexcept;
/// Notes that the body has ended, perhaps in another slot.
WEFT_API void end_body(body_log &log, running_body &self) noexcept;
/// Counts `n` bodies that have ended without a slot, so that as many tasks end as were created.
WEFT_API void count_unlogged_bodies(body_log &log, std::uint64_t n) noexcept;
/// Counts a task whose body was cancelled before it began.
WEFT_API void skip_body(body_log &log, std::uint32_t task, const described_body &what) noexcept;

/// Says what a body waits for.
enum class body_wait { children, group, end_of_task, outside };
/// Notes that what runs in the slot waits on its thread and leaves the slot. Returns what wake_body()
/// needs. `log` may be null: then it is the thread's own, if it has one.
[[nodiscard]] WEFT_API std::uint32_t sleep_body(body_log *log, body_wait what) noexcept;
/// Notes that it goes on, perhaps in another slot.
WEFT_API void wake_body(body_log *log, std::uint32_t asleep) noexcept;

/// Returns when a wait for tasks begins; 0: no trace records waits.
[[nodiscard]] WEFT_API std::uint64_t wait_begins() noexcept;
/// Notes that the tasks of a group, or with null the children, are complete. `log` may be null: then
/// it is the thread's own, if it has one.
WEFT_API void wait_is_over(body_log *log, std::uint64_t since, const void *group) noexcept;

} // namespace layer
} // namespace weft::inline v0
