// SPDX-License-Identifier: Apache-2.0
// The stop token of a task: what a stop request through a future and the tokens of groups have in
// common. A task has one if this_task::stop_token() was called in it or below it.
#pragma once

#include "task/task.hpp"

#include <memory>
#include <optional>
#include <stop_token>

namespace weft::inline v0 {
namespace rt {

/// Takes a request on to what is below a task on another stack: it is posted, once. It refers to the source alone, so
/// the task may end meanwhile.
struct stop_detour : detail::call_record {
  explicit stop_detour(const std::stop_source &below) : call_record(&run), source(below) {}
  static void run(call_record *self) noexcept;

  std::stop_source source;
};

/// Passes requests on. It lives as long as the task's block.
struct stop_relay : detail::call_record {
  struct request {
    stop_relay *to;
    void operator()() const noexcept { to->pass_on(); }
  };
  using callback = std::stop_callback<request>;
  /// Is how many relays pass a request on in each other's calls. The next one makes a detour, so that any number of
  /// relays below each other needs no more stack.
  static constexpr unsigned k_most_calls = 16;

  /// `above_it`: how many relays are above it.
  stop_relay(task &t, unsigned above_it) : call_record(&run), of(&t), depth(above_it) {
    if (depth % k_most_calls == k_most_calls - 1)
      detour = std::make_unique<stop_detour>(source);
  }
  /// Requests a stop, on a worker: those that ask call no code of the user.
  static void run(call_record *self) noexcept;
  /// Requests a stop in the call of the one above it, or makes the detour.
  void pass_on() noexcept;

  task *of;
  unsigned depth;
  std::stop_source source;
  std::unique_ptr<stop_detour> detour; // until it is posted; with the lock of the relay
  std::optional<callback> group, above; // of the task's group, and of the task above it: they go before the detour
  bool posted = false;
};

/// Asks a task to stop: a body that has not begun is skipped. The caller has a reference.
void ask_to_stop(task &t, task_extra &extra) noexcept;
/// Returns the token of a task. Throws std::bad_alloc.
[[nodiscard]] std::stop_token stop_token_of(task &t);

} // namespace rt
} // namespace weft::inline v0
