// SPDX-License-Identifier: Apache-2.0
// What this folder calls and a higher folder supplies at link time.
#pragma once

#include "weft_threads/sync/atomics.hpp"

#include <weft_threads/light_thread.hpp>

namespace weft_threads {

struct thread_record;

// Supplied by kernel/.

/// Sets g_binds in all libraries.
[[gnu::cold]] WEFT_THREADS_API void begin_binding() noexcept;
/// Makes a library known that swaps blocks: its copy of g_binds, and an address in its code, where
/// no thread can be interrupted.
WEFT_THREADS_API void enter_door(relaxed_value<bool> &binds, const void *code) noexcept;

/// Binds the kernel thread below to the cpus of the thread. The caller uses the kernel thread's
/// block.
WEFT_THREADS_API void follow_binding(thread_record &me) noexcept;
/// Notes that a lightweight thread has come to a kernel thread, perhaps another one. The caller
/// uses the kernel thread's block.
/// It is not inlined, because the compiler must not keep thread-local addresses over this call.
[[gnu::noinline]] WEFT_THREADS_API void arrive(thread_record &me) noexcept;
/// Returns the number of the caller's kernel thread, from 1.
[[nodiscard]] WEFT_THREADS_API unsigned number_of_kernel_thread() noexcept;

} // namespace weft_threads
