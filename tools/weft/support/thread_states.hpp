// SPDX-License-Identifier: Apache-2.0
// Reads what the kernel says of another program's threads. Names identify workers and spares;
// worker 0 is assumed to be the first thread.
#pragma once

#include <set>

namespace weft_tool {

/// Returns the numbers of the workers whose threads sleep in the kernel, for any reason; empty
/// where the kernel does not say.
[[nodiscard]] std::set<unsigned> sleeping_workers(unsigned pid);

} // namespace weft_tool
