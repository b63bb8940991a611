// SPDX-License-Identifier: Apache-2.0
// The ranks of a job beside each other: how long each computes and idles, and what it sends to each other one.
#pragma once

#include "tools/weft/report/messages.hpp"

#include <string>
#include <vector>

namespace weft_tool {

/// Is what the page of a job says of a rank.
struct rank_row {
  std::string name; // "rank 1 of 4: heat (pid 12 on node1)"
  int rank = 0;
  std::string link; // from the page of the job to its own; "" for none
  unsigned workers = 0;
  std::uint64_t tasks = 0;
  double duration_ns = 0, task_ns = 0;
  double worker_task_ns = 0, idle_ns = 0; // of all workers
};

/// Returns sentences on the ranks: whether their shares of the work are even, and where workers idle.
[[nodiscard]] std::vector<std::string> findings_of_ranks(const std::vector<rank_row> &ranks);

/// Returns the page of a job; `findings` are sentences, `doubts` what may be wrong, and `parts` follow the
/// table of ranks.
[[nodiscard]] std::string page_of_ranks(const std::vector<rank_row> &ranks,
                                        const std::vector<rank_pair> &pairs,
                                        const std::vector<std::string> &findings,
                                        const std::vector<std::string> &doubts,
                                        const std::string &parts);

/// Returns the file of a job's page, from what the paths of its traces have in common:
/// "heat.ranks.html" for heat.12 and heat.13.
[[nodiscard]] std::string name_of_page(const std::vector<std::string> &folders);

} // namespace weft_tool
