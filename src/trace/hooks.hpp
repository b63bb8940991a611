// SPDX-License-Identifier: Apache-2.0
// What this folder calls and a higher folder supplies at link time.
#pragma once

#include <cstddef>

namespace weft::inline v0 {
namespace rt {

// Supplied by task/, which keeps the site.

/// Notes the spawn site of a type that is met for the first time; called by the thread that creates
/// or begins its task.
void note_type_spawn_site(std::size_t type) noexcept;

} // namespace rt
} // namespace weft::inline v0
