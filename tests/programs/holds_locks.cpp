// SPDX-License-Identifier: Apache-2.0
// holds_locks MODE: tasks that wait with and without a lock of the C library in their hands.
#include <weft/weft.hpp>

#include <condition_variable>
#include <cstdio>
#include <mutex>
#include <shared_mutex>
#include <string>
#include <thread>

namespace {

void pause() { weft::this_task::sleep_for(std::chrono::milliseconds(1)); }

/// Runs f as a task on a stack of its own: main blocks, so it does not run the task in place.
template <class F>
void as_holder(F f) {
  weft::task_ref main = weft::this_task::self();
  weft::spawn(
      [&] {
        f();
        weft::unblock(main);
      },
      weft::label("holder"));
  weft::this_task::block();
  weft::taskwait();
}

template <class Mutex, class Lock>
void hold() {
  Mutex m;
  as_holder([&] {
    Lock lock(m);
    pause();
  });
}

void hold_timed() {
  std::timed_mutex m;
  as_holder([&] {
    if (m.try_lock_for(std::chrono::seconds(10))) {
      pause();
      m.unlock();
    }
  });
}

void release_first() {
  std::mutex m;
  as_holder([&] {
    for (int i = 0; i != 100; ++i) {
      {
        std::lock_guard lock(m);
      }
      if (m.try_lock())
        m.unlock();
      pause();
    }
  });
}

void wait_for_a_condition() {
  std::mutex m;
  std::condition_variable changed;
  bool done = false;
  std::thread other([&] {
    std::lock_guard lock(m);
    done = true;
    changed.notify_one();
  });
  as_holder([&] {
    {
      std::unique_lock lock(m);
      changed.wait(lock, [&] { return done; });
    }
    pause();
  });
  other.join();
}

void hold_in_main() { // goes on on its own thread, always
  std::mutex m;
  std::lock_guard lock(m);
  weft::spawn([] { pause(); });
  weft::taskwait();
}

void hold_a_weft_mutex() { hold<weft::mutex, std::lock_guard<weft::mutex>>(); }

} // namespace

int main(int argc, char **argv) {
  const std::string mode = argc == 2 ? argv[1] : "";
  if (mode == "mutex")
    hold<std::mutex, std::lock_guard<std::mutex>>();
  else if (mode == "recursive")
    hold<std::recursive_mutex, std::lock_guard<std::recursive_mutex>>();
  else if (mode == "shared")
    hold<std::shared_mutex, std::shared_lock<std::shared_mutex>>();
  else if (mode == "timed")
    hold_timed();
  else if (mode == "released")
    release_first();
  else if (mode == "condition")
    wait_for_a_condition();
  else if (mode == "main")
    hold_in_main();
  else if (mode == "weft-mutex")
    hold_a_weft_mutex();
  else
    return std::fprintf(stderr, "holds_locks: unknown mode '%s'\n", mode.c_str()), 2;
  return 0;
}
