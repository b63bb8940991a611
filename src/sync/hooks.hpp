// SPDX-License-Identifier: Apache-2.0
// What this folder calls and a higher folder supplies at link time.
#pragma once

#include <weft/detail/wait_list.hpp>

namespace weft::inline v0 {
namespace rt {

// Supplied by api/cpp.

/// Returns whether, in the child of a fork(), only the parent process has the waiter.
[[nodiscard]] bool is_lost(const detail::wait_node<> &node) noexcept;

} // namespace rt
} // namespace weft::inline v0
