// SPDX-License-Identifier: Apache-2.0
// Models of how OpenMP threads wait: parker_word.hpp and spin.hpp of layers/threads, and
// fork_mailbox.hpp, sleeper_list.hpp and the lock of event.hpp of layers/omp.
#include "omp_parts.hpp"

#include "layers/omp/src/team/fork_mailbox.hpp"
#include "layers/omp/src/thread/event.hpp"

#include <cstdint>

namespace weft_threads {
void count_spin_locks(int) noexcept {} // of preempt.cpp
} // namespace weft_threads

namespace {

using namespace weft_model;
using enum std::memory_order;
using P = omp_atomics;

/// Sends one signal, before the wait, during it, or after.
struct parker_signal {
  static constexpr int threads = 2;
  omp_model_thread waiter;
  model_var<int> data{0};
  void run(int t) {
    if (t == 0) {
      data.set(1);
      return waiter.signal();
    }
    waiter.wait();
    expect(data.get() == 1, "what the signal is about is seen");
  }
  void check() {}
};
const passes<parker_signal> p1{"omp_parker_signal"};

/// Sends two signals: one may be lost, but not the data that they announce.
struct parker_two_signals {
  static constexpr int threads = 3;
  omp_model_thread waiter;
  model_atomic<int> done{0};
  void run(int t) {
    if (t == 0) {
      while (done.load(acquire) != 2)
        waiter.wait();
      return;
    }
    done.fetch_add(1, release);
    waiter.signal();
  }
  void check() { expect(done.load(relaxed) == 2, "both have signalled"); }
};
const passes<parker_two_signals> p2{"omp_parker_two_signals"};

/// Uses no signals: the waker changes the word and then looks for sleepers; the sleeper announces
/// itself and then looks at the word.
template <int Rounds>
struct parker_condition {
  static constexpr int threads = 2;
  omp_model_thread waiter;
  model_atomic<int> round{0};
  model_var<int> data[Rounds];
  void run(int t) {
    for (int n = 0; n < Rounds; ++n)
      if (t == 0) {
        data[n].set(1);
        round.store(n + 1, seq_cst);
        waiter.wake();
      } else {
        while (round.load(acquire) <= n)
          waiter.wait_for([&] { return round.load(seq_cst) <= n; });
        expect(data[n].get() == 1, "what came before the change is seen");
      }
  }
  void check() {}
};
const passes<parker_condition<1>> p3{"omp_parker_condition"};
const passes<parker_condition<2>> p4{"omp_parker_condition_twice"};

/// Lets another thread resume a frame and publish it again at its place, while the thread that
/// published it first still looks at the state. The first thread may then take the second stay back.
struct parker_second_stay {
  static constexpr int threads = 2;
  weft_omp::parker_word<model_frame, P> word;
  model_frame frame;
  model_atomic<int> round{0};
  model_var<int> resumed{0}; // by the thread that holds the frame at the end
  void run(int t) {
    if (t == 0)
      publish_first();
    else
      resume_and_publish();
  }
  void publish_first() {
    frame.left.set(1);
    if (word.publish(frame, [this] { return round.load(seq_cst) == 0; }))
      return;
    expect(frame.left.get() != 0, "a frame that is taken back has been left");
    frame.left.set(0);
    resumed.set(1);
  }
  void resume_and_publish() {
    round.store(1, seq_cst);
    model_frame *const f = word.take();
    if (!f)
      return;
    expect(f->left.get() == 1, "a frame that is taken has been left");
    f->left.set(2);
    (void)word.publish(*f, [] { return true; });
  }
  void check() {
    const bool is_published = word.is_signalled();
    expect((resumed.get() != 0) != is_published, "one thread has the frame, or the word has it");
  }
};
const passes<parker_second_stay> p5{"omp_parker_second_stay"};

/// Sends members to one region after the other, as launch() and serve() of team.cpp do. A barrier
/// ends each region. The first and the last region have all `Members`, those between only the
/// first.
template <int Members, int Regions>
struct forks_sent {
  static constexpr int threads = Members + 1;
  omp_model_thread members[Members];
  weft_omp::basic_fork_mailbox<int, P> mailbox;
  model_atomic<int> over{0};
  void run(int t) {
    if (t == 0)
      lead();
    else
      serve(static_cast<unsigned>(t));
  }
  void lead() {
    for (int n = 1, ended = 0; n <= Regions; ++n) {
      const int taking_part = n == 1 || n == Regions ? Members : 1;
      ended += taking_part;
      mailbox.send(n, static_cast<unsigned>(taking_part) + 1);
      for (int i = 0; i < taking_part; ++i)
        members[i].wake();
      P::await(over, [ended](int o) { return o == ended; }, acquire);
    }
  }
  void serve(unsigned member) {
    std::uint64_t known = mailbox.k_none;
    for (int n = 1; n <= Regions; n = member == 1 || n == Regions ? n + 1 : Regions) {
      while (!mailbox.is_for(member, known))
        members[member - 1].wait_for([&] { return mailbox.is_unchanged(known); });
      expect(mailbox.last() == n, "where it is sent to is seen");
      over.fetch_add(1, acq_rel);
    }
  }
  void check() {}
};
const passes<forks_sent<1, 1>> o1{"omp_fork_one"};
const passes<forks_sent<1, 2>> o2{"omp_fork_two"};
const passes<forks_sent<2, 3>> o3{"omp_fork_of_others"};

/// Lets a member sleep at a region's end until the number of barriers, of which the team keeps one
/// bit here, is as before, and then begin the region that is sent to it.
struct forks_slept_through {
  static constexpr int threads = 2;
  omp_model_thread member;
  weft_omp::basic_fork_mailbox<int, P> mailbox;
  model_atomic<int> arrived{0}, passed{0};
  void run(int t) {
    if (t == 0)
      lead();
    else
      serve();
  }
  void lead() {
    mailbox.send(1, 2);
    member.wake();
    P::await(arrived, [](int n) { return n == 1; }, acquire);
    passed.store(1, seq_cst);
    passed.store(0, seq_cst); // the end of a region of one thread, which is not sent
    mailbox.send(2, 2);
    member.wake();
  }
  void serve() {
    std::uint64_t known = mailbox.k_none;
    begin_region(known, 1);
    arrived.store(1, release);
    const auto goes_on = [&] { return passed.load(seq_cst) == 0 && !mailbox.has_changed(known); };
    while (goes_on())
      member.wait_for(goes_on);
    begin_region(known, 2);
  }
  void begin_region(std::uint64_t &known, int expected) {
    while (!mailbox.is_for(1, known))
      member.wait_for([&] { return mailbox.is_unchanged(known); });
    expect(mailbox.last() == expected, "what is sent is seen");
  }
  void check() {}
};
const passes<forks_slept_through> o4{"omp_fork_slept_through"};

/// Lets one thread wait for a word.
struct event_one : omp_events {
  static constexpr int threads = 2;
  model_atomic<std::uint32_t> word{0};
  model_var<int> data{0};
  void run(int t) {
    if (t == 0) {
      data.set(1);
      word.store(1, release);
      wake_one(&word);
      return;
    }
    wait_while(members[1], word, 0);
    expect(data.get() == 1, "what came before the change is seen");
  }
  void check() {}
};
const passes<event_one> e1{"omp_event_one"};

/// Lets two threads wait for words of their own that share the list.
struct event_two_words : omp_events {
  static constexpr int threads = 3;
  model_atomic<std::uint32_t> words[2];
  void run(int t) {
    if (t > 0)
      return wait_while(members[t], words[t - 1], 0);
    for (auto &word : words) {
      word.store(1, release);
      wake_all(&word);
    }
  }
  void check() {}
};
const passes<event_two_words> e2{"omp_event_two_words"};

template <int Threads>
struct event_lock : omp_events {
  static constexpr int threads = Threads;
  weft_omp::lock_state<P> state;
  model_var<int> sum{0};
  void run(int t) {
    if (!state.try_take())
      while (!state.take_or_mark())
        wait_while(members[t], state.state_word(), state.k_marked);
    sum.set(sum.get() + 1);
    if (state.give_up())
      wake_one(&state.state_word());
  }
  void check() { expect(sum.get() == Threads, "all have had the lock"); }
};
const passes<event_lock<2>> l1{"omp_event_lock_two_threads"};
const passes<event_lock<3>> l2{"omp_event_lock_three_threads"};

} // namespace
