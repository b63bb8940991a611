// SPDX-License-Identifier: Apache-2.0
// Models of how OpenMP tasks wait for something that is no task:
// layers/omp/src/task/outside_words.hpp.
#include "omp_parts.hpp"

#include "layers/omp/src/task/outside_words.hpp"

#include <cstdint>

namespace {

using namespace weft_model;
using P = omp_atomics;

using blocks = weft_omp::basic_block_state<omp_model_thread, P>;
using holds = weft_omp::basic_hold_state<P>;

/// Lets each other thread unblock once, when it has written; the task blocks once for each accepted
/// unblock. As block() and unblock() of outside.cpp.
template <int Others>
struct block_once_each {
  static constexpr int threads = 1 + Others;
  omp_model_thread runner;
  blocks state;
  model_var<int> written[Others];
  model_var<int> place; // what the runner prepares before it blocks, and what its waker uses
  model_atomic<int> refused{0};
  void run(int t) {
    if (t > 0) {
      written[t - 1].set(1);
      const auto [accepted, sleeps] = state.unblock();
      if (!accepted)
        refused.fetch_add(1, std::memory_order_relaxed);
      if (sleeps) {
        expect(place.get() == 1,
               "what the thread has prepared before it blocks is seen by its waker");
        sleeps->signal();
      }
      return;
    }
    place.set(1);
    if (state.begin_block(runner))
      while (state.is_blocked(runner))
        runner.wait();
    if (Others == 1)
      expect(written[0].get() == 1, "what came before the unblock is seen");
  }
  void check() {
    const bool one_is_left = !state.unblock().accepted;
    expect(refused.load(std::memory_order_relaxed) + one_is_left == Others - 1,
           "each unblock ends a block, is kept or is refused");
  }
};
const passes<block_once_each<1>> b1{"omp_outside_block"};
const passes<block_once_each<2>> b2{"omp_outside_block_and_one_too_many"};

/// Has a task with an event for each other thread, and perhaps a detach clause. One operation ends
/// the task, when all are over.
template <int Events, bool Detaches>
struct hold_until_all_are_over {
  static constexpr int threads = 1 + Events + Detaches;
  holds state;
  model_var<int> written[threads];
  model_atomic<int> ended{0};
  hold_until_all_are_over() {
    state.increase(Events,
                   Detaches ? weft_omp::events_before::some : weft_omp::events_before::none);
  }
  void end() {
    expect(ended.fetch_add(1, std::memory_order_relaxed) == 0, "the task ends once");
    for (auto &w : written)
      expect(w.get() == 1, "who ends the task sees what all did");
  }
  void run(int t) {
    written[t].set(1);
    if (t == 0) {
      if (state.end_body())
        end();
    } else if (t <= Events) {
      if (state.decrease(1) == holds::decreased::task_is_over)
        end();
    } else if (state.fulfil() == holds::fulfilled::task_is_over) {
      end();
    }
  }
  void check() {
    expect(ended.load(std::memory_order_relaxed) == 1, "the task ends");
    expect(state.decrease(1) == holds::decreased::underflow, "no event is left");
  }
};
const passes<hold_until_all_are_over<1, false>> h1{"omp_outside_one_event"};
const passes<hold_until_all_are_over<2, false>> h2{"omp_outside_two_events"};
const passes<hold_until_all_are_over<1, true>> h3{"omp_outside_event_and_clause"};

/// Has a task that is discarded, while its event is fulfilled. The runner ends it, and the record is
/// freed once, when neither of the two uses it any more.
struct discarded_and_fulfilled {
  static constexpr int threads = 2;
  holds state;
  model_var<int> used[threads];
  model_atomic<int> freed{0};
  void free_record() {
    expect(freed.fetch_add(1, std::memory_order_relaxed) == 0, "the record is freed once");
    for (auto &u : used)
      expect(u.get() == 1, "a record is freed after all uses of it");
  }
  void run(int t) {
    if (t == 1) {
      used[1].set(1);
      const auto after = state.fulfil();
      expect(after != holds::fulfilled::task_is_over, "the runner ends a discarded task");
      if (after == holds::fulfilled::record_is_left)
        free_record();
      return;
    }
    state.discard();
    expect(state.is_discarded(), "the runner finds its task discarded");
    used[0].set(1);
    if (state.leave())
      free_record();
  }
  void check() {
    expect(freed.load(std::memory_order_relaxed) == 1, "the record is freed");
    expect(state.is_discarded(), "a task that is discarded stays so");
  }
};
const passes<discarded_and_fulfilled> h4{"omp_outside_discarded"};

} // namespace
