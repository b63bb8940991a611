// SPDX-License-Identifier: Apache-2.0
// Unstable: threads of the program that compute beside Weft's workers. Changes with any version.
#pragma once

#include <weft/config.hpp>

#include <atomic>
#include <cstdint>

namespace weft::inline v0 {
namespace layer {

/// A thread of the program, for as long as the process lives. Weft's functions write the rest.
struct guest {
  std::atomic<int> tid{0};             ///< the kernel's; 0: the thread has ended. Its own thread writes it, as the next
  std::atomic<std::uint32_t> participation_seq{0}; ///< odd while the thread takes part in what the workers do
  std::atomic<std::uint32_t> aside{0};
  std::uint32_t seen_participation_seq = 0;
  std::uint64_t seen_cpu_ns = 0;
  guest *next = nullptr;
};

/// Weft knows of it from now on: where guests that take no part compute, while others do and more threads are at work than there are cpus, the
/// function of on_overstay() is called about them. Once for each guest. Any thread.
WEFT_API void add_guest(guest &g) noexcept;

/// For a signal handler of the guest's thread, outside of Weft: it sleeps where it was asked to, until there is a cpu for it or `ns` are over, times
/// the number of those that stand aside, 200 ms at most. False: it was not asked.
WEFT_API bool stand_aside(guest &g, std::uint64_t ns) noexcept;

} // namespace layer
} // namespace weft::inline v0
