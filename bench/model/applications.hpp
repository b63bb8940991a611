// SPDX-License-Identifier: Apache-2.0
// The task graphs of the programs that chapters 5 and 7 of Bosch Pons' thesis (2017) measure.
#pragma once

#include "graph.hpp"

#include <string_view>

namespace manager_model {

/// Return the graphs. `n`: tasks per wave (synthetic), blocks per side (matmul, cholesky,
/// sparselu), blocks of particles (nbody, for `steps` steps). `body_ns`: of a typical task; other
/// tasks of the same program take time in proportion to their work.
[[nodiscard]] task_graph synthetic(std::uint32_t n, double body_ns);
[[nodiscard]] task_graph matmul(std::uint32_t n, double body_ns);
[[nodiscard]] task_graph cholesky(std::uint32_t n, double body_ns);
[[nodiscard]] task_graph sparselu(std::uint32_t n, double body_ns);
[[nodiscard]] task_graph nbody(std::uint32_t n, std::uint32_t steps, double body_ns);

struct program {
  std::string_view name;
  bool fine;
  std::uint32_t n; // as in the paper, KNL; sparselu: for about as many tasks
  std::uint32_t steps;
  double
      body_ns; // fine: an eighth of the coarse one (blocks halved), a quarter (nbody), a half (synthetic)
};
/// Returns all programs, coarse and fine.
[[nodiscard]] std::span<const program> programs() noexcept;
[[nodiscard]] task_graph graph_of(const program &p);

} // namespace manager_model
