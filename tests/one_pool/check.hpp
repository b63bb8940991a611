// SPDX-License-Identifier: Apache-2.0
// What the programs of this folder share: a check that prints what differs, the computation with
// its serial oracle, and the rules about what may be inside of what.
#pragma once

#include "part.hpp"

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

namespace one_pool {

inline void check(bool holds, const std::string &what) {
  if (holds)
    return;
  std::fprintf(stderr, "one_pool: does not hold: %s\n", what.c_str());
  std::fflush(stderr);
  std::_Exit(1);
}

/// Is one level of a nest: a part, and in which of its two forms it runs bodies.
struct level {
  const part *which;
  bool as_tasks;

  void run(int n, body b) const { (as_tasks ? which->tasks : which->loop)(n, b); }
};

inline std::string name_of(const std::vector<level> &nest) {
  std::string name;
  for (const level &l : nest)
    name += (name.empty() ? "" : " > ") + std::string(l.which->name) +
            (l.as_tasks ? ", tasks" : ", loop");
  return name;
}

/// Says whether the part has kernel threads of its own.
inline bool has_threads(const part &p) {
  return p.where == place::own_thread || std::string(p.name) == "a plain pool";
}

/// Says whether the program runs on the runtimes' own threads.
inline bool is_stock() { return std::getenv("ONE_POOL_STOCK") != nullptr; }

/// Says whether the nest is left out, as some are on the runtimes' own threads: those with tasks of
/// Weft's, because a thread that waits in Weft runs others' tasks meanwhile, and runtimes that know
/// nothing of it mistake these for its own; and those with Clang's OpenMP, whose own runtime reports
/// failed assertions when short-lived threads of other runtimes call it.
inline bool is_excluded(const std::vector<level> &nest) {
  if (!is_stock() || nest.size() < 2)
    return false;
  for (const level &l : nest)
    if (l.which->where == place::task || std::string(l.which->name) == "Clang's OpenMP")
      return true;
  return false;
}

constexpr int k_width = 3;

/// Returns a number that depends on the path and on each round.
inline std::uint64_t leaf(std::uint64_t path, int rounds) {
  for (int i = 0; i < rounds; ++i) {
    path ^= path >> 31;
    path *= 0x9E3779B97F4A7C15ULL;
  }
  return path;
}

/// Computes the nest's number: each level runs k_width bodies, and each body the levels below it.
inline std::uint64_t compute(const std::vector<level> &nest, int rounds, std::size_t at = 0,
                             std::uint64_t path = 1) {
  if (at == nest.size())
    return leaf(path, rounds);
  std::uint64_t values[k_width] = {};
  auto below = [&](int i) {
    values[i] += compute(nest, rounds, at + 1, path * 31 + static_cast<std::uint64_t>(i));
    return false;
  };
  nest[at].run(k_width, body(below));
  std::uint64_t result = path;
  for (const std::uint64_t v : values)
    result = result * 1'000'003 + v;
  return result;
}

inline void run_serially(int n, body b) {
  for (int i = 0; i < n; ++i)
    b(i);
}

/// Returns the number of a nest of that depth, by loops without any runtime.
inline std::uint64_t oracle(std::size_t depth, int rounds) {
  static const part serial{"serial", place::caller, nullptr,       nullptr,
                           nullptr,  &run_serially, &run_serially, nullptr};
  return compute(std::vector<level>(depth, {&serial, false}), rounds);
}

inline void check_nest(const std::vector<level> &nest, int rounds) {
  check(compute(nest, rounds) == oracle(nest.size(), rounds), "the result of " + name_of(nest));
}

/// Returns a number from the environment.
inline int setting(const char *name, int otherwise) {
  const char *const text = std::getenv(name);
  return text ? std::atoi(text) : otherwise;
}

} // namespace one_pool
