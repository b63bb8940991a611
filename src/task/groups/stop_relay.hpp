// SPDX-License-Identifier: Apache-2.0
// The stop token of a task: what a stop request through a future and the tokens of groups have in
// common. A task has one if this_task::stop_token() was called in it or below it.
#pragma once

#include "task/task.hpp"

#include <optional>
#include <stop_token>

namespace weft::inline v0 {
namespace rt {

/// Passes requests on. It lives as long as the task's block.
struct stop_relay : detail::call_record {
  struct request {
    stop_relay *to;
    void operator()() const noexcept { to->source.request_stop(); }
  };
  using callback = std::stop_callback<request>;

  explicit stop_relay(task &t) : call_record(&run), of(&t) {}
  /// Requests a stop, on a worker: those that ask call no code of the user.
  static void run(call_record *self) noexcept;

  task *of;
  std::stop_source source;
  std::optional<callback> group, above; // of the task's group, and of the task above it
  bool posted = false;
};

/// Asks a task to stop: a body that has not begun is skipped. The caller has a reference.
void ask_to_stop(task &t, task_extra &extra) noexcept;
/// Returns the token of a task. Throws std::bad_alloc.
[[nodiscard]] std::stop_token stop_token_of(task &t);

} // namespace rt
} // namespace weft::inline v0
