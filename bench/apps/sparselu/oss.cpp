// SPDX-License-Identifier: Apache-2.0
#include "sparselu.hpp"

struct sparselu::tasks {
  sparselu &s;

  void factor(long k) {
    sparselu &all = s;
    double *const diagonal = s.at(k, k);
#pragma oss task inout(*diagonal) shared(all) label("factor")
    all.factor(diagonal);
  }
  void row(long k, long j) {
    sparselu &all = s;
    double *const diagonal = s.at(k, k), *const right = s.at(k, j);
#pragma oss task in(*diagonal)inout(*right) shared(all) label("row")
    all.solve_row(diagonal, right);
  }
  void column(long i, long k) {
    sparselu &all = s;
    double *const diagonal = s.at(k, k), *const below = s.at(i, k);
#pragma oss task in(*diagonal)inout(*below) shared(all) label("column")
    all.solve_column(diagonal, below);
  }
  void update(long i, long j, long k, bool fresh) {
    sparselu &all = s;
    double *const below = s.at(i, k), *const right = s.at(k, j), *const inner = s.at(i, j);
#pragma oss task in(*below, *right)inout(*inner) shared(all) label("update")
    all.update(below, right, inner, fresh);
  }
};

void sparselu::run_tasks() {
  visit(tasks{*this});
#pragma oss taskwait
}
