// SPDX-License-Identifier: Apache-2.0
// Interrupting lightweight threads. A program may let a thread spin until another one does something, as
// long as every thread gets its turn.
#pragma once

namespace weft_threads {

/// Lets the watcher interrupt lightweight threads that keep others waiting, wherever they can be
/// left. The library calls it once.
void install_preemption() noexcept;
/// Makes the code of the library that has this address such that no thread is interrupted in it.
void close_door_code(const void *code) noexcept;
/// Counts how often the thread whose block is in use was asked to yield.
extern constinit thread_local volatile unsigned t_times_asked;

/// Returns the signal that interrupts threads, or 0.
[[nodiscard]] int own_signal() noexcept;
/// Notes that the caller's kernel thread may block the signal. It unblocks the signal when a
/// lightweight thread comes there next.
void close_kernel_thread() noexcept;

/// Returns whether a thread that computes can be interrupted.
[[nodiscard]] bool others_can_be_interrupted() noexcept;
/// Returns how often a thread that waited for a lock was called off the caller's kernel thread. The
/// caller uses the kernel thread's block.
[[nodiscard]] unsigned times_called_off() noexcept;

/// Notes the kernel's number of the caller's kernel thread, which is new or in the child of a fork.
void note_kernel_thread() noexcept;

} // namespace weft_threads
