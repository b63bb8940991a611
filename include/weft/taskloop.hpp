// SPDX-License-Identifier: Apache-2.0
// A loop as many tasks.
#pragma once

#include <weft/taskfor.hpp>

namespace weft::inline v0 {

namespace detail {

template <class Clause>
inline constexpr bool is_taskloop_clause =
    is_loop_clause<Clause> || is_access<Clause> || is_list<Clause> || is_region<Clause> ||
    is_region_list<Clause> || (is_option<Clause> && !std::is_same_v<Clause, tracked_clause>);

/// Says whether a clause leaves open into how many tasks a loop is cut: one task keeps it as well.
template <class Clause>
inline constexpr bool suits_one_task =
    std::is_same_v<Clause, label> || std::is_same_v<Clause, priority> ||
    std::is_same_v<Clause, cost> || std::is_same_v<Clause, nogroup_clause> ||
    std::is_same_v<Clause, in_group>;

/// Spawns the one task of a taskloop, whose blocks choose their sizes.
template <class Index, class F, class... Clauses>
void spawn_as_one(const range<Index> &space, F &&f, loop_options options,
                  const Clauses &...clauses) {
  options.participants = taskloop_participants();
  if constexpr (loop_waits<Clauses...>) {
    using call = borrowed_call<std::remove_reference_t<F>>;
    spawn_loop<Clauses...>(nullptr, taskfor_body<call, Index>{call{&f}, space, options},
                           spawn_clause(clauses)...);
  } else {
    using closure = std::decay_t<F>;
    spawn_loop<Clauses...>(
        options.group,
        taskfor_body<closure, Index>{closure(static_cast<F &&>(f)), space, options},
        spawn_clause(clauses)...);
  }
}

template <class Accesses, class Index>
struct accesses_of_chunk {
  const Accesses *f;
  template <class Body, class... Clauses>
  void spawn(task_group *group, Body &&body, const range<Index> &chunk,
             const Clauses &...clauses) const {
    const auto named = f->f(chunk);
    using type = std::remove_cv_t<decltype(named)>;
    if constexpr (is_access<type> || is_region<type>)
      spawn_in(group, static_cast<Body &&>(body), clauses..., named);
    else if constexpr (std::is_convertible_v<const type &, std::span<const region_access>>)
      spawn_in(group, static_cast<Body &&>(body), clauses...,
               regions(std::span<const region_access>(named)));
    else
      spawn_in(group, static_cast<Body &&>(body), clauses...,
               accesses(std::span<const access>(named)));
  }
};
template <class Index>
struct accesses_of_chunk<void, Index> {
  template <class Body, class... Clauses>
  void spawn(task_group *group, Body &&body, const range<Index> &,
             const Clauses &...clauses) const {
    spawn_in(group, static_cast<Body &&>(body), clauses...);
  }
};

template <class Index>
accesses_of_chunk<void, Index> find_chunk_accesses() noexcept {
  return {};
}
template <class Index, class First, class... Rest>
auto find_chunk_accesses(const First &first, const Rest &...rest) noexcept {
  if constexpr (is_chunk_accesses<First>)
    return accesses_of_chunk<First, Index>{&first};
  else
    return find_chunk_accesses<Index>(rest...);
}

template <class Body, class Index, class... Clauses>
void spawn_chunks(task_group *group, const Body &body, const range<Index> &space,
                  const loop_plan &plan, const Clauses &...clauses) {
  const auto accesses = find_chunk_accesses<Index>(clauses...);
  for (std::uint64_t k = 0; k < plan.chunks && !(group && group->cancelled()); ++k) {
    const range<Index> chunk = space.part(plan.first(k), plan.count(k));
    accesses.spawn(
        group,
        [body, chunk] {
          if (!this_task::cancelled())
            call_body(body.get(), chunk);
        },
        chunk, spawn_clause(clauses)...);
  }
}

} // namespace detail

/// Cuts `space` into chunks, and spawns a task for each chunk, in order. Without accesses the call
/// waits until the tasks and their descendants are complete; with accesses, nogroup or in_group it
/// does not wait.
///
///     weft::taskloop(weft::range(n), [&](int i) { y[i] += a * x[i]; }, weft::grain_size(4096));
///
/// `f` takes an index, or a chunk, which is a weft::range. The tasks share `f`, so several of them
/// call it at once. Clauses:
/// - one of grain_size and num_tasks (default: 8 tasks per worker; without accesses, and with no other
///   clauses than label, priority, cost, nogroup and in_group, the loop is one task, whose chunks choose
///   their sizes as those of taskfor do);
/// - chunk_accesses(g), where g(chunk) returns the accesses of the chunk's task;
/// - accesses of every chunk (also of regions, and lists), label, priority, final, if_, wait,
///   stack_bytes, onready for each task, label, priority and cost for the one;
/// - nogroup or in_group.
///
/// The first exception that `f` throws skips the tasks that have not begun, and the loop rethrows
/// it (setting group.exceptions). If the loop does not wait, the exception goes the way of the
/// tasks' exceptions. When a group that the caller belongs to is cancelled, further chunks are
/// skipped.
///
/// Cost. That of the tasks. When the loop does not wait, one allocation for an `f` of more than 64
/// bytes.
/// Threads. Any.
/// Errors. invalid_argument for a grain or number of 0; else as spawn() and task_group::wait().
template <class Index, class F, class... Clauses>
void taskloop(const range<Index> &space, F &&f, const Clauses &...clauses) {
  using closure = std::remove_reference_t<F>;
  static_assert(detail::is_loop_body<closure, Index>,
                "the callable of weft::taskloop takes an index or a chunk (weft::range)");
  static_assert(
      (detail::is_taskloop_clause<Clauses> && ...),
      "a clause of weft::taskloop must be grain_size, num_tasks, chunk_accesses, nogroup, in_group, an access, a list of accesses, label, "
      "priority, final, if_, wait, stack_bytes or onready");
  static_assert(
      detail::count_of<grain_size, Clauses...> + detail::count_of<num_tasks, Clauses...> <= 1,
      "weft::taskloop takes one of grain_size and num_tasks");
  constexpr int elsewhere =
      detail::count_of<nogroup_clause, Clauses...> + detail::count_of<in_group, Clauses...>;
  static_assert(elsewhere <= 1, "weft::taskloop takes one of nogroup and in_group");
  const detail::loop_options options = detail::loop_options_of(clauses...);
  if constexpr ((detail::suits_one_task<Clauses> && ...)) {
    if (!space.empty())
      detail::spawn_as_one(space, static_cast<F &&>(f), options, clauses...);
    return;
  }
  const detail::loop_plan plan = detail::plan_chunks(space.size(), options);
  if (plan.chunks == 0)
    return;
  if constexpr (!detail::loop_waits<Clauses...>) {
    const detail::shared_body<std::decay_t<F>> body(static_cast<F &&>(f));
    detail::spawn_chunks(options.group, body, space, plan, clauses...);
  } else {
    task_group own;
    detail::spawn_chunks(&own, detail::borrowed_body<closure>(f), space, plan, clauses...);
    own.wait();
  }
}

/// Spawns a task for each block of a rectangle. `f`, and the function of chunk_accesses, take the
/// block's rows and columns.
///
///     weft::taskloop(weft::blocks(weft::range(rows), 64, weft::range(columns), 64), [&](auto r, auto c) { ... });
template <class Index, class F, class... Clauses>
void taskloop(const blocks<Index> &space, F &&f, const Clauses &...clauses) {
  static_assert(
      std::is_invocable_v<std::remove_reference_t<F> &, range<Index>, range<Index>>,
      "the callable of weft::taskloop over blocks takes a range of rows and a range of columns");
  static_assert(
      ((!std::is_same_v<Clauses, grain_size> && !std::is_same_v<Clauses, num_tasks>) && ...),
      "weft::taskloop over blocks has a task for each block: leave grain_size and num_tasks out");
  const auto adapted = [&space]<class Clause>(const Clause &clause) -> decltype(auto) {
    if constexpr (detail::is_chunk_accesses<Clause>)
      return chunk_accesses([&space, &clause](const range<std::uint64_t> &one) {
        return clause.f(space.rows(one.first()), space.columns(one.first()));
      });
    else
      return (clause);
  };
  if constexpr (detail::loop_waits<Clauses...>)
    taskloop(
        range<std::uint64_t>(space.size()),
        [&space, &f](std::uint64_t k) { f(space.rows(k), space.columns(k)); }, grain_size(1),
        adapted(clauses)...);
  else
    taskloop(
        range<std::uint64_t>(space.size()),
        [space, f = std::decay_t<F>(static_cast<F &&>(f))](std::uint64_t k) mutable {
          f(space.rows(k), space.columns(k));
        },
        grain_size(1), adapted(clauses)...);
}

} // namespace weft::inline v0
