// SPDX-License-Identifier: Apache-2.0
// Binary fork-join without allocation.
#pragma once

#include <weft/clauses.hpp>
#include <weft/detail/core.hpp>
#include <weft/detail/in_place.hpp>

#include <exception>
#include <type_traits>
#include <utility>

namespace weft::inline v0 {

namespace detail {
template <class G>
struct join_branch : join_job {
  explicit join_branch(G &branch) noexcept : join_job(&run), g(branch) {}
  G &g;
  static void run(join_job *job) { static_cast<join_branch *>(job)->g(); }
};
/// Does what join() does. Returns whether the caller has run g.
template <class F, class G>
bool join_branches(F &f, G &g) {
  join_branch<G> job(g);
  join_push(&job);
  if constexpr (noexcept(f())) {
    f();
  } else {
    try {
      f();
    } catch (...) {
      std::exception_ptr first = std::current_exception();
      if (join_pop(&job)) {
        try {
          g();
        } catch (...) { // f's exception is the one that is rethrown
        }
      } else {
        join_wait(&job);
      }
      std::rethrow_exception(std::move(first));
    }
  }
  if (join_pop(&job)) [[likely]] {
    g();
    return true;
  }
  join_wait(&job);
  if (job.error) [[unlikely]]
    std::rethrow_exception(std::move(job.error));
  return false;
}

/// Calls both, in this order, and rethrows the first exception.
template <class F, class G>
void call_both(F &f, G &g) {
  if constexpr (noexcept(f())) {
    f();
  } else {
    try {
      f();
    } catch (...) {
      std::exception_ptr first = std::current_exception();
      try {
        g();
      } catch (...) { // f's exception is the one that is rethrown
      }
      std::rethrow_exception(std::move(first));
    }
  }
  g();
}

/// Is what is known of the joins of a type.
template <class F>
inline constinit work_site join_site{closure_name<F>()};

/// Joins in the ways that begin or measure work. A function of its own: the others need less stack.
template <class F, class G, class InPlace>
[[gnu::noinline]] void join_measured(work_site &site, std::uint64_t amount, work_way way, F &f,
                                          G &g, InPlace &in_place) {
  work_timer timer;
  begin_timer(timer, site, amount, way);
  if (way == work_way::in_place_measured)
    in_place();
  else if (!join_branches(f, g))
    note_elsewhere();
}

/// Joins by cost; `in_place` does the work of both branches in place.
template <class F, class G, class InPlace>
void join_by_cost(work_site &site, std::uint64_t amount, F &f, G &g, InPlace in_place) {
  const work_way way = choose_join(site, amount);
  if (way == work_way::in_place) [[likely]]
    return in_place();
  if (way != work_way::apart)
    return join_measured(site, amount, way, f, g, in_place);
  join_branches(f, g);
}
} // namespace detail

/// Calls f() and g(), possibly in parallel, and returns when both have returned. The caller runs f.
/// An idle worker may take g meanwhile; otherwise the caller runs g, too. Both are called even when
/// one throws; then join() rethrows f's exception, or else g's. Results: write them through
/// captured references.
///
/// Tasks that a branch spawns:
/// - If the caller runs the branch, they are children of the enclosing task.
/// - If another worker took the branch, they are ordered among themselves only, and are complete
///   when the branch returns.
///
/// So a task in g is not ordered with a task of f, nor with a task that the enclosing task has
/// spawned before and that may still be running, whatever data both name. Where that order matters,
/// wait before the join (taskwait(in(x))), or spawn f and g as tasks instead.
///
/// Cost. No allocation; about a dozen nanoseconds when no worker takes g.
/// Threads. Any.
/// Errors. What f and g throw; out_of_resources; shut_down.
/// Source. Rayon's join, over the deque of Chase and Lev (SPAA 2005).
template <class F, class G>
void join(F &&f, G &&g) {
  static_cast<void>(detail::join_branches(f, g));
}

/// Does the same for work of a known cost, in a unit of your choice. Small work runs in place: the
/// branches, and all joins and tasks below them that may, are plain calls, f before g. So a recursion
/// needs no cut-off:
///
///     long fib(int n) {
///       if (n < 2)
///         return n;
///       long a, b;
///       weft::join(weft::cost(calls(n)), [&] { a = fib(n - 1); }, [&] { b = fib(n - 2); });
///       return a + b;
///     }
///
/// With a cost the program promises that f does not wait for g. Weft measures what the work of f's
/// type takes, and takes joins of at most 20 to 80 microseconds for small (setting tune.inline). A
/// cost should grow with the work; one that is wrong costs time, and nothing else. 0 is unknown: such
/// a join is one without a cost.
///
/// Cost. In place about 2 ns; 0.1 us where it is measured.
/// Threads. Any.
/// Errors. As join().
/// Source. Acar, Aksenov, Chargueraud, Rainey: Provably and practically efficient granularity
/// control, PPoPP 2019.
template <class F, class G>
void join(cost work, F &&f, G &&g) {
  detail::join_by_cost(detail::join_site<std::remove_cvref_t<F>>, work.amount, f, g,
                       [&] { detail::call_both(f, g); });
}
/// Does the same, and calls serial() in the place of f and g where both would run in place: code
/// without joins, which asks nothing.
template <class F, class G, class Serial>
void join(cost work, F &&f, G &&g, Serial &&serial) {
  detail::join_by_cost(detail::join_site<std::remove_cvref_t<F>>, work.amount, f, g,
                       [&] { serial(); });
}

} // namespace weft::inline v0
