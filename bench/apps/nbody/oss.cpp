// SPDX-License-Identifier: Apache-2.0
// The tasks of the phases name all blocks weakly: they run at once, and the tasks that they create are
// ordered block by block, also from one phase to the next.
#include "nbody.hpp"

void nbody::create_attraction() {
  for (long i = 0; i < m_blocks; ++i)
    for (long j = 0; j < m_blocks; ++j) {
#pragma oss task in(place(i), place(j))inout(acceleration(i)) label("attract")
      attract(i, j);
    }
}

void nbody::create_motion() {
  for (long i = 0; i < m_blocks; ++i) {
#pragma oss task in(acceleration(i))inout(place(i)) label("move")
    move(i);
  }
}

void nbody::run_tasks() {
  for (long s = 0; s < m_steps; ++s) {
    if (!m_nested) {
      create_attraction();
      create_motion();
      continue;
    }
#pragma oss task weakin({place(i), i = 0; m_blocks}) weakinout({acceleration(i), i = 0; m_blocks}) \
    label("phase")
    {
      begin_phase();
      create_attraction();
    }
#pragma oss task weakin({acceleration(i), i = 0; m_blocks}) weakinout({place(i), i = 0; m_blocks}) \
    label("phase")
    {
      begin_phase();
      create_motion();
    }
  }
#pragma oss taskwait
}
