// SPDX-License-Identifier: Apache-2.0
// The tasks of the phases name all blocks weakly: they run at once, and the tasks that they create are
// ordered block by block, also from one phase to the next.
#include "nbody.hpp"

#include <weft/weft.hpp>

void nbody::create_attraction() {
  for (long i = 0; i < m_blocks; ++i)
    for (long j = 0; j < m_blocks; ++j)
      weft::spawn([this, i, j] { attract(i, j); }, weft::in(place(i)), weft::in(place(j)),
                  weft::inout(acceleration(i)), weft::label("attract"));
}

void nbody::create_motion() {
  for (long i = 0; i < m_blocks; ++i)
    weft::spawn([this, i] { move(i); }, weft::in(acceleration(i)), weft::inout(place(i)),
                weft::label("move"));
}

void nbody::run_tasks() {
  std::vector<weft::access> forces, motion;
  for (long i = 0; i < m_blocks; ++i) {
    forces.push_back(weft::weak_in(place(i)));
    forces.push_back(weft::weak_inout(acceleration(i)));
    motion.push_back(weft::weak_in(acceleration(i)));
    motion.push_back(weft::weak_inout(place(i)));
  }
  const auto phase = [this](void (nbody::*create)(), const std::vector<weft::access> &all) {
    if (!m_nested)
      return (this->*create)();
    weft::spawn(
        [this, create] {
          begin_phase();
          (this->*create)();
        },
        weft::accesses(all), weft::label("phase"));
  };
  for (long s = 0; s < m_steps; ++s) {
    phase(&nbody::create_attraction, forces);
    phase(&nbody::create_motion, motion);
  }
  weft::taskwait();
}
