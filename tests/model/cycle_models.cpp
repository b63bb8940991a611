// SPDX-License-Identifier: Apache-2.0
// Models of src/iter/cycle.hpp: nodes run in the order of their data in every round, all rounds
// are run, one thread ends the graph, and no thread touches the graph afterwards.
#include "checker/models.hpp"

#include "iter/cycle.hpp"
#include "queue/spin_lock.hpp"

#include <memory>

namespace {

using namespace weft_model;
using namespace weft::rt;
using P = model_atomics;

struct edge {
  int from, to;
  bool to_next_round;
};

/// Has threads that take ready nodes from a pool. `Shape` says which nodes there are, what each
/// does, and which one stops the graph.
/// With Chains the first thread runs a node at once that alone follows another one, and follows nothing
/// else; the other threads take it by its token.
template <int Threads, class Shape, bool Chains = false>
struct cycles {
  static constexpr int threads = Threads;
  static constexpr int nodes = Shape::nodes;

  struct numbered : cycle_node<P> {
    int number = 0;
    int runs = 0; // of the runner
    numbered *alone = nullptr; // follows this one alone
  };
  struct graph : cycle<P> {
    numbered all[nodes];
    cycle_node<P> *successors[std::size(Shape::edges) + 1];
    Shape shape;
  };

  std::unique_ptr<graph> whole = std::make_unique<graph>();
  spin_lock<P> lock;
  model_var<int> pooled{0};
  numbered *pool[nodes] = {};
  P::atomic<std::uint32_t> changes{0}; // of the pool
  P::atomic<std::uint32_t> over{0};
  int ends[Threads] = {};
  int runs[nodes] = {};

  cycles() {
    int next = 0;
    for (int i = 0; i < nodes; ++i) {
      numbered &n = whole->all[i];
      n.number = i;
      n.rounds.set(Shape::rounds);
      n.successors = whole->successors + next;
      for (const edge &e : Shape::edges) {
        if (e.to == i) {
          ++n.degree;
          if (!e.to_next_round)
            n.missing.store(n.missing.load(std::memory_order_relaxed) + 1,
                            std::memory_order_relaxed);
        }
        if (e.from == i) {
          whole->successors[next++] = &whole->all[e.to];
          ++n.successor_count;
        }
      }
    }
    for (const edge &e : Shape::edges)
      if (numbered &from = whole->all[e.from], &to = whole->all[e.to];
          Chains && !e.to_next_round && from.successor_count == 1 && to.degree == 1)
        from.alone = &to;
    whole->left.store(nodes + 1, std::memory_order_relaxed);
  }

