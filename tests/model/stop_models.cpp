// SPDX-License-Identifier: Apache-2.0
// Models of stop sources in place (src/sync/stop_list.hpp):
// - a registered callback is called once, unless it was removed before;
// - a remover goes on after the callback has returned, and sees what it did (else a race on plain data,
//   or an access to a node after its end);
// - a thread that sees the request sees what was done before it;
// - the source may end when request_stop() and the removers have returned.
#include "suspension.hpp"

#include "queue/spin_lock.hpp"
#include "sync/stop_list.hpp"
#include "task/wait/signal_word.hpp"

#include <optional>

namespace {

using namespace weft_model;
using namespace weft::rt;
using enum std::memory_order;
using P = model_atomics;

char g_token;

/// Does what src/api/cpp/stop.cpp does with the parts of the protocol.
struct source {
  spin_lock<P> lock;
  stop_state<P> state;

  template <class F>
  auto under(F f) {
    lock.lock();
    auto result = f();
    lock.unlock();
    return result;
  }
  bool request(const void *by) {
    if (!under([&] { return begin_request(state, {by, nullptr}); }))
      return false;
    for (;;) {
      wait_chain<P> granted;
      stop_node<P> *const n = under([&] { return next_callback(state, granted); });
      while (wait_node<P> *w = granted.take())
        if (void *f = raise_signal(w->signal, &g_token))
          make_ready(*static_cast<model_frame *>(f));
      if (!n)
        return true;
      n->call(*n);
    }
  }
  /// Returns whether the node is registered.
  bool add(stop_node<P> &n) {
    return under([&] { return enter_callback(state, n); });
  }
  void remove(stop_node<P> &n, const void *by, bool spins = false) {
    if (spins) {
      if (!under([&] { return leave(state, n, {by, nullptr}); }))
        P::await(state.running, [&n](stop_node<P> *seen) { return seen != &n; }, acquire);
      return;
    }
    wait_node<P> self;
    if (!under([&] { return leave_or_enter(state, n, {by, nullptr}, self); }))
      suspend([&](model_frame &f) { return wait_for_signal(self.signal, f); });
  }
};

/// Counts its calls in plain memory, which its remover reads.
struct callback : stop_node<P> {
  model_var<int> calls{0};
  callback() {
    call = [](stop_node<P> &self) noexcept {
      auto &mine = static_cast<callback &>(self);
      mine.calls.set(mine.calls.get() + 1);
    };
  }
};

const int g_ids[3] = {};

/// Lets a callback be removed while a stop is requested.
template <bool Spins>
struct stop_or_remove {
  static constexpr int threads = 2;
  source s;
  std::optional<callback> c{std::in_place};
  stop_or_remove() { expect(s.add(*c), "registered"); }
  void run(int t) {
    if (t == 0) {
      expect(s.request(&g_ids[0]), "the only request");
    } else {
      s.remove(*c, &g_ids[1], Spins);
      expect(c->calls.get() <= 1, "called once at most");
      c.reset();
    }
  }
  void check() {}
};
const passes<stop_or_remove<false>> s1{"stop_or_remove"};
const passes<stop_or_remove<true>> s2{"stop_or_remove_spinning"};

/// Lets a callback be registered while a stop is requested: exactly one calls it.
struct stop_or_register {
  static constexpr int threads = 2;
  source s;
  callback c;
  void run(int t) {
    if (t == 0)
      s.request(&g_ids[0]);
    else if (s.add(c))
      s.remove(c, &g_ids[1]);
    else
      c.call(c);
  }
  void check() { expect(c.calls.get() <= 1, "called once at most"); }
};
const passes<stop_or_register> s3{"stop_or_register"};

/// Lets two tasks request a stop of two callbacks: each is called once, by the requester.
struct stop_twice {
  static constexpr int threads = 2;
  source s;
  callback c, d;
  int requests = 0;
  stop_twice() {
    expect(s.add(c), "registered");
    expect(s.add(d), "registered");
  }
  model_atomic<int> done{0};
  void run(int t) {
    if (s.request(&g_ids[t]))
      done.fetch_add(1, relaxed);
  }
  void check() {
    expect(done.load(relaxed) == 1, "one is the requester");
    expect(c.calls.get() == 1 && d.calls.get() == 1, "each callback is called");
  }
};
const passes<stop_twice> s4{"stop_two_requests"};

/// Lets two removers of two callbacks meet a request.
struct stop_two_removers {
  static constexpr int threads = 3;
  source s;
  std::optional<callback> c[2];
  stop_two_removers() {
    for (auto &each : c) {
      each.emplace();
      expect(s.add(*each), "registered");
    }
  }
  void run(int t) {
    if (t == 2) {
      s.request(&g_ids[2]);
      return;
    }
    s.remove(*c[t], &g_ids[t]);
    expect(c[t]->calls.get() <= 1, "called once at most");
    c[t].reset();
  }
  void check() { expect(is_empty(s.state.waiters), "nobody waits"); }
};
const passes<stop_two_removers> s5{"stop_two_removers"};

/// Lets a callback remove itself, and its memory end, below the request.
struct stop_removes_itself {
  static constexpr int threads = 2;
  struct own : callback {
    stop_removes_itself *of = nullptr;
  };
  source s;
  std::optional<own> c{std::in_place};
  callback other;
  stop_removes_itself() {
    c->of = this;
    c->call = [](stop_node<P> &self) noexcept {
      stop_removes_itself &of = *static_cast<own &>(self).of;
      of.s.remove(self, &g_ids[0]);
      of.c.reset();
    };
    expect(s.add(other), "registered");
    expect(s.add(*c), "registered");
  }
  void run(int t) {
    if (t == 0)
      s.request(&g_ids[0]);
    else
      s.remove(other, &g_ids[1]);
  }
  void check() { expect(!c, "it has removed itself"); }
};
const passes<stop_removes_itself> s6{"stop_removes_itself"};

/// Lets a thread that sees the request read what was written before it.
struct stop_seen {
  static constexpr int threads = 2;
  source s;
  model_var<int> reason{0};
  void run(int t) {
    if (t == 0) {
      reason.set(7);
      s.request(&g_ids[0]);
    } else if (s.state.is_requested()) {
      expect(reason.get() == 7, "the request publishes");
    }
  }
  void check() {}
};
const passes<stop_seen> s7{"stop_seen"};

} // namespace
