// SPDX-License-Identifier: Apache-2.0
// The task dump: which task waits for what in a runtime in which nothing runs. It costs nothing
// before it is taken: live tasks are found from the suspended frames, the tasks kept by external
// events, their parents, and the chains of accesses that begin at them.
#pragma once

#include "diagnose/wait_graph.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace weft::inline v0 {
namespace layer {
struct external_report;
} // namespace layer

namespace rt {

class runtime;

/// Takes a dump, with the tasks of layers, listed since the gate was closed. The caller ensures that
/// no worker runs and no thread enters: see hang.cpp. Returns nothing while a layer is being announced or
/// withdrawn, so that not all can be asked. Throws std::bad_alloc.
[[nodiscard]] std::optional<wait_graph> take_task_dump(runtime &rt,
                                                       const layer::external_report &externals);

/// Holds a dump of workers that were stopped at a safepoint amid their work. It includes tasks that
/// could go on; `notes` lists what the dump could not look at; `steps` counts the looks at accesses,
/// tasks and coroutines behind what tasks wait for, beside one look at each task.
struct running_dump {
  wait_graph graph;
  std::vector<std::string> notes;
  std::size_t steps = 0;
};
running_dump take_running_dump(runtime &rt, const layer::external_report &externals);

} // namespace rt
} // namespace weft::inline v0
