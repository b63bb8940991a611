// SPDX-License-Identifier: Apache-2.0
// Tasks whose accesses are regions: how they are entered and released.
#pragma once

#include "deps/regions/region_scope.hpp"

namespace weft::inline v0 {
namespace rt {

/// Sets whether the accesses of all tasks are regions, the setting deps.system. Called before any
/// task.
void use_regions(bool on) noexcept;

[[nodiscard]] bool all_are_regions() noexcept;

/// Returns whether the next child's accesses are regions.
[[nodiscard]] bool orders_regions(const task &parent) noexcept;
/// Makes the accesses of the next children regions. What was entered by address before stays as it
/// is; the caller makes sure that no task needs it.
region_scope &begin_regions(task &parent);

struct region_entry {
  const region_shape *shape;
  access_mode mode;
};
/// Does what enter_accesses() does, for a child of a parent that orders regions.
bool enter_regions(task &t, const access *first, std::size_t first_count, const access *second,
                   std::size_t second_count, const region_entry *regions = nullptr,
                   std::size_t region_count = 0);
/// Does the same for one access to all bytes there are.
void enter_everything(task &t);
/// Returns whether a running task has entered these bytes as a region that no other task touches.
[[nodiscard]] bool writes_region(const task &t, const void *address, std::size_t bytes) noexcept;
/// Returns whether the running task has declared all of these bytes as regions.
[[nodiscard]] bool has_region(const task &t, std::uintptr_t low, std::uintptr_t end) noexcept;
/// Gives up these bytes of the running task, before its body ends. Throws std::bad_alloc with
/// nothing given up.
void release_region(task &t, std::uintptr_t low, std::uintptr_t end, ready_list &ready);
/// Describes one run of bytes, which is all that a task names.
struct region_run {
  std::uintptr_t low, end;
  access_mode mode;
};
/// Does what enter_regions() does, for a child of a parent that has a region_scope, in fewer steps.
bool enter_run(task &t, const region_run &run);
/// Gives up the regions of a task, and those of its children that matter to no other task.
void release_regions(task &t, ready_list &ready);
/// Forgets what finished children hold. If no region is left, the next child's accesses are entered
/// as the setting says.
void prune_regions(task &parent) noexcept;

} // namespace rt
} // namespace weft::inline v0
