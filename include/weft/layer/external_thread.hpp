// SPDX-License-Identifier: Apache-2.0
// Unstable: external threads, those of the program that compute beside Weft's workers. Changes with any version.
#pragma once

#include <weft/config.hpp>

#include <atomic>
#include <cstdint>

namespace weft::inline v0 {
namespace layer {

/// A thread of the program, for as long as the process lives. Weft's functions write the rest.
struct external_thread {
  std::atomic<int> tid{0};             ///< the kernel's; 0: the thread has ended. Its own thread writes it, as the next
  std::atomic<std::uint32_t> participation_seq{0}; ///< odd while the thread takes part in what the workers do
  std::atomic<std::uint32_t> suspend_request{0};
  std::uint32_t seen_participation_seq = 0;
  std::uint64_t seen_cpu_ns = 0;
  external_thread *next = nullptr;
};

/// Weft knows of it from now on: where external threads that take no part compute, while others do and more threads are at work than there are cpus, the
/// function of on_preempt() is called about them. Once for each. Any thread.
WEFT_API void add_external_thread(external_thread &g) noexcept;

/// For a signal handler of that thread, outside of Weft: it sleeps where it was asked to, until there is a cpu for it or `ns` are over, times
/// the number of those that are suspended, 200 ms at most. False: it was not asked.
WEFT_API bool suspend_if_asked(external_thread &g, std::uint64_t ns) noexcept;

} // namespace layer
} // namespace weft::inline v0
