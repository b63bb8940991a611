// SPDX-License-Identifier: Apache-2.0
// A loop as one task that idle workers share.
#pragma once

#include <weft/detail/loop.hpp>
#include <weft/detail/run_loop.hpp>

namespace weft::inline v0 {

namespace detail {

/// Calls run(context, first, count) for all chunks of the plan, on this worker and, unless `alone`,
/// on workers that have nothing else to do.
WEFT_API void share_chunks(const loop_plan &plan,
                           void (*run)(void *context, std::uint64_t first, std::uint64_t count),
                           void *context, bool alone = false);
/// Says whether the running task, which reduces data, has no copies to add to: among regions, and
/// below a final task. Then only one worker at a time may run its body.
[[nodiscard]] WEFT_API bool reduces_in_place() noexcept;

template <class F, class Index, bool MayBeForOneWorker = false>
struct taskfor_body {
  F f;
  range<Index> space;
  loop_options options;

  void operator()() {
    bool alone = false;
    if constexpr (MayBeForOneWorker)
      alone = options.weak || (options.reduces && reduces_in_place());
    if (!options.has_grain) {
      if (options.participants == 0 && runs_blindly(site_of<taskfor_body>, space.size()))
        return run_as_before(alone);
      return run_adaptively(space, alone);
    }
    share_chunks(
        plan_shared(space.size(), options),
        [](void *p, std::uint64_t first, std::uint64_t count) {
          auto *self = static_cast<taskfor_body *>(p);
          call_body(self->f, self->space.part(first, count));
        },
        this, alone);
  }

 private:
  /// Runs a loop that was short in the calls before. A look at a clock after the first iteration tells
  /// whether it is short again, and one at the end whether the next call is: one type may be many loops,
  /// and a call may have much more to do than the last one.
  void run_as_before(bool alone) {
    if (space.size() < 2)
      return call_body(f, space);
    const std::uint64_t began = tick_clock();
    if constexpr (takes_index<F, Index>) {
      f(space.first());
      const range<Index> rest = space.part(1, space.size() - 1); // a recorded body runs again, with all
      if (took_long(site_of<taskfor_body>, began, 1)) [[unlikely]]
        return run_adaptively(rest, alone);
      call_body(f, rest);
    } else {
      call_body(f, space);
    }
    static_cast<void>(took_long(site_of<taskfor_body>, began, space.size())); // for the next call
  }
  void run_adaptively(const range<Index> &part, bool alone) {
    struct {
      taskfor_body *self;
      const range<Index> &part;
    } context{this, part};
    using context_type = decltype(context);
    loop_request request;
    request.size = part.size();
    request.participate = [](void *p, loop_blocks &blocks) {
      const auto &of = *static_cast<context_type *>(p);
      for (std::uint64_t first = 0, count = 0; blocks.next(first, count);)
        call_body(of.self->f, of.part.part(first, count));
    };
    request.context = &context;
    request.site = &site_of<taskfor_body>;
    request.body = loop_body::may_wait;
    request.participants = alone ? 1 : options.participants;
    run_loop(request);
  }
};

} // namespace detail

/// Spawns one task that calls `f` for all of `space`; workers with nothing else to do take chunks
/// of it.
///
///     weft::taskfor(weft::range(n), [&](weft::range<int> part) { for (int i : part) y[i] += x[i]; }, weft::in(x), weft::inout(y));
///
/// - The task has the accesses of the clauses, once, and ends when all iterations have ended.
/// - Without accesses the call waits for the task, and rethrows what `f` throws. With accesses,
///   nogroup, in_group or tracked the call does not wait.
/// - `f` is moved into the task, takes an index or a chunk (a weft::range), and is called by
///   several workers at once.
/// - Clauses: grain_size (iterations per chunk; default: chunks choose their sizes by what an
///   iteration takes), nogroup, in_group, and all of spawn(). With tracked the call returns a
///   handle<void>.
/// - `f` may wait. An iteration that waits for another one of the same loop needs grain_size(1). What `f` spawns is complete when the loop is, and is ordered only with what the
///   same worker has spawned in this loop, unless the loop has weak accesses.
/// - One worker runs all iterations of a loop with weak accesses, so that these order all that `f`
///   spawns; its iterations must not wait for each other. So it is with a loop that reduces where
///   reductions are in place, among regions and below a final task.
/// - The first exception that `f` throws is that of the task. Then, and when the task's group is
///   cancelled, chunks that have not begun are skipped.
///
/// Cost. That of a task, and two looks at the clock; in most calls of a loop that takes less than
/// 3 us, three of the processor's clock, and two if `f` takes chunks. A loop whose work is shorter than two wake-ups of a worker, or than 10 us, wakes
/// none. Else a look at the clock and an atomic addition per chunk of 4 us. With
/// grain_size: 140 instructions, and 55 per chunk; a loop of one chunk wakes no worker.
/// Threads. Any.
/// Errors. As spawn(); invalid_argument for a grain of 0.
template <class Index, class F, class... Clauses>
auto taskfor(const range<Index> &space, F &&f, const Clauses &...clauses) {
  using closure = std::decay_t<F>;
  static_assert(detail::is_loop_body<closure, Index>,
                "the callable of weft::taskfor takes an index or a chunk (weft::range)");
  static_assert(
      ((!std::is_same_v<Clauses, num_tasks> && !detail::is_chunk_accesses<Clauses>) && ...),
      "weft::taskfor is one task: num_tasks and chunk_accesses are clauses of weft::taskloop");
  const detail::loop_options options = detail::loop_options_of(clauses...);
  detail::check_grain(options);
  return detail::spawn_loop<Clauses...>(
      options.group,
      detail::taskfor_body<closure, Index, (detail::may_be_for_one_worker<Clauses> || ...)>{
          closure(static_cast<F &&>(f)), space, options},
      detail::spawn_clause(clauses)...);
}

/// Spawns one task for a rectangle: a chunk is one block. `f` takes its rows and its columns.
template <class Index, class F, class... Clauses>
auto taskfor(const blocks<Index> &space, F &&f, const Clauses &...clauses) {
  using closure = std::decay_t<F>;
  static_assert(
      std::is_invocable_v<closure &, range<Index>, range<Index>>,
      "the callable of weft::taskfor over blocks takes a range of rows and a range of columns");
  static_assert((!std::is_same_v<Clauses, grain_size> && ...),
                "weft::taskfor over blocks: a chunk is a block; leave grain_size out");
  return taskfor(
      range<std::uint64_t>(space.size()),
      [space, f = closure(static_cast<F &&>(f))](std::uint64_t k) mutable {
        f(space.rows(k), space.columns(k));
      },
      grain_size(1), clauses...);
}

} // namespace weft::inline v0
