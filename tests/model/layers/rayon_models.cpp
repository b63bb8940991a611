// SPDX-License-Identifier: Apache-2.0
// Models of layers/rayon/src/wait_list.hpp. A thread parks as a lightweight thread does; events are
// an image of weft::event.
#include "checker/models.hpp"

#include "layers/rayon/src/wait_list.hpp"

namespace {

using namespace weft_model;
using enum std::memory_order;

/// Has one wake-up at most, which comes before the sleep or in it.
class parked_thread {
 public:
  void park() {
    model_atomics::await(m_woken, [](bool woken) { return woken; }, acquire);
    m_woken.exchange(false, acquire);
  }
  void unpark() { m_woken.store(true, release); }

 private:
  model_atomic<bool> m_woken{false};
};

struct model_event {
  model_atomic<bool> is_over{false};
  /// Returns whether it is set when the time is over.
  bool wait_for() { return is_set(); }
  void set() { is_over.store(true, release); }
  bool is_set() { return is_over.load(acquire); }
};

struct model_threads {
  using word = model_atomic<std::uint32_t>;
  using thread = parked_thread;
  using event = model_event;
  static constexpr unsigned k_tries = 1;
  static std::uint32_t value(const word &at) { return at.load(relaxed); }
  static void park(thread &caller) { caller.park(); }
  static void unpark(thread &sleeping) { sleeping.unpark(); }
  static void yield() { model_atomics::yield(); }
};
using list = weft_rayon::wait_list<model_threads, model_atomics>;
constexpr auto k_set = [](model_event &e) { e.set(); };

/// Lets waiters wait for a word until it is not 0. `data` is what the waker did before.
struct words {
  list all;
  model_threads::word at{0}, other{0};
  model_var<int> data{0};
  /// Waits as programs of a futex do. The waiter, and the thread, end with the call.
  void wait() {
    while (at.load(relaxed) == 0) {
      parked_thread self;
      list::waiter me{&at, &self};
      if (all.wait(me, 0))
        expect(data.get() == 1, "what the waker did is seen");
    }
  }
  /// Waits with a limit. Returns whether it was woken.
  bool wait_shortly() {
    list::waiter me{&at, nullptr};
    if (!all.add(me, 0))
      return false;
    return me.woken_in_time.wait_for() || !all.withdraw(me);
  }
  long wake(long most) {
    data.set(1);
    at.store(1, relaxed);
    return all.wake(&at, most, k_set);
  }
};

/// One waits, one wakes.
struct rayon_one_waits : words {
  static constexpr int threads = 2;
  long woken = 0;
  void run(int t) {
    if (t == 0)
      wait();
    else
      woken = wake(1);
  }
  void check() { expect(woken <= 1, "there is one waiter at most"); }
};
const passes<rayon_one_waits> w1{"rayon_waits_for_one"};

/// Two wait, and one call wakes both.
struct rayon_two_wait : words {
  static constexpr int threads = 3;
  void run(int t) {
    if (t == 2)
      wake(2);
    else
      wait();
  }
  void check() { expect(all.wake(&at, 2, k_set) == 0, "no waiter is left"); }
};
const passes<rayon_two_wait> w2{"rayon_waits_for_all"};

/// The time of a waiter is over, or a waker comes first.
struct rayon_limit : words {
  static constexpr int threads = 2;
  bool was_woken = false;
  long woken = 0;
  void run(int t) {
    if (t == 0)
      was_woken = wait_shortly();
    else
      woken = wake(1);
  }
  void check() {
    expect(woken == (was_woken ? 1 : 0), "a waker counts those that it wakes");
    expect(all.wake(&at, 9, k_set) == 0, "no waiter is left");
  }
};
const passes<rayon_limit> w3{"rayon_waits_with_a_limit"};

/// A waiter with a limit came before one without: it may take itself out of the front.
struct rayon_limit_before_another : words {
  static constexpr int threads = 3;
  void run(int t) {
    if (t == 0)
      wait_shortly();
    else if (t == 1)
      wait();
    else
      wake(2);
  }
  void check() { expect(all.wake(&at, 9, k_set) == 0, "no waiter is left"); }
};
const passes<rayon_limit_before_another> w4{"rayon_waits_behind_a_limit"};

/// The waker of another word takes none of this word's waiters.
struct rayon_other_word : words {
  static constexpr int threads = 3;
  long woken = 0;
  void run(int t) {
    if (t == 0)
      wait();
    else if (t == 1)
      woken = all.wake(&other, 1, k_set);
    else
      wake(1);
  }
  void check() { expect(woken == 0, "no thread waits for that word"); }
};
const passes<rayon_other_word> w5{"rayon_waits_for_another_word"};

} // namespace
