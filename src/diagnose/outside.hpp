// SPDX-License-Identifier: Apache-2.0
// What layers know about waits for something outside of the process.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace weft::inline v0 {
namespace layer {
struct outside_wait;
}
namespace rt {

class wait_graph;

using list_outside = void(void *source, std::vector<layer::outside_wait> &to);

/// Adds a source of waits. Throws std::bad_alloc.
void add_outside_waits(void *source, list_outside *list);
/// Removes it; no thread is in its list afterwards.
void remove_outside_waits(const void *source) noexcept;
/// In the child of a fork: forgets the call that went on in a thread of the parent.
void forget_outside_waits_in_child() noexcept;
/// Asks all sources; returns nothing while one is being added or removed. Throws std::bad_alloc.
[[nodiscard]] std::optional<std::vector<layer::outside_wait>> all_outside_waits();

/// Adds the waits whose tasks layers keep waiting, for a look while services may continue others. Adds
/// none while a source is being added or removed. Throws std::bad_alloc.
void add_named_waits(wait_graph &graph);

} // namespace rt
} // namespace weft::inline v0
