// SPDX-License-Identifier: Apache-2.0
// Models of src/worker/throttle/throttle_core.hpp: a suspended creator continues when memory is free again,
// or when a worker, even one that sleeps, has nothing else to do.
#include "suspension.hpp"

#include "park/eventcount.hpp"
#include "worker/throttle/throttle_core.hpp"

namespace {

using namespace weft_model;
using namespace weft::rt;
using enum std::memory_order;
using P = model_atomics;

/// Holds plain data, so that the checker sees an access without the lock.
class frame_queue {
 public:
  frame_queue() = default;
  frame_queue(frame_queue &&other) noexcept {
    while (model_frame *f = other.pop_front())
      push_back(f);
    other.m_begin.set(0);
    other.m_end.set(0);
  }
  void push_back(model_frame *f) {
    m_places[m_end.get()].set(f);
    m_end.set(m_end.get() + 1);
  }
  model_frame *pop_front() {
    const std::size_t i = m_begin.get();
    if (i == m_end.get())
      return nullptr;
    m_begin.set(i + 1);
    return m_places[i].get();
  }

 private:
  model_var<model_frame *> m_places[2] = {};
  model_var<std::size_t> m_begin{0}, m_end{0};
};

struct model_world {
  using item = model_frame;
  using queue = frame_queue;
  model_atomic<std::int64_t> &live;
  eventcount<P> &idle;
  std::int64_t level() const { return live.load(seq_cst); }
  void wake_one() const { idle.notify_one(); }
  static void make_ready(model_frame &f) { weft_model::make_ready(f); }
};

struct throttle_base {
  static constexpr std::int64_t k_limit = 8, k_full = 12, k_batch = 8;
  model_atomic<std::int64_t> live{k_full};
  eventcount<P> idle{1};
  throttle_core<P, model_world> throttle{{live, idle}, {.limit = k_limit, .lowest = k_limit}};
  void be_held() {
    suspend([this](model_frame &f) {
      throttle.hold(f);
      return true; // the thread that releases it, perhaps the waiter itself, makes it ready
    });
  }
  void free_batch() { throttle.level_changed(live.fetch_sub(k_batch, seq_cst) - k_batch); }
};

/// Frees the memory that the creator waits for; no worker is idle to release it.
template <int Producers>
struct throttle_falls : throttle_base {
  static constexpr int threads = 1 + Producers;
  void run(int t) {
    if (t == 0)
      return free_batch();
    be_held();
  }
  void check() { expect(!throttle.holds_any() && !throttle.over(), "nobody is held"); }
};
const passes<throttle_falls<1>> f1{"throttle_falls_below_the_mark"};
const passes<throttle_falls<2>> f2{"throttle_falls_and_two_go_on"};

/// Frees nothing, because the creator's tasks wait for the creator. A worker that is asleep, or
/// about to sleep, has to release it.
template <int Rounds>
struct throttle_and_sleeper : throttle_base {
  static constexpr int threads = 2;
  model_atomic<int> over{0};
  void run(int t) {
    if (t == 0) {
      for (int i = 0; i < Rounds; ++i)
        be_held();
      over.store(1, relaxed);
      idle.notify_all();
      return;
    }
    while (!over.load(relaxed)) {
      if (throttle.release_all())
        continue;
      idle.prepare(0);
      if (over.load(relaxed) || throttle.holds_any())
        idle.cancel_and_relay(0);
      else
        idle.commit(0);
    }
    idle.found(0);
  }
  void check() {
    expect(!throttle.holds_any() && idle.idle() == 0, "nobody is held, nobody sleeps");
  }
};
const passes<throttle_and_sleeper<1>> s1{"throttle_lets_go_by_a_sleeper"};
const passes<throttle_and_sleeper<2>> s2{"throttle_lets_go_again"};

/// Counts tasks that have not begun, as the policy by tasks does: the level is a sum over the
/// workers, and a task that begins changes it without a report.
struct tasks_world {
  using item = model_frame;
  using queue = frame_queue;
  model_atomic<std::int64_t> (&made)[2], (&begun)[2];
  eventcount<P> &idle;
  std::int64_t level() const {
    std::int64_t waiting = 0;
    for (int id = 0; id != 2; ++id)
      waiting += made[id].load(relaxed) - begun[id].load(relaxed);
    return waiting;
  }
  void wake_one() const { idle.notify_one(); }
  static void make_ready(model_frame &f) { weft_model::make_ready(f); }
};

/// Lets a worker begin all tasks of a creator that is about to be held for their number, and find
/// nothing more to do. It must let the creator go on, also from its sleep. A third thread checks,
/// as a creator at its spawn does, and never idles.
template <bool Checks>
struct throttle_by_tasks_lets_go {
  static constexpr int threads = Checks ? 3 : 2;
  static constexpr std::int64_t k_limit = 8, k_made = 12;
  model_atomic<std::int64_t> made[2] = {}, begun[2] = {};
  eventcount<P> idle{1};
  throttle_core<P, tasks_world> throttle{
      {made, begun, idle}, {.limit = k_limit, .lowest = k_limit, .checks_each_spawn = true}};
  model_atomic<int> over{0};
  throttle_by_tasks_lets_go() { made[0].store(k_made, relaxed); }
  void run(int t) {
    if (t == 2)
      return throttle.level_changed(made[0].load(relaxed) - begun[1].load(relaxed));
    if (t == 0) {
      suspend([this](model_frame &f) {
        throttle.hold(f);
        return true;
      });
      over.store(1, relaxed);
      idle.notify_all();
      return;
    }
    begun[1].store(k_made, relaxed);
    while (!over.load(relaxed)) {
      if (throttle.release_all())
        continue;
      idle.prepare(0);
      if (over.load(relaxed) || throttle.holds_any())
        idle.cancel_and_relay(0);
      else
        idle.commit(0);
    }
    idle.found(0);
  }
  void check() {
    expect(!throttle.holds_any() && idle.idle() == 0, "no creator is held, no worker sleeps");
    expect(throttle.over(), "each creator checks");
  }
};
const passes<throttle_by_tasks_lets_go<false>> k1{"throttle_by_tasks_lets_go"};
const passes<throttle_by_tasks_lets_go<true>> k2{"throttle_by_tasks_checked"};

/// Does both at once: one worker frees, one finds nothing to do. The creator continues once.
struct throttle_raced : throttle_base {
  static constexpr int threads = 3;
  void run(int t) {
    if (t == 0)
      free_batch();
    else if (t == 1)
      be_held();
    else
      static_cast<void>(throttle.release_all());
  }
  void check() { expect(!throttle.holds_any(), "nobody is held"); }
};
const passes<throttle_raced> r1{"throttle_released_by_two"};

/// Raises the limits above what is live, while a creator is about to be held under the old ones. No
/// thread frees memory or is idle.
struct throttle_limits_rise : throttle_base {
  static constexpr int threads = 2;
  void run(int t) {
    if (t == 0)
      return throttle.set_limits({.limit = 4 * k_full, .lowest = 4 * k_full});
    be_held();
  }
  void check() { expect(!throttle.holds_any(), "no creator is held under limits of before"); }
};
const passes<throttle_limits_rise> l1{"throttle_limits_rise"};

/// Turns the throttle off instead.
struct throttle_turned_off : throttle_base {
  static constexpr int threads = 2;
  void run(int t) {
    if (t == 0)
      return throttle.set_limits({});
    be_held();
  }
  void check() { expect(!throttle.holds_any(), "no creator is held without a limit"); }
};
const passes<throttle_turned_off> l2{"throttle_turned_off"};

} // namespace
