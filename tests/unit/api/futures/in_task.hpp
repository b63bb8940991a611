// SPDX-License-Identifier: Apache-2.0
// What the tests of futures share.
#pragma once

#include <weft/group.hpp>

#include <utility>

namespace test {

/// Runs `f` as a task, and waits for it: on a thread's own stack nothing runs in place.
template <class F>
void in_task(F f) {
  weft::task_group group;
  group.spawn(std::move(f));
  group.wait();
}

} // namespace test
