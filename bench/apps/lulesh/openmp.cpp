// SPDX-License-Identifier: Apache-2.0
#include "lulesh.hpp"

namespace {

void create_step(sedov::domain &d) {
  sedov::block *const all = d.blocks.data();
  const int count = static_cast<int>(d.blocks.size());
#pragma omp task depend(iterator(n = 0 : count), in : all[n].state_access) depend(out : d.now)     \
    shared(d)
  advance_clock(d, d.found());
  for (int i = 0; i < count; ++i) {
    const int *const upper = all[i].upper.data(), uppers = static_cast<int>(all[i].upper.size());
#pragma omp task depend(iterator(n = 0 : uppers), in : all[upper[n]].nodes_access)                 \
    depend(in : all[i].state_access) depend(out : all[i].forces_access) shared(d)                  \
    firstprivate(all, i)
    compute_forces(d, all[i]);
  }
  for (int i = 0; i < count; ++i) {
    const int *const lower = all[i].lower.data(), lowers = static_cast<int>(all[i].lower.size());
#pragma omp task depend(iterator(n = 0 : lowers), in : all[lower[n]].forces_access)                \
    depend(in : d.now) depend(inout : all[i].nodes_access) shared(d) firstprivate(all, i)
    move_nodes(d, all[i]);
  }
  for (int i = 0; i < count; ++i) {
    const int *const upper = all[i].upper.data(), uppers = static_cast<int>(all[i].upper.size());
#pragma omp task depend(iterator(n = 0 : uppers), in : all[upper[n]].nodes_access)                 \
    depend(in : d.now, all[i].state_access) depend(out : all[i].motion_access) shared(d)           \
    firstprivate(all, i)
    compute_motion(d, all[i]);
  }
  for (int i = 0; i < count; ++i) {
    const int *const faces = all[i].faces.data(), sides = static_cast<int>(all[i].faces.size());
#pragma omp task depend(iterator(n = 0 : sides), in : all[faces[n]].motion_access)                 \
    depend(inout : all[i].state_access) shared(d) firstprivate(all, i)
    update_material(d, all[i]);
  }
}

} // namespace

void lulesh::run_tasks() {
#pragma omp taskgroup
  for (long s = 0; s < m_steps; ++s)
    create_step(m_domain);
}
