// SPDX-License-Identifier: Apache-2.0
// What a waiting frame may run in place: descendants of what it waits for, and nothing else.
#pragma once

#include "task/groups/group.hpp"
#include "task/task.hpp"
#include "task/wait/claim_word.hpp"

#include <bit>

namespace weft::inline v0 {
namespace rt {

/// Describes what a taskwait of a task waits for, or everything of a group; with neither, every task.
/// A taskwait does not wait for the task's groups: on the waiter's stack a task of theirs could wait
/// for what the waiter does next.
struct lineage {
  const task *root = nullptr;
  const group_state *group = nullptr;
  bool of_thread = false; // beside what `root` waits for: tasks of its groups, and each lightweight
                          // thread that may go on

  /// Returns whether `item` is ready work of the lineage. Its ancestors live as long as `item` does. The
  /// walk upwards ends after k_generations.
  ///
  /// A task with a handle that a waiter has begun is no longer in the queue that `item` was taken from,
  /// and has perhaps no ancestors any more: it counts as included, so that the caller drops its
  /// entry.
  [[nodiscard]] bool includes(runnable &item) const noexcept {
    if (!is_untracked_task(item)) [[unlikely]]
      return item.what == runnable::kind::task ? includes_tracked(static_cast<task &>(item))
                                               : of_thread && is_light_thread(item);
    return is_below(static_cast<task &>(item));
  }

 private:
  static constexpr int k_generations = 16;

  /// Returns, in one comparison, whether `item` is a task of all workers and without a handle. Another
  /// thread may run it, and set flags.
  [[nodiscard]] static bool is_untracked_task(const runnable &item) noexcept {
    struct head {
      runnable::kind what;
      std::uint8_t flags;
    };
    constexpr auto bits = [](runnable::kind k, std::uint8_t f) {
      return std::bit_cast<std::uint16_t>(head{k, f});
    };
    return !test_bits_of_two(&item.what, bits(runnable::kind{0xFF}, detail::k_tracked));
  }
  [[nodiscard]] static bool is_light_thread(const runnable &item) noexcept {
    if (item.what != runnable::kind::frame)
      return false;
    const task *const of = static_cast<const frame &>(item).current;
    return of && !of->parent; // the other roots are threads', whose own stacks are in no queue
  }
  [[nodiscard]] WEFT_INLINE bool is_below(const task &of) const noexcept {
    const task *t = &of;
    for (int i = 0; t && i < k_generations; ++i, t = t->parent)
      if (is_child(*t)) [[likely]]
        return true;
    return !root && !group;
  }
  /// Keeps waiters away while it looks: they may end the task, and with it its ancestors.
  [[nodiscard]] WEFT_NOINLINE bool includes_tracked(task &t) const noexcept {
    const bool held = hold(t.unsatisfied);
    if (!held && is_left_behind(t.unsatisfied))
      return true;
    const bool below = is_below(t);
    if (held && !below)
      put_back(t.unsatisfied);
    return below;
  }
  [[nodiscard]] bool is_child(const task &t) const noexcept {
    return root ? t.parent == root && (!t.group || of_thread)
                : t.group && &t.group->internals() == group;
  }
};

inline constexpr lineage k_all_lineages{};

} // namespace rt
} // namespace weft::inline v0
