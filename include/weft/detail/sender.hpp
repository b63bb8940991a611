// SPDX-License-Identifier: Apache-2.0
// What senders and the backend of the parallel scheduler use of the library. Not for users: it changes with the version.
#pragma once

#include <weft/detail/core.hpp>

#include <cstddef>
#include <exception>

namespace weft::inline v0 {

class event;

namespace detail {

/// Gives the record to the scheduler, as post() does. Returns what it threw; then the record is the
/// caller's again.
[[nodiscard]] WEFT_API std::exception_ptr try_post(call_record &call) noexcept;

/// Says what a bulk operation calls, for the indices below `count`.
struct bulk_request {
  std::size_t count = 0;
  bool each = false; // one index a call; else ranges of indices
  void (*call)(void *context, std::size_t first, std::size_t end) = nullptr; // may throw
  void *context = nullptr;
  const void *site = nullptr; // names the code that is called; null: unknown
};
/// Calls for all indices, here and on workers that have nothing else to do, by the chunks of the
/// library's loops. Waits for the calls. Returns the first exception; then calls may be left out. That
/// is weft::error with errc::cancelled where calls were left out because the task is cancelled.
[[nodiscard]] WEFT_API std::exception_ptr run_bulk(const bulk_request &request) noexcept;
/// Returns whether it is weft::error with errc::cancelled.
[[nodiscard]] WEFT_API bool is_cancellation(const std::exception_ptr &error) noexcept;

/// Throws weft::error where the caller may not wait (no_block), or has no stack to leave to others (out_of_resources).
WEFT_API void require_wait();
/// Returns the error of a future whose sender was stopped.
[[nodiscard]] WEFT_API std::exception_ptr stopped_sender() noexcept;

} // namespace detail
} // namespace weft::inline v0
