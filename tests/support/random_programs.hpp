// SPDX-License-Identifier: Apache-2.0
// What stress tests of random programs share: numbers by a seed, and the runs over policies and workers.
//
//     <program>                         every policy with 1, 2 and 8 workers, a few seconds each
//     <program> --seconds N --seed S    this configuration (of the environment)
#pragma once

#include "support/process.hpp"

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <random>
#include <stdexcept>
#include <string>

namespace test {

/// Draws numbers below a limit.
class dice {
 public:
  explicit dice(std::uint64_t seed) : m_engine(seed) {}
  std::uint64_t operator()(std::uint64_t n) { return m_engine() % n; }

 private:
  std::mt19937_64 m_engine;
};

/// Fails the program that is running.
inline void require(bool held, const char *what) {
  if (!held)
    throw std::logic_error(what);
}

/// Runs program(seed), program(seed + 1) and so on. One that throws fails.
template <class Program>
int run_programs_here(Program program, double seconds, std::uint64_t seed) {
  using clock = std::chrono::steady_clock;
  const auto until = clock::now() + std::chrono::duration<double>(seconds);
  std::uint64_t programs = 0;
  for (; clock::now() < until; ++programs, ++seed)
    try {
      program(seed);
    } catch (const std::exception &e) {
      std::printf("FAILED: --seed %llu: %s\n", static_cast<unsigned long long>(seed), e.what());
      return 1;
    }
  std::printf("%llu programs\n", static_cast<unsigned long long>(programs));
  return 0;
}

/// Is the function main of such a test.
template <class Program>
int run_programs(int argc, char **argv, Program program) {
  double seconds = 3;
  std::uint64_t seed = std::random_device{}();
  for (int i = 1; i + 1 < argc; i += 2) {
    if (argv[i] == std::string("--seconds"))
      seconds = std::atof(argv[i + 1]);
    else if (argv[i] == std::string("--seed"))
      seed = std::strtoull(argv[i + 1], nullptr, 10);
  }
  if (argc > 1)
    return run_programs_here(program, seconds, seed);
  std::printf("seed %llu\n", static_cast<unsigned long long>(seed));
  int failed = 0;
  for (const char *policy : {"stealing", "delegated", "local-fifo", "central"})
    for (const char *workers : {"1", "2", "8"}) {
      const auto end = run({program_path(), "--seconds", "3", "--seed", std::to_string(seed)},
                           {{"WEFT_SCHED_POLICY", policy}, {"WEFT_WORKERS", workers}});
      std::printf("%s, %s workers: %s", policy, workers,
                  end.exited(0) ? end.output.c_str() : "failed\n");
      if (!end.exited(0)) {
        std::printf("%s\n", end.output.c_str());
        ++failed;
      }
    }
  return failed != 0;
}

} // namespace test
