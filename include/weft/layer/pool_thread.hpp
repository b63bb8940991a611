// SPDX-License-Identifier: Apache-2.0
// Unstable: pool threads, which are threads of other thread pools that compute beside Weft's
// workers. Changes with any version.
#pragma once

#include <weft/c/config.h> // not config.hpp: the preloaded library is compiled without exceptions

#include <atomic>
#include <csignal>
#include <cstdint>

namespace weft::inline v0 {
namespace layer {

/// Describes a thread that another pool has made. A record lives as long as the process; when its
/// thread has ended, a later thread may take it over.
struct pool_thread {
  std::atomic<int> tid{0}; ///< the kernel's number; 0: the thread has ended
  std::atomic<std::uint32_t> waits{0}; ///< not 0: the thread waits in a call that the layer knows
  std::atomic<std::uint32_t> yields{0}; ///< how often the thread has called sched_yield()
  // Of Weft:
  std::uint32_t seen_yields = 0;
  std::uint64_t seen_cpu_ns = 0;
  pool_thread *next = nullptr;
};

/// Makes a pool thread known to Weft. While pool threads compute, Weft keeps so many workers from
/// running tasks that pool threads and workers together are no more than the cpus. At least
/// `pools.least_workers` workers go on. Call the function once for each record, and pool_thread_runs()
/// when another thread takes the record over. The record says whether its thread waits.
///
/// Threads. Any. Does not start the runtime.
WEFT_API void add_pool_thread(pool_thread &other) noexcept;

/// Notes that the calling pool thread is about to wait: a worker that has stepped back for the pool thread may
/// go on.
///
/// Cost. A store; a wake-up of the watcher if workers have stepped back.
/// Threads. The pool thread's own.
WEFT_API void pool_thread_waits(pool_thread &other) noexcept;

/// Notes that the calling pool thread goes on after a wait, or begins.
///
/// Cost. A store; a wake-up of the watcher if it rests.
/// Threads. The pool thread's own.
WEFT_API void pool_thread_runs(pool_thread &other) noexcept;

/// Returns whether the caller is inside a call of Weft that makes one of Weft's own threads, which
/// are no pool.
[[nodiscard]] WEFT_API bool makes_own_thread() noexcept;

/// Holds the functions above, for a library that is not linked with Weft.
struct pool_thread_calls {
  std::uint32_t version; ///< of this structure and of pool_thread: k_pool_thread_version
  void (*add)(pool_thread &other) noexcept;
  void (*waits)(pool_thread &other) noexcept;
  void (*runs)(pool_thread &other) noexcept;
  bool (*makes_own_thread)() noexcept;
  bool (*program_mask)(sigset_t &mask) noexcept; ///< of signal_mask.hpp
};

constexpr std::uint32_t k_pool_thread_version = 2;

} // namespace layer
} // namespace weft::inline v0

/// Takes Weft's functions. A preloaded library has this function, and Weft calls it when Weft itself
/// is loaded, before it makes a thread. So programs that do not load Weft do without it.
///
/// Threads. Any; the calls may be used at once.
extern "C" void weft_attach_pool_threads(const weft::layer::pool_thread_calls *calls) noexcept;
