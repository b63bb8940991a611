// SPDX-License-Identifier: Apache-2.0
// A loop over a graph of tasks that is built once.
#pragma once

#include <weft/detail/loop.hpp>

namespace weft::inline v0 {

namespace detail {

/// Calls record(context), in the body of a taskiter, to spawn the tasks of an iteration, and runs
/// them `rounds` times; or, with `more`, as long as more(context) returns true.
WEFT_API void iterate(std::uint64_t rounds, bool (*more)(void *context),
                      void (*record)(void *context), void *context);

template <class F>
struct counted_iterations {
  std::uint64_t rounds;
  F record;
  void operator()() {
    iterate(rounds, nullptr, [](void *p) { static_cast<counted_iterations *>(p)->record(); }, this);
  }
};

template <class More, class F>
struct conditional_iterations {
  More more;
  F record;
  void operator()() {
    iterate(
        UINT64_MAX,
        [](void *p) { return static_cast<bool>(static_cast<conditional_iterations *>(p)->more()); },
        [](void *p) { static_cast<conditional_iterations *>(p)->record(); }, this);
  }
};

template <class Body, class... Clauses>
auto spawn_taskiter(Body &&body, const Clauses &...clauses) {
  static_assert(
      ((!std::is_same_v<Clauses, weft::v0::final> && !std::is_same_v<Clauses, if_>) && ...),
      "weft::taskiter is neither final nor undeferred: say so of the tasks that it records, or wait after it");
  static_assert((!(is_loop_clause<Clauses> && !std::is_same_v<Clauses, in_group> &&
                   !std::is_same_v<Clauses, nogroup_clause>) &&
                 ...),
                "weft::taskiter takes the clauses of weft::spawn, nogroup and in_group");
  // final: its weak accesses count as strong ones, and a child that asks whether its parent is
  // final learns of the recording.
  return spawn_loop<Clauses...>(loop_options_of(clauses...).group, static_cast<Body &&>(body),
                                weft::v0::final(), spawn_clause(clauses)...);
}

} // namespace detail

/// Spawns one task that calls `record` once, keeps the tasks that `record` spawns instead of
/// running them, and then runs them all `count` times.
///
///     weft::taskiter(steps, [&] {
///       for (int b = 0; b < n; ++b)
///         weft::spawn([&, b] { relax(b); }, weft::in(x[b]), weft::inout(x[b + 1]));
///     }, weft::label("sweeps"));
///
/// Weft finds once, from the accesses, what each task waits for within an iteration and from one
/// iteration to the next. There is no barrier between iterations: a task's next run waits only for
/// the runs with which it is in conflict.
///
/// The taskiter as a whole:
/// - Without accesses of its own the call waits for the end of the whole, and rethrows what a task
///   throws. With accesses, nogroup, in_group or tracked the call does not wait.
/// - The whole has the accesses of its clauses towards its siblings (weak ones count as strong).
///   The accesses of its tasks order these tasks among themselves only.
/// - Clauses: those of spawn() but final and if_, nogroup and in_group. With tracked the call
///   returns a handle<void>.
/// - The first exception that a task throws is that of the whole, and further ones are reported.
///   Tasks that begin later are skipped, and no iteration follows. The same happens when the group
///   of the taskiter is cancelled.
///
/// A recorded task:
/// - In its body it is an ordinary task: it may spawn, wait, have events, and use task_local
///   values. Each of its runs ends when all of its descendants have ended.
/// - Its callable is called again and again, by reference, and destroyed at the end. Labels,
///   priorities, onready and stack_bytes are kept.
/// - What tasks reduce is added to the object before the next task that names it in another way, of
///   this iteration or the next, before a condition is asked, and at the end.
///
/// The spawn or taskwait inside of `record` throws weft::error (invalid_argument) for what cannot
/// be recorded:
/// - a task with a handle (tracked, or one that returns something);
/// - if_(false);
/// - a group;
/// - a loop that waits (give it nogroup);
/// - a wait for recorded tasks;
/// - regions beside tasks that reduce what the taskiter itself reduces.
///
/// Cost. The recording; from then on about 110 instructions per run of a task and 10 to 20 per
/// edge, no allocation, no table of addresses. Memory: 64 bytes per task beside its block, 8 per
/// edge, until the end.
/// Threads. Any.
/// Errors. As spawn().
template <class Integer, class F, class... Clauses>
  requires(std::is_integral_v<Integer> && !std::is_same_v<Integer, bool>)
auto taskiter(Integer count, F &&record, const Clauses &...clauses) {
  static_assert(std::is_invocable_v<std::decay_t<F> &>,
                "weft::taskiter needs a callable without parameters that spawns the tasks");
  const std::uint64_t rounds = count > 0 ? static_cast<std::uint64_t>(count) : 0;
  return detail::spawn_taskiter(
      detail::counted_iterations<std::decay_t<F>>{rounds, static_cast<F &&>(record)}, clauses...);
}

/// Spawns a taskiter that goes on while `more()` returns true. `more` is called before `record`,
/// and after each iteration by a task of its own, when all of the iteration is complete and none of
/// the next has begun.
///
/// Cost. Beside that barrier one task, and an edge for each first and last task of an iteration. At
/// the end Weft looks at every task once more.
template <class More, class F, class... Clauses>
  requires(std::is_invocable_r_v<bool, std::decay_t<More> &>)
auto taskiter(More &&more, F &&record, const Clauses &...clauses) {
  static_assert(std::is_invocable_v<std::decay_t<F> &>,
                "weft::taskiter needs a callable without parameters that spawns the tasks");
  return detail::spawn_taskiter(
      detail::conditional_iterations<std::decay_t<More>, std::decay_t<F>>{
          static_cast<More &&>(more), static_cast<F &&>(record)},
      clauses...);
}

} // namespace weft::inline v0
