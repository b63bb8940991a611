// SPDX-License-Identifier: Apache-2.0
// Models of src/park/eventcount.hpp: no wake-up is lost (else a deadlock), and the sleeper sees
// what the notifier did before the notification.
#include "checker/models.hpp"

#include "park/eventcount.hpp"
#include "queue/deque.hpp"

namespace {

using namespace weft_model;
using namespace weft::rt;
using enum std::memory_order;
using P = model_atomics;

/// Has sleepers that wait for units of work, and pushers that publish them without any memory order
/// of their own.
template <int Sleepers, bool All, int Pushers = 1>
struct eventcount_wakes {
  static constexpr int threads = Pushers + Sleepers;
  eventcount<P> idle{Sleepers};
  model_atomic<int> work{0};
  bool take() {
    int n = work.load(relaxed);
    while (n > 0)
      if (work.compare_exchange_strong(n, n - 1, relaxed, relaxed))
        return true;
    return false;
  }
  void run(int t) {
    if (t < Pushers) {
      if (All) {
        work.fetch_add(Sleepers, relaxed);
        idle.notify_all();
      } else
        for (int i = 0; i < Sleepers / Pushers; ++i) {
          work.fetch_add(1, relaxed);
          idle.notify_one();
        }
      return;
    }
    const auto id = static_cast<std::size_t>(t - Pushers);
    while (!take()) {
      idle.prepare(id);
      if (work.load(relaxed) > 0)
        idle.cancel_and_relay(id);
      else
        idle.commit(id);
    }
    idle.found(id);
  }
  void check() {
    expect(work.load(relaxed) == 0, "all work is done");
    expect(idle.idle() == 0 && idle.searching() == 0, "nobody is announced, nobody searches");
  }
};
const passes<eventcount_wakes<1, false>> e1{"eventcount_pusher_and_sleeper"};
const passes<eventcount_wakes<2, false>> e2{"eventcount_two_sleepers"};
const passes<eventcount_wakes<1, true>> e3{"eventcount_notify_all_one_sleeper"};
const passes<eventcount_wakes<2, true>> e4{"eventcount_notify_all"};
const passes<eventcount_wakes<2, false, 2>> e14{"eventcount_two_pushers"};

/// Has workers that search before they sleep: the pushers rely on the searchers for all ready work.
template <int Workers, int Units>
struct eventcount_with_searchers {
  static constexpr int threads = 1 + Workers;
  eventcount<P> idle{Workers};
  model_atomic<int> work{0}, left{Units};
  bool take() {
    int n = work.load(relaxed);
    while (n > 0)
      if (work.compare_exchange_strong(n, n - 1, relaxed, relaxed))
        return true;
    return false;
  }
  bool search(std::size_t id) {
    if (idle.begin_search(id, 1) && take()) {
      idle.found(id);
      return true;
    }
    idle.end_search(id);
    return false;
  }
  bool sleep(std::size_t id) {
    idle.prepare(id);
    if (take()) {
      idle.cancel_and_relay(id);
      idle.found(id);
      return true;
    }
    idle.commit(id);
    return false;
  }
  void run(int t) {
    if (t == 0) {
      for (int i = 0; i < Units; ++i) {
        work.fetch_add(1, relaxed);
        idle.notify_one();
      }
      return;
    }
    const auto id = static_cast<std::size_t>(t - 1);
    for (int i = 0; i < Units / Workers; ++i)
      while (!search(id) && !sleep(id)) {
      }
  }
  void check() {
    expect(work.load(relaxed) == 0, "all work is done");
    expect(idle.idle() == 0 && idle.searching() == 0, "nobody is announced, nobody searches");
  }
};
const passes<eventcount_with_searchers<1, 2>> e5{"eventcount_searcher"};
const passes<eventcount_with_searchers<2, 2>> e6{"eventcount_two_searchers"};

/// Gives more work to the first worker that gets any: it may stop searching before its notifier has
/// counted it as a searcher.
struct eventcount_relay {
  static constexpr int threads = 3;
  eventcount<P> idle{2};
  model_atomic<int> work{0}, taken{0};
  void add() {
    work.fetch_add(1, relaxed);
    idle.notify_one();
  }
  bool take() {
    int one = 1;
    return work.load(relaxed) == 1 && work.compare_exchange_strong(one, 0, relaxed, relaxed);
  }
  void run(int t) {
    if (t == 0)
      return add();
    const auto id = static_cast<std::size_t>(t - 1);
    for (;;) {
      idle.prepare(id);
      if (take()) {
        idle.cancel_and_relay(id);
        break;
      }
      idle.commit(id);
    }
    idle.found(id);
    if (taken.fetch_add(1, relaxed) == 0)
      add();
  }
  void check() {
    expect(work.load(relaxed) == 0, "all work is done");
    expect(idle.idle() == 0 && idle.searching() == 0, "nobody is announced, nobody searches");
  }
};
const passes<eventcount_relay> e13{"eventcount_relay"};

enum class way { commit, deadline, cancel };

/// Writes plain data before the notification. The sleeper reads the data after it, in whichever way
/// it learns of the notification.
template <way Way, bool Worker>
struct eventcount_hands_over {
  static constexpr int threads = 2;
  eventcount<P> idle{2};
  model_var<int> data{0};
  bool sent = false, received = false;
  void run(int t) {
    if (t == 0) {
      data.set(1);
      while (!(sent = Worker ? idle.notify_worker(1) : idle.notify_one()) && Way == way::commit)
        P::pause();
      return;
    }
    idle.prepare(1);
    received = Way == way::cancel ? idle.cancel(1) : idle.commit(1, Way == way::deadline ? 1 : 0);
    if (received)
      expect(data.get() == 1, "the data is seen");
  }
  void check() {
    expect(sent == received, "a sleeper is chosen exactly if the notifier says so");
    expect(idle.idle() == 0, "nobody is announced");
  }
};
const passes<eventcount_hands_over<way::commit, false>> e7{"eventcount_hands_over"};
const passes<eventcount_hands_over<way::deadline, false>> e8{
    "eventcount_hands_over_at_the_deadline"};
const passes<eventcount_hands_over<way::cancel, false>> e9{"eventcount_hands_over_when_cancelled"};
const passes<eventcount_hands_over<way::commit, true>> e10{"eventcount_notify_worker"};

/// Sends a message to one particular worker, and uses the same seat again after a cancelled round.
struct eventcount_inbox {
  static constexpr int threads = 2;
  eventcount<P> idle{1};
  model_atomic<int> inbox{0};
  void run(int t) {
    if (t == 0) {
      for (int i = 0; i < 2; ++i) {
        inbox.fetch_add(1, relaxed);
        idle.notify_worker(0);
      }
      return;
    }
    for (int seen = 0; seen < 2;) {
      idle.prepare(0);
      const int now = inbox.load(relaxed);
      if (now > seen)
        idle.cancel(0);
      else
        idle.commit(0);
      seen = now;
    }
  }
  void check() { expect(idle.idle() == 0, "nobody is announced"); }
};
const passes<eventcount_inbox> e11{"eventcount_inbox"};

/// Composes what the worker loop relies on: push to a deque, notify; look, announce, look again,
/// sleep.
struct eventcount_with_deque {
  static constexpr int threads = 2;
  eventcount<P> idle{1};
  work_deque<int *, P> deque{2};
  model_var<int> data{0};
  int token = 0;
  void run(int t) {
    if (t == 0) {
      data.set(1);
      deque.push(&token);
      idle.notify_one();
      return;
    }
    for (;;) {
      if (deque.steal())
        break;
      idle.prepare(0);
      if (deque.steal()) {
        idle.cancel(0);
        break;
      }
      idle.commit(0);
    }
    expect(data.get() == 1, "the data is seen");
  }
  void check() { expect(deque.empty() && idle.idle() == 0, "nothing is left"); }
};
const passes<eventcount_with_deque> e12{"eventcount_with_deque"};

} // namespace
