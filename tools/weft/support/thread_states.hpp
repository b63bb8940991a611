// SPDX-License-Identifier: Apache-2.0
// What the kernel says of another program's threads. Workers and spares are known by their names, worker 0 is taken for the first thread.
#pragma once

#include <set>

namespace weft_tool {

/// Numbers of the workers whose threads sleep in the kernel, whatever for; empty where that cannot be known.
[[nodiscard]] std::set<unsigned> sleeping_workers(unsigned pid);

} // namespace weft_tool
