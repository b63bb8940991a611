// SPDX-License-Identifier: Apache-2.0
// Models of src/queue's locks: mutual exclusion (else a race on plain data), and no waiter is left
// behind (else a deadlock).
#include "checker/models.hpp"

#include "queue/delegation_lock.hpp"
#include "queue/spin_lock.hpp"
#include "queue/ticket_lock.hpp"

namespace {

using namespace weft_model;
using namespace weft::rt;
using enum std::memory_order;
using P = model_atomics;

template <int Threads, int Slots, int Rounds>
struct ticket_lock_counts {
  static constexpr int threads = Threads;
  ticket_lock<P> lock{Slots};
  model_var<int> count{0};
  void run(int) {
    for (int i = 0; i < Rounds; ++i) {
      lock.lock();
      count.set(count.get() + 1);
      lock.unlock();
    }
  }
  void check() { expect(count.get() == Threads * Rounds, "every round is counted"); }
};
const passes<ticket_lock_counts<2, 2, 2>> t1{"ticket_lock_two_threads"};
const passes<ticket_lock_counts<2, 1, 2>> t2{"ticket_lock_one_slot"};
const passes<ticket_lock_counts<3, 2, 1>> t3{"ticket_lock_three_threads"};
const passes<ticket_lock_counts<3, 1, 1>> t4{"ticket_lock_more_waiters_than_slots"};

template <int Threads>
struct ticket_lock_tries {
  static constexpr int threads = Threads;
  ticket_lock<P> lock{2};
  model_var<int> count{0};
  int taken[Threads] = {};
  void run(int t) {
    for (int i = 0; i < 2; ++i) {
      if (t == 0)
        lock.lock();
      else if (!lock.try_lock())
        continue;
      count.set(count.get() + 1);
      ++taken[t];
      lock.unlock();
    }
  }
  void check() {
    int all = 0;
    for (int n : taken)
      all += n;
    expect(count.get() == all, "every success is counted");
    expect(lock.try_lock(), "the lock is free in the end");
  }
};
const passes<ticket_lock_tries<2>> t5{"ticket_lock_try_lock"};
const passes<ticket_lock_tries<3>> t6{"ticket_lock_try_lock_three_threads"};

struct spin_lock_counts {
  static constexpr int threads = 2;
  spin_lock<P> lock;
  model_var<int> count{0};
  int taken[2] = {};
  void run(int t) {
    for (int i = 0; i < 2; ++i) {
      if (t == 1 && i == 1) {
        if (!lock.try_lock())
          continue;
      } else
        lock.lock();
      count.set(count.get() + 1);
      ++taken[t];
      lock.unlock();
    }
  }
  void check() { expect(count.get() == taken[0] + taken[1], "every round is counted"); }
};
const passes<spin_lock_counts> s1{"spin_lock_two_threads"};

/// Holds what an owner of the lock does for its waiters, and its way out.
template <class Lock>
struct owner_of {
  Lock &lock;
  typename Lock::run waiters;
  /// Serves run after run; each waiter of a run gets what `answer(id)` says.
  template <class F>
  void serve(F answer) {
    while (lock.take_waiters(waiters)) {
      for (std::size_t i = 0; i != waiters.size(); ++i)
        lock.set_item(waiters, i, answer(waiters.id(i)));
      lock.dismiss(waiters);
    }
  }
  void unlock() { lock.unlock(waiters); }
};

/// Lets all threads draw numbers from a plain counter; the owner draws for the waiters.
template <int Threads, int Ids, int Rounds, class Lock = delegation_lock<int, P>>
struct delegation_draws {
  static constexpr int threads = Threads;
  Lock lock{Ids};
  model_var<int> next{1};
  int drawn[Threads][Rounds] = {};
  int draw() {
    const int n = next.get();
    next.set(n + 1);
    return n;
  }
  void run(int t) {
    for (int round = 0; round < Rounds; ++round) {
      int n = 0;
      if (t >= Ids)
        lock.lock();
      else if (lock.lock_or_delegate(static_cast<std::size_t>(t), n) == delegation::delegated) {
        drawn[t][round] = n;
        continue;
      }
      owner_of<Lock> owner{lock, {}};
      if (t < Ids)
        owner.serve([&](std::size_t id) {
          expect(id < Ids && id != static_cast<std::size_t>(t), "another waiter is served");
          return draw();
        });
      drawn[t][round] = draw();
      owner.unlock();
    }
  }
  void check() {
    unsigned seen = 0;
    for (auto &mine : drawn)
      for (int n : mine)
        seen |= 1u << n;
    expect(seen == (1u << (Threads * Rounds + 1)) - 2, "every number is drawn once");
  }
};
const passes<delegation_draws<2, 2, 2>> d1{"delegation_lock_two_threads"};
const passes<delegation_draws<3, 3, 1>> d2{"delegation_lock_three_threads"};
const passes<delegation_draws<3, 3, 2>> d3{"delegation_lock_three_threads_twice"};
const passes<delegation_draws<3, 2, 1>> d4{"delegation_lock_more_threads_than_ids"};
const passes<delegation_draws<3, 2, 2>> d5{"delegation_lock_more_threads_than_ids_twice"};
const passes<delegation_draws<4, 2, 1>> d6{"delegation_lock_four_threads_two_ids"};

/// Lets one thread own the lock and serve two waiters, in one run where both have left their ids.
/// Each gets its own result. A waiter that is let go may come back at once, while the owner still
/// lets the other one go: it is served again, or gets the lock.
template <bool ComesBack>
struct delegation_serves_a_run {
  static constexpr int threads = 3;
  using lock_type = delegation_lock<int, P>;
  lock_type lock{3};
  model_var<int> count{0};
  int got[3] = {};
  void run(int t) {
    int item = -1;
    if (t == 0) {
      lock.lock();
      owner_of<lock_type> owner{lock, {}};
      owner.serve([&](std::size_t id) {
        count.set(count.get() + 1);
        return 10 + static_cast<int>(id);
      });
      return owner.unlock();
    }
    for (int round = 0; round < (ComesBack && t == 1 ? 2 : 1); ++round) {
      if (lock.lock_or_delegate(static_cast<std::size_t>(t), item) == delegation::delegated) {
        expect(item == 10 + t, "a waiter of a run gets its own result");
        ++got[t];
        continue;
      }
      count.set(count.get() + 1);
      ++got[t];
      lock.unlock();
    }
  }
  void check() {
    expect(got[1] == (ComesBack ? 2 : 1) && got[2] == 1, "every call has one outcome");
    expect(count.get() == got[1] + got[2], "every call is served once, or owns the lock");
    expect(lock.try_lock(), "the lock is free in the end");
  }
};
const passes<delegation_serves_a_run<false>> d9{"delegation_lock_run"};
const passes<delegation_serves_a_run<true>> d10{"delegation_lock_run_and_one_comes_back"};

/// Lets the owner leave without serving: the waiter must get the lock, and never an old result.
struct delegation_refuses {
  static constexpr int threads = 2;
  delegation_lock<int, P> lock{2};
  model_var<int> count{0};
  int served[2] = {};
  void run(int t) {
    for (int round = 0; round < 2; ++round) {
      int n = -1;
      if (lock.lock_or_delegate(static_cast<std::size_t>(t), n) == delegation::delegated) {
        expect(n == 7, "a result is what the owner gave");
        ++served[t];
        continue;
      }
      count.set(count.get() + 1);
      delegation_lock<int, P>::run waiters;
      if (round == 0 && lock.take_waiters(waiters)) { // in the first round only
        lock.set_item(waiters, 0, 7);
        lock.dismiss(waiters);
      }
      lock.unlock(waiters);
    }
  }
  void check() { expect(count.get() + served[0] + served[1] == 4, "every call has one outcome"); }
};
const passes<delegation_refuses> d7{"delegation_lock_not_served"};

/// Calls try_lock in between, as the paper's producer does.
struct delegation_with_try {
  static constexpr int threads = 2;
  delegation_lock<int, P> lock{2};
  model_var<int> count{0};
  int tried = 0;
  void run(int t) {
    if (t == 0) {
      if (lock.try_lock()) {
        count.set(count.get() + 1);
        tried = 1;
        lock.unlock();
      }
      return;
    }
    for (int round = 0; round < 2; ++round) {
      int n = 0;
      expect(lock.lock_or_delegate(1, n) == delegation::owner, "there is nobody to delegate to");
      count.set(count.get() + 1);
      lock.unlock();
    }
  }
  void check() { expect(count.get() == 2 + tried, "every success is counted"); }
};
const passes<delegation_with_try> d8{"delegation_lock_try_lock"};

// --- Listing 4 of the paper, with its mistake and with Nanos6's orders: the checker finds both

enum class flaw { none, tail_increment, relaxed_log, try_lock_acquires_late };

template <flaw Flaw>
class listing4_lock {
 public:
  explicit listing4_lock(std::size_t) {}
  void lock() { wait_turn(m_head.fetch_add(1, relaxed)); }
  bool try_lock() {
    std::uint64_t ticket = m_head.load(relaxed);
    if (m_turn[ticket % 2].load(Flaw == flaw::try_lock_acquires_late ? relaxed : acquire) < ticket)
      return false;
    return m_head.compare_exchange_strong(ticket, ticket + 1, acquire, relaxed);
  }
  void unlock() {
    const std::uint64_t next = m_tail.get();
    m_tail.set(next + 1);
    m_turn[next % 2].store(next, release);
  }
  delegation lock_or_delegate(std::size_t id, int &item) {
    const std::uint64_t ticket = m_head.fetch_add(1, relaxed);
    m_log[ticket % 2].store(ticket + id, Flaw == flaw::relaxed_log ? relaxed : release);
    wait_turn(ticket);
    if (m_ready[id].ticket.get() != ticket) {
      if (Flaw == flaw::tail_increment)
        m_tail.set(m_tail.get() + 1);
      return delegation::owner;
    }
    item = m_ready[id].item.get();
    return delegation::delegated;
  }
  bool empty() {
    return m_log[m_tail.get() % 2].load(Flaw == flaw::relaxed_log ? relaxed : acquire) <
           m_tail.get();
  }
  std::size_t front() { return m_log[m_tail.get() % 2].load(relaxed) - m_tail.get(); }
  void pop_front() { unlock(); }
  void set_item(std::size_t id, int item) {
    m_ready[id].item.set(item);
    m_ready[id].ticket.set(m_tail.get());
  }

