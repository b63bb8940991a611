// SPDX-License-Identifier: Apache-2.0
#include "subjects.hpp"

#include "../process.hpp"
#include "half.hpp"

#include <algorithm>
#include <chrono>
#include <sstream>
#include <stdexcept>
#include <utility>

namespace bench::adapt {

std::vector<subject> all_subjects(bool quick) {
  using kind = subject::kind;
  const long work = quick ? 100'000 : 10'000'000; // steps of a loop
  std::vector<subject> all;
  for (const long steps : {1, 100, 10'000})
    all.push_back({kind::loop, "T1", "uniform", work / steps, steps});
  for (long n = 1; n <= work; n *= 10)
    all.push_back({kind::loop, "T2", "uniform", n, 1});
  all.push_back({kind::loop, "T3", "triangle", 10'000, work / 10'000});
  all.push_back({kind::loop, "T3", "power", 10'000, std::max(work / 100'000, 1L)});
  all.push_back({kind::loop, "T3", "half", 10'000, std::max(work / 20'000, 1L)});
  all.push_back({kind::loop, "T3", "mandelbrot", quick ? 40 : 400, 1});
  for (const char *name : {"banded", "powerlaw", "dense-row", "blocks", "scattered", "arrow"})
    all.push_back({kind::matrix, "T3", name, quick ? 1000 : 20'000, quick ? 10 : 50});
  all.push_back({kind::tree, "T5", "tree", 10, 1});
  all.push_back({kind::tree, "T5", "tree", quick ? 13 : 20, 1});
  all.push_back({kind::recursion, "T6", "fib", quick ? 18 : 30, 1});
  all.push_back({kind::recursion, "T6", "nqueens", quick ? 7 : 11, 1});
  all.push_back({kind::recursion, "T6", "sort", quick ? 20'000 : 1'000'000, 1});
  all.push_back({kind::recursion, "T6", "uts", quick ? 5 : 8, 1});
  all.push_back({kind::recursion, "T6", "health", quick ? 4 : 6, quick ? 5 : 40});
  for (const known_half &before : halves_before())
    if (!quick || std::string(before.app) == "two_wave")
      all.push_back({kind::half, "T7", before.app, 0, 0});
  for (const char *name : {"loop-phases", "session-phases"})
    for (const int neighbours : {0, 1}) {
      all.push_back({kind::phases, "T9", name, 10'000, quick ? 100 : 4000, neighbours});
      all.push_back({kind::phases, "T9", name, quick ? 100'000 : 1'000'000, quick ? 400 : 12'000, neighbours});
    }
  for (const int neighbours : {0, 1})
    all.push_back({kind::equal_ways, "T9", "equal-ways", 1'000'000, quick ? 200 : 60'000, neighbours});
  all.push_back({kind::memory_bound, "T10", "triad", 8, 1});
  all.push_back({kind::memory_bound, "T10", "triad", 16, 1});
  return all;
}

std::string printed_by_sample(std::vector<std::string> arguments, std::vector<std::string> settings,
                              int workers) {
  arguments.insert(arguments.begin(), build_folder() + "/bin/weft-adapt-sample");
  settings.push_back("WEFT_WORKERS=" + std::to_string(workers));
  const outcome result = bench::run(arguments, settings, std::chrono::seconds(600));
  if (!result.ok)
    throw std::runtime_error(result.output);
  return result.output;
}

std::string printed_by_sample(const subject &of, int workers, int runs,
                              std::vector<std::string> settings) {
  return printed_by_sample(
      {of.name, std::to_string(of.n), std::to_string(of.steps), std::to_string(runs)},
      std::move(settings), workers);
}

std::string text_of(const subject &of) {
  std::ostringstream text;
  switch (of.what) {
  case subject::kind::loop:
    text << of.name << ", " << of.n << " iterations of " << of.steps << " steps";
    break;
  case subject::kind::matrix:
    text << of.name << ", " << of.n << " rows of about " << of.steps << " entries";
    break;
  case subject::kind::tree:
    text << "tree of depth " << of.n;
    break;
  case subject::kind::recursion:
    text << of.name << " of " << of.n;
    break;
  case subject::kind::half:
    text << of.name << " at half speed";
    break;
  case subject::kind::phases:
    text << (of.name == "loop-phases" ? "a loop" : "a session") << " over phases of "
         << static_cast<double>(of.n) / 1000 << " ms";
    break;
  case subject::kind::equal_ways:
    text << "changes of a session between equal ways, " << static_cast<double>(of.steps) / 1000 << " s";
    break;
  case subject::kind::memory_bound:
    text << of.name << " in the model, of whose " << of.n << " workers 4 fill the memory";
    break;
  }
  return text.str();
}

std::string shown(const subject &of, int workers) {
  std::string text = text_of(of);
  if (of.what == subject::kind::memory_bound)
    return text;
  text += ", workers " + std::to_string(workers);
  if (of.neighbours != 0)
    text += ", a busy neighbour";
  return text;
}

} // namespace bench::adapt
