// SPDX-License-Identifier: Apache-2.0
#include "applications.hpp"

#include <array>
#include <stdexcept>
#include <string>

namespace manager_model {
namespace {

constexpr auto in = mode_of::in, out = mode_of::out, inout = mode_of::inout;

/// Returns a number for block (i, j) of matrix m.
constexpr std::uint64_t block(std::uint64_t m, std::uint64_t i, std::uint64_t j) {
  return (m << 60) | (i << 30) | j;
}

/// Returns whether a block exists at the start: the pattern of the Barcelona OpenMP Tasks Suite.
bool present(std::uint32_t i, std::uint32_t j) {
  bool null = false;
  if (i < j && i % 3 != 0)
    null = true;
  if (i > j && j % 3 != 0)
    null = true;
  if (i % 2 == 1)
    null = true;
  if (j % 2 == 1)
    null = true;
  if (i == j || (i > 0 && i - 1 == j) || (j > 0 && i == j - 1))
    null = false;
  return !null;
}

} // namespace

task_graph synthetic(std::uint32_t n, double body_ns) {
  graph_builder g;
  for (std::uint32_t i = 0; i < n; ++i)
    g.add(0, body_ns, {{block(0, i, 0), inout}});
  for (std::uint32_t i = 0; i < n; ++i)
    g.add(0, body_ns, {{block(0, i, 0), in}, {block(1, i, 0), out}});
  return g.build();
}

task_graph matmul(std::uint32_t n, double body_ns) {
  graph_builder g;
  for (std::uint32_t i = 0; i < n; ++i)
    for (std::uint32_t j = 0; j < n; ++j)
      for (std::uint32_t k = 0; k < n; ++k)
        g.add(0, body_ns, {{block(0, i, k), in}, {block(1, k, j), in}, {block(2, i, j), inout}});
  return g.build();
}

/// Returns Cholesky's graph, with work in units of a third of b^3: potrf 1, trsm 3, syrk 3, gemm 6;
/// body_ns is that of gemm.
task_graph cholesky(std::uint32_t n, double body_ns) {
  graph_builder g;
  for (std::uint32_t k = 0; k < n; ++k) {
    g.add(0, body_ns / 6, {{block(0, k, k), inout}});
    for (std::uint32_t i = k + 1; i < n; ++i)
      g.add(0, body_ns / 2, {{block(0, k, k), in}, {block(0, i, k), inout}});
    for (std::uint32_t i = k + 1; i < n; ++i) {
      for (std::uint32_t j = k + 1; j < i; ++j)
        g.add(0, body_ns, {{block(0, i, k), in}, {block(0, j, k), in}, {block(0, i, j), inout}});
      g.add(0, body_ns / 2, {{block(0, i, k), in}, {block(0, i, i), inout}});
    }
  }
  return g.build();
}

/// Returns SparseLU's graph, with work in units of a third of b^3: lu0 2, fwd and bdiv 3, bmod 6;
/// body_ns is that of bmod.
task_graph sparselu(std::uint32_t n, double body_ns) {
  std::vector<bool> there(std::size_t{n} * n);
  const auto at = [&](std::uint32_t i, std::uint32_t j) { return there[std::size_t{i} * n + j]; };
  for (std::uint32_t i = 0; i < n; ++i)
    for (std::uint32_t j = 0; j < n; ++j)
      there[std::size_t{i} * n + j] = present(i, j);
  graph_builder g;
  for (std::uint32_t k = 0; k < n; ++k) {
    g.add(0, body_ns / 3, {{block(0, k, k), inout}});
    for (std::uint32_t j = k + 1; j < n; ++j)
      if (at(k, j))
        g.add(0, body_ns / 2, {{block(0, k, k), in}, {block(0, k, j), inout}});
    for (std::uint32_t i = k + 1; i < n; ++i)
      if (at(i, k))
        g.add(0, body_ns / 2, {{block(0, k, k), in}, {block(0, i, k), inout}});
    for (std::uint32_t i = k + 1; i < n; ++i)
      for (std::uint32_t j = k + 1; j < n; ++j)
        if (at(i, k) && at(k, j)) {
          g.add(0, body_ns, {{block(0, i, k), in}, {block(0, k, j), in}, {block(0, i, j), inout}});
          there[std::size_t{i} * n + j] = true;
        }
  }
  return g.build();
}

/// Returns N-Body's graph. Each step has a task that creates n * n force tasks (from positions,
/// into the forces of one block) and waits for them, and a task that moves the particles and clears
/// the forces.
task_graph nbody(std::uint32_t n, std::uint32_t steps, double body_ns) {
  graph_builder g;
  std::vector<task_id> solvers;
  for (std::uint32_t s = 0; s < steps; ++s) {
    solvers.push_back(g.add(0, 0, {{block(0, 0, 0), in}, {block(1, 0, 0), inout}}));
    g.add(0, body_ns, {{block(0, 0, 0), inout}, {block(1, 0, 0), inout}});
  }
  for (task_id solver : solvers)
    for (std::uint32_t i = 0; i < n; ++i)
      for (std::uint32_t j = 0; j < n; ++j)
        g.add(solver, body_ns,
              {{block(0, i, 0), in}, {block(0, j, 0), in}, {block(1, i, 0), inout}});
  return g.build();
}

std::span<const program> programs() noexcept {
  static constexpr double ms = 1e6;
  static constexpr std::array<program, 10> all{{
      {"synthetic", false, 10000, 0, 0.2 * ms},
      {"synthetic", true, 10000, 0, 0.1 * ms}, //
      {"cholesky", false, 32, 0, 8 * ms},
      {"cholesky", true, 64, 0, 1 * ms}, //
      {"matmul", false, 16, 0, 48 * ms},
      {"matmul", true, 32, 0, 6 * ms}, //
      {"sparselu", false, 50, 0, 4 * ms},
      {"sparselu", true, 100, 0, 0.5 * ms}, //
      {"nbody", false, 128, 16, 0.4 * ms},
      {"nbody", true, 256, 16, 0.1 * ms},
  }};
  return all;
}

task_graph graph_of(const program &p) {
  if (p.name == "synthetic")
    return synthetic(p.n, p.body_ns);
  if (p.name == "matmul")
    return matmul(p.n, p.body_ns);
  if (p.name == "cholesky")
    return cholesky(p.n, p.body_ns);
  if (p.name == "sparselu")
    return sparselu(p.n, p.body_ns);
  if (p.name == "nbody")
    return nbody(p.n, p.steps, p.body_ns);
  throw std::invalid_argument("there is no program '" + std::string(p.name) +
                              "'; take synthetic, cholesky, matmul, sparselu or nbody");
}

} // namespace manager_model
