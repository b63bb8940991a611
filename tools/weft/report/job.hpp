// SPDX-License-Identifier: Apache-2.0
// What a page of all ranks has beyond the numbers of each: the critical path of the job, and one timeline.
#pragma once

#include "tools/weft/report/data.hpp"
#include "tools/weft/trace/job_path.hpp"

#include <string>
#include <vector>

namespace weft_tool {

/// Returns what keeps the path from being found, "" where nothing does.
[[nodiscard]] std::string no_path_because(rank_traces &traces);

/// Returns sentences on the path: what its time went to, and what most of it is.
[[nodiscard]] std::vector<std::string> findings_of_path(rank_traces &traces, const job_path &path);

/// Returns the part of the page that lists the path by rank, and by what is on it.
[[nodiscard]] std::string path_tables(rank_traces &traces, const job_path &path);

/// Returns the data of one timeline: the tracks of all ranks over the job's time, and the bodies of the
/// path. `ranks` are those of the traces. Cells and tasks have their types by name, in `types`.
[[nodiscard]] report_data timeline_of(rank_traces &traces, const std::vector<report_data> &ranks,
                                      const job_path &path);

} // namespace weft_tool
