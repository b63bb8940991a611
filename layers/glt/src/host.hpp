// SPDX-License-Identifier: Apache-2.0
// What the objects use of the library below: Weft's, or that of another library (over/).
#pragma once

#if defined(WEFT_GLT_OVER)
#include "over/host.hpp"
#else

#include <weft/block.hpp>
#include <weft/layer/function.hpp>
#include <weft/layer/thread.hpp>
#include <weft/mutex.hpp>

namespace weft_glt::host {

/// Excludes callers, and suspends those that wait.
using exclusion = weft::mutex;

/// Returns what names the caller: its task, or its thread.
[[nodiscard]] inline const void *caller() { return weft::this_task::self().get(); }

/// A caller that sleeps; lives on its stack.
struct sleeper {
  weft::detail::runnable *frame = nullptr;
};

/// Lets a sleeper go on, once. It is the last use of the sleeper.
inline void wake(sleeper &place) { weft::layer::unpark(*place.frame); }

/// Suspends the caller until wake(). `left()` runs on another stack once wake() is allowed.
template <class Left>
void sleep(sleeper &place, Left left) {
  struct call {
    sleeper &place;
    Left &left;
  } c{place, left};
  weft::layer::park_blocked(
      [](weft::detail::runnable &frame, void *p) {
        call &c = *static_cast<call *>(p);
        c.place.frame = &frame;
        c.left(); // the caller's stack may go on meanwhile
      },
      &c);
}

} // namespace weft_glt::host

#endif