 private:
  void wait_turn(std::uint64_t ticket) {
    P::await(m_turn[ticket % 2], [ticket](std::uint64_t turn) { return turn >= ticket; }, acquire);
  }
  model_atomic<std::uint64_t> m_head{2}, m_turn[2] = {2, 2}, m_log[2];
  model_var<std::uint64_t> m_tail{3};
  struct {
    model_var<std::uint64_t> ticket{0};
    model_var<int> item{0};
  } m_ready[3]; // one more than slots, for the test of more threads
};

/// Serves one waiter after the other, as printed.
template <flaw Flaw>
struct owner_of<listing4_lock<Flaw>> {
  listing4_lock<Flaw> &lock;
  struct {
  } none;
  template <class F>
  void serve(F answer) {
    while (!lock.empty()) {
      const std::size_t id = lock.front();
      lock.set_item(id, answer(id));
      lock.pop_front();
    }
  }
  void unlock() { lock.unlock(); }
};

template <flaw Flaw>
struct listing4_tries {
  static constexpr int threads = 2;
  listing4_lock<Flaw> lock{2};
  model_var<int> count{0};
  void run(int t) {
    if (t == 0)
      lock.lock();
    else if (!lock.try_lock())
      return;
    count.set(count.get() + 1);
    lock.unlock();
  }
  void check() {}
};
template <flaw Flaw>
using listing4_draws = delegation_draws<2, 2, 2, listing4_lock<Flaw>>;
const passes<listing4_draws<flaw::none>> l0{"listing4_without_the_increment"};
const passes<listing4_tries<flaw::none>> l1{"listing4_try_lock"};
const fails<listing4_draws<flaw::tail_increment>> l2{"listing4_as_printed", "deadlock"};
const fails<listing4_draws<flaw::relaxed_log>> l3{"listing4_relaxed_log", "data race"};
const fails<listing4_tries<flaw::try_lock_acquires_late>> l4{"listing4_try_lock_acquires_late",
                                                             "data race"};
const fails<delegation_draws<3, 3, 2, listing4_lock<flaw::none>>> l5{
    "listing4_more_threads_than_slots", ""};

} // namespace
