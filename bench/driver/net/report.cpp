// SPDX-License-Identifier: Apache-2.0
#include "net.hpp"

#include "../results.hpp"

#include <algorithm>
#include <cstdio>
#include <sstream>
#include <stdexcept>

namespace bench::net {

std::vector<run_values> read_runs(const std::string &output) {
  std::map<int, run_values> by_rep;
  int ranks = 0;
  std::istringstream lines(output);
  for (std::string line; std::getline(lines, line);) {
    if (line.rfind("net ", 0) != 0)
      continue;
    std::map<std::string, std::string> words;
    std::istringstream from(line);
    for (std::string word; from >> word;)
      if (const std::size_t at = word.find('='); at != std::string::npos)
        words[word.substr(0, at)] = word.substr(at + 1);
    const auto value = [&](const char *name) { return std::stod(words.at(name)); };
    run_values &r = by_rep[static_cast<int>(value("rep"))];
    ranks = static_cast<int>(value("ranks"));
    ++r.ranks;
    r.seconds = std::max(r.seconds, value("seconds"));
    r.kernels += value("kernels");
    r.computing += value("computing");
    r.awaiting += value("awaiting");
    r.both += value("both");
    r.processor += value("processor");
    r.messages += value("messages");
  }
  std::vector<run_values> runs;
  for (const auto &[rep, r] : by_rep) {
    if (r.ranks != ranks)
      throw std::runtime_error("of run " + std::to_string(rep) + ", " + std::to_string(r.ranks) +
                               " of " + std::to_string(ranks) + " ranks have said something");
    runs.push_back(r);
  }
  if (runs.empty())
    throw std::runtime_error("no run has said something: " + output);
  return runs;
}

void write_table(std::ostream &to, const std::string &title,
                 const std::vector<std::pair<std::string, std::vector<run_values>>> &runs,
                 int threads) {
  to << "\n" << title << "\n\n";
  to << "| version | ms | least | processor ms | kernels | overlap | idle | messages |\n";
  to << "| --- | --- | --- | --- | --- | --- | --- | --- |\n";
  for (const auto &[name, all] : runs) {
    if (all.empty())
      continue;
    const auto of = [&](auto &&number) {
      std::vector<double> values;
      for (const run_values &r : all)
        values.push_back(number(r));
      return median(values);
    };
    const auto least =
        std::min_element(all.begin(), all.end(), [](const run_values &a, const run_values &b) {
          return a.seconds < b.seconds;
        });
    const double overlap =
        of([](const run_values &r) { return r.awaiting > 0 ? r.both / r.awaiting : 1; });
    const double idle = of(
        [&](const run_values &r) { return std::max(0.0, 1 - r.kernels / (threads * r.seconds)); });
    char line[256];
    std::snprintf(line, sizeof line,
                  "| %s | %.1f | %.1f | %.1f | %.1f | %.0f %% | %.0f %% | %.0f |\n", name.c_str(),
                  1e3 * of([](const run_values &r) { return r.seconds; }), 1e3 * least->seconds,
                  1e3 * of([](const run_values &r) { return r.processor; }),
                  1e3 * of([](const run_values &r) { return r.kernels; }), 100 * overlap,
                  100 * idle, of([](const run_values &r) { return r.messages; }));
    to << line;
  }
}

} // namespace bench::net