  void put(numbered &n) {
    lock.lock();
    const int at = pooled.get();
    expect(at < nodes, "a node is ready once per round");
    pool[at] = &n;
    pooled.set(at + 1);
    lock.unlock();
    changes.fetch_add(1, std::memory_order_release);
  }
  numbered *take() {
    lock.lock();
    const int at = pooled.get();
    numbered *n = at > 0 ? pool[at - 1] : nullptr;
    if (n)
      pooled.set(at - 1);
    lock.unlock();
    return n;
  }
  void end(int t) {
    ++ends[t];
    expect(whole != nullptr, "exactly one ends the graph");
    for (int i = 0; i < nodes; ++i)
      runs[i] = whole->all[i].runs;
    whole.reset(); // the checker reports each later access
    over.store(1, std::memory_order_release);
    changes.fetch_add(1, std::memory_order_release);
  }
  void run_from(int t, numbered *n) {
    while (n) {
      expect(whole != nullptr, "the graph is there as long as a node is ready");
      graph &g = *whole;
      if (g.begin(*n, false)) {
        ++n->runs;
        if (g.shape.body(n->number, n->runs))
          g.stop.store(true, std::memory_order_relaxed);
      }
      if (n->alone && t == 0) {
        numbered *const follower = n->alone;
        bool last = false;
        n = g.end_before(*n, *follower, last) ? follower : nullptr;
        expect(!last || !n, "a graph that is over has no further round");
        if (last)
          end(t);
        continue;
      }
      numbered *next = nullptr;
      const bool last = g.end(*n, [&](cycle_node<P> &r) {
        auto &ready = static_cast<numbered &>(r);
        if (!next)
          next = &ready;
        else
          put(ready);
      });
      if (last)
        end(t);
      n = next;
    }
  }
  void run(int t) {
    if (t == 0) {
      numbered *first[nodes];
      int count = 0;
      for (numbered &n : whole->all)
        if (n.missing.load(std::memory_order_relaxed) == 0)
          first[count++] = &n;
      graph &g = *whole;
      for (int i = 0; i < count; ++i)
        put(*first[i]);
      if (g.started())
        end(t);
    }
    for (;;) {
      const std::uint32_t seen = changes.load(std::memory_order_acquire);
      if (over.load(std::memory_order_acquire))
        return;
      if (numbered *n = take())
        run_from(t, n);
      else
        P::await(
            changes, [seen](std::uint32_t now) { return now != seen; }, std::memory_order_acquire);
    }
  }
  void check() {
    int all = 0;
    for (int n : ends)
      all += n;
    expect(all == 1, "exactly one ends the graph");
    Shape::check(runs);
  }
};

/// Has a writer, then a reader of the same data.
struct pair {
  static constexpr int nodes = 2;
  static constexpr std::uint64_t rounds = 2;
  static constexpr edge edges[] = {{0, 1, false}, {1, 0, true}};
  model_var<int> data{0};
  bool body(int number, int round) {
    if (number == 0)
      data.set(round);
    else
      expect(data.get() == round, "the reader sees the writer of its round");
    return false;
  }
  static void check(const int (&runs)[nodes]) {
    expect(runs[0] == 2 && runs[1] == 2, "all rounds are run");
  }
};

/// Has a writer, two readers that do not exclude each other, and a task on its own.
struct fan {
  static constexpr int nodes = 4;
  static constexpr std::uint64_t rounds = 2;
  static constexpr edge edges[] = {{0, 1, false}, {0, 2, false}, {1, 0, true}, {2, 0, true}};
  model_var<int> data{0}, own{0};
  bool body(int number, int round) {
    if (number == 0)
      data.set(round);
    else if (number == 3)
      own.set(round);
    else
      expect(data.get() == round, "a reader sees the writer of its round");
    return false;
  }
  static void check(const int (&runs)[nodes]) {
    for (int n : runs)
      expect(n == 2, "all rounds are run");
  }
};

/// Has two chains that cross: 0 and 1 write a, 1 and 2 write b.
struct crossed {
  static constexpr int nodes = 3;
  static constexpr std::uint64_t rounds = 2;
  static constexpr edge edges[] = {{0, 1, false}, {1, 0, true}, {1, 2, false}, {2, 1, true}};
  model_var<int> a{0}, b{0};
  bool body(int number, int round) {
    if (number != 2)
      a.set(a.get() + 1);
    if (number != 0)
      b.set(b.get() + 1);
    if (number == 0)
      expect(a.get() == 2 * round - 1, "in the order of the rounds");
    if (number == 2)
      expect(b.get() == 2 * round, "in the order of the rounds");
    return false;
  }
  static void check(const int (&runs)[nodes]) {
    for (int n : runs)
      expect(n == 2, "all rounds are run");
  }
};

/// Lets the middle one of two crossing chains stop the graph in its first round.
struct stopped : crossed {
  static constexpr std::uint64_t rounds = 1000;
  bool body(int number, int round) {
    crossed::body(number, round);
    return number == 1;
  }
  static void check(const int (&runs)[nodes]) {
    expect(runs[1] == 1, "no round begins after the stop where it is known");
    expect(runs[0] <= 2 && runs[2] <= 1, "neighbours are one round ahead at most");
  }
};

/// Lets a node without neighbours stop the others.
struct stopped_from_outside {
  static constexpr int nodes = 3;
  static constexpr std::uint64_t rounds = 2;
  static constexpr edge edges[] = {{0, 1, false}, {1, 0, true}};
  model_var<int> data{0};
  bool body(int number, int round) {
    if (number == 0)
      data.set(round);
    else if (number == 1)
      expect(data.get() == round, "the reader sees the writer of its round");
    return number == 2;
  }
  static void check(const int (&runs)[nodes]) {
    expect(runs[2] == 1, "who stops begins no further round");
    expect(runs[1] <= runs[0] && runs[0] <= runs[1] + 1, "a task is one round ahead at most");
  }
};

/// Has a chain of three nodes, the last of which is followed by the first in the next round.
struct chain {
  static constexpr int nodes = 3;
  static constexpr std::uint64_t rounds = 2;
  static constexpr edge edges[] = {{0, 1, false}, {1, 2, false}, {2, 0, true}};
  model_var<int> data{0};
  bool body(int number, int round) {
    expect(data.get() == 3 * (round - 1) + number, "in the order of the data");
    data.set(data.get() + 1);
    return false;
  }
  static void check(const int (&runs)[nodes]) {
    for (int n : runs)
      expect(n == 2, "all rounds are run");
  }
};
/// Lets a node without neighbours stop a chain.
struct chain_stopped {
  static constexpr int nodes = 4;
  static constexpr std::uint64_t rounds = 3;
  static constexpr edge edges[] = {{0, 1, false}, {1, 2, false}, {2, 0, true}};
  model_var<int> data{0};
  bool body(int number, int) {
    if (number < 3)
      data.set(data.get() + 1);
    return number == 3;
  }
  static void check(const int (&runs)[nodes]) {
    expect(runs[3] == 1, "who stops begins no further round");
    expect(runs[2] <= runs[1] && runs[1] <= runs[0] && runs[0] <= runs[2] + 1, "in order");
  }
};

const passes<cycles<2, pair, true>> c7{"cycle_chain_pair"};
const passes<cycles<2, chain, true>> c8{"cycle_chain_of_three"};
const passes<cycles<2, chain_stopped, true>> c9{"cycle_chain_stopped"};
const passes<cycles<2, stopped_from_outside, true>> c10{"cycle_chain_stopped_from_outside"};
const passes<cycles<2, crossed, true>> c11{"cycle_chain_crossed"};
const passes<cycles<2, pair>> c1{"cycle_pair"};
const passes<cycles<2, fan>> c2{"cycle_fan"};
const passes<cycles<2, crossed>> c3{"cycle_crossed"};
const passes<cycles<2, stopped>> c4{"cycle_stopped"};
const passes<cycles<2, stopped_from_outside>> c5{"cycle_stopped_from_outside"};
const passes<cycles<3, fan>> c6{"cycle_fan_three_threads"};

} // namespace
