// SPDX-License-Identifier: Apache-2.0
// Delivering messages between accesses, and those that they cause, without recursion.
#pragma once

#include "deps/access_state.hpp"
#include "task/task.hpp"

namespace weft::inline v0 {
namespace rt {

/// Chooses how deliveries are made atomic: wait-free, or by a lock per address (an ablation of the paper). Before any task.
void use_locked_dependencies(bool on) noexcept;

struct message {
  data_access *to; // null: none
  std::uint32_t bits;
};

/// A delivery mostly causes one more at most, which needs no place to wait in.
class mailbox {
public:
  /// Tasks that may run now are appended to `ready`. The counters of `self` are left to the caller, to be settled in one go.
  mailbox(ready_list &ready, task *self) noexcept : m_ready(ready), m_self(self) {}
  mailbox(const mailbox &) = delete;
  mailbox &operator=(const mailbox &) = delete;

  /// Delivers `bits` to `a` and everything that follows from it.
  WEFT_INLINE void send(data_access &a, std::uint32_t bits) noexcept { // the bits are constants: they fold
    if (const message m = deliver_one(a, bits); m.to)
      deliver_chain(m);
  }
  /// Goes on with a delivery to an access of `t` that has been made.
  void go_on(task &t, const delivery<data_access> &d) noexcept {
    settle(t, d.caused);
    deliver_many({d.child, (d.caused & k_to_child) >> k_child_shift}, {d.next, d.caused & k_to_next});
  }

  [[nodiscard]] std::uint32_t own_deaths() const noexcept { return m_own_deaths; }
  [[nodiscard]] std::uint32_t own_satisfied() const noexcept { return m_own_satisfied; }

private:
  /// Returns the one message that follows, if one does.
  WEFT_INLINE message deliver_one(data_access &a, std::uint32_t bits) noexcept {
    if (s_locked) [[unlikely]] {
      deliver_many({&a, bits}, {nullptr, 0});
      return {nullptr, 0};
    }
    task &t = *a.task;
    const auto [caused, next, child] = deliver(a, bits);
    settle(t, caused);
    if (!child) [[likely]]
      return {next, caused & k_to_next};
    deliver_many({child, (caused & k_to_child) >> k_child_shift}, {next, caused & k_to_next});
    return {nullptr, 0};
  }

  WEFT_NOINLINE void deliver_chain(message m) noexcept;
  WEFT_NOINLINE void deliver_many(message first, message second) noexcept;

  WEFT_INLINE void settle(task &t, std::uint32_t caused) noexcept {
    if (caused & k_satisfied)
      satisfied(t);
    if (caused & k_died)
      dead(t);
  }

  WEFT_INLINE void satisfied(task &t) noexcept {
    if (&t == m_self)
      ++m_own_satisfied;
    else if (take_away(t.unsatisfied, 1))
      m_ready.push_back(&t);
  }

  WEFT_INLINE void dead(task &t) noexcept {
    if (&t == m_self)
      ++m_own_deaths;
    else
      drop_references(t, 1);
  }

public:
  [[nodiscard]] static bool uses_locks() noexcept { return s_locked; }

private:
  friend void use_locked_dependencies(bool on) noexcept;
  static inline bool s_locked = false;

  ready_list &m_ready;
  task *const m_self;
  std::uint32_t m_own_deaths = 0;
  std::uint32_t m_own_satisfied = 0;
};

} // namespace rt
} // namespace weft::inline v0
