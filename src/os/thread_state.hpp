// SPDX-License-Identifier: Apache-2.0
// What the kernel reports about another thread of this process.
#pragma once

#include <cstdint>
#include <optional>

namespace weft::inline v0 {
namespace rt {

/// Returns the CPU time that a thread has used, in nanoseconds; 0 when there is no such thread. A
/// third of a microsecond.
[[nodiscard]] std::uint64_t thread_cpu_ns(int tid) noexcept;

/// Returns the CPU time that all threads of this process have used, in nanoseconds.
[[nodiscard]] std::uint64_t process_cpu_ns() noexcept;

/// Returns how often the kernel took the cpu from a thread of this process to run another thread.
[[nodiscard]] std::uint64_t process_preemptions() noexcept;

/// Returns whether the thread sleeps in the kernel; a thread that waits for a CPU does not. False
/// where it cannot be known. Several microseconds.
[[nodiscard]] bool thread_sleeps(int tid) noexcept;
/// Returns whether the thread sleeps in a system call that it made itself, and not in a page fault;
/// or has ended.
[[nodiscard]] bool thread_waits_or_is_gone(int tid) noexcept;

/// Returns whether the thread has ended, though the kernel still lists it, as it does with the
/// first one of a process. False where it cannot be known.
[[nodiscard]] bool thread_has_ended(int tid) noexcept;

/// Returns whether this process has no thread of that number any more.
[[nodiscard]] bool thread_is_gone(int tid) noexcept;

/// Describes what a thread that sleeps waits for, as far as the kernel reports it.
struct thread_wait {
  enum class kind : std::uint8_t {
    other, // or not known
    clock, // a time: it comes back by itself
    lock, // a mutex of the C library, or one of its kind
    none, // it runs, or waits for its cpu
  };
  kind what = kind::other;
  bool word_names_holder =
      false; // of a lock: as robust mutexes do, and those with priority inheritance
  std::uintptr_t address = 0; // of a lock
  bool for_word =
      false; // it sleeps until another thread wakes it by a futex, without a limit: a signal does no harm
  bool in_process = false; // of a futex: no other process has the word
};
/// Returns what the thread waits for. Ten microseconds.
[[nodiscard]] thread_wait wait_of_thread(int tid) noexcept;

/// Names the holder of a lock: a guess, because the holder may change at any moment.
struct lock_holder {
  int tid = 0; // 0: not known
  bool free = false; // or on its way to the next one
};
[[nodiscard]] lock_holder holder_of(const thread_wait &lock) noexcept;

/// Returns how often the thread has left its CPU, of its own will or not; none where it cannot be
/// known. Twenty microseconds.
[[nodiscard]] std::optional<std::uint64_t> thread_switches(int tid) noexcept;

/// Returns how many threads this process has; 0 where it cannot be known.
[[nodiscard]] unsigned process_threads() noexcept;

} // namespace rt
} // namespace weft::inline v0
