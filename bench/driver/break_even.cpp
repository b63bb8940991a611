// SPDX-License-Identifier: Apache-2.0
#include "break_even.hpp"

#include "catalog.hpp"

#include <algorithm>
#include <map>
#include <ostream>
#include <utility>

namespace bench {

namespace {

constexpr double k_pays = 0.95; // of the serial time, which a loop in place may be below by chance
constexpr double k_asked = 0.5; // of TBB's elements

using bound = break_even::bound;

std::string algorithm_of(const row &r) { return r.workload.substr(0, r.workload.rfind('-')); }

long elements_of(const row &r) {
  return static_cast<long>(std::stod(r.workload.substr(r.workload.rfind('-') + 1)));
}

/// Returns the medians of a runtime by numbers of elements.
std::map<long, double> medians(const std::vector<row> &rows, const std::string &algorithm,
                               const std::string &runtime) {
  std::map<long, double> all;
  for (const row &r : rows)
    if (r.suite == k_break_even && r.runtime == runtime && algorithm_of(r) == algorithm)
      all[elements_of(r)] = r.median();
  return all;
}

std::string text_of(const break_even &b) {
  switch (b.what) {
  case bound::absent:
    return "";
  case bound::at_most:
    return "<= " + std::to_string(b.elements);
  case bound::above:
    return "> " + std::to_string(b.elements);
  case bound::exactly:
    break;
  }
  return std::to_string(b.elements);
}

struct comparison {
  std::string reached, word;
};

/// Compares Weft with the peer that pays first.
comparison compare(const break_even &own,
                   const std::vector<std::pair<std::string, break_even>> &peers) {
  const auto first = std::min_element(peers.begin(), peers.end(), [](const auto &a, const auto &b) {
    return std::pair(a.second.what == bound::above, a.second.elements) <
           std::pair(b.second.what == bound::above, b.second.elements);
  });
  if (own.what == bound::absent || first == peers.end())
    return {"", "no peer"};
  const break_even &other = first->second;
  if (own.what == other.what && own.what != bound::exactly)
    return {"", "undecided"};
  const double ratio = static_cast<double>(own.elements) / static_cast<double>(other.elements);
  const bool is_at_most = own.what == bound::at_most || other.what == bound::above;
  const bool is_above = own.what == bound::above || other.what == bound::at_most;
  const std::string sign = is_at_most ? "<= " : is_above ? ">= " : "";
  const bool met = ratio <= k_asked;
  return {sign + number(ratio, "%.2g") + " of " + first->first,
          met && !is_above ? "met" : !met && !is_at_most ? "missed" : "undecided"};
}

} // namespace

break_even find_break_even(const std::vector<row> &rows, const std::string &algorithm,
                           const std::string &runtime) {
  const std::map<long, double> serial = medians(rows, algorithm, "serial"),
                               own = medians(rows, algorithm, runtime);
  break_even found;
  for (const auto &[elements, median] : own) {
    const auto beside = serial.find(elements);
    if (beside == serial.end())
      continue;
    const bool is_least = found.what == bound::absent;
    if (median > k_pays * beside->second)
      found = {bound::above, elements};
    else if (is_least)
      found = {bound::at_most, elements};
    else if (found.what == bound::above)
      found = {bound::exactly, elements};
  }
  return found;
}

int write_break_even(std::ostream &to, const std::vector<row> &rows, form f) {
  std::vector<std::string> algorithms, runtimes;
  for (const row &r : rows)
    if (r.suite == k_break_even) {
      add_once(algorithms, algorithm_of(r));
      if (r.runtime != "serial")
        add_once(runtimes, r.runtime);
    }
  std::vector<cells> lines{{"algorithm"}};
  lines[0].insert(lines[0].end(), runtimes.begin(), runtimes.end());
  lines[0].insert(lines[0].end(), {"weft reaches", "asked", ""});
  int missed = 0;
  for (const std::string &algorithm : algorithms) {
    cells line{algorithm};
    for (const std::string &runtime : runtimes)
      line.push_back(text_of(find_break_even(rows, algorithm, runtime)));
    std::vector<std::pair<std::string, break_even>> peers;
    for (const std::string &peer : k_all_tbb)
      if (const break_even b = find_break_even(rows, algorithm, peer); b.what != bound::absent)
        peers.emplace_back(peer, b);
    const comparison v = compare(find_break_even(rows, algorithm, "weft"), peers);
    line.insert(line.end(), {v.reached, "<= " + number(k_asked), v.word});
    missed += v.word == "missed";
    lines.push_back(std::move(line));
  }
  write_table(to, "break-even: elements from which on it takes less than 0.95 of the serial time",
              lines, f);
  return missed;
}

} // namespace bench
