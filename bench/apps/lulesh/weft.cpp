// SPDX-License-Identifier: Apache-2.0
#include "lulesh.hpp"

#include <weft/weft.hpp>

#include <utility>

namespace {

struct least_limits {
  sedov::limits operator()(const sedov::limits &a, const sedov::limits &b) const {
    return combine(a, b);
  }
};

class step_tasks {
 public:
  explicit step_tasks(sedov::domain &d) : m_domain(d) {}

  void spawn_step() {
    weft::spawn([&d = m_domain] { advance_clock(d, std::exchange(d.least, {})); },
                weft::inout(m_domain.least), weft::out(m_domain.now), weft::label("clock"));
    for (sedov::block &b : m_domain.blocks)
      weft::spawn([&d = m_domain, &b] { compute_forces(d, b); },
                  list(b.upper, &sedov::block::nodes_access), weft::in(b.state_access),
                  weft::out(b.forces_access), weft::label("forces"));
    for (sedov::block &b : m_domain.blocks)
      weft::spawn([&d = m_domain, &b] { move_nodes(d, b); },
                  list(b.lower, &sedov::block::forces_access), weft::in(m_domain.now),
                  weft::inout(b.nodes_access), weft::label("nodes"));
    for (sedov::block &b : m_domain.blocks)
      weft::spawn([&d = m_domain, &b] { compute_motion(d, b); },
                  list(b.upper, &sedov::block::nodes_access), weft::in(m_domain.now),
                  weft::in(b.state_access), weft::out(b.motion_access), weft::label("motion"));
    for (sedov::block &b : m_domain.blocks)
      weft::spawn(
          [&d = m_domain, &b] {
            update_material(d, b);
            sedov::limits &least = weft::reduction_local(d.least);
            least = combine(least, b.found);
          },
          list(b.faces, &sedov::block::motion_access), weft::inout(b.state_access),
          weft::reduction(m_domain.least, least_limits(), {}), weft::label("material"));
  }

 private:
  decltype(weft::accesses(std::vector<weft::access>())) list(const std::vector<int> &blocks,
                                                             char sedov::block::*what) {
    m_list.clear();
    for (const int b : blocks)
      m_list.push_back(weft::in(m_domain.blocks[b].*what));
    return weft::accesses(m_list);
  }

  sedov::domain &m_domain;
  std::vector<weft::access> m_list;
};

} // namespace

void lulesh::run_tasks() {
  step_tasks tasks(m_domain);
  for (long s = 0; s < m_steps; ++s)
    tasks.spawn_step();
  weft::taskwait();
}
