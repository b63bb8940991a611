// SPDX-License-Identifier: Apache-2.0
// The messages of a rank in the trace of its process.
#pragma once

#include <weft/layer/trace.hpp>

#include <atomic>
#include <cstdint>
#include <mutex>
#include <vector>

namespace weft_net {

/// Records messages on the calling worker. What arrives or ends on another thread, as that of an
/// engine, waits here until a worker comes, with the time at which it has happened. Operations that
/// another thread starts are left out.
///
/// Threads. All calls: any, but set_own().
class message_trace {
 public:
  void set_own(int rank) noexcept { m_own = rank; }
  /// Records the start of an operation. Returns its number: from 1, 24 bits.
  [[nodiscard]] std::uint32_t note_start(int peer, std::uint32_t id, std::uint64_t bytes,
                                         const char *name) noexcept;
  /// Records another step. Without memory it is left out. `peer` is any_rank for any.
  void note(weft::layer::message_step step, int peer, std::uint32_t id, std::uint32_t number,
            std::uint64_t bytes, const char *name) noexcept;
  /// Records what waits, if the caller is a worker.
  void settle() noexcept;

 private:
  int m_own = 0;
  std::atomic<std::uint32_t> m_started{0};
  std::atomic<bool> m_has_late{false};
  std::mutex m_lock; // of what follows
  std::vector<weft::layer::message_event> m_late;
};

} // namespace weft_net
