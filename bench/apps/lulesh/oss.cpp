// SPDX-License-Identifier: Apache-2.0
#include "lulesh.hpp"

#include <utility>

namespace {

#pragma oss declare reduction(least : sedov::limits : omp_out = combine(omp_out, omp_in))          \
    initializer(omp_priv = sedov::limits())

void create_step(sedov::domain &d) {
  sedov::limits &limits = d.least;
#pragma oss task inout(limits) out(d.now) label("clock")
  advance_clock(d, std::exchange(limits, {}));
  for (sedov::block &b : d.blocks) {
#pragma oss task in({d.blocks[b.upper[n]].nodes_access, n = 0; b.upper.size()})                    \
    in(b.state_access)out(b.forces_access) label("forces")
    compute_forces(d, b);
  }
  for (sedov::block &b : d.blocks) {
#pragma oss task in({d.blocks[b.lower[n]].forces_access, n = 0; b.lower.size()})                   \
    in(d.now)inout(b.nodes_access) label("nodes")
    move_nodes(d, b);
  }
  for (sedov::block &b : d.blocks) {
#pragma oss task in({d.blocks[b.upper[n]].nodes_access, n = 0; b.upper.size()})                    \
    in(d.now, b.state_access)out(b.motion_access) label("motion")
    compute_motion(d, b);
  }
  for (sedov::block &b : d.blocks) {
#pragma oss task in({d.blocks[b.faces[n]].motion_access, n = 0; b.faces.size()})                   \
    inout(b.state_access) shared(d) reduction(least : limits) label("material")
    {
      update_material(d, b);
      limits = combine(limits, b.found);
    }
  }
}

} // namespace

void lulesh::run_tasks() {
  for (long s = 0; s < m_steps; ++s)
    create_step(m_domain);
#pragma oss taskwait
}
