// SPDX-License-Identifier: Apache-2.0
// Work that a worker posts to a manager instead of doing it itself: see hooks.hpp, and
// docs/design/managers.md.
//
// O1: needs_general_path() of mailbox.hpp and sends_messages() are stored with release and loaded
// with acquire. A worker that takes the common way again sees what managers have done to the
// domain. A worker that sends a message sees that the common way is closed.
#pragma once

#include "deps/domain.hpp"
#include "deps/hooks.hpp"
#include "task/task.hpp"
#include "ult/thread_context.hpp"

#include <atomic>

namespace weft::inline v0 {
namespace rt {

inline std::atomic<bool> g_messages{false}; // messages are sent
inline std::atomic<bool> g_managers{false}; // messages may be queued; set from the start to the end

/// Returns whether messages are sent. Called where the common way has been left already.
[[nodiscard]] inline bool sends_messages() noexcept {
  return g_messages.load(std::memory_order_acquire);
} // O1
[[nodiscard]] inline bool has_managers() noexcept {
  return g_managers.load(std::memory_order_relaxed);
}

/// Returns chooses_to_act_locally(), of which most calls know the answer.
[[nodiscard]] inline bool acts_locally(thread_context &e) noexcept {
  if (e.pace > 0) [[likely]] {
    --e.pace;
    return true;
  }
  return chooses_to_act_locally(e);
}

/// Waits until all that was posted for the children of `parent` is applied. Called by its frame,
/// before it does anything else to their domain.
inline void apply_registrations_below(task &parent) noexcept {
  domain *d = parent.children_domain;
  if (d && d->is_hidden()) [[unlikely]]
    apply_registrations_of(*d);
}
} // namespace rt
} // namespace weft::inline v0
