// SPDX-License-Identifier: Apache-2.0
// A loop, a tree of branches or a recursion in all ways in turn, for `weft-bench adapt`: serial, with
// sizes that choose themselves, with each fixed grain or cut-off. Prints the least time of each way,
// in ns. And programs whose work changes while they run.
#include "phases.hpp"
#include "ways.hpp"

#include <weft/join.hpp>
#include <weft/weft.hpp>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>

namespace {

using adapt::mixed;
using adapt::way;

constexpr std::uint64_t k_hopeless = 20; // times the best: such a way is measured once

std::uint64_t tree(int depth, std::uint64_t node) {
  if (depth == 0)
    return mixed(node);
  return tree(depth - 1, 2 * node) + tree(depth - 1, 2 * node + 1);
}
std::uint64_t joined_tree(int depth, std::uint64_t node) {
  if (depth == 0)
    return mixed(node);
  std::uint64_t left = 0, right = 0;
  weft::join([&] { left = joined_tree(depth - 1, 2 * node); },
             [&] { right = joined_tree(depth - 1, 2 * node + 1); });
  return left + right;
}

bool is_one_of(const std::string &name, const std::vector<std::string> &all) {
  return std::find(all.begin(), all.end(), name) != all.end();
}

std::vector<way> ways_of(const std::string &name, std::uint64_t n, std::uint64_t cost) {
  if (name == "tree") {
    const int depth = static_cast<int>(n);
    return {{"serial", [depth] { return tree(depth, 1); }, {}, {}},
            {"self", [depth] { return joined_tree(depth, 1); }, {}, {}}};
  }
  return is_one_of(name, adapt::loop_names()) ? adapt::ways_of_loop(name, n, cost)
                                              : adapt::ways_of_recursion(name, n, cost);
}

/// Returns the largest size of a subject that a machine can hold.
std::uint64_t most_of(const std::string &name) {
  return name == "tree"                                                   ? 30
         : name == "fib"                                                  ? 50
         : name == "nqueens"                                              ? 16
         : name == "uts"                                                  ? 12
         : name == "health"                                               ? 9
                                                                          : 100'000'000;
}

std::uint64_t number(const char *text, const char *what, std::uint64_t most) {
  char *end = nullptr;
  const std::uint64_t value = std::strtoull(text, &end, 10);
  if (end == text || *end || value == 0 || value > most) {
    std::fprintf(stderr, "weft-adapt-sample: %s is '%s'; it must be a number from 1 to %llu\n", what,
                 text, static_cast<unsigned long long>(most));
    std::exit(2);
  }
  return value;
}

int usage() {
  std::string names;
  for (const auto *list : {&adapt::loop_names(), &adapt::recursion_names()})
    for (const std::string &name : *list)
      names += name + "|";
  std::fprintf(stderr,
               "weft-adapt-sample needs: %stree, the number of iterations (of a tree, its depth; of a "
               "recursion, its size), the steps of an iteration (of a matrix, the mean entries of a row; "
               "of health, its time steps), the number of runs, and perhaps one way, which then runs "
               "after one serial run; or loop-phases|session-phases|equal-ways, the microseconds of a "
               "phase, the milliseconds of the run; or triad, the numbers of a task, the milliseconds of "
               "the run\n",
               names.c_str());
  return 2;
}

} // namespace

int main(int argc, char **argv) {
  if (argc == 4 && argv[1] == std::string("triad")) {
    const std::size_t numbers = number(argv[2], "the numbers of a task", adapt::k_most_triad);
    const std::chrono::milliseconds length(number(argv[3], "the milliseconds of the run", 3'600'000));
    weft::start();
    adapt::run_triad(numbers, length);
    return 0;
  }
  if (argc == 4 && is_one_of(argv[1], adapt::phase_names())) {
    const std::chrono::microseconds period(number(argv[2], "the microseconds of a phase", 3'600'000'000));
    const std::chrono::milliseconds length(number(argv[3], "the milliseconds of the run", 3'600'000));
    weft::start();
    adapt::run_phases(argv[1], {period, length});
    return 0;
  }
  const std::string name = argc == 5 || argc == 6 ? argv[1] : "";
  const std::string only = argc == 6 ? argv[5] : ""; // to count its instructions
  if (name != "tree" && !is_one_of(name, adapt::loop_names()) &&
      !is_one_of(name, adapt::recursion_names()))
    return usage();
  const std::uint64_t n = number(argv[2], "the number of iterations", most_of(name));
  const std::uint64_t cost = number(argv[3], "the steps of an iteration", 10'000'000);
  const std::uint64_t runs = number(argv[4], "the number of runs", 100'000);
  weft::start();
  std::vector<way> all = ways_of(name, n, cost);
  if (!only.empty() &&
      std::none_of(all.begin(), all.end(), [&](const way &w) { return w.name == only; })) {
    std::fprintf(stderr, "weft-adapt-sample: '%s' has no way '%s'\n", name.c_str(), only.c_str());
    return 2;
  }
  std::uint64_t expected = 0, best = std::numeric_limits<std::uint64_t>::max();
  for (std::uint64_t r = 0; r < runs; ++r)
    for (std::size_t i = 0; i < 2 * all.size(); ++i) { // the second call finds what the first one has woken
      way &w = all[i / 2];
      if (!only.empty() && w.name != only && (r != 0 || i != 0))
        continue;
      if (only.empty() && r != 0 && w.name != "serial" && w.name != "self" && w.ns / k_hopeless > best)
        continue;
      if (w.prepare)
        w.prepare();
      const auto begin = std::chrono::steady_clock::now();
      const std::uint64_t returned = w.run();
      const auto ns = static_cast<std::uint64_t>(
          std::chrono::nanoseconds(std::chrono::steady_clock::now() - begin).count());
      const std::uint64_t result = w.outcome ? w.outcome() : returned;
      if (r == 0 && &w == &all.front())
        expected = result;
      if (result != expected) {
        std::fprintf(stderr, "wrong: the way '%s' has another result than the serial program\n",
                     w.name.c_str());
        return 1;
      }
      w.ns = std::min(w.ns, std::max<std::uint64_t>(ns, 1));
      best = std::min(best, w.ns);
    }
  for (const way &w : all)
    if (only.empty() || w.name == only)
      std::printf("%s %llu\n", w.name.c_str(), static_cast<unsigned long long>(w.ns));
}
