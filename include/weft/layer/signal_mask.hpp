// SPDX-License-Identifier: Apache-2.0
// Unstable: the signal masks of what a program starts from a thread of Weft's. Changes with any version.
#pragma once

#include <weft/c/config.h> // not config.hpp: libraries that are compiled without exceptions include it

#include <csignal>

namespace weft::inline v0 {
namespace layer {

/// Writes the signal mask with which a thread or a process of the program begins that the caller
/// starts. Returns false, and writes nothing, where the caller's kernel thread has that mask. Weft's
/// own threads block nearly all signals, and their tasks begin what the program would begin with
/// the mask of the thread that started Weft. A task that has blocked all signals, SIGPROF as well,
/// means what it begins: false.
///
/// Threads. Any. Does not start the runtime. May be called in the child of a fork().
[[nodiscard]] WEFT_API bool program_mask(sigset_t &mask) noexcept;

/// Makes program_mask() ask `answer` first, for a layer whose lightweight threads have masks of
/// their own. It returns false on all other threads. The last call holds; null: no function is asked.
WEFT_API void ask_for_masks(bool (*answer)(sigset_t &mask) noexcept) noexcept;

} // namespace layer
} // namespace weft::inline v0
