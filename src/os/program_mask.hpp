// SPDX-License-Identifier: Apache-2.0
// The signal mask of the program, on threads whose mask in the kernel is another one.
//
// Weft's threads block nearly all signals, and a thread or a process inherits the mask of its maker.
// What the program starts there begins with the mask that the thread had that started Weft. But
// what a task blocks all signals for has them blocked.
#pragma once

#include <csignal>

namespace weft::inline v0 {
namespace rt {

/// Notes the caller's mask as the program's. The caller is the thread that starts Weft.
void note_program_mask() noexcept;

/// Writes the mask with which a thread or a process of the program begins that the caller starts.
/// Returns false, and writes nothing, where that is the mask that the caller has in the kernel.
[[nodiscard]] bool program_mask(sigset_t &mask) noexcept;

/// Makes `answer` the first to be asked: it knows the masks of the threads of a layer, and returns
/// false on all others.
void ask_for_masks(bool (*answer)(sigset_t &mask) noexcept) noexcept;

/// Gives the only thread of a fork()'s child the mask of the program.
void take_program_mask_in_child() noexcept;

} // namespace rt
} // namespace weft::inline v0
