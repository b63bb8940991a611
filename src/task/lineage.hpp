// SPDX-License-Identifier: Apache-2.0
// What a waiting frame may run in place: descendants of what it waits for, and nothing else.
#pragma once

#include "task/group.hpp"

namespace weft::inline v0 {
namespace rt {

/// Describes everything below a task, or everything of a group; with neither, every task.
struct lineage {
  const task *root = nullptr;
  const group_state *group = nullptr;

  /// Returns whether `r` is ready work of the lineage. Its ancestors live as long as `r` does. The
  /// walk upwards ends after k_generations.
  [[nodiscard]] bool includes(const runnable &r) const noexcept {
    if (r.what != runnable::kind::task)
      return false;
    const task *t = static_cast<const task *>(&r);
    for (int i = 0; t && i < k_generations; ++i, t = t->parent)
      if (is_child(*t)) [[likely]]
        return true;
    return !root && !group;
  }

 private:
  static constexpr int k_generations = 16;
  [[nodiscard]] bool is_child(const task &t) const noexcept {
    return root ? t.parent == root : t.group && &t.group->internals() == group;
  }
};

inline constexpr lineage k_all_lineages{};

} // namespace rt
} // namespace weft::inline v0
