// SPDX-License-Identifier: Apache-2.0
// For reports: names for where tasks were spawned and where they are.
#pragma once

#include "diagnose/wait_graph.hpp"

#include <string>
#include <utility>
#include <vector>

namespace weft::inline v0 {
namespace rt {

/// Fills `spawned` (with watch.spawn_sites; else it stays the closure's type) and `stack`, the user's functions, from the return addresses of a
/// task dump. Reads the symbols of the program, which may take long; tasks may go on meanwhile.
void describe(wait_graph &g);
/// Where types of tasks were first spawned, by their number in the trace: the innermost function of the user.
[[nodiscard]] std::vector<std::pair<unsigned, std::string>> describe_types();

} // namespace rt
} // namespace weft::inline v0
