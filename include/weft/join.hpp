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

/// Calls f() and g(), possibly in parallel, and returns when both have returned. The caller runs f; an idle worker may
/// take g meanwhile, else the caller runs it too. Both are called even when one throws; then f's exception, or else
/// g's, is rethrown. Cost: no allocation, about a dozen nanoseconds when nobody takes g. Any thread. Results: write them
/// through captured references. Throws, beside what f and g throw, weft::error: out_of_resources, shut_down.
///
/// Tasks that a branch spawns: those of a branch that the caller runs are children of the enclosing task; those of one that another
/// worker took are ordered among themselves only and are complete when the branch returns. So a task in g is not ordered
/// with a task of f, nor with one that the enclosing task has spawned before and that may still be running, whatever data
/// both name. Where that order matters, wait before the join (taskwait(in(x))), or spawn f and g as tasks instead.
///
/// The scheme is Rayon's join over the deque of Chase and Lev (SPAA 2005).
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
