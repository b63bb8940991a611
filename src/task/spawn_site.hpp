// SPDX-License-Identifier: Apache-2.0
// Where tasks were spawned (setting watch.spawn_sites): the return addresses above the spawn, in a
// table beside the tasks, found by the address of the task. The next task in the same memory
// replaces the entry, so the end of a task writes nothing.
// A caller that asks for a spawn site must know that the task lives.
#pragma once

#include "task/task.hpp"

#include <cstddef>

namespace weft::inline v0 {
namespace rt {

inline constexpr std::size_t k_spawn_site_depth =
    12; // templates of the headers are between a spawn and the user's code

struct spawn_site {
  const void *calls[k_spawn_site_depth];
  std::size_t count = 0;
};

extern bool g_notes_spawn_sites; // written before any task
[[nodiscard]] inline bool notes_spawn_sites() noexcept { return g_notes_spawn_sites; }
void note_spawn_sites(bool on) noexcept;

/// Notes where the task is spawned. Its creator calls it; it takes some microseconds. Without
/// memory the site stays unknown.
WEFT_COLD void note_spawn_site(const task &t) noexcept;
[[nodiscard]] spawn_site spawn_site_of(const task &t) noexcept;
void forget_spawn_sites_in_child() noexcept;

} // namespace rt
} // namespace weft::inline v0
