// SPDX-License-Identifier: Apache-2.0
// OpenMP has no weak accesses: tasks with different parents are not ordered. Nested phases
// therefore run one after the other, each until its last task. Without nesting all tasks are
// siblings, and are ordered block by block.
#include "nbody.hpp"

void nbody::create_attraction() {
  for (long i = 0; i < m_blocks; ++i)
    for (long j = 0; j < m_blocks; ++j) {
      double *const to = &place(i), *const from = &place(j), *const sum = &acceleration(i);
#pragma omp task depend(in : *to, *from) depend(inout : *sum) firstprivate(i, j)
      attract(i, j);
    }
}

void nbody::create_motion() {
  for (long i = 0; i < m_blocks; ++i) {
    double *const sum = &acceleration(i), *const to = &place(i);
#pragma omp task depend(in : *sum) depend(inout : *to) firstprivate(i)
    move(i);
  }
}

void nbody::run_tasks() {
  char turn = 0;
  const auto phase = [this, &turn](void (nbody::*create)()) {
    if (!m_nested)
      return (this->*create)();
#pragma omp task depend(inout : turn) firstprivate(create)
    {
      begin_phase();
#pragma omp taskgroup
      (this->*create)();
    }
  };
#pragma omp taskgroup
  for (long s = 0; s < m_steps; ++s) {
    phase(&nbody::create_attraction);
    phase(&nbody::create_motion);
  }
}
