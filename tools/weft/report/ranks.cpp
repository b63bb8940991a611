// SPDX-License-Identifier: Apache-2.0
#include "tools/weft/report/ranks.hpp"

#include "tools/weft/report/page.hpp"
#include "tools/weft/support/text.hpp"

#include <algorithm>

namespace weft_tool {
namespace {

constexpr double k_uneven = 1.05; // the largest share, as a multiple of the mean one

/// Returns a part of the time of a rank's workers, from 0 to 1.
double share(const rank_row &of, double ns) {
  const double all = of.duration_ns * std::max(of.workers, 1u);
  return all > 0 ? ns / all : 0;
}
double idle_share(const rank_row &of) { return share(of, of.idle_ns); }

} // namespace

std::vector<std::string> findings_of_ranks(const std::vector<rank_row> &ranks) {
  std::vector<std::string> found;
  if (ranks.empty())
    return found;
  double sum = 0;
  for (const rank_row &r : ranks)
    sum += r.task_ns;
  const double mean = sum / static_cast<double>(ranks.size());
  const auto &most = *std::ranges::max_element(ranks, {}, &rank_row::task_ns);
  const auto &least = *std::ranges::min_element(ranks, {}, &rank_row::task_ns);
  if (mean > 0 && most.task_ns >= k_uneven * mean)
    found.push_back(
        text("The work is uneven: rank %d has %s in tasks, %.2f times the mean, and rank %d has %s.",
             most.rank, duration(most.task_ns).c_str(), most.task_ns / mean, least.rank,
             duration(least.task_ns).c_str()));
  else if (mean > 0)
    found.push_back(text("The work is even: each rank has %s to %s in tasks.",
                         duration(least.task_ns).c_str(), duration(most.task_ns).c_str()));
  const auto &idlest = *std::ranges::max_element(ranks, {}, &idle_share);
  const auto &busiest = *std::ranges::min_element(ranks, {}, &idle_share);
  found.push_back(text("Workers idle for %.0f %% of their time at rank %d, and for %.0f %% at rank %d.",
                       100 * idle_share(busiest), busiest.rank, 100 * idle_share(idlest),
                       idlest.rank));
  return found;
}

std::string page_of_ranks(const std::vector<rank_row> &ranks, const std::vector<rank_pair> &pairs,
                          const std::vector<std::string> &findings,
                          const std::vector<std::string> &doubts, const std::string &parts) {
  std::string s = k_page_head;
  s += text("<title>%zu ranks - Weft</title></head><body><main><h1>%zu ranks</h1><ul class=findings>",
            ranks.size(), ranks.size());
  for (const std::string &f : findings)
    s += "<li>" + html(f) + "</li>";
  s += "</ul>";
  for (const std::string &d : doubts)
    s += "<p class=warn role=note>" + html(d) + "</p>";
  s +=
      "<h2>Ranks</h2><div class=scroll tabindex=0 role=region aria-label=\"ranks\"><table><tr><th>rank<th>time<th>workers<th>tasks<th>in "
      "tasks<th>share<th>idle</tr>";
  for (const rank_row &r : ranks) {
    const std::string name = html(r.name);
    s += "<tr><td>" +
         (r.link.empty() ? name : "<a href=\"" + html(r.link) + "\">" + name + "</a>") +
         "<td>" + duration(r.duration_ns) + text("<td>%u<td>%llu<td>", r.workers, wide(r.tasks)) +
         duration(r.task_ns) +
         text("<td>%.1f %%<td>%.1f %%</tr>", 100 * share(r, r.worker_task_ns), 100 * idle_share(r));
  }
  s += "</table></div>" + parts + message_table(pairs);
  return s + "</main></body></html>\n";
}

std::string name_of_page(const std::vector<std::string> &folders) {
  std::string common = folders.at(0);
  for (const std::string &f : folders)
    common.resize(static_cast<std::size_t>(
        std::ranges::mismatch(common, f).in1 - common.begin()));
  common.resize(common.find_last_not_of("0123456789") + 1); // numbers of processes begin alike
  common.resize(common.find_last_not_of(".-_") + 1);
  if (common.empty() || common.back() == '/')
    return common + "ranks.html";
  return common + ".ranks.html";
}

} // namespace weft_tool
