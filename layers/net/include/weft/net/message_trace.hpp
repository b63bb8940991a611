// SPDX-License-Identifier: Apache-2.0
// Unstable: the messages of a rank in the trace of its process, for teams and for layers over the
// transport. Changes with any version.
#pragma once

#include <weft/layer/trace.hpp>

#include <atomic>
#include <cstdint>
#include <mutex>
#include <vector>

namespace weft::inline v0 {
namespace net {

/// Records messages on the calling worker. What begins, arrives or ends on another thread, as that of
/// an engine, waits here until a worker comes, with the time at which it has happened.
///
/// Threads. All calls: any.
class WEFT_API message_trace {
 public:
  /// `rank` is the own one: made before the transport that brings messages.
  explicit message_trace(int rank) noexcept : m_own(rank) {}
  /// Records the start of an operation. Returns its number: from 1, 24 bits.
  std::uint32_t note_start(int peer, std::uint32_t id, std::uint64_t bytes,
                           const char *name) noexcept;
  /// Records another step. Without memory it is left out. `peer` is any_rank for any. `name` outlives the
  /// object.
  void note(layer::message_step step, int peer, std::uint32_t id, std::uint32_t number,
            std::uint64_t bytes, const char *name) noexcept;
  /// Records what waits, if the caller is a worker.
  void settle() noexcept;

 private:
  [[nodiscard]] std::uint32_t next_number() noexcept;

  int m_own;
  std::atomic<std::uint32_t> m_started{0};
  std::atomic<bool> m_has_late{false};
  std::mutex m_lock; // of what follows
  std::vector<layer::message_event> m_late; // in the order in which they came
};

} // namespace net
} // namespace weft::inline v0
