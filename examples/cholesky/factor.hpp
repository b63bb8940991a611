// SPDX-License-Identifier: Apache-2.0
// Cholesky decomposition and triangular solves as graphs of tasks on tiles.
#pragma once

#include "error.hpp"
#include "tiles.hpp"
#include "work.hpp"

namespace demo {

/// Reports that a pivot was zero or negative. A task throws it, and work::wait() rethrows it.
struct not_definite : numerical_error {
  not_definite(int tile, int pivot, int row);
};

/// Spawns the tasks that replace `a` by its factor L. They throw not_definite.
void factorise(work &w, const tiles &a);

/// Spawns the tasks that replace `x` by the solution of L L^T y = x.
void solve(work &w, const tiles &l, const panel &x);

} // namespace demo
