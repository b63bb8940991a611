// SPDX-License-Identifier: Apache-2.0
// A trace in the formats of others.
// Bodies: export.cpp, dot.cpp, paraver.cpp, perfetto.cpp
#pragma once

#include "tools/weft/commands.hpp"
#include "tools/weft/support/output_file.hpp"
#include "tools/weft/trace/rank_traces.hpp"
#include "tools/weft/trace/slices.hpp"

namespace weft_tool {

int run_trace_export(const words &arguments);
// Of one trace, or of the ranks of a job:
void export_chrome(rank_traces &traces, output_file &out);
void export_perfetto(rank_traces &traces, output_file &out);
// Of one:
void export_csv(trace_reader &reader, output_file &out);
void export_dot(trace_reader &reader, output_file &out);
/// Writes path.prv, path.pcf and path.row.
void export_paraver(trace_reader &reader, const std::string &path);

/// Escapes a text for JSON and Graphviz.
[[nodiscard]] std::string escaped(const std::string &text);

} // namespace weft_tool
