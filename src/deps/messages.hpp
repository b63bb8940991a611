// SPDX-License-Identifier: Apache-2.0
// What a worker posts to a manager instead of doing it itself. The managers module supplies the functions.
// docs/design/managers.md
//
// O1: needs_general_path() of mailbox.hpp and sends_messages() are stored with release and loaded with acquire: who takes the common way
// again sees what managers have done to the domain, and who sends a message sees that the common way is closed.
#pragma once

#include "deps/domain.hpp"
#include "task/task.hpp"
#include "ult/thread_context.hpp"

#include <weft/service.hpp>

#include <atomic>

namespace weft::inline v0 {
namespace rt {

inline std::atomic<bool> g_messages{false}; // messages are sent
inline std::atomic<bool> g_managers{false}; // messages may be queued; from the start to the end

/// Asked where the common way has been left already.
[[nodiscard]] inline bool sends_messages() noexcept { return g_messages.load(std::memory_order_acquire); } // O1
[[nodiscard]] inline bool has_managers() noexcept { return g_managers.load(std::memory_order_relaxed); }

/// No manager would come for what this worker posts before the worker itself does. Asked before each action that may be posted.
[[nodiscard]] bool chooses_to_act_locally(thread_context &e) noexcept;
[[nodiscard]] inline bool acts_locally(thread_context &e) noexcept {
  if (e.pace > 0) [[likely]] {
    --e.pace;
    return true;
  }
  return chooses_to_act_locally(e);
}

/// The named accesses of `t`, none of which shares, are to be entered into `d`, the domain of its parent, the running task. True: `t` is
/// posted. False: nothing has changed.
[[nodiscard]] bool post_new(task &t, domain &d);
/// The accesses of `t` are to be released, and it is to be dropped. `childless`: its callable is gone. True: `t` is posted.
[[nodiscard]] bool post_end(task &t, bool childless);
/// Returns when all that was posted for the domain is applied.
void apply_registrations_of(domain &d) noexcept;
/// The same for the children of `parent`, by its frame; before anything else is done to their domain.
inline void apply_registrations_below(task &parent) noexcept {
  domain *d = parent.children_domain;
  if (d && d->is_hidden()) [[unlikely]]
    apply_registrations_of(*d);
}
/// Applies messages as the mode of the managers asks the caller to, by way of the dispatcher. True: it has applied some. Nothing that
/// it calls may wait.
bool apply_messages(thread_context &e, poll_point where);

// What an end is made of, for who applies it.

/// Releases the accesses, and tells who waits for the end.
void release_ended(task &t, ready_list &ready);
/// The rest for a task that has no children left and no callable to destroy.
void drop_ended(task &t);
/// The rest for one that has some.
void settle_ended(task &t, ready_list &ready);
/// There was no memory to enter its accesses: it fails instead of being run.
void fail_unentered(task &t, ready_list &ready);

} // namespace rt
} // namespace weft::inline v0
