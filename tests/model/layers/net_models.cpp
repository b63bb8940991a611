// SPDX-License-Identifier: Apache-2.0
// Models of layers/net: delegation to the thread inside the engine, inboxes of ranks, credits,
// parts of operations, and the word by which a poller forgets.
#include "checker/models.hpp"

#include "layers/net/src/weft_net/sync/credit_count.hpp"
#include "layers/net/src/weft_net/sync/inbox.hpp"
#include "layers/net/src/weft_net/sync/part_count.hpp"
#include "layers/net/src/weft_net/sync/submissions.hpp"
#include "layers/net/src/weft_net/sync/watch_word.hpp"

#include <utility>

namespace {

using namespace weft_model;
using enum std::memory_order;
using P = model_atomics;

template <class Item>
struct model_link {
  static Item *next(const Item &item) noexcept { return item.next.get(); }
  static void set_next(Item &item, Item *next) noexcept { item.next.set(next); }
};

// ---- submissions

struct model_item {
  model_var<model_item *> next{nullptr};
  model_var<int> owner{-1}, number{0};
};

/// Is what a submitter does: the insider serves all, in plain memory. One that finds the word free
/// serves its item without a push.
template <int Threads, int Each>
struct submitting {
  static constexpr int threads = Threads;
  weft_net::submissions<model_item, model_link<model_item>, P> all;
  model_item items[Threads][Each];
  model_var<int> served[Threads] = {};
  model_var<int> in_all{0};
  void serve_one(const model_item &item) {
    in_all.set(in_all.get() + 1);
    const int owner = item.owner.get();
    expect(item.number.get() == served[owner].get(), "the order of a submitter is kept");
    served[owner].set(served[owner].get() + 1);
  }
  void serve() {
    for (model_item *item = all.take(); item; item = item->next.get())
      serve_one(*item);
  }
  void work_inside() {
    do
      serve();
    while (!all.leave());
  }
  void submit(int t, int i) {
    items[t][i].owner.set(t);
    items[t][i].number.set(i);
    if (all.enter_free()) {
      serve_one(items[t][i]);
      if (!all.leave())
        work_inside();
    } else if (all.push(items[t][i])) {
      work_inside();
    }
  }
  void expect_all() {
    expect(all.enter(), "no thread is inside in the end");
    expect(all.take() == nullptr, "no item is left");
    for (auto &n : served)
      expect(n.get() == Each, "each item is served once");
  }
};

template <int Threads, int Each>
struct net_submitters : submitting<Threads, Each> {
  void run(int t) {
    for (int i = 0; i < Each; ++i)
      this->submit(t, i);
  }
  void check() { this->expect_all(); }
};
const passes<net_submitters<2, 1>> u1{"net_submissions_two"};
const passes<net_submitters<2, 2>> u2{"net_submissions_two_twice"};
const passes<net_submitters<3, 1>> u3{"net_submissions_three"};

/// Adds a poller, which enters when it finds no thread inside.
struct net_submitter_and_poller : submitting<2, 2> {
  void run(int t) {
    if (t == 0) {
      submit(0, 0);
      submit(0, 1);
    } else if (all.enter_free()) {
      in_all.set(in_all.get() + 1);
      if (!all.leave())
        work_inside();
    } else if (all.enter()) {
      work_inside();
    }
  }
  void check() {
    served[1].set(2); // the poller submits nothing
    expect_all();
  }
};
const passes<net_submitter_and_poller> u4{"net_submissions_and_a_poller"};

/// Lets an insider leave what has come to a thread that enters later.
struct net_submitters_leave : submitting<2, 1> {
  void run(int t) {
    items[t][0].owner.set(t);
    items[t][0].number.set(0);
    if (all.push(items[t][0])) {
      serve();
      all.leave_items();
    }
  }
  void check() {
    expect(all.enter(), "no thread is inside");
    serve();
    expect(all.leave(), "nothing is left");
    expect_all();
  }
};
const passes<net_submitters_leave> u5{"net_submissions_left_to_others"};

// ---- inboxes

struct model_packet {
  model_var<model_packet *> next{nullptr};
  model_var<int> from{-1}, text{0};
};

/// Lets senders, which have a packet each, send it again and again: it comes back by an inbox of its own.
template <int Senders, int Messages>
struct net_inbox {
  static constexpr int threads = Senders + 1;
  using packets = weft_net::inbox<model_packet, model_link<model_packet>, P>;
  packets arriving, back[Senders];
  model_packet of[Senders];
  model_var<int> got[Senders] = {};
  void run(int t) {
    if (t == Senders)
      return receive();
    model_packet *free = &of[t];
    for (int sent = 0; sent < Messages;) {
      if (!free && !back[t].is_empty())
        free = back[t].take();
      if (!free) {
        P::yield();
        continue;
      }
      expect(free == &of[t] && free->next.get() == nullptr, "a packet comes back to its sender, once");
      free->from.set(t);
      free->text.set(++sent);
      arriving.push(*std::exchange(free, nullptr));
    }
  }
  void receive() {
    for (int left = Senders * Messages; left != 0;) {
      if (arriving.is_empty()) {
        P::yield();
        continue;
      }
      for (model_packet *p = arriving.take(); p; --left) {
        model_packet *const next = p->next.get();
        const int from = p->from.get();
        got[from].set(got[from].get() + 1);
        expect(p->text.get() == got[from].get(), "messages come whole, once and in order");
        back[from].push(*p);
        p = next;
      }
    }
  }
  void check() {
    expect(arriving.is_empty() && !arriving.take(), "nothing is left");
    for (auto &n : got)
      expect(n.get() == Messages, "each message has come");
  }
};
const passes<net_inbox<1, 2>> r1{"net_inbox_of_one"};
const passes<net_inbox<2, 1>> r2{"net_inbox_of_two"};
const passes<net_inbox<2, 2>> r3{"net_inbox_of_two_twice"};

// ---- credits

struct model_taker {
  model_var<model_taker *> next{nullptr};
  model_atomic<std::uint32_t> granted{0};
};

/// Lets each thread take a credit, use it, and give it back.
template <int Threads, int Credits, int Rounds>
struct net_credits {
  static constexpr int threads = Threads;
  weft_net::credit_count<model_taker, model_link<model_taker>, P> credits{Credits};
  model_taker takers[Threads][Rounds];
  model_atomic<int> in_use{0};
  void run(int t) {
    for (auto &self : takers[t]) {
      if (!credits.take(self))
        P::await(self.granted, [](std::uint32_t g) { return g != 0; }, acquire);
      expect(in_use.fetch_add(1, relaxed) < Credits, "no more are in use than there are");
      in_use.fetch_sub(1, relaxed);
      if (model_taker *const next = credits.give())
        next->granted.store(1, release);
    }
  }
  void check() {
    for (int i = 0; i < Credits; ++i)
      expect(credits.try_take(), "all credits are back");
    expect(!credits.try_take(), "and no more");
  }
};
const passes<net_credits<2, 1, 1>> c1{"net_credits_one_for_two"};
const passes<net_credits<2, 1, 2>> c2{"net_credits_one_for_two_twice"};
const passes<net_credits<3, 1, 1>> c3{"net_credits_one_for_three"};
const passes<net_credits<3, 2, 1>> c4{"net_credits_two_for_three"};

/// Adds a thread that takes only what is there.
struct net_credits_tried : net_credits<3, 1, 1> {
  void run(int t) {
    if (t != 2)
      return net_credits::run(t);
    if (!credits.try_take())
      return;
    expect(in_use.fetch_add(1, relaxed) < 1, "no more are in use than there are");
    in_use.fetch_sub(1, relaxed);
    if (model_taker *const next = credits.give())
      next->granted.store(1, release);
  }
};
const passes<net_credits_tried> c5{"net_credits_tried"};

// ---- parts

template <int Threads>
struct net_parts {
  static constexpr int threads = Threads;
  weft_net::part_count<P> left{Threads};
  model_var<int> results[Threads] = {};
  model_var<int> ends{0};
  void run(int t) {
    results[t].set(t + 1);
    if (!left.end_one())
      return;
    for (int i = 0; i < Threads; ++i)
      expect(results[i].get() == i + 1, "the last part sees how the others have ended");
    ends.set(ends.get() + 1);
  }
  void check() { expect(ends.get() == 1, "one part is the last"); }
};
const passes<net_parts<2>> p1{"net_parts_two"};
const passes<net_parts<3>> p2{"net_parts_three"};

// ---- what a poller looks for

/// Lets waiters await something, which a poller finds if it looks; a poller that forgets too much
/// leaves a waiter alone.
template <int Waiters>
struct net_watch {
  static constexpr int threads = Waiters + 1;
  weft_net::watch_word<P> word;
  model_atomic<int> listed{0}; // entries in the poller's list
  model_atomic<int> awaited{0}, found{0};
  void run(int t) {
    if (t < Waiters) {
      word.begin();
      awaited.fetch_add(1, release);
      if (word.watch())
        expect(listed.exchange(1, acq_rel) == 0, "it is entered once");
      P::await(found, [](int n) { return n == Waiters; }, acquire);
      return;
    }
    for (int got = 0; got < Waiters;) {
      if (listed.load(acquire) == 0) {
        P::yield();
        continue;
      }
      const bool finds = awaited.load(acquire) > got;
      if (finds) {
        ++got;
        word.end();
        found.fetch_add(1, release);
      }
      // The list changes before the word does: a waiter that finds the word free enters it again.
      listed.store(0, relaxed);
      if (word.forget())
        continue;
      listed.store(1, relaxed);
      if (!finds)
        P::yield();
    }
  }
  void check() { expect(word.awaited() == 0, "nothing is awaited"); }
};
const passes<net_watch<1>> w1{"net_watch_one"};
const passes<net_watch<2>> w2{"net_watch_two"};

} // namespace
