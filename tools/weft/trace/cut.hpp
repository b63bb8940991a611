// SPDX-License-Identifier: Apache-2.0
// weft trace cut: the records between two times, as a trace of its own.
#pragma once

#include "tools/weft/commands.hpp"

namespace weft_tool {

int run_trace_cut(const words &arguments);

} // namespace weft_tool
