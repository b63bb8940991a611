// SPDX-License-Identifier: Apache-2.0
// Notes when kernels run and when data are awaited, at one rank; afterwards says how the two overlap.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace net_bench {

/// Says what a rank did between begin() and end() of a meter, in seconds.
struct measured {
  double seconds = 0; // of the clock
  double kernels = 0; // of all kernels together
  double computing = 0; // while a kernel ran
  double awaiting = 0; // while data were awaited
  double both = 0; // while a kernel ran and data were awaited
  double processor = 0; // of all threads of the process
  std::uint64_t tasks = 0; // kernels
};

/// Adds up how long each state held. `events` are (seconds, change of the running kernels, change of the
/// awaited data), in any order; what is not ended at `end` ends there.
struct event {
  double at;
  int kernels, awaited;
};
[[nodiscard]] measured sum_up(std::vector<event> events, double begin, double end);

/// Collects events of any threads. begin() and end() are called while no kernel runs.
class meter {
 public:
  /// Keeps room for so many events of a run. Errors. std::bad_alloc.
  explicit meter(std::size_t room) : m_events(room) {}
  void begin();
  /// Returns what was measured. Errors. std::runtime_error if there were more events than room.
  [[nodiscard]] measured end();
  /// @{ Notes a change, now.
  void kernel(int change) noexcept { note(change, 0); }
  void awaited(int change) noexcept { note(0, change); }
  /// @}

 private:
  void note(int kernels, int awaited) noexcept;
  std::vector<event> m_events;
  std::atomic<std::size_t> m_used{0};
  double m_begin = 0, m_processor = 0;
};

} // namespace net_bench
