// SPDX-License-Identifier: Apache-2.0
// Unstable: how a layer that sends messages between ranks puts them into the trace of the process.
// Changes with any version.
#pragma once

#include <weft/config.hpp>

#include <cstdint>
#include <string>

namespace weft::inline v0 {
namespace layer {

/// Says what has happened to a message, and what the numbers of message_event mean.
enum class message_step : std::uint8_t {
  sent, ///< an operation to the peer begins; `id` of a notification, `bytes`, `number` of the operation
  landed, ///< that operation has ended; `number`, `at`
  arrived, ///< a notification or message has come from the peer; `id`, `at`
  awaited, ///< the running task waits for a notification; `id`, `bytes` is how many
};
/// Stands for every rank in a trace.
inline constexpr std::uint16_t k_any_traced_rank = UINT16_MAX;
struct message_event {
  message_step step;
  std::uint16_t own, peer; ///< ranks
  std::uint32_t id; ///< of a notification; else 0
  std::uint32_t number; ///< of the operation; its low 24 bits count
  std::uint64_t bytes; ///< less than 2^40
  std::uint64_t at; ///< trace_time()
  const char *name; ///< "put"; not kept
  bool is_late = false; ///< of what was sent: `at` is before now, and no task of the caller has sent it
};

/// Returns whether messages are recorded: a trace of level `task` or more is written.
///
/// Cost. A load. Threads. Any.
[[nodiscard]] WEFT_API bool traces_messages() noexcept;
/// Returns the time of now on the clock of the trace.
[[nodiscard]] WEFT_API std::uint64_t trace_time() noexcept;
/// Records an event on the calling worker. Returns false on another thread, which has no stream in the
/// trace: then a worker records it later, and its time stays.
///
/// Threads. Any.
[[nodiscard]] WEFT_API bool trace_message(const message_event &event) noexcept;

/// Is the place of the process in a job, for readers of the traces of all its ranks.
struct traced_place {
  int rank = 0, size = 1;
  std::string job; ///< the same word at all ranks, and at no other job
  std::string host;
  /// What is added to the system's clock (CLOCK_REALTIME) to get the job's, and how far off that may be.
  std::int64_t offset_ns = 0;
  std::uint64_t uncertain_ns = 0;
};
/// Writes the place into the description of the trace. The last call counts.
///
/// Threads. Any. Errors. out_of_resources.
WEFT_API void describe_trace_place(const traced_place &place);

} // namespace layer
} // namespace weft::inline v0
