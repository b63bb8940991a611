// SPDX-License-Identifier: Apache-2.0
// Models of src/task/wait/choice.hpp:
// - the result ends once, behind as many inputs as were asked for, and shows what these have done;
// - the others are taken back or have been fired: none touches the choice when it is gone;
// - the choice is dropped once.
#include "checker/models.hpp"

#include "task/countdown.hpp"
#include "task/wait/choice.hpp"
#include "task/wait/waiter_list.hpp"

namespace {

using namespace weft_model;
using namespace weft::rt;
using enum std::memory_order;
using P = model_atomics;

constexpr std::uint32_t k_most = 3; // inputs

void *token() noexcept { return reinterpret_cast<void *>(std::uintptr_t{1}); }

struct model_choice;
struct model_node {
  model_var<model_node *> next{nullptr};
  model_var<model_choice *> of{nullptr};
};
struct model_link {
  static model_node *get(const model_node &n) { return n.next.get(); }
  static void set(model_node &n, model_node *next) { n.next.set(next); }
};
using waiters = waiter_list<model_node, model_link, P>;

/// Has the words of a choice, its nodes, and the ends that it waits for, which outlive it.
struct model_choice {
  model_atomic<std::uint32_t> fired{0}, written{0}, phase{0}, left{0};
  std::uint32_t needed = 1, inputs = 2;
  model_node nodes[k_most];
  model_var<std::uint32_t> winners[k_most];
  model_var<int> results[k_most];
  waiters::word ends[k_most]{nullptr, nullptr, nullptr};
  model_atomic<std::uint32_t> references{1}; // of the result's end; begin() adds one
  model_atomic<int> ended{0};
  model_var<int> gone{0}; // is written where the choice is freed, and read by all that touch it
};

struct model_ops {
  using choice = model_choice;
  static std::uint32_t count(const choice &c) { return c.inputs; }
  static bool attach(choice &c, std::uint32_t i) {
    c.nodes[i].of.set(&c);
    if (waiters::attach(c.ends[i], c.nodes[i]))
      return true;
    c.nodes[i].of.set(nullptr);
    return false;
  }
  static bool detach(choice &c, std::uint32_t i) {
    return c.nodes[i].of.get() && waiters::detach(c.ends[i], c.nodes[i]);
  }
  static void forget(choice &c, std::uint32_t) { touch(c); }
  static void win(choice &c, std::uint32_t rank, std::uint32_t i) { c.winners[rank].set(i); }
  static void keep(choice &c) { c.references.fetch_add(1, relaxed); }
  static void drop(choice &c) {
    if (take_away(c.references, 1))
      c.gone.set(1);
  }
  static void touch(const choice &c) { expect(c.gone.get() == 0, "a holder of a share finds the choice"); }
};
using protocol = choice_protocol<model_ops>;

void end(model_choice &c) {
  model_ops::touch(c);
  expect(c.ended.fetch_add(1, relaxed) == 0, "the result ends once");
  std::uint32_t seen = 0;
  for (std::uint32_t rank = 0; rank != c.needed; ++rank) {
    const std::uint32_t i = c.winners[rank].get();
    expect(i < c.inputs && (seen >> i & 1) == 0, "each winner is an input, and another one");
    seen |= 1u << i;
    expect(c.results[i].get() == 1, "the result shows what the winners have done");
  }
  model_ops::drop(c); // as an owner of the result may at once
}

/// Ends each input in a thread of its own, while the creator attaches to them.
template <std::uint32_t Inputs, std::uint32_t Needed>
struct chosen {
  static constexpr int threads = 1 + static_cast<int>(Inputs);
  model_choice c;
  chosen() {
    c.inputs = Inputs;
    c.needed = Needed;
  }
  void run(int t) {
    if (t == 0)
      return protocol::begin(c, [this] { end(c); });
    const auto i = static_cast<std::uint32_t>(t - 1);
    c.results[i].set(1);
    if (model_node *const n = waiters::raise(c.ends[i], token()))
      protocol::fire(*n->of.get(), i, [this] { end(c); });
  }
  void check() {
    expect(c.ended.load(relaxed) == 1, "the result ends");
    expect(c.gone.get() == 1, "the choice is dropped");
  }
};
const passes<chosen<1, 1>> c1{"choice_one_of_one"};
const passes<chosen<2, 1>> c2{"choice_one_of_two"};
const passes<chosen<2, 2>> c3{"choice_two_of_two"};
const passes<chosen<3, 2>> c4{"choice_two_of_three"};

/// Decides without a look at the creator, which may not have attached the node that is taken back.
struct decided_early {
  static constexpr int threads = 2;
  model_choice c;
  void run(int t) {
    if (t == 0)
      return protocol::begin(c, [this] { end(c); });
    c.results[0].set(1);
    if (!waiters::raise(c.ends[0], token()))
      return;
    c.winners[0].set(0);
    for (std::uint32_t i = 0; i != c.inputs; ++i)
      static_cast<void>(model_ops::detach(c, i));
    end(c);
  }
  void check() {}
};
const fails<decided_early> f1{"choice_without_the_creator", "data race"};

} // namespace
