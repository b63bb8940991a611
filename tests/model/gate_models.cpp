// SPDX-License-Identifier: Apache-2.0
// Models of src/park/sleep_gate.hpp: no thread touches what the observer reads while the gate is
// closed (else a data race).
#include "checker/models.hpp"

#include "park/sleep_gate.hpp"

namespace {

using namespace weft_model;
using namespace weft::rt;
using enum std::memory_order;
using P = model_atomics;

struct gate_base {
  sleep_gate<P> gate;
  model_var<int> tasks{0};
  void look(const model_atomic<int> *asleep) {
    gate.close();
    if ((!asleep || asleep->load(relaxed)) && gate.readers() == 0)
      expect(tasks.get() >= 0, "what was left is intact");
    gate.open();
  }
  void work() { tasks.set(tasks.get() + 1); }
};

/// Lets a worker end its announcement, and then pass.
struct gate_and_worker : gate_base {
  static constexpr int threads = 2;
  model_atomic<int> asleep{1};
  void run(int t) {
    if (t == 0)
      return look(&asleep);
    asleep.store(0, relaxed);
    gate.pass();
    work();
  }
  void check() { expect(tasks.get() == 1, "the worker has worked"); }
};
const passes<gate_and_worker> g1{"gate_and_worker"};

/// Lets a thread that is no worker come twice.
struct gate_and_reader : gate_base {
  static constexpr int threads = 2;
  void run(int t) {
    if (t == 0)
      return look(nullptr);
    for (int i = 0; i < 2; ++i) {
      gate.enter();
      work();
      gate.leave();
    }
  }
  void check() { expect(tasks.get() == 2 && gate.readers() == 0, "both readers have left"); }
};
const passes<gate_and_reader> g2{"gate_and_reader"};

/// Looks twice in a row, while a reader may still be on its way out of its first wait.
struct gate_closed_twice : gate_base {
  static constexpr int threads = 2;
  void run(int t) {
    if (t == 0) {
      look(nullptr);
      return look(nullptr);
    }
    gate.enter();
    work();
    gate.leave();
  }
  void check() { expect(tasks.get() == 1, "the reader has left"); }
};
const passes<gate_closed_twice> g3{"gate_closed_twice"};

} // namespace
