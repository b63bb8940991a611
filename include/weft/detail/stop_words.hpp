// SPDX-License-Identifier: Apache-2.0
// The state of weft::inplace_stop_source. The protocol, with the orders named here, is in src/sync/stop_list.hpp. Not for
// users: it changes with the version.
#pragma once

#include <weft/detail/wait_list.hpp>

namespace weft::inline v0 {
namespace detail {

/// Is one registered callback. It lives in the callback's object.
template <class P = std_atomics>
struct stop_node {
  typename P::template var<stop_node *> next{}, previous{}; // in the list
  typename P::template var<bool> listed{};
  bool registered = false; // of its owner: the source may have called it, or will
  void (*call)(stop_node &) noexcept = nullptr;
};

/// Says what runs: a task, or on a thread that has none the thread.
struct stop_runner {
  const void *task = nullptr;
  const void *thread = nullptr;
  /// Returns whether a call that comes later comes from the same place.
  [[nodiscard]] bool is(const stop_runner &other) const noexcept {
    return task ? task == other.task : thread == other.thread;
  }
};

template <class P = std_atomics>
struct stop_state {
  typename P::template atomic<bool> requested{false};
  typename P::template atomic<stop_node<P> *> running{nullptr}; // its callback
  typename P::template var<stop_node<P> *> newest{}; // of those that are registered
  typename P::template var<stop_runner> runner{}; // of the request
  wait_list<P> waiters; // for the end of the running callback

  [[nodiscard]] bool is_requested() const noexcept {
    return requested.load(std::memory_order_acquire); // O1
  }
};

/// Requests a stop and calls the callbacks. False: another call has requested it.
WEFT_API bool request_stop(stop_state<> &state) noexcept;
/// Registers a callback. False: a stop was requested, and the source never calls it.
WEFT_API bool register_callback(stop_state<> &state, stop_node<> &node) noexcept;
/// Takes the callback out. If it runs elsewhere, waits until it has returned.
WEFT_API void remove_callback(stop_state<> &state, stop_node<> &node) noexcept;

} // namespace detail
} // namespace weft::inline v0
