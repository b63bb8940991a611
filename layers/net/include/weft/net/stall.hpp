// SPDX-License-Identifier: Apache-2.0
// Unstable: how a layer over the transport takes part in the report of a stall (net.stall). Changes with
// any version.
#pragma once

#include <weft/config.hpp>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <string>

namespace weft_net {
class stall_watch;
}

namespace weft::inline v0 {
namespace net {

/// Is a rank that may wait for others. A thread of the process looks whether something arrives at it,
/// and reports what all ranks wait for when nothing has for net.stall.
class WEFT_API stall_watched {
 public:
  /// Notes that something has arrived or ended. One thread at a time: the one inside the engine.
  void note_arrival() noexcept {
    m_arrivals.store(m_arrivals.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  }

 protected:
  stall_watched() = default;
  stall_watched(const stall_watched &) = delete;
  stall_watched &operator=(const stall_watched &) = delete;
  ~stall_watched() = default;
  /// Lets the thread look from now on, until unwatch(). Without a thread for it, there are no reports.
  void watch() noexcept;
  /// Ends it. The thread is in no call afterwards. More than once is harmless.
  void unwatch() noexcept;

 private:
  friend class weft_net::stall_watch;
  [[nodiscard]] virtual int own() const noexcept = 0; // the number of the rank
  /// Names the world that the rank is in; null: it is alone in its process.
  [[nodiscard]] virtual const void *world() const noexcept = 0;
  /// Returns what the rank waits for, a line each; "" if that is nothing. Any thread.
  [[nodiscard]] virtual std::string waits() = 0;

  std::atomic<std::uint64_t> m_arrivals{0}; // counted for the thread alone: no order is needed
  // Of the thread, with its lock:
  std::uint64_t m_seen = 0;
  std::chrono::steady_clock::time_point m_since;
  bool m_is_reported = false;
};

} // namespace net
} // namespace weft::inline v0
