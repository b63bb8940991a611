// SPDX-License-Identifier: Apache-2.0
// Work that a worker posts to a manager instead of doing it itself. The managers module supplies
// the functions. See docs/design/managers.md.
//
// O1: needs_general_path() of mailbox.hpp and sends_messages() are stored with release and loaded
// with acquire. A worker that takes the common way again sees what managers have done to the
// domain. A worker that sends a message sees that the common way is closed.
#pragma once

#include "deps/domain.hpp"
#include "task/task.hpp"
#include "ult/thread_context.hpp"

#include <weft/service.hpp>

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

/// Returns whether no manager would come for what this worker posts before the worker itself does.
/// Called before each action that may be posted.
[[nodiscard]] bool chooses_to_act_locally(thread_context &e) noexcept;
[[nodiscard]] inline bool acts_locally(thread_context &e) noexcept {
  if (e.pace > 0) [[likely]] {
    --e.pace;
    return true;
  }
  return chooses_to_act_locally(e);
}

/// Posts `t`, so that a manager enters its named accesses, none of which shares, into `d`, the
/// domain of its parent, the running task. Returns whether `t` is posted; after false nothing has
/// changed.
[[nodiscard]] bool post_new(task &t, domain &d);
/// Says whose end is posted: that of a task without children, whose callable is gone; or that of a
/// task with children.
enum class posted_end { of_childless, of_parent };
/// Posts `t`, so that a manager releases its accesses and drops it. Returns whether `t` is posted.
[[nodiscard]] bool post_end(task &t, posted_end which);
/// Waits until all that was posted for the domain is applied.
void apply_registrations_of(domain &d) noexcept;
/// Does the same for the children of `parent`. Called by its frame, before it does anything else to
/// their domain.
inline void apply_registrations_below(task &parent) noexcept {
  domain *d = parent.children_domain;
  if (d && d->is_hidden()) [[unlikely]]
    apply_registrations_of(*d);
}
/// Applies messages as the manager mode asks the caller to, by way of the dispatcher. Returns
/// whether it has applied some. Nothing that it calls may wait.
bool apply_messages(thread_context &e, poll_point where);

} // namespace rt
} // namespace weft::inline v0
