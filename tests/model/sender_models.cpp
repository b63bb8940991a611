// SPDX-License-Identifier: Apache-2.0
// Models of a future as a sender (future_state of include/weft/execution.hpp, of which `operation` is an image, over
// src/task/wait/waiter_list.hpp): the end of the future, a stop request and start() meet.
// - the receiver is completed once, with a result that is there, or as stopped;
// - none of them touches the operation when it is completed: the receiver may destroy it.
#include "checker/models.hpp"

#include "task/wait/waiter_list.hpp"

namespace {

using namespace weft_model;
using namespace weft::rt;
using enum std::memory_order;
using P = model_atomics;

void *token() noexcept { return reinterpret_cast<void *>(std::uintptr_t{1}); }

struct model_node {
  model_var<model_node *> next{nullptr};
};
struct model_link {
  static model_node *get(const model_node &n) { return n.next.get(); }
  static void set(model_node &n, model_node *next) { n.next.set(next); }
};
using waiters = waiter_list<model_node, model_link, P>;

/// Is a stop callback and its source: a removal waits for a call that goes on.
struct model_callback {
  enum : int { none, registered, requested, removed };
  model_atomic<int> word{none}, called{0};

  /// Returns false if the stop has been requested: the caller makes the call.
  bool add() {
    int seen = none;
    return word.compare_exchange_strong(seen, registered, acq_rel, acquire);
  }
  template <class F>
  void request(F f) {
    if (word.exchange(requested, acq_rel) != registered)
      return;
    f();
    called.store(1, release);
  }
  void remove() {
    int seen = registered;
    if (!word.compare_exchange_strong(seen, removed, acq_rel, acquire))
      P::await(called, [](int c) { return c == 1; }, acquire);
  }
};

/// Is the operation. `Users`: those without which it is not completed: the record, and start().
template <int Users>
struct operation {
  enum : int { waits, posted, not_posted };
  static constexpr int threads = 3;
  waiters::word end{nullptr}; // outlives it, as the stop source does
  model_callback callback;
  model_atomic<int> record{waits};
  model_var<int> result{0};

  model_node node;
  model_atomic<int> users{Users}, completed{0};
  model_var<int> stopped{0}, has_callback{0}, gone{0};

  void start() {
    if (!waiters::attach(end, node)) {
      complete();
      return record.store(not_posted, release);
    }
    has_callback.set(1);
    if (!callback.add()) {
      has_callback.set(0); // the call is made at once
      give_up();
    }
    if (Users == 2)
      leave();
  }
  void give_up() {
    expect(gone.get() == 0, "a request finds the operation");
    if (!waiters::detach(end, node))
      return;
    stopped.set(1);
    record.store(posted, release);
  }
  void leave() {
    if (users.fetch_sub(1, acq_rel) == 1)
      complete();
  }
  void complete() {
    if (has_callback.get() == 1)
      callback.remove();
    expect(completed.fetch_add(1, relaxed) == 0, "the receiver is completed once");
    if (stopped.get() == 0)
      expect(result.get() == 1, "a value is there");
    gone.set(1);
  }
  /// Ends the future, and is the worker that runs the record.
  void end_and_work() {
    result.set(1);
    if (waiters::raise(end, token()))
      record.store(posted, release);
    if (P::await(record, [](int r) { return r != waits; }, acquire) == posted)
      leave();
  }
  void run(int t) {
    if (t == 0)
      start();
    else if (t == 1)
      end_and_work();
    else
      callback.request([this] { give_up(); });
  }
  void check() { expect(completed.load(relaxed) == 1, "the receiver is completed"); }
};
const passes<operation<2>> s1{"sender_of_a_future"};
const fails<operation<1>> f1{"sender_that_start_does_not_keep", "data race"};

} // namespace
