// SPDX-License-Identifier: Apache-2.0
// Models of src/queue's queues and of src/mem/remote_free.hpp: every item comes once, whole, and in
// order.
#include "checker/models.hpp"

#include "mem/remote_free.hpp"
#include "queue/deque.hpp"
#include "queue/mpsc_stack.hpp"
#include "queue/spsc_queue.hpp"

namespace {

using namespace weft_model;
using namespace weft::rt;
using enum std::memory_order;
using P = model_atomics;

template <int Capacity, int Items, bool ConsumeAll>
struct spsc_in_order {
  static constexpr int threads = 2;
  spsc_queue<int, P> queue{Capacity};
  int pushed = 0, expected = 0;
  void take(int item) { expect(item == expected++, "items come in order"); }
  void run(int t) {
    for (int tries = 0; tries < Items; ++tries) {
      if (t == 0) {
        if (queue.push(pushed))
          ++pushed;
      } else if (ConsumeAll) {
        queue.consume_all([this](int item) { take(item); });
      } else {
        const bool known = !queue.empty();
        int item = 0;
        const bool popped = queue.pop(item);
        expect(popped || !known, "the consumer can rely on what it sees");
        if (popped)
          take(item);
      }
    }
  }
  void check() {
    for (int item = 0; queue.pop(item);)
      take(item);
    expect(expected == pushed, "nothing is lost");
  }
};
const passes<spsc_in_order<1, 3, false>> q1{"spsc_capacity_one"};
const passes<spsc_in_order<2, 4, false>> q2{"spsc_capacity_two"};
const passes<spsc_in_order<2, 4, true>> q3{"spsc_consume_all"};

/// Lets an observer that knows of the first item look while the consumer takes it and the producer
/// pushes the next ones. If the queue looks empty, the observer sees what the consumer did before.
/// With room for one item the ring turns once between two loads of the observer.
template <int Capacity, int Items>
struct spsc_observed {
  static constexpr int threads = 3;
  spsc_queue<int, P> queue{Capacity};
  P::atomic<int> announced{0};
  spsc_observed() { expect(queue.push(0), "there is room for the first item"); }
  void run(int t) {
    int item = 0;
    if (t == 2) {
      if (queue.empty())
        expect(announced.load(relaxed), "the taker of a known item is seen");
      return;
    }
    for (int i = 0; i < Items; ++i) {
      if (t == 0) {
        static_cast<void>(queue.push(i));
      } else {
        announced.store(1, relaxed);
        static_cast<void>(queue.pop(item));
      }
    }
  }
  void check() { expect(queue.length() <= queue.capacity(), "no more than there is room for"); }
};
const passes<spsc_observed<1, 1>> q4{"spsc_observed_capacity_one"};
const passes<spsc_observed<2, 2>> q5{"spsc_observed_capacity_two"};

/// Has items in plain memory, which the owner writes before the push and the taker reads.
struct item {
  model_var<int> payload{0};
  int taken = 0; // by how many threads; each increment is one transition, so it needs no lock
};

template <int Thieves, int Items, int Steals, int Capacity>
struct deque_once_each {
  static constexpr int threads = 1 + Thieves;
  item items[Items];
  work_deque<item *, P> deque{Capacity};
  item *got[1 + Thieves][Items + Steals] = {};
  void take(int t, int i, item *it) {
    got[t][i] = it;
    if (it)
      expect(it->payload.get() == 1, "the item is whole");
  }
  void run(int t) {
    if (t > 0) {
      for (int i = 0; i < Steals; ++i)
        take(t, i, deque.steal().item);
      return;
    }
    for (int i = 0; i < Items; ++i) {
      items[i].payload.set(1);
      deque.push(&items[i]);
    }
    for (int i = 0; i < Items; ++i)
      take(0, i, deque.pop());
  }
  void check() {
    for (auto &mine : got)
      for (item *it : mine)
        if (it)
          ++it->taken;
    while (item *it = deque.pop())
      ++it->taken;
    expect(deque.empty(), "the deque is empty in the end");
    for (item &it : items)
      expect(it.taken == 1, "every item is taken once");
  }
};
const passes<deque_once_each<1, 1, 2, 2>> w1{"deque_last_item"};
const passes<deque_once_each<1, 2, 2, 2>> w2{"deque_two_items"};
const passes<deque_once_each<1, 3, 2, 2>> w3{"deque_grows"};
const passes<deque_once_each<1, 3, 3, 4>> w4{"deque_three_items"};
const passes<deque_once_each<2, 2, 1, 2>> w5{"deque_two_thieves"};
const passes<deque_once_each<2, 3, 1, 2>> w6{"deque_two_thieves_and_growth"};

/// Lets the owner take the items that it looks for, of which a thief may have taken one: its slot still has it.
struct deque_takes_what_it_names {
  static constexpr int threads = 2;
  item items[2];
  work_deque<item *, P> deque{2};
  item *got[2][3] = {};
  void run(int t) {
    if (t == 1) {
      for (item *&mine : got[1])
        if ((mine = deque.steal().item))
          expect(mine->payload.get() == 1, "the item is whole");
      return;
    }
    for (item &it : items) {
      it.payload.set(1);
      deque.push(&it);
    }
    expect(!deque.pop_if(&items[0]), "the item is not the newest");
    for (int i = 1; i >= 0; --i)
      if (deque.pop_if(&items[i]))
        got[0][i] = &items[i];
  }
  void check() {
    for (auto &mine : got)
      for (item *it : mine)
        if (it)
          ++it->taken;
    while (item *it = deque.pop())
      ++it->taken;
    for (item &it : items)
      expect(it.taken == 1, "every item is taken once");
  }
};
const passes<deque_takes_what_it_names> w9{"deque_takes_what_it_names"};

/// Alternates push and pop, so that slots are reused and m_bottom goes up and down under the
/// thieves.
template <int Thieves>
struct deque_reuses_slots {
  static constexpr int threads = 1 + Thieves;
  static constexpr int count = 4;
  item items[count];
  work_deque<item *, P> deque{2};
  item *got[1 + Thieves][count] = {};
  void run(int t) {
    for (int i = 0; i < (t > 0 ? 2 : count); ++i) {
      if (t > 0) {
        const auto s = deque.steal();
        expect((s.outcome == steal_outcome::taken) == (s.item != nullptr),
               "an item comes exactly when taken");
        got[t][i] = s.item;
      } else {
        items[i].payload.set(1);
        deque.push(&items[i]);
        got[0][i] = i % 2 ? deque.pop() : nullptr;
      }
      if (got[t][i])
        expect(got[t][i]->payload.get() == 1, "the item is whole");
    }
  }
  void check() {
    for (auto &mine : got)
      for (item *it : mine)
        if (it)
          ++it->taken;
    while (item *it = deque.pop())
      ++it->taken;
    for (item &it : items)
      expect(it.taken == 1, "every item is taken once");
  }
};
const passes<deque_reuses_slots<1>> w7{"deque_reuses_slots"};
const passes<deque_reuses_slots<2>> w8{"deque_reuses_slots_two_thieves"};

struct node {
  model_var<node *> next{nullptr};
  model_var<int> payload{0};
  int taken = 0;
};

template <int Pushers, bool InOrder>
struct mpsc_all_taken {
  static constexpr int threads = 1 + Pushers;
  mpsc_stack<node, P> stack;
  node nodes[Pushers][2];
  int first[Pushers] = {};
  int batches = 0;
  void take() {
    node *head = InOrder ? stack.take_all_in_order() : stack.take_all();
    batches += head != nullptr;
    for (node *n = head; n;) {
      node *next = n->next.get();
      expect(n->payload.get() == 1, "the node is whole");
      ++n->taken;
      n->next.set(nullptr); // the taker may reuse it
      if (InOrder)
        for (auto &mine : nodes)
          expect(n != &mine[1] || mine[0].taken, "a thread's nodes come in order");
      n = next;
    }
  }
  void run(int t) {
    if (t == 0) {
      take();
      take();
      return;
    }
    for (node &n : nodes[t - 1]) {
      n.payload.set(1);
      first[t - 1] += stack.push(&n);
    }
  }
  void check() {
    take();
    int firsts = 0;
    for (int n : first)
      firsts += n;
    expect(firsts == batches, "one push per batch finds the stack empty");
    for (auto &mine : nodes)
      for (node &n : mine)
        expect(n.taken == 1, "every node is taken once");
    expect(stack.empty(), "the stack is empty in the end");
  }
};
const passes<mpsc_all_taken<1, true>> m1{"mpsc_stack_one_pusher"};
const passes<mpsc_all_taken<2, false>> m2{"mpsc_stack_two_pushers"};

template <int Pushers>
struct remote_free_reuse {
  static constexpr int threads = 1 + Pushers;
  using heap = remote_free<P>;
  heap returned;
  heap::block blocks[Pushers][2];
  model_var<int> content[Pushers][2] = {};
  int taken[Pushers][2] = {};
  void take() {
    for (heap::block *b = returned.take(); b;) {
      heap::block *next = b->next.get();
      for (int p = 0; p < Pushers; ++p)
        for (int i = 0; i < 2; ++i)
          if (b == &blocks[p][i]) {
            content[p][i].set(2); // used again
            ++taken[p][i];
          }
      b->next.set(nullptr);
      b = next;
    }
  }
  void run(int t) {
    if (t == 0) {
      take();
      take();
      return;
    }
    for (auto &c : content[t - 1])
      c.set(1); // last use before the free
    blocks[t - 1][0].next.set(&blocks[t - 1][1]);
    returned.push(&blocks[t - 1][0], &blocks[t - 1][1]);
  }
  void check() {
    take();
    for (auto &mine : taken)
      for (int n : mine)
        expect(n == 1, "every block comes back once");
  }
};
const passes<remote_free_reuse<1>> r1{"remote_free_one_thread"};
const passes<remote_free_reuse<2>> r2{"remote_free_two_threads"};

} // namespace
