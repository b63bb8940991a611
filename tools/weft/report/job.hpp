// SPDX-License-Identifier: Apache-2.0
// What a page of all ranks has beyond the numbers of each: the critical path of the job, and one timeline.
#pragma once

#include "tools/weft/report/data.hpp"
#include "tools/weft/trace/job_path.hpp"

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace weft_tool {

/// Returns what keeps the path from being found, "" where nothing does.
[[nodiscard]] std::string no_path_because(rank_traces &traces);

/// Returns sentences on the path: what its time went to, and what most of it is.
[[nodiscard]] std::vector<std::string> findings_of_path(rank_traces &traces, const job_path &path);

/// Returns the part of the page that lists the path by rank, and by what is on it.
[[nodiscard]] std::string path_tables(rank_traces &traces, const job_path &path);

/// Is what the timeline of a job takes from the report of a rank.
struct rank_tracks {
  double begin_ns = 0, duration_ns = 0; // of the rank's own clock
  std::vector<std::string> names;
  std::vector<std::vector<cell>> cells; // by track
  std::vector<std::pair<std::string, double>> types; // and the time in them
};

/// Takes the tracks out of a report, with at most `columns` of the job's timeline each. So all ranks together
/// have no more cells than a single report, up to 4687 tracks. A track has 128 columns at least, so beyond that each
/// adds 2 KB.
[[nodiscard]] rank_tracks take_tracks(report_data &rank, std::size_t columns);

/// Returns the columns of each track of the timeline of all ranks.
[[nodiscard]] std::size_t columns_of_job(const rank_traces &traces);

/// Returns the data of one timeline: the tracks of all ranks over the job's time, and the bodies of the
/// path. `ranks` are those of the traces. Cells and tasks have their types by name, in `types`.
[[nodiscard]] report_data timeline_of(rank_traces &traces, const std::vector<rank_tracks> &ranks,
                                      const job_path &path);

} // namespace weft_tool
