// SPDX-License-Identifier: Apache-2.0
// Names, for reports, of the functions in which tasks were spawned and in which they are.
#pragma once

#include "diagnose/wait_graph.hpp"

#include <string>
#include <utility>
#include <vector>

namespace weft::inline v0 {
namespace rt {

/// Fills `spawned` and `stack` of the nodes from the return addresses of a task dump. `stack` lists
/// the user's functions. Without watch.spawn_sites, `spawned` remains the closure's type. Reads the
/// symbols of the program, which may take long; tasks may go on meanwhile.
void describe(wait_graph &graph);
/// Returns where types of tasks were first spawned, by their number in the trace: the innermost
/// function of the user.
[[nodiscard]] std::vector<std::pair<unsigned, std::string>> describe_types();

} // namespace rt
} // namespace weft::inline v0
