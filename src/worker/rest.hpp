// SPDX-License-Identifier: Apache-2.0
// Which adopted threads sleep in a wait of a layer: they use nothing of Weft before end_rest().
//
// Roles       Sleeper: the adopted thread. Observer: the watcher.
// Words       One for each slot: the runtime in which the slot's thread rests; null.
// Orders      O1  The end of a rest is a change of the gate's O1 (park/sleep_gate.hpp): the watcher
//                 sees it, or the sleeper sees the gate closed and waits there.
//             O2  The begin, release, with the observer's load, acquire: an observer that sees the
//                 rest sees what the thread did before.
// Progress    Wait-free, but for the gate.
// Checked by  tests/model/gate_models.cpp, whose worker ends a sleep so; tests/unit/worker
#pragma once

namespace weft::inline v0 {
namespace rt {

class runtime;
struct worker;

void begin_rest(const worker &self) noexcept;
void end_rest(const worker &self) noexcept;
[[nodiscard]] bool rests(const runtime &rt, unsigned slot) noexcept;

} // namespace rt
} // namespace weft::inline v0
