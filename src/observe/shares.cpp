// SPDX-License-Identifier: Apache-2.0
#include "observe/shares.hpp"

#include <algorithm>
#include <cmath>

namespace weft::inline v0 {
namespace rt {
namespace {

struct named_counter {
  const char *counter, *name;
};
constexpr named_counter k_others[] = {{"/runtimes/time/openmp", "OpenMP"},
                                      {"/runtimes/time/tbb", "TBB"},
                                      {"/runtimes/time/glt", "GLT"},
                                      {"/runtimes/time/rayon", "Rayon"},
                                      {"/runtimes/time/other", "other threads"},
                                      {"/runtimes/time/stepped-back", "left to other pools"}};

/// Returns the sum over all workers; 0 for a counter that the program does not have.
std::uint64_t sum_of(const reading &numbers, const char *name) noexcept {
  const std::size_t at = numbers.find(name);
  return at == numbers.catalogue.size()
             ? 0
             : static_cast<std::uint64_t>(std::max<std::int64_t>(numbers.total(at), 0));
}

} // namespace

std::vector<time_share> shares_of(const reading &now, const reading &spent) {
  std::vector<time_share> shares;
  std::uint64_t others = 0;
  bool any = false;
  for (const named_counter &c : k_others) {
    any |= sum_of(now, c.counter) != 0;
    shares.push_back({c.name, sum_of(spent, c.counter)});
    others += shares.back().ns;
  }
  if (!any)
    return {};
  const std::uint64_t away = shares.back().ns, in_threads = others - away;
  const std::uint64_t idle = sum_of(spent, "/threads/time/idle"), used = idle + in_threads,
                      all = sum_of(spent, "/threads/time/overall");
  shares.push_back({"tasks", all > used ? all - used : 0});
  std::sort(shares.begin(), shares.end(),
            [](auto &a, auto &b) { return a.ns != b.ns ? a.ns > b.ns : a.name < b.name; });
  shares.push_back({"idle", idle});
  return shares;
}

std::string text_of(const std::vector<time_share> &shares) {
  double all = 0;
  for (const time_share &s : shares)
    all += static_cast<double>(s.ns);
  std::string text;
  for (const time_share &s : shares)
    if (const long percent = std::lround(100 * static_cast<double>(s.ns) / std::max(all, 1.0)))
      text += (text.empty() ? "" : ", ") + s.name + " " + std::to_string(percent) + " %";
  return text;
}

} // namespace rt
} // namespace weft::inline v0
