// SPDX-License-Identifier: Apache-2.0
// For parts with futures, which are ready before their tasks have ended, in code of the part.
#pragma once

#include "part.hpp"

#include <weft/weft.hpp>

#include <cstdlib>

namespace one_pool {

/// Calls `f`; where the program unloads the part, as a task, and returns when all below has ended.
template <class F>
void in_own_task(F &&f) {
  static const bool may_go = std::getenv("ONE_POOL_PLUGINS") != nullptr;
  if (!may_go)
    return f();
  kept_exception kept;
  weft::task_group group;
  group.spawn([&] {
    kept.run(f);
    weft::taskwait();
  });
  group.wait();
  kept.rethrow();
}

} // namespace one_pool
