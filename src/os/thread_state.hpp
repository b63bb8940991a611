// SPDX-License-Identifier: Apache-2.0
// What the kernel says of another thread of this process.
#pragma once

#include <cstdint>
#include <optional>

namespace weft::inline v0 {
namespace rt {

/// CPU time that a thread has used, in nanoseconds; 0 when there is no such thread. A third of a microsecond.
[[nodiscard]] std::uint64_t thread_cpu_ns(int tid) noexcept;

/// CPU time that all threads of this process have used, in nanoseconds.
[[nodiscard]] std::uint64_t process_cpu_ns() noexcept;

/// How often threads of this process had to leave their cpu to somebody else.
[[nodiscard]] std::uint64_t process_preemptions() noexcept;

/// Whether the thread sleeps in the kernel; one that waits for a CPU does not. False where that cannot be known. Several microseconds.
[[nodiscard]] bool thread_sleeps(int tid) noexcept;
/// Whether it sleeps in a system call that it made itself, and not in a page fault; or has ended.
[[nodiscard]] bool thread_waits_or_is_gone(int tid) noexcept;

/// Whether the thread sleeps in the kernel until somebody wakes it by a word (a futex), and for no limited time: a signal does no harm to it, for it goes back to sleep by itself. False
/// where that cannot be known. As long as thread_sleeps().
[[nodiscard]] bool thread_waits_for_word(int tid) noexcept;

/// How often the thread has left its CPU, of its own will or not; none where that cannot be known. Twenty microseconds.
[[nodiscard]] std::optional<std::uint64_t> thread_switches(int tid) noexcept;

/// How many threads this process has; 0 where that cannot be known.
[[nodiscard]] unsigned process_threads() noexcept;

} // namespace rt
} // namespace weft::inline v0
