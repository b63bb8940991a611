// SPDX-License-Identifier: Apache-2.0
// Binary fork-join without allocation.
#pragma once

#include <weft/detail/core.hpp>

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
  detail::join_branch<std::remove_reference_t<G>> job(g);
  detail::join_push(&job);
  if constexpr (noexcept(f())) {
    f();
  } else {
    try {
      f();
    } catch (...) {
      std::exception_ptr first = std::current_exception();
      if (detail::join_pop(&job)) {
        try {
          g();
        } catch (...) { // f's exception is the one that is rethrown
        }
      } else {
        detail::join_wait(&job);
      }
      std::rethrow_exception(std::move(first));
    }
  }
  if (detail::join_pop(&job)) [[likely]] {
    g();
    return;
  }
  detail::join_wait(&job);
  if (job.error) [[unlikely]]
    std::rethrow_exception(std::move(job.error));
}

} // namespace weft::inline v0
