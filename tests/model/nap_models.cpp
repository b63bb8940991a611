// SPDX-License-Identifier: Apache-2.0
// Models of a thread that sleeps with a frame: the waker comes, and a rouser may need the thread.
#include "suspension.hpp"

#include "worker/nap.hpp"

namespace {

using namespace weft_model;
using namespace weft::rt;
using enum std::memory_order;
using P = model_atomics;

/// Does what nap.cpp does, with the scheduler as one word.
struct sleeping_thread {
  nap_word<model_frame, P> nap;
  model_atomic<int> reason{0}; // to leave: set by the rouser
  model_var<int> sent{0};

  /// Waits with the frame. Returns whether the thread went on with it; else the frame is continued
  /// by the scheduler.
  template <class Publish>
  bool wait(model_frame &f, Publish publish) {
    f.left.set(1);
    nap.begin(f);
    publish(f);
    if (reason.load(relaxed) != 0)
      nap.leave();
    return nap.sleep(&f, 0) == nap_end::raised;
  }
  void raise(model_frame &f) {
    if (!nap.raise(f))
      make_ready(f);
  }
  void rouse() {
    reason.store(1, relaxed);
    P::light_barrier();
    nap.leave();
  }
};

/// The frame comes, and perhaps a rouser.
template <bool Roused>
struct nap_ends {
  static constexpr int threads = Roused ? 3 : 2;
  sleeping_thread e;
  model_frame frame;
  model_atomic<model_frame *> waiter{nullptr};
  bool here = false;
  void run(int t) {
    if (t == 0) {
      here = e.wait(frame, [&](model_frame &f) { waiter.store(&f, release); });
      expect(Roused || here, "the thread goes on with its frame unless it is needed");
      if (here)
        expect(e.sent.get() == 1, "the frame goes on after what it waits for");
    } else if (t == 1) {
      model_frame *const waiting =
          P::await(waiter, [](model_frame *f) { return f != nullptr; }, acquire);
      e.sent.set(1);
      e.raise(*waiting);
    } else {
      e.rouse();
    }
  }
  void check() {
    expect((frame.ready.load(relaxed) == 1) == !here, "the frame is continued once");
    expect(!e.nap.is_asleep(), "nothing is left");
  }
};
const passes<nap_ends<false>> n1{"nap_frame_comes"};
const passes<nap_ends<true>> n2{"nap_is_roused"};

/// A rouser that has no frame for the thread ends its sleep at any time.
struct nap_is_left {
  static constexpr int threads = 2;
  sleeping_thread e;
  model_frame frame;
  void run(int t) {
    if (t == 0)
      expect(!e.wait(frame, [](model_frame &) {}), "no waker comes");
    else
      e.rouse();
  }
  void check() {
    expect(frame.ready.load(relaxed) == 0 && !e.nap.is_asleep(), "the frame is the scheduler's");
  }
};
const passes<nap_is_left> n3{"nap_is_left"};

/// The thread leaves a frame and sleeps with the next one, while the first one's waker is late.
struct nap_waker_is_late {
  static constexpr int threads = 3;
  sleeping_thread e;
  model_frame frames[2];
  model_atomic<int> published{0};
  bool here[2] = {};
  void run(int t) {
    if (t == 0) {
      here[0] = e.wait(frames[0], [&](model_frame &) {
        published.store(1, release);
        e.nap.leave();
      });
      here[1] = e.wait(frames[1], [&](model_frame &) { published.store(2, release); });
      expect(here[1], "the second sleep ends with its own frame");
    } else {
      P::await(published, [t](int n) { return n >= t; }, acquire);
      e.raise(frames[t - 1]);
    }
  }
  void check() {
    for (int i = 0; i != 2; ++i)
      expect((frames[i].ready.load(relaxed) == 1) == !here[i], "each frame is continued once");
  }
};
const passes<nap_waker_is_late> n4{"nap_waker_is_late"};

/// An observer that sees the thread asleep sees what the thread has done.
struct nap_is_observed {
  static constexpr int threads = 2;
  sleeping_thread e;
  model_frame frame;
  model_var<int> done{0};
  void run(int t) {
    if (t == 0) {
      done.set(1);
      e.nap.begin(frame);
    } else if (e.nap.is_asleep()) {
      expect(done.get() == 1, "what the thread did is seen");
    }
  }
  void check() { expect(e.nap.is_asleep(), "no thread has ended the sleep"); }
};
const passes<nap_is_observed> n5{"nap_is_observed"};

} // namespace
