// SPDX-License-Identifier: Apache-2.0
// What the objects use of another library of lightweight threads. The folder of that library, which
// the build chooses, has library.hpp:
//
//   k_name                      the library's name, for messages
//   k_places                    whether start() keeps to the thread that it is given
//   begin(threads)              starts as many threads, and returns how many there are; 0: it cannot
//   end()                       ends them. The caller is the one of begin()
//   thread()                    returns the number of the thread that calls
//   yield()                     lets other work run
//   current(), set_current(p)   a pointer of the running work, at first null
//   work                        what start() has made, and join() takes back
//   start(work, run, p, n)      runs run(p) on thread n, or on any one if n is k_any_thread. False:
//                               out of memory
//   start_detached(run, p, n)   the same, and nothing joins it
//   join(work)                  waits for its end
//   exclusion                   excludes callers: lock(), try_lock(), unlock()
//   sleeper                     sleeps once, until it is woken once: wait(), wake(). A wake-up may
//                               come first, and is the waker's last use
#pragma once

#include "library.hpp"

namespace weft_glt::host {

using library::exclusion;
using library::sleeper;

/// Returns what names the caller.
[[nodiscard]] inline const void *caller() { return library::current(); }

/// Lets a sleeper go on, once. It is the last use of the sleeper.
inline void wake(sleeper &place) { place.wake(); }

/// Waits for wake(), which is allowed from `left()` on.
template <class Left>
void sleep(sleeper &place, Left left) {
  left();
  place.wait();
}

} // namespace weft_glt::host
