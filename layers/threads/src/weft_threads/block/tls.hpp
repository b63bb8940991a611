// SPDX-License-Identifier: Apache-2.0
// Thread-local blocks of lightweight threads. docs/design/threads.md gives the reasons.
#pragma once

#include "weft_threads/arch/arch.hpp"

#include <weft_threads/light_thread.hpp>

#include <cstddef>
#include <cstdint>

namespace weft_threads {

/// Reads what the library needs to know of the C library. The thread that starts the first
/// lightweight thread calls it: a worker might be about it when another thread calls fork(), and the
/// child would wait for that worker.
void prepare_tls_blocks() noexcept;
/// Makes a fresh block, as the C library does for a thread. The block describes [stack, stack +
/// bytes) as its stack.
/// Returns null if the library does not understand this C library or machine, or if there is no
/// memory.
[[nodiscard]] void *make_tls_block(void *stack, std::size_t bytes) noexcept;
/// Makes a fresh block of the block of a thread that has ended: variables have their initial values
/// again.
/// Only what the C library keeps there for its allocator stays, because only the end of a kernel
/// thread would return that.
[[nodiscard]] void *renew_tls_block(void *block, void *stack, std::size_t bytes) noexcept;

/// All memory of a block that make_tls_block() has returned.
struct block_range {
  void *low;
  std::size_t bytes;
};
[[nodiscard]] block_range range_of_block(void *block) noexcept;

/// Returns whether make_tls_block() made a block. The block may be any thread's.
[[nodiscard]] bool is_made_block(const void *block) noexcept;

/// Returns what the C library takes for the id of the block's thread. No kernel thread has that id.
[[nodiscard]] WEFT_THREADS_API int number_of_block(const void *block) noexcept;

/// Describes a key of pthread_key_create().
struct key_state {
  std::uintptr_t life = 0; ///< changes with each creation and deletion; odd while the key exists
  void (*destructor)(void *) = nullptr;
};
/// Returns the state of a key below PTHREAD_KEYS_MAX; of none if the library does not understand this
/// C library.
[[nodiscard]] key_state state_of_key(unsigned key) noexcept;

/// Completes a fresh block. The caller calls it once, with the block in use.
void complete_tls_block() noexcept;

/// Runs the destructors of thread_local objects and of thread-specific data in the block in use.
/// The block itself stays, for renew_tls_block().
void end_tls_block() noexcept;

} // namespace weft_threads
