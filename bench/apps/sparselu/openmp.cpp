// SPDX-License-Identifier: Apache-2.0
#include "sparselu.hpp"

struct sparselu::tasks {
  sparselu *s;

  void factor(long k) {
    sparselu *const all = s;
    double *const diagonal = s->at(k, k);
#pragma omp task depend(inout : *diagonal) firstprivate(all, diagonal)
    all->factor(diagonal);
  }
  void row(long k, long j) {
    sparselu *const all = s;
    double *const diagonal = s->at(k, k), *const right = s->at(k, j);
#pragma omp task depend(in : *diagonal) depend(inout : *right) firstprivate(all, diagonal, right)
    all->solve_row(diagonal, right);
  }
  void column(long i, long k) {
    sparselu *const all = s;
    double *const diagonal = s->at(k, k), *const below = s->at(i, k);
#pragma omp task depend(in : *diagonal) depend(inout : *below) firstprivate(all, diagonal, below)
    all->solve_column(diagonal, below);
  }
  void update(long i, long j, long k, bool fresh) {
    sparselu *const all = s;
    double *const below = s->at(i, k), *const right = s->at(k, j), *const inner = s->at(i, j);
#pragma omp task depend(in : *below, *right) depend(inout : *inner)                                \
    firstprivate(all, below, right, inner, fresh)
    all->update(below, right, inner, fresh);
  }
};

void sparselu::run_tasks() {
#pragma omp taskgroup
  visit(tasks{this});
}
