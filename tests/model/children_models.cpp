// SPDX-License-Identifier: Apache-2.0
// Models of what src/task/execute.cpp does around the counters of task/wait/completion.hpp:
// - the count that a worker keeps of children that have ended on its loop (count_later of
//   child_count.hpp, flush_child_count);
// - the flags of a task that its children read while it runs and fails.
#include "suspension.hpp"

#include "task/wait/completion.hpp"

namespace {

using namespace weft_model;
using namespace weft::rt;
using enum std::memory_order;
using P = model_atomics;

enum class flushes { before_anything_else, late, twice };

/// Lets worker 1 run two children, then a task that lasts until their parent continues.
/// Worker 2 runs one child and goes to sleep.
template <flushes When>
struct children_are_flushed {
  static constexpr int threads = 3;
  static constexpr int children = 3;
  completion_word<P> word;
  model_var<model_frame *> waiter{nullptr};
  model_var<int> done[children] = {};
  model_atomic<int> went_on{0};

  struct worker {
    int counted = 0; // plain: private to the worker
  };
  void run_child(worker &w, int i) {
    done[i].set(1);
    ++w.counted;
  }
  void flush(worker &w) {
    const int n = w.counted;
    if (When != flushes::twice)
      w.counted = 0;
    if (n != 0 && word.remove(n))
      make_ready(*waiter.get());
  }
  void run(int t) {
    worker w;
    if (t == 0)
      return wait();
    if (t == 2) {
      run_child(w, 2);
      return flush(w);
    }
    run_child(w, 0);
    run_child(w, 1);
    if (When != flushes::late)
      flush(w);
    if (When == flushes::twice)
      flush(w);
    P::await(went_on, [](int is) { return is == 1; }, acquire); // the task that lasts
    flush(w);
  }
  void wait() {
    if (!word.done(children))
      suspend([this](model_frame &f) {
        waiter.set(&f);
        return !word.settle(children);
      });
    word.reset();
    for (auto &each : done)
      expect(each.get() == 1, "the parent sees what all children did");
    went_on.store(1, release);
  }
  void check() { expect(went_on.load(relaxed) == 1, "the parent went on"); }
};
const passes<children_are_flushed<flushes::before_anything_else>> c1{"children_flushed_at_once"};
const fails<children_are_flushed<flushes::late>> c2{"flawed_children_flushed_late", ""};
const fails<children_are_flushed<flushes::twice>> c3{"flawed_children_flushed_twice", ""};

/// Lets one thread, the only writer, set flags of the task. A child reads a flag that was set
/// before the child was spawned.
template <bool SetsAlone>
struct flags_meanwhile {
  static constexpr int threads = 2;
  static constexpr std::uint8_t k_final = 1, k_cancelled = 2;
  model_atomic<std::uint8_t> flags{k_final};
  void set(std::uint8_t flag) {
    const std::uint8_t before = SetsAlone ? 0 : flags.load(relaxed);
    flags.store(static_cast<std::uint8_t>(before | flag), relaxed);
  }
  void run(int t) {
    if (t == 0)
      return set(k_cancelled);
    for (int i = 0; i < 2; ++i)
      expect((flags.load(relaxed) & k_final) != 0,
             "a flag from before is seen, whatever is set meanwhile");
  }
  void check() { expect(flags.load(relaxed) == (k_final | k_cancelled), "both are set"); }
};
const passes<flags_meanwhile<false>> f1{"flags_meanwhile"};
const fails<flags_meanwhile<true>> f2{"flawed_flags_set_alone", ""};

} // namespace
