// SPDX-License-Identifier: Apache-2.0
// Delivers messages between accesses, and the messages that they cause, without recursion.
#pragma once

#include "deps/sharing/cohort.hpp"
#include "deps/state/access_state.hpp"
#include "task/task.hpp"

namespace weft::inline v0 {
namespace rt {

/// Chooses what makes deliveries atomic: wait-free operations, or a lock per address (an ablation
/// of the paper). Called before any task.
void use_locked_dependencies(bool on) noexcept;
/// Sets whether declarations are checked, the setting deps.check. Called before any task.
void check_declarations(bool on) noexcept;
/// Sets whether tasks may post what they do to accesses as messages: docs/design/managers.md.
/// Called at any time.
void use_messages(bool on) noexcept;

struct message {
  data_access *to; // null: none
  std::uint32_t bits;
};

/// Delivers messages, one after the other. A delivery mostly causes at most one more, which needs
/// no place to wait in.
class mailbox {
 public:
  /// Makes a mailbox that appends tasks that may run now to `ready`. Leaves the counters of `self`
  /// to the caller, which settles them in one go.
  mailbox(ready_list &ready, task *self) noexcept : m_ready(ready), m_self(self) {}
  mailbox(const mailbox &) = delete;
  mailbox &operator=(const mailbox &) = delete;

  /// Delivers `bits` to `a` and everything that follows from it.
  WEFT_INLINE void send(data_access &a,
                        std::uint32_t bits) noexcept { // the bits are constants: they fold
    if (const message m = deliver_one(a, bits); m.to)
      deliver_chain(m);
  }
  /// Delivers to `a` that another access follows, which was granted `known` beforehand.
  WEFT_INLINE void link(data_access &a, std::uint32_t bits, std::uint32_t known) noexcept {
    if (message m = deliver_one(a, bits); m.bits & ~known) {
      m.bits &= ~known;
      deliver_chain(m);
    }
  }
  /// Ends an access of `self`, which has no domain.
  WEFT_INLINE void end(data_access &a) noexcept {
    const std::uint32_t flags =
        a.flags.load(std::memory_order_relaxed); // O4: set by the task itself, or before it ran
    if (flags & k_finished)
      return;
    if (!a.joined || flags & k_weak)
      return send(a, k_ended);
    leave_cohort(a);
    // No other thread delivers to a member that runs. An observer of a task with children left sees
    // that the cohort may be gone.
    a.flags.store(flags | k_ended, std::memory_order_relaxed); // O4
    ++m_own_released_refs;
  }
  /// Does the same for an access in a chain, without locks. Mostly the end satisfies at most the
  /// access behind it.
  WEFT_INLINE void end_in_chain(data_access &a) noexcept {
    const auto [caused, next, nobody] = deliver(a, k_ended);
    if (caused & k_died)
      ++m_own_released_refs;
    if (!next)
      return;
    task &u = *next->task;
    if (try_deliver(*next, caused & k_to_next, k_satisfied)) [[likely]]
      satisfied(u);
    else
      deliver_chain({next, caused & k_to_next});
  }
  /// Goes on with a delivery to `a`, an access of `t`, that has been made. `a` may be gone, unless
  /// this delivery ended it.
  void continue_delivery(data_access &a, task &t, const delivery<data_access> &due) noexcept {
    if (due.caused & k_died && a.joined)
      leave_cohort(a);
    continue_delivery(t, due);
  }
  /// Does the same for an access of `t` that is in a chain.
  void continue_delivery(task &t, const delivery<data_access> &due) noexcept {
    if (due.caused & k_satisfied)
      satisfied(t);
    if (due.caused & k_died)
      drop(t);
    deliver_many({due.child, (due.caused & k_to_child) >> k_child_shift},
                 {due.next, due.caused & k_to_next});
  }

  [[nodiscard]] std::uint32_t own_released_refs() const noexcept { return m_own_released_refs; }
  [[nodiscard]] std::uint32_t own_satisfied() const noexcept { return m_own_satisfied; }

 private:
  /// Delivers a message. Returns the one message that follows, if one does.
  WEFT_INLINE message deliver_one(data_access &a, std::uint32_t bits) noexcept {
    if (s_locked) [[unlikely]] {
      deliver_many({&a, bits}, {nullptr, 0});
      return {nullptr, 0};
    }
    task &t = *a.task;
    const auto [caused, next, child] = deliver(a, bits);
    settle(a, t, caused);
    if (!child) [[likely]]
      return {next, caused & k_to_next};
    deliver_many({child, (caused & k_to_child) >> k_child_shift}, {next, caused & k_to_next});
    return {nullptr, 0};
  }

  WEFT_NOINLINE void deliver_chain(message sent) noexcept;
  WEFT_NOINLINE void deliver_many(message first, message second) noexcept;

  WEFT_INLINE void settle(data_access &a, task &t, std::uint32_t caused) noexcept {
    if (caused & k_satisfied)
      satisfied(t);
    if (caused & k_died)
      dead(a, t);
  }

  WEFT_INLINE void satisfied(task &t) noexcept {
    if (&t == m_self)
      ++m_own_satisfied;
    else if (take_away(t.unsatisfied, 1))
      (is_cohort(t) ? m_cohorts : m_ready).push_back(&t);
  }

  /// Drops the reference of a dead access. Until then this reference keeps `a`.
  WEFT_INLINE void dead(data_access &a, task &t) noexcept {
    if (a.joined) [[unlikely]]
      leave_cohort(a);
    drop(t);
  }
  WEFT_INLINE void drop(task &t) noexcept {
    if (&t == m_self)
      ++m_own_released_refs;
    else
      drop_references(t, 1);
  }

 public:
  /// Returns whether every access needs something that the common way does not do.
  [[nodiscard]] static bool needs_general_path() noexcept {
    return s_general.load(std::memory_order_acquire); // O1 of messages.hpp
  }
  /// Does the same, but ignores messages as a reason.
  [[nodiscard]] static bool needs_general_path_without_messages() noexcept {
    return s_general_always;
  }
  [[nodiscard]] static bool checks() noexcept { return s_checks; }
  [[nodiscard]] static bool locks() noexcept { return s_locked; }

  // The mailbox serves changed cohorts last, one after the other, because chains of them may be
  // long.
  void has_changed(task &cohort) noexcept { m_cohorts.push_back(&cohort); }
  void serve_cohorts() noexcept {
    if (!m_cohorts.empty()) [[unlikely]]
      serve_cohorts_slow();
  }

 private:
  WEFT_NOINLINE void leave_cohort(data_access &a) noexcept;
  WEFT_NOINLINE void serve_cohorts_slow() noexcept;

  friend void use_locked_dependencies(bool on) noexcept;
  friend void check_declarations(bool on) noexcept;
  friend void use_messages(bool on) noexcept;
  static void look_closer() noexcept {
    s_general.store(s_general_always || s_messages,
                    std::memory_order_release); // O1 of messages.hpp
  }
  static inline bool s_locked = false;
  static inline bool s_checks = false;
  static inline bool s_general_always = false; // one of the two above
  static inline bool s_messages = false;
  static inline std::atomic<bool> s_general{false}; // any of the above

  ready_list m_cohorts; // opened by their predecessor, or left by their last member
  ready_list &m_ready;
  task *const m_self;
  std::uint32_t m_own_released_refs = 0;
  std::uint32_t m_own_satisfied = 0;
};

} // namespace rt
} // namespace weft::inline v0
