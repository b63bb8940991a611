// SPDX-License-Identifier: Apache-2.0
// Models of layers/lpf: the count of messages that a superstep issues, the count of those that end it, and
// the double buffers of a sender and a receiver.
#include "checker/models.hpp"

#include "layers/lpf/src/weft_lpf/sync/completion_count.hpp"
#include "layers/lpf/src/weft_lpf/sync/halves.hpp"
#include "layers/lpf/src/weft_lpf/sync/issue_count.hpp"

namespace {

using namespace weft_model;
using enum std::memory_order;
using P = model_atomics;

// ---- issue_count

/// Lets senders issue messages while one thread ends two supersteps.
template <int Senders, int Each>
struct lpf_issue {
  static constexpr int threads = Senders + 1;
  weft_lpf::issue_count<P> word{1};
  model_var<unsigned> in_step[Senders][3] = {}; // as add() has returned
  model_var<unsigned> closed[2] = {};
  void run(int t) {
    if (t == Senders) {
      closed[0].set(word.close(2));
      closed[1].set(word.close(3));
      return;
    }
    for (int i = 0; i < Each; ++i) {
      const unsigned step = word.add();
      expect(step >= 1 && step <= 3, "there are three supersteps");
      in_step[t][step - 1].set(in_step[t][step - 1].get() + 1);
    }
  }
  void check() {
    const unsigned last = word.close(4);
    for (int step = 0; step < 3; ++step) {
      unsigned told = 0;
      for (auto &sender : in_step)
        told += sender[step].get();
      expect(told == (step == 2 ? last : closed[step].get()),
             "a superstep counts the messages that were given it");
    }
  }
};
const passes<lpf_issue<1, 2>> i1{"lpf_issue_one"};
const passes<lpf_issue<2, 1>> i2{"lpf_issue_two"};

// ---- completion_count

/// Lets receivers bring a message each, in Parts parts and the last one, while one thread learns the number.
template <int Receivers, unsigned Parts>
struct lpf_completion {
  static constexpr int threads = Receivers + 1;
  weft_lpf::completion_count<P> left;
  model_var<unsigned> data[Receivers] = {};
  model_var<int> closed{0};
  model_var<int> ends{0};
  void end() {
    for (auto &d : data)
      expect(d.get() == Parts + 1, "the ender sees all that has come");
    expect(closed.get() == 1, "a count ends after it was closed");
    ends.set(ends.get() + 1);
  }
  void run(int t) {
    if (t == Receivers) {
      left.expect(Receivers - 1);
      closed.set(1);
      if (left.close(1))
        end();
      return;
    }
    // The last part may come first.
    data[t].set(data[t].get() + 1);
    if (left.message(Parts))
      end();
    for (unsigned i = 0; i < Parts; ++i) {
      data[t].set(data[t].get() + 1);
      if (left.part())
        end();
    }
  }
  void check() { expect(ends.get() == 1, "a superstep ends once"); }
};
const passes<lpf_completion<1, 0>> c1{"lpf_completion_one"};
const passes<lpf_completion<2, 0>> c2{"lpf_completion_two"};
const passes<lpf_completion<1, 2>> c3{"lpf_completion_parts"};
const passes<lpf_completion<2, 1>> c4{"lpf_completion_two_parts"};

// ---- double buffers

/// Lets a sender put into the halves of a receiver, which sends nothing back, in three supersteps. The sender
/// ends a superstep when the receiver has begun to; the receiver reads before it begins the next one.
struct lpf_halves {
  static constexpr int threads = 2;
  static constexpr unsigned k_steps = 3;
  weft_lpf::completion_count<P> data[k_steps], thanks[k_steps];
  model_atomic<int> data_over[k_steps] = {}, thanks_over[k_steps] = {};
  model_var<unsigned> half[2] = {};
  void wait(model_atomic<int> &over) {
    P::await(over, [](int n) { return n != 0; }, acquire);
  }
  void run(int t) {
    for (unsigned step = 0; step < k_steps; ++step)
      if (t == 0) {
        half[weft_lpf::half_of(step)].set(step + 1);
        if (data[step].message())
          data_over[step].store(1, release);
        const unsigned needed = weft_lpf::is_one_way(1, 0) ? 1 : 0;
        if (thanks[step].close(needed))
          thanks_over[step].store(1, release);
        wait(thanks_over[step]);
      } else {
        if (weft_lpf::is_one_way(1, 0) && thanks[step].message())
          thanks_over[step].store(1, release);
        if (data[step].close(1))
          data_over[step].store(1, release);
        wait(data_over[step]);
        expect(half[weft_lpf::half_of(step)].get() == step + 1,
               "a receiver reads what its superstep has brought");
      }
  }
  void check() {}
};
const passes<lpf_halves> h1{"lpf_halves_one_way"};

} // namespace
