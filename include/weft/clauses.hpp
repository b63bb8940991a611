// SPDX-License-Identifier: Apache-2.0
// The properties that a spawn gives to a task beside its accesses. Plain values: none costs
// anything by itself.
#pragma once

#include <weft/access.hpp>
#include <weft/detail/core.hpp>

#include <cstddef>
#include <memory>
#include <span>
#include <type_traits>

namespace weft::inline v0 {

/// Names a task for reports and tools. The string must outlive the task (a literal does).
struct label {
  explicit constexpr label(const char *name) noexcept : text(name) {} ///< the string is not copied
  const char *text; ///< null: no name
};
/// Wishes that a task runs earlier: larger runs earlier where the policy has a choice. The default
/// is 0; the range is -32768..32767, and other values are clamped.
struct priority {
  explicit constexpr priority(int wished) noexcept
      : value(wished) {} ///< values out of range are clamped by spawn
  int value; ///< 0: the default
};
/// Hints how much work the body is, in a unit of your choice that is the same for all tasks of one
/// label (elements, operations). It orders nothing; stats() adds it up, and this_task::cost()
/// returns it.
///
/// Cost. One allocation for a task that has it, nothing for others.
struct cost {
  explicit constexpr cost(std::uint64_t work) noexcept : amount(work) {} ///< 0: unknown
  std::uint64_t amount; ///< in the unit of the label
};
/// Says of a task with a cost that it may run in place, on its creator's stack, before the spawn
/// returns. With it the program promises that neither the task nor a task below it waits for what
/// its creator does after the spawn. Weft runs small tasks so, by the time that work of this type
/// has taken (setting tune.inline), and others as ever.
///
///     weft::spawn([&] { a = sum(left); }, weft::cost(left.size()), weft::may_inline);
///
/// A task runs in place only while nothing holds it back: its accesses are free, in, out or inout,
/// and objects. One with clause final, if_, wait, priority, stack_bytes, onready or after, with
/// regions, or whose body is a coroutine, never does.
///
/// In place the task is a part of its creator, as is a branch of join(): task_local values and
/// this_task::self() are the creator's, release() does nothing, and increase_events() throws
/// not_a_task. The spawn returns when the task and all below it are complete. A task with a handle is
/// a task of its own also in place: self(), release() and events are its own, and the spawn returns
/// when its body has ended, whatever goes on below it.
struct may_inline_clause {};
inline constexpr may_inline_clause may_inline{}; ///< the clause itself
/// Makes a task final: its children run in place at once, in the order of their creation. A final
/// task therefore waits for its weak accesses as for strong ones.
struct final {
  explicit constexpr final(bool is = true) noexcept
      : on(is) {} ///< final(false) is an ordinary task
  bool on; ///< whether the task is final
};
/// Makes a task undeferred with if_(false): the creator waits while the task runs, which it does as
/// soon as its accesses allow.
struct if_ {
  explicit constexpr if_(bool is) noexcept : deferred(is) {} ///< if_(true) is an ordinary task
  bool deferred; ///< whether the creator goes on at once
};
/// Keeps the task's accesses until all of its children are complete, instead of until its body
/// ends.
struct wait_clause {};
inline constexpr wait_clause wait{}; ///< the clause itself
/// Makes the spawn return a handle even when the callable returns nothing.
struct tracked_clause {};
inline constexpr tracked_clause tracked{}; ///< the clause itself
/// Gives the task a stack of so many bytes, guard included, for a body that needs more than setting
/// stack.bytes.
///
/// Cost. A stack of that size and two switches per task.
struct stack_bytes {
  explicit constexpr stack_bytes(std::size_t size) noexcept : bytes(size) {} ///< 0: the default
  std::size_t bytes; ///< guard included
};
/// Calls f(context) once, when the accesses allow the task to run, on the thread that finds this
/// out. In f, this_task::self() is the task, and what f spawns is a child of the task. f must not
/// throw (the program ends with a message that names the task) and must not wait (errc::no_block).
struct onready {
  constexpr onready(void (*call)(void *), void *with) noexcept
      : f(call), context(with) {} ///< null for call: none
  /// Refers to a callable, which must live until it was called; a temporary one does not compile.
  template <class F>
    requires(std::is_invocable_v<F &> && !std::is_same_v<std::remove_const_t<F>, onready>)
  explicit constexpr onready(F &callable) noexcept
      : f([](void *referred) { (*static_cast<F *>(referred))(); }),
        context(const_cast<std::remove_const_t<F> *>(std::addressof(callable))) {}
  template <class F>
    requires(std::is_invocable_v<F &> && !std::is_same_v<std::remove_const_t<F>, onready>)
  explicit onready(const F &&callable) = delete;
  void (*f)(void *); ///< what is called
  void *context; ///< what it is called with
};
/// Makes a task wait for the end of another one, or for the value of a promise, beside its accesses:
/// after(future), after(handle). Its place among its siblings is that of its spawn.
struct after_clause {
  explicit constexpr after_clause(detail::task *other) noexcept
      : before(other) {} ///< for the library
  detail::task *before; ///< what is waited for
};
/// Holds a number of accesses known only at run time; spawn reads them before it returns. A spawn
/// takes one such list at most.
struct accesses {
  explicit constexpr accesses(std::span<const access> all) noexcept
      : list(all) {} ///< the list is read by spawn, and not kept
  std::span<const access> list; ///< in any order
};

} // namespace weft::inline v0
