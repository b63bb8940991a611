// SPDX-License-Identifier: Apache-2.0
// Taskiter in the life of a task: a task that was recorded runs again and again. hooks.hpp has what
// iter/ does at the ends of such a task.
#pragma once

#include "task/task.hpp"

namespace weft::inline v0 {
namespace rt {

/// Returns whether the task belongs to the graph of its parent, a taskiter: such a task is neither
/// freed nor counted when it is over.
[[nodiscard]] inline bool is_recorded(const task &t) noexcept {
  return t.base() == runnable::kind::recorded;
}

/// Is in the extent of a node that is a member of a chain (iter/iteration.hpp), beside the number of
/// its accesses, which is smaller.
inline constexpr std::uint32_t k_in_chain = 1u << 31;
static_assert(k_in_chain > detail::k_most_accesses);

/// Returns the number of accesses that can be asked for. The accesses of a recorded task are edges
/// of its graph, except its reductions: its node counts these.
[[nodiscard]] inline std::uint32_t known_accesses(const task &t) noexcept {
  if (!is_recorded(t)) [[likely]]
    return t.extent;
  return static_cast<const runnable *>(t.done_word.load(std::memory_order_relaxed))->extent &
         ~k_in_chain; // the number is written before the first round
}

/// Returns the graph for which the children of `t` are being recorded, or that is being run; else
/// null. The flag is tested first because it is mostly false.
[[nodiscard]] inline iteration *iteration_of(const task &t) noexcept {
  const task_extra *x = t.has(detail::k_final) ? peek_extra(t) : nullptr;
  return x ? x->iterated : nullptr;
}

} // namespace rt
} // namespace weft::inline v0
