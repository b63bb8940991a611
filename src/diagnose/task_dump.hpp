// SPDX-License-Identifier: Apache-2.0
// Who waits for what in a runtime in which nothing runs. Costs nothing before it is asked: what lives is found from the suspended
// frames, the tasks kept by external events, their parents, and the chains of accesses that begin at them.
#pragma once

#include "diagnose/wait_graph.hpp"

#include <string>
#include <vector>

namespace weft::inline v0 {
namespace rt {

class runtime;

/// Only while no worker runs and no thread enters: see hang.cpp. Throws std::bad_alloc.
[[nodiscard]] wait_graph take_task_dump(runtime &rt);

/// The same of workers that were stopped at a safepoint amid their work, with those that could go on; what it could not look at is said in `notes`.
struct running_dump {
  wait_graph graph;
  std::vector<std::string> notes;
};
running_dump take_running_dump(runtime &rt);

} // namespace rt
} // namespace weft::inline v0
