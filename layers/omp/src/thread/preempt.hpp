// SPDX-License-Identifier: Apache-2.0
// Interrupting OpenMP threads. A program may let a thread spin until another one does something, as
// long as every thread gets its turn.
#pragma once

namespace weft_omp {

/// Lets the watcher interrupt lightweight threads that keep others waiting, wherever they can be
/// left. The layer calls it once.
void install_preemption() noexcept;
/// Counts how often the thread whose block is in use was asked to yield.
extern constinit thread_local volatile unsigned t_times_asked;

/// Returns the signal that interrupts threads, or 0.
[[nodiscard]] int own_signal() noexcept;
/// Notes that the caller's kernel thread may block the signal. It unblocks the signal when an
/// OpenMP thread comes there next.
void close_kernel_thread() noexcept;

/// Returns whether a thread that computes can be interrupted.
[[nodiscard]] bool others_can_be_interrupted() noexcept;
/// Returns how often a thread that waited for a lock was called off the caller's kernel thread. The
/// caller uses the kernel thread's block.
[[nodiscard]] unsigned times_called_off() noexcept;

/// Notes the kernel's number of the caller's kernel thread, which is new or in the child of a fork.
void note_kernel_thread() noexcept;

} // namespace weft_omp
