// SPDX-License-Identifier: Apache-2.0
// Models of src/worker/halt_core.hpp with the gate: what is looked at while workers are halted or asleep is touched by nobody (a data race), and all go on.
#include "checker/models.hpp"

#include "worker/halt_core.hpp"

namespace {

using namespace weft_model;
using namespace weft::rt;
using enum std::memory_order;
using P = model_atomics;

struct halt_base {
  struct worker {
    model_atomic<bool> halted{false};
    model_atomic<int> asleep{0}; // its announcement, as in the eventcount
    model_var<int> tasks{0}; // what it has in hand and in its queue
    [[nodiscard]] bool is_about() const { return !halted.load(acquire) && !asleep.load(acquire); } // as is_about() of worker/halt.cpp
  };
  sleep_gate<P> gate;
  halt_core<P> halt;
  worker workers[2];
  int count = 1;

  void begin_body(worker &w) {
    halt.stop(w.halted, gate);
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
      if (workers[i].is_about())
        return false;
    return true;
  }
  /// As often as the time allows.
  void look(int tries) {
    halt.want();
    for (int n = 0; n < tries; ++n) {
      if (!halt.catch_all(gate, [this] { return all_have_stopped(); }))
        continue;
      for (int i = 0; i < count; ++i)
        expect(workers[i].tasks.get() >= 0, "what was left is intact");
      halt.let_go();
      return gate.open();
    }
    halt.let_go();
  }
};

/// It stops before its next body, in time or too late.
struct halt_and_worker : halt_base {
  static constexpr int threads = 2;
  void run(int t) {
    if (t == 0)
      return look(2);
    begin_body(workers[0]);
    begin_body(workers[0]);
  }
  void check() { expect(workers[0].tasks.get() == 2, "the worker has worked"); }
};
const passes<halt_and_worker> h1{"halt_and_worker"};

/// It may still be on its way out of the first halt when the second begins.
struct halt_twice : halt_base {
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
const passes<halt_twice> h2{"halt_twice"};

/// It works, announces that it sleeps, is woken, and goes on.
struct halt_and_sleeper : halt_base {
  static constexpr int threads = 2;
  void run(int t) {
    if (t == 0)
      return look(2);
    nap(workers[0]);
    begin_body(workers[0]);
  }
  void check() { expect(workers[0].tasks.get() == 2, "the worker has worked"); }
};
const passes<halt_and_sleeper> h3{"halt_and_sleeper"};

/// One sleeps, one runs.
struct halt_of_two : halt_base {
  static constexpr int threads = 3;
  halt_of_two() { count = 2; }
  void run(int t) {
    if (t == 0)
      return look(1);
    if (t == 1)
      return begin_body(workers[0]);
    nap(workers[1]);
  }
  void check() { expect(workers[0].tasks.get() == 1 && workers[1].tasks.get() == 1, "both have worked"); }
};
const passes<halt_of_two> h4{"halt_of_two"};

} // namespace
