// SPDX-License-Identifier: Apache-2.0
// OpenMP threads that spin for what another one does: programs may, as long as every thread gets its turn.
#pragma once

namespace weft_omp {

/// From now on a lightweight thread that keeps others waiting is interrupted where it may be left, and others go first. Once.
void install_preemption() noexcept;
/// How often that was asked of the thread whose block is in use.
extern constinit thread_local volatile unsigned t_times_asked;

/// The signal that does it, or 0.
[[nodiscard]] int own_signal() noexcept;
/// The caller's kernel thread may block it from now on: it is let in when an OpenMP thread comes there next.
void close_kernel_thread() noexcept;

/// Whether one that computes can be.
[[nodiscard]] bool others_can_be_interrupted() noexcept;
/// How often one that did was called off the caller's kernel thread. With its block.
[[nodiscard]] unsigned times_called_off() noexcept;

/// The caller's kernel thread has a number of the kernel's that is not known, in the child of a fork too.
void note_kernel_thread() noexcept;

} // namespace weft_omp
