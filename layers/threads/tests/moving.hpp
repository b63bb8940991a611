// SPDX-License-Identifier: Apache-2.0
// Tasks that go on on another kernel thread.
#pragma once

#include <weft/weft.hpp>

#include <atomic>
#include <memory>
#include <mutex>
#include <thread>

#include <unistd.h>

namespace test {

/// Suspends the running task until it goes on on another kernel thread. It needs two workers beside
/// the first thread, and a task that a worker runs (run_by_workers). A second task lets the first
/// one go on, and keeps its own kernel thread until then: that is the first one's, sooner or later.
/// Tasks move one after the other, so that one worker is free.
[[gnu::noinline]] inline void move_to_other_thread() {
  static auto *const one_at_a_time = new weft::mutex; // of the child of a fork(), too
  const std::lock_guard lock(*one_at_a_time);
  const pid_t here = gettid();
  const weft::task_ref self = weft::this_task::self();
  do {
    const auto goes_on = std::make_shared<std::atomic<bool>>(false);
    weft::spawn([self, goes_on] {
      weft::unblock(self);
      while (!*goes_on)
        std::this_thread::yield();
    });
    weft::this_task::block();
    *goes_on = true;
  } while (gettid() == here);
}

/// Runs `f(i)` for each i below `count` as a task, on workers only: a task on the caller's own stack
/// could not move.
template <class F>
void run_by_workers(int count, F f) {
  std::atomic<int> left{count};
  for (int i = 0; i < count; ++i)
    weft::spawn([&, i] {
      f(i);
      --left;
    });
  while (left != 0)
    usleep(100);
  weft::taskwait();
}

} // namespace test
