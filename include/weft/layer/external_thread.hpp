// SPDX-License-Identifier: Apache-2.0
// Unstable: external threads, which are threads of the program that compute beside Weft's workers.
// Changes with any version.
#pragma once

#include <weft/config.hpp>

#include <atomic>
#include <cstdint>

namespace weft::inline v0 {
namespace layer {

/// Describes a thread of the program, for as long as the process lives. Weft's functions write the
/// other members.
struct external_thread {
  std::atomic<int> tid{
      0}; ///< the kernel's; 0: the thread has ended. Its own thread writes it, as the next
  std::atomic<std::uint32_t> participation_seq{
      0}; ///< odd while the thread takes part in what the workers do
  std::atomic<std::uint32_t> suspend_request{0};
  std::uint32_t seen_participation_seq = 0;
  std::uint64_t seen_cpu_ns = 0;
  external_thread *next = nullptr;
};

/// Makes a thread known to Weft. If more threads are at work than there are cpus, and external
/// threads that take no part compute while others take part, Weft calls the function of
/// on_preempt() about the former. Call it once for each thread.
///
/// Threads. Any.
WEFT_API void add_external_thread(external_thread &thread) noexcept;

/// Suspends the thread if it was asked to sleep: until there is a cpu for it, or `ns` times the
/// number of the suspended threads are over, 200 ms at most. Returns false if the thread was not
/// asked.
///
/// Threads. A signal handler of that thread, outside of Weft.
WEFT_API bool suspend_if_asked(external_thread &thread, std::uint64_t ns) noexcept;

} // namespace layer
} // namespace weft::inline v0
