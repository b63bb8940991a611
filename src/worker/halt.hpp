// SPDX-License-Identifier: Apache-2.0
// Stops all workers for a moment, so that somebody can look at what lives while tasks run: those that sleep stay asleep, the others stop before
// the next body that they begin.
//
// Roles       The watcher: try_halt, go_on. A worker that begins a body while halt_bodies() is on: halt_here.
// Word        wanted: also what those who have stopped sleep on. worker::halted: it has stopped.
// Invariants  I1  A worker whose `halted` is seen after the gate was closed does not leave halt_here() before the gate opens: the end of `halted`
//                 is for the gate what the end of the announcement is for one that sleeps (I1 of park/sleep_gate.hpp).
//             I2  Who is halted or asleep holds nothing in hand but the task it is about to begin, its `current`.
// Orders      O1  halted set, release, with the watcher's load, acquire: what the worker has done is seen.
//             O2  wanted cleared, release, with the load of who has stopped, acquire: nothing is looked at any more.
//             O3  the runtime stops: pairs with stop_runtime.
// Progress    Blocking, for as long as the watcher looks; try_halt for a bounded time.
// Reclamation None.
// Checked by  tests/model/gate_models.cpp (the gate), tests/unit/worker/dump_test.cpp.
#pragma once

#include <cstdint>

namespace weft::inline v0 {
namespace rt {

class runtime;

/// The watcher's thread: until all workers have stopped, or for `limit_ns`. True: nothing runs, and the gate is closed, until go_on(). False: some
/// do not stop; nothing is held.
[[nodiscard]] bool try_halt(runtime &rt, std::uint64_t limit_ns);
void go_on(runtime &rt) noexcept;
/// The worker in that slot neither sleeps nor has stopped.
[[nodiscard]] bool is_about(runtime &rt, unsigned slot) noexcept;

} // namespace rt
} // namespace weft::inline v0
