// SPDX-License-Identifier: Apache-2.0
// Models of src/worker/safepoint_core.hpp with the gate: no worker touches what the observer reads
// while the workers are at a safepoint or asleep (else a data race), and all workers continue.
#include "checker/models.hpp"

#include "worker/safepoint_core.hpp"

namespace {

using namespace weft_model;
using namespace weft::rt;
using enum std::memory_order;
using P = model_atomics;

struct safepoint_base {
  struct worker {
    model_atomic<bool> at_safepoint{false};
    model_atomic<int> asleep{0}; // its announcement, as in the eventcount
    model_var<int> tasks{0}; // what it has in hand and in its queue
    [[nodiscard]] bool is_active() const {
      return !at_safepoint.load(acquire) && !asleep.load(acquire);
    } // as is_active() of worker/safepoint.cpp
  };
  sleep_gate<P> gate;
  safepoint_core<P> safepoint;
  worker workers[2];
  int count = 1;

  void begin_body(worker &w) {
    safepoint.poll(w.at_safepoint, gate);
    w.tasks.set(w.tasks.get() + 1);
  }
  void nap(worker &w) {
    w.asleep.store(1, release);
    w.asleep.store(0, relaxed);
    gate.pass();
    w.tasks.set(w.tasks.get() + 1);
  }
  bool all_have_stopped() {
    for (int i = 0; i < count; ++i)
      if (workers[i].is_active())
        return false;
    return true;
  }
  /// Looks as often as the time allows.
  void look(int tries) {
    safepoint.request();
    for (int n = 0; n < tries; ++n) {
      if (!safepoint.try_stop_all(gate, [this] { return all_have_stopped(); }))
        continue;
      for (int i = 0; i < count; ++i)
        expect(workers[i].tasks.get() >= 0, "what was left is intact");
      safepoint.resume();
      return gate.open();
    }
    safepoint.resume();
  }
};

/// Lets a worker stop before its next body, in time or too late.
struct safepoint_and_worker : safepoint_base {
  static constexpr int threads = 2;
  void run(int t) {
    if (t == 0)
      return look(2);
    begin_body(workers[0]);
    begin_body(workers[0]);
  }
  void check() { expect(workers[0].tasks.get() == 2, "the worker has worked"); }
};
const passes<safepoint_and_worker> h1{"safepoint_and_worker"};

/// Begins a second safepoint while the worker may still be on its way out of the first.
struct safepoint_twice : safepoint_base {
  static constexpr int threads = 2;
  void run(int t) {
    if (t == 0) {
      look(1);
      return look(1);
    }
    begin_body(workers[0]);
    begin_body(workers[0]);
  }
  void check() { expect(workers[0].tasks.get() == 2, "the worker has worked"); }
};
const passes<safepoint_twice> h2{"safepoint_twice"};

/// Lets a worker work, announce that it sleeps, be woken, and continue.
struct safepoint_and_sleeper : safepoint_base {
  static constexpr int threads = 2;
  void run(int t) {
    if (t == 0)
      return look(2);
    nap(workers[0]);
    begin_body(workers[0]);
  }
  void check() { expect(workers[0].tasks.get() == 2, "the worker has worked"); }
};
const passes<safepoint_and_sleeper> h3{"safepoint_and_sleeper"};

/// Has one worker that sleeps and one that runs.
struct safepoint_of_two : safepoint_base {
  static constexpr int threads = 3;
  safepoint_of_two() { count = 2; }
  void run(int t) {
    if (t == 0)
      return look(1);
    if (t == 1)
      return begin_body(workers[0]);
    nap(workers[1]);
  }
  void check() {
    expect(workers[0].tasks.get() == 1 && workers[1].tasks.get() == 1, "both have worked");
  }
};
const passes<safepoint_of_two> h4{"safepoint_of_two"};

} // namespace
