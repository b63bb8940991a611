// SPDX-License-Identifier: Apache-2.0
#include "tools/weft/report/messages.hpp"

#include "tools/weft/support/text.hpp"

#include <algorithm>
#include <map>
#include <tuple>
#include <unordered_map>
#include <utility>

namespace weft_tool {
namespace {

constexpr std::size_t k_most_pairs = 100; // that a page lists

std::string size(std::uint64_t bytes) {
  const auto b = static_cast<double>(bytes);
  return b < 1e3   ? text("%.0f B", b)
         : b < 1e6 ? text("%.1f kB", b / 1e3)
         : b < 1e9 ? text("%.1f MB", b / 1e6)
                   : text("%.1f GB", b / 1e9);
}

} // namespace

std::vector<rank_pair> pairs_of(const std::vector<message_mark> &messages) {
  std::unordered_map<std::uint64_t, std::int64_t> arrivals; // by flow
  for (const message_mark &mark : messages)
    if (mark.what == trace_event::arrived && mark.flow != 0)
      arrivals.emplace(mark.flow, mark.ns);
  std::map<std::pair<std::uint16_t, std::uint16_t>, std::pair<rank_pair, std::vector<double>>> sums;
  for (const message_mark &mark : messages) {
    if (mark.what != trace_event::send)
      continue;
    auto &[pair, times] = sums[{mark.own, mark.peer}];
    pair.from = mark.own;
    pair.to = mark.peer;
    ++pair.operations;
    pair.bytes += mark.bytes;
    if (const auto end = arrivals.find(mark.flow); end != arrivals.end()) {
      ++pair.arrived;
      times.push_back(static_cast<double>(std::max<std::int64_t>(end->second - mark.ns, 0)));
    }
  }
  std::vector<rank_pair> all;
  for (auto &[ranks, sum] : sums) {
    auto &[pair, times] = sum;
    if (!times.empty()) {
      std::ranges::sort(times);
      pair.arrival_ns = times[times.size() / 2];
      pair.longest_ns = times.back();
    }
    all.push_back(pair);
  }
  std::ranges::sort(all, [](const rank_pair &a, const rank_pair &b) {
    return std::tie(b.bytes, b.operations, a.from, a.to) <
           std::tie(a.bytes, a.operations, b.from, b.to);
  });
  return all;
}

std::string sentence_of(const std::vector<rank_pair> &pairs) {
  if (pairs.empty())
    return "";
  std::uint64_t operations = 0, bytes = 0;
  for (const rank_pair &p : pairs) {
    operations += p.operations;
    bytes += p.bytes;
  }
  return text("Messages: %llu operation%s with %s; most from rank %u to rank %u, %s.",
              wide(operations), operations == 1 ? "" : "s", size(bytes).c_str(),
              unsigned{pairs[0].from}, unsigned{pairs[0].to}, size(pairs[0].bytes).c_str());
}

std::string message_table(const std::vector<rank_pair> &pairs) {
  if (pairs.empty())
    return "";
  std::string s =
      "<h2>Messages</h2><div class=scroll tabindex=0 role=region aria-label=\"messages\"><table><tr><th>from rank<th>to rank<th>operations<th>data"
      "<th>a message arrives after<th>at most</tr>";
  const std::size_t shown = std::min(pairs.size(), k_most_pairs);
  for (std::size_t i = 0; i != shown; ++i) {
    const rank_pair &p = pairs[i];
    s += text("<tr><td>%u<td>%u<td>%llu<td>%s", unsigned{p.from}, unsigned{p.to},
              wide(p.operations), size(p.bytes).c_str());
    s += p.arrived == 0
             ? "<td>-<td>-</tr>"
             : "<td>" + duration(p.arrival_ns) + "<td>" + duration(p.longest_ns) + "</tr>";
  }
  s += "</table></div>";
  if (pairs.size() > shown)
    s += text("<p class=soft>The %zu pairs with most data, of %zu.</p>", shown, pairs.size());
  return s +
         "<p class=soft>Puts, gets, notifications, atomic operations, and messages of collective calls and of LPF's supersteps. The median time is of "
         "those whose arrival is recorded too: notifications, puts of LPF, and messages of collective calls and of supersteps.</p>";
}

} // namespace weft_tool
