// SPDX-License-Identifier: Apache-2.0
// What can be said of a task when it is spawned, beside its accesses. Plain values: none costs anything by itself.
#pragma once

#include <weft/access.hpp>

#include <cstddef>
#include <span>

namespace weft::inline v0 {

/// A name for reports and tools; the string must outlive the task (a literal does).
struct label {
  explicit constexpr label(const char *t) noexcept : text(t) {} ///< the string is not copied
  const char *text; ///< null: no name
};
/// Larger runs earlier where the policy has a choice; default 0; range -32768..32767, clamped.
struct priority {
  explicit constexpr priority(int v) noexcept : value(v) {} ///< values out of range are clamped by spawn
  int value; ///< 0: the default
};
/// A hint: how much work the body is, in a unit of your choice that is the same for all tasks of one label (elements, operations). It
/// orders nothing; stats() adds it up, this_task::cost() tells it. Cost: one allocation for a task that has it, nothing for others.
struct cost {
  explicit constexpr cost(std::uint64_t n) noexcept : amount(n) {} ///< 0: unknown
  std::uint64_t amount; ///< in the unit of the label
};
/// Children of a final task run in place at once, in the order of their creation. A final task therefore waits for its weak
/// accesses as for strong ones.
struct final {
  explicit constexpr final(bool is = true) noexcept : on(is) {} ///< final(false) is an ordinary task
  bool on; ///< whether the task is final
};
/// if_(false): the creator waits while the task runs, as soon as its accesses allow.
struct if_ {
  explicit constexpr if_(bool is) noexcept : deferred(is) {} ///< if_(true) is an ordinary task
  bool deferred; ///< whether the creator goes on at once
};
/// The task's accesses are released when all of its children are complete, not when its body ends.
struct wait_clause {};
inline constexpr wait_clause wait{}; ///< the clause itself
/// The spawn returns a handle even when the callable returns nothing.
struct tracked_clause {};
inline constexpr tracked_clause tracked{}; ///< the clause itself
/// Bytes of stack (guard included) the task needs when the default, setting stack.bytes, is too small. Cost: a stack of that size
/// and two switches per task.
struct stack_bytes {
  explicit constexpr stack_bytes(std::size_t n) noexcept : bytes(n) {} ///< 0: the default
  std::size_t bytes; ///< guard included
};
/// Calls f(context) once, when the accesses allow the task to run, on whatever thread notices; there this_task::self() is the
/// task, and what is spawned is its child. It must not throw (the program ends with a message that names the task) and must
/// not wait (errc::no_block).
struct onready {
  constexpr onready(void (*call)(void *), void *with) noexcept : f(call), context(with) {} ///< null for call: none
  void (*f)(void *); ///< what is called
  void *context; ///< what it is called with
};
/// A number of accesses known only at run time; they are read before spawn returns. At most one per spawn.
struct accesses {
  explicit constexpr accesses(std::span<const access> all) noexcept : list(all) {} ///< the list is read by spawn, and not kept
  std::span<const access> list; ///< in any order
};

} // namespace weft::inline v0
