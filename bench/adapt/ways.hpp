// SPDX-License-Identifier: Apache-2.0
// The ways in which weft-adapt-sample runs one subject.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <vector>

namespace adapt {

/// Is one way to run a subject. The result is the same in all of them.
struct way {
  std::string name;
  std::function<std::uint64_t()> run;
  std::function<void()> prepare;          // empty, or what comes before the clock starts
  std::function<std::uint64_t()> outcome; // empty, or the result, computed after the clock stops
  std::uint64_t ns = std::numeric_limits<std::uint64_t>::max(); // the least one
};

inline std::uint64_t mixed(std::uint64_t x) noexcept {
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
  x = (x ^ x >> 27) * 0x94d049bb133111ebu;
  return x ^ x >> 31;
}

/// Computes so many steps, each of which waits for the one before.
inline std::uint64_t steps(std::uint64_t seed, std::uint64_t count) noexcept {
  std::uint64_t x = seed;
  for (std::uint64_t i = 0; i < count; ++i)
    x = x * 6364136223846793005u + 1442695040888963407u;
  return x;
}

/// Returns the names of the subjects.
[[nodiscard]] const std::vector<std::string> &loop_names();
[[nodiscard]] const std::vector<std::string> &recursion_names();
/// Returns the ways of a loop of n iterations: serial, self (sizes that choose themselves), static and
/// guided shares, each fixed grain. `cost`: the steps of an iteration; of a matrix, the mean number of
/// entries in a row.
[[nodiscard]] std::vector<way> ways_of_loop(const std::string &name, std::uint64_t n, std::uint64_t cost);
/// Returns the ways of a recursion: serial; without a cut-off, by branches of a join, by tasks, by
/// tasks that say their cost; both with each cut-off. `n`: its size; `cost`: how often it runs.
[[nodiscard]] std::vector<way> ways_of_recursion(const std::string &name, std::uint64_t n,
                                                 std::uint64_t cost);

} // namespace adapt
