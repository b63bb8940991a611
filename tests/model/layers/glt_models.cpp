// SPDX-License-Identifier: Apache-2.0
// Models of layers/glt/src/unit_words.hpp. The table of units is an image of handle_table.hpp: a slot
// with its generation, which is the number of the use, and a free list of one.
#include "checker/models.hpp"

#include "layers/glt/src/unit_words.hpp"

namespace {

using namespace weft_model;
using enum std::memory_order;

struct model_task {
  model_var<std::uint64_t> of{0}; // the use
  model_atomic<bool> has_ended{false};
};

struct units {
  static constexpr int k_uses = 2;
  weft_glt::unit_words<model_task, model_atomics> words;
  model_var<std::uint64_t> number{0};
  model_atomic<std::uint64_t> generation{0}; // odd while the unit is in use
  model_atomic<bool> is_free{true};
  model_task tasks[k_uses];
  model_atomic<int> given_back[k_uses];

  static int use_of(std::uint64_t name) { return static_cast<int>(name / 2); }

  std::uint64_t create() {
    model_atomics::await(is_free, [](bool free) { return free; }, acquire);
    is_free.store(false, relaxed);
    const std::uint64_t name = generation.load(relaxed) + 1;
    generation.store(name, release);
    number.set(name);
    words.open(name);
    model_task &t = tasks[use_of(name)];
    t.of.set(name);
    words.publish(t);
    return name;
  }
  void give_back(model_task &t) {
    const std::uint64_t name = number.get();
    expect(t.of.get() == name, "the task given back is that of this use");
    given_back[use_of(name)].fetch_add(1, relaxed);
    words.close();
    generation.store(name + 1, release);
    is_free.store(true, release);
  }
  /// Is the task's body, which gives its unit back if there is no handle.
  void run(std::uint64_t name, bool has_handle) {
    if (!has_handle && words.claim(name))
      give_back(*words.own_task());
    tasks[use_of(name)].has_ended.store(true, release);
  }
  /// Is a claimer that waits for the task, which is made soon.
  void wait_and_give_back(std::uint64_t name) {
    expect(number.get() == name, "the claimer has the use that it has met");
    model_task *t = nullptr;
    while (!(t = words.task()))
      model_atomics::yield();
    expect(t->of.get() == name, "the task is that of this use"); // which the wait reads
    model_atomics::await(t->has_ended, [](bool ended) { return ended; }, acquire);
    give_back(*t);
  }
  /// Is one look of the finalizer.
  void finalize() {
    const std::uint64_t name = generation.load(acquire);
    if (name % 2 == 1 && words.task() && words.claim(name))
      wait_and_give_back(name);
  }
  void expect_given_back(int uses) {
    for (int use = 0; use < uses; ++use)
      expect(given_back[use].load(relaxed) == 1, "a use is given back once");
  }
};

/// The finalizer meets units without handles, which are reused.
struct glt_units_end : units {
  static constexpr int threads = 2;
  void run(int t) {
    if (t == 1) {
      finalize();
      return;
    }
    for (int use = 0; use < k_uses; ++use)
      units::run(create(), false);
  }
  void check() { expect_given_back(k_uses); }
};
const passes<glt_units_end> g1{"glt_units_without_handles"};

/// A joiner has the handle while the finalizer looks.
struct glt_units_joined : units {
  static constexpr int threads = 3;
  model_atomic<std::uint64_t> handle{0};
  void run(int t) {
    if (t == 0) {
      const std::uint64_t name = create();
      handle.store(name, release);
      units::run(name, true);
    } else if (t == 1) {
      const std::uint64_t name =
          model_atomics::await(handle, [](std::uint64_t h) { return h != 0; }, acquire);
      if (words.claim(name))
        wait_and_give_back(name);
    } else {
      finalize();
    }
  }
  void check() { expect_given_back(1); }
};
const passes<glt_units_joined> g2{"glt_units_joined"};

} // namespace
