// SPDX-License-Identifier: Apache-2.0
// Stop sources in place, and the stop token of a task. The protocol: src/sync/stop_list.hpp.
#include "api/cpp/sync.hpp"
#include "base/error.hpp"
#include "diagnose/hang.hpp"
#include "sync/stop_list.hpp"
#include "task/groups/stop_relay.hpp"
#include "task/hooks.hpp"
#include "worker/runtime.hpp"

#include <weft/stop.hpp>

#include <new>

namespace weft::inline v0 {

using namespace rt;

namespace {

/// Says where the caller runs. It starts nothing: a program may use tokens without tasks.
stop_runner this_runner() noexcept {
  static thread_local char g_here;
  const thread_context *const e = this_thread_context();
  return {e ? e->current : nullptr, &g_here};
}

} // namespace

namespace detail {

bool request_stop(stop_state<> &state) noexcept {
  {
    const sync_guard here(&state);
    if (!begin_request(state, this_runner()))
      return false;
  }
  for (;;) {
    wait_chain<> granted;
    stop_node<> *n = nullptr;
    {
      const sync_guard here(&state);
      n = next_callback(state, granted);
    }
    if (granted.first)
      grant(granted);
    if (!n)
      return true;
    n->call(*n);
  }
}

bool register_callback(stop_state<> &state, stop_node<> &node) noexcept {
  const sync_guard here(&state);
  return enter_callback(state, node);
}

void remove_callback(stop_state<> &state, stop_node<> &node) noexcept {
  const stop_runner by = this_runner();
  {
    const sync_guard here(&state);
    if (leave(state, node, by))
      return;
  }
  const wait_place place{&state, state.waiters, nullptr, [](void *, wait_chain<> &) noexcept {},
                         waits_for::nothing};
  try {
    wait_in_list(place, {},
                 [&](wait_node<> &self) { return leave_or_enter(state, node, by, self); });
  } catch (...) { // the caller cannot be suspended
    real_atomics::await(
        state.running, [&node](const stop_node<> *seen) { return seen != &node; },
        std::memory_order_acquire); // O2
  }
}

} // namespace detail

namespace rt {

bool post_while_started(detail::call_record &call) noexcept {
  const gate_guard here; // the last worker does not fall asleep meanwhile
  if (!is_started())
    return false;
  enqueue_ready(call);
  return true;
}

} // namespace rt

namespace this_task {

std::stop_token stop_token() {
  const thread_context *const e = this_thread_context();
  if (!e || !e->current)
    return std::stop_token();
  try {
    return stop_token_of(*e->current);
  } catch (const std::bad_alloc &) {
    throw_error(errc::out_of_resources, "no memory for the stop token of task '%s'",
                label_of(*e->current));
  }
}

} // namespace this_task
} // namespace weft::inline v0
