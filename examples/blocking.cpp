// SPDX-License-Identifier: Apache-2.0
// Two ways to wait for something that is no task: suspend the task, or let it end and hold its completion.
#include <weft/weft.hpp>

#include <chrono>
#include <cstdio>
#include <thread>

// A device that answers later, on a thread that knows nothing of tasks.
struct device {
  template <class F>
  void read(int &into, F &&done) {
    m_thread = std::thread([&into, done] {
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
      into = 21;
      done();
    });
  }
  ~device() { m_thread.join(); }
  std::thread m_thread;
};

// block(): the body goes on where it stopped; meanwhile its worker runs other tasks.
static int with_block(device &d) {
  int value = 0, result = 0;
  weft::spawn(
      [&] {
        weft::task_ref self = weft::this_task::self();
        d.read(value, [self] { weft::unblock(self); });
        weft::this_task::block();
        result = 2 * value;
      },
      weft::out(result));
  weft::taskwait();
  return result;
}

// Events: the body ends at once, and the reader of `value` starts when the device has answered.
static int with_events(device &d) {
  int value = 0, result = 0;
  weft::spawn(
      [&] {
        weft::this_task::increase_events();
        weft::task_ref self = weft::this_task::self();
        d.read(value, [self] { weft::decrease_events(self); });
      },
      weft::out(value));
  weft::spawn([&] { result = 2 * value; }, weft::in(value));
  weft::taskwait();
  return result;
}

// block_for() gives up after a time.
static bool with_timeout() {
  bool unblocked = true;
  weft::spawn([&] { unblocked = weft::this_task::block_for(std::chrono::milliseconds(1)); });
  weft::taskwait();
  return !unblocked;
}

int main() {
  int blocked = 0, events = 0;
  {
    device first, second;
    blocked = with_block(first);
    events = with_events(second);
  }
  std::printf("block: %d, events: %d\n", blocked, events);
  return blocked == 42 && events == 42 && with_timeout() ? 0 : 1;
}
