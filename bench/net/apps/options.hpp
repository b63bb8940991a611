// SPDX-License-Identifier: Apache-2.0
// What the programs of bench/net are asked to do. A value of bytes, which ranks send to each other.
#pragma once

#include <string>
#include <vector>

namespace net_bench {

enum class app { jacobi, gauss_seidel, nbody, matmul };
inline constexpr int k_apps = 4;
inline constexpr const char *k_app_names[k_apps] = {"jacobi", "gauss_seidel", "nbody", "matmul"};

struct options {
  app what = app::jacobi;
  int all = 0; // all applications, one after the other
  int small = 0; // sizes for tests
  int priorities = 0; // of tasks, where the application has some
  int columns = 0; // of blocks, of jacobi and gauss_seidel; 0: as the size says
  int rounds = 0; // 0: as the size says
  int reps = 3; // runs on the clock, behind one without
  int spoil = 0; // changes a result before it is compared: for the test of the comparison
};

/// Reads APP|all [--small] [--priorities] [--columns N] [--rounds N] [--reps N] [--spoil].
///
/// Errors. std::runtime_error.
[[nodiscard]] options parse(const std::vector<std::string> &words);

} // namespace net_bench
