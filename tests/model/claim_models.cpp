// SPDX-License-Identifier: Apache-2.0
// Models of src/task/wait/claim_word.hpp, waiter_list.hpp and hand_over.hpp, and of countdown.hpp beside them. One
// thread begins a task, its block is freed once, and a waiter is either fired or taken back. `begin`, `end` and `drop`
// are images of the code around the words.
#include "checker/models.hpp"

#include "task/countdown.hpp"
#include "task/wait/claim_word.hpp"
#include "task/wait/hand_over.hpp"
#include "task/wait/waiter_list.hpp"

namespace {

using namespace weft_model;
using namespace weft::rt;
using enum std::memory_order;
using P = model_atomics;

void *token() noexcept { return reinterpret_cast<void *>(std::uintptr_t{1}); }

/// Lives in its waiter, like the runtime's nodes.
struct model_node {
  model_var<model_node *> next{nullptr};
  model_var<int> written{0};
  model_atomic<int> fired{0};
};
struct model_link {
  static model_node *get(const model_node &n) { return n.next.get(); }
  static void set(model_node &n, model_node *next) { n.next.set(next); }
};
using waiters = waiter_list<model_node, model_link, P>;

void fire_all(waiters::word &list) {
  for (model_node *n = waiters::raise(list, token()); n;) {
    model_node *const next = n->next.get();
    expect(n->written.get() == 1, "a node is fired after it was written");
    expect(n->fired.fetch_add(1, release) == 0, "a node is fired once");
    n = next;
  }
}
void wait_until_fired(model_node &n) {
  P::await(n.fired, [](int fired) { return fired == 1; }, acquire);
}

// --- claim, steal, cancel, finish

enum class flaw { none, no_reference_for_the_entry, runs_every_entry };
/// Says what keeps a claimed task when its body has ended.
enum class ends { complete, completed_later };

/// Has a task with a handle. It begins with two references: of completion and of the handle.
template <flaw Flaw, int Waiters, ends Ends = ends::complete>
struct claimed_task {
  model_atomic<std::uint32_t> word{0};
  model_atomic<std::uint32_t> references{1 + Waiters};
  model_atomic<int> queued{0}, cancelled{0}, gone{0};
  waiters::word done{nullptr};
  model_var<int> input{0}, begun{0}, result{0};

  void drop() {
    if (take_away(references, 1))
      expect(gone.fetch_add(1, relaxed) == 0, "the block is freed once");
  }
  /// Runs the body, or skips it.
  void run() {
    expect(input.get() == 1, "the body sees what its predecessors wrote");
    begun.set(begun.get() + 1);
    if (cancelled.load(relaxed) == 0)
      result.set(1);
  }
  void run_and_end() {
    run();
    fire_all(done);
    drop();
  }
  /// Does the same for a waiter that has claimed the task: the entry has the reference of completion.
  void run_claimed_and_end() {
    run();
    if (Ends == ends::completed_later)
      references.fetch_add(1, relaxed);
    fire_all(done);
    if (Ends == ends::completed_later || Flaw == flaw::no_reference_for_the_entry)
      drop();
  }
  void announce() {
    input.set(1);
    open_to_waiters(word);
    queued.store(1, release);
  }
  void take_from_queue() {
    P::await(queued, [](int q) { return q == 1; }, acquire);
    expect(gone.load(relaxed) == 0, "an entry refers to a live block");
  }
  void run_entry() {
    if (take_entry(word) || Flaw == flaw::runs_every_entry)
      run_and_end();
    else
      drop();
  }
  /// Looks at the entry as a frame does that waits for another lineage, and puts it back.
  void look_at_entry() {
    if (hold(word))
      put_back(word);
  }
  void wait() {
    if (is_open(word) && claim(word))
      run_claimed_and_end();
    model_node mine;
    mine.written.set(1);
    if (waiters::attach(done, mine))
      wait_until_fired(mine);
    expect(begun.get() == 1, "the body is run or skipped once, before the wait ends");
    drop();
  }
  void check() {
    expect(begun.get() == 1, "the body is run or skipped once");
    expect(gone.load(relaxed) == 1, "the block is freed");
  }
};

/// Lets the announcer, a thief and one waiter race for the task.
template <flaw Flaw, bool Looks, ends Ends = ends::complete>
struct claim_and_steal : claimed_task<Flaw, 1, Ends> {
  static constexpr int threads = 3;
  void run(int t) {
    if (t == 0)
      return this->announce();
    if (t == 2)
      return this->wait();
    this->take_from_queue();
    if (Looks)
      this->look_at_entry();
    this->run_entry();
  }
};
const passes<claim_and_steal<flaw::none, false>> c1{"claim_and_steal"};
const passes<claim_and_steal<flaw::none, true>> c2{"claim_after_a_look"};
const passes<claim_and_steal<flaw::none, false, ends::completed_later>> c7{
    "claim_of_a_task_completed_later"};
const fails<claim_and_steal<flaw::no_reference_for_the_entry, false>> f1{
    "claim_without_a_reference_for_the_entry", "the block is freed once"};
const fails<claim_and_steal<flaw::runs_every_entry, false>> f2{
    "claim_of_an_entry_that_runs_all_the_same", "data race"};

/// Lets two waiters of one result, and a thread that cancels the task's group, race with the worker
/// that announced the task and takes it.
struct claim_by_two {
  static constexpr int threads = 3;
  claimed_task<flaw::none, 2> task;
  void run(int t) {
    if (t > 0)
      return task.wait();
    task.announce();
    task.cancelled.store(1, relaxed);
    task.run_entry();
  }
  void check() { task.check(); }
};
const passes<claim_by_two> c3{"claim_by_two"};

/// Lets the task be queued once more, for its destructor, while its first entry is left behind: each
/// of the two runners has an entry, and the one that goes on sees why the task was queued.
struct claim_before_a_later_run {
  static constexpr int threads = 3;
  model_atomic<std::uint32_t> word{0};
  model_atomic<int> queued{0}, again{0};
  model_var<int> why{0}, runs{0};
  void run(int t) {
    if (t == 0) {
      open_to_waiters(word);
      queued.store(1, release);
      const bool begun = claim(word);
      if (begun)
        why.set(1);
      return again.store(begun ? 1 : 2, release);
    }
    if (t == 1)
      P::await(queued, [](int q) { return q == 1; }, acquire);
    else if (P::await(again, [](int a) { return a != 0; }, acquire) != 1)
      return;
    if (take_entry(word))
      runs.set(runs.get() + (why.get() < 2));
  }
  void check() { expect(runs.get() == 1, "one of the two entries is used"); }
};
const passes<claim_before_a_later_run> c5{"claim_before_a_later_run"};

/// Likewise, with the entry that is left behind in the queue of a waiter.
struct claim_of_own_entry {
  static constexpr int threads = 3;
  model_atomic<std::uint32_t> word{0};
  model_atomic<int> queued{0}, again{0};
  model_var<int> why{0}, bodies{0}, later_runs{0};
  void run_later() {
    expect(why.get() == 1, "a later run sees why the task was queued");
    later_runs.set(later_runs.get() + 1);
  }
  void run(int t) {
    if (t == 0) {
      open_to_waiters(word);
      queued.store(1, release);
      const bool begun = claim(word);
      if (begun) {
        bodies.set(bodies.get() + 1);
        why.set(1);
      }
      return again.store(begun ? 1 : 2, release);
    }
    if (t == 1) {
      P::await(queued, [](int q) { return q == 1; }, acquire);
      const own_entry what = use_own_entry(word);
      if (what == own_entry::begun)
        bodies.set(bodies.get() + 1);
      else if (what == own_entry::of_later_run && take_entry(word)) // it was put back
        run_later();
      return;
    }
    if (P::await(again, [](int a) { return a != 0; }, acquire) == 1 && take_entry(word))
      run_later();
  }
  void check() {
    expect(bodies.get() == 1, "the body is run once");
    expect(later_runs.get() == (again.load(relaxed) == 1), "one of the two entries is used");
  }
};
const passes<claim_of_own_entry> c6{"claim_of_own_entry"};

/// Lets the first of two waiters begin a deferred task.
struct claim_of_deferred {
  static constexpr int threads = 2;
  model_atomic<std::uint32_t> word{k_deferred};
  waiters::word done{nullptr};
  model_var<int> begun{0};
  void run(int) {
    if (start_deferred(word)) {
      begun.set(begun.get() + 1);
      fire_all(done);
      return;
    }
    model_node mine;
    mine.written.set(1);
    if (waiters::attach(done, mine))
      wait_until_fired(mine);
    expect(begun.get() == 1, "one waiter runs it, the other sees that");
  }
  void check() {}
};
const passes<claim_of_deferred> c4{"claim_of_deferred"};

// --- the lone waiter

/// Says which looks the waiter with the entry leaves out.
enum class looks { all, no_look_behind_the_body, no_look_at_the_word };
/// Says what becomes of the other handle.
enum class other { gives_up, claims, comes_from_the_body };

/// Has a waiter with the entry and one handle, which acts alone if it finds no other one. Another thread gives its wait
/// through a second handle up, and drops the handle; or claims the task and runs it; or gets a handle from the body.
template <other How, looks Which = looks::all>
struct lone_waiter {
  static constexpr int threads = 2;
  static constexpr bool from_body = How == other::comes_from_the_body;
  model_atomic<std::uint32_t> word{k_open};
  model_atomic<std::uint32_t> references{from_body ? 2 : 3};
  model_atomic<int> handed{!from_body};
  waiters::word done{nullptr};
  model_var<int> block{0}, begun{0};

  void drop() {
    if (take_away(references, 1))
      block.set(2); // frees it
  }
  void body() {
    begun.set(begun.get() + 1);
    if (!from_body)
      return;
    references.fetch_add(1, relaxed);
    handed.store(1, release);
  }
  void wait_until_done() {
    model_node mine;
    mine.written.set(1);
    if (waiters::attach(done, mine))
      wait_until_fired(mine);
  }
  bool is_alone() {
    return has_all(references, 2) && (Which == looks::no_look_at_the_word || is_open(word));
  }
  bool ends_alone() {
    return Which == looks::no_look_behind_the_body || (has_all(references, 2) && !done.load(relaxed));
  }
  void end_alone() {
    waiters::raise_unshared(done, token());
    keep(references, 1);
  }
  void end_among_others() {
    fire_all(done);
    drop();
  }
  void run(int t) {
    if (t == 1)
      return How == other::claims ? claim_and_run() : wait_through_another_handle();
    if (is_open(word) && is_alone()) {
      begin_alone(word);
      body();
      ends_alone() ? end_alone() : end_among_others();
    } else if (use_own_entry(word) == own_entry::begun) {
      body();
      end_among_others();
    } else {
      drop(); // the entry is left behind
      wait_until_done();
    }
    drop(); // the handle
  }
  void wait_through_another_handle() {
    P::await(handed, [](int h) { return h == 1; }, acquire);
    model_node mine;
    mine.written.set(1);
    if (waiters::attach(done, mine) && (from_body || !waiters::detach(done, mine)))
      wait_until_fired(mine);
    static_cast<void>(block.get());
    drop();
  }
  void claim_and_run() {
    if (is_open(word) && claim(word)) {
      body();
      references.fetch_add(1, relaxed); // of completion: the entry has the other
      end_among_others();
    } else {
      wait_until_done();
    }
    drop();
  }
  void check() {
    expect(begun.get() == 1, "the body is run once");
    expect(waiters::is_token(done.load(relaxed)), "the end is known");
    expect(block.get() == 2, "the block is freed");
  }
};
const passes<lone_waiter<other::gives_up>> l1{"claim_alone"};
const passes<lone_waiter<other::claims>> l4{"claim_alone_behind_another"};
const passes<lone_waiter<other::comes_from_the_body>> l2{"claim_alone_until_the_body"};
const fails<lone_waiter<other::comes_from_the_body, looks::no_look_behind_the_body>> l3{
    "claim_alone_without_a_look_behind_the_body", ""};
const fails<lone_waiter<other::claims, looks::no_look_at_the_word>> l5{
    "claim_alone_without_a_look_at_the_word", "the body is run once"};

// --- waiters

/// Has waiters that wait, and one that gives up; and the end of the task.
template <int Stay, int Leave>
struct waiters_come_and_go {
  static constexpr int threads = 1 + Stay + Leave;
  waiters::word list{nullptr};
  model_var<int> result{0};
  void run(int t) {
    if (t == 0) {
      result.set(1);
      return fire_all(list);
    }
    model_node mine;
    mine.written.set(1);
    if (!waiters::attach(list, mine)) {
      expect(result.get() == 1, "a waiter that comes too late sees the result");
      return;
    }
    if (t > Stay && waiters::detach(list, mine)) {
      expect(mine.fired.load(relaxed) == 0, "a node that was taken back is not fired");
      return;
    }
    wait_until_fired(mine);
    expect(result.get() == 1, "what was done before the end is seen after it");
  }
  void check() { expect(waiters::is_token(list.load(relaxed)), "the word stays raised"); }
};
/// Has a waiter that takes itself for the first one, and the end of the task, or another waiter before that.
template <int Others>
struct waiters_first {
  static constexpr int threads = 2 + Others;
  waiters::word list{nullptr};
  model_var<int> result{0};
  void run(int t) {
    if (t == 0) {
      result.set(1);
      return fire_all(list);
    }
    model_node mine;
    mine.written.set(1);
    if ((t == 1 && waiters::attach_first(list, mine)) || waiters::attach(list, mine))
      wait_until_fired(mine);
    expect(result.get() == 1, "what was done before the end is seen after it");
  }
  void check() { expect(waiters::is_token(list.load(relaxed)), "the word stays raised"); }
};
const passes<waiters_first<0>> w7{"waiters_first"};
const passes<waiters_first<1>> w8{"waiters_first_of_two"};
const passes<waiters_come_and_go<1, 0>> w1{"waiters_one"};
const passes<waiters_come_and_go<0, 1>> w2{"waiters_one_leaves"};
const passes<waiters_come_and_go<1, 1>> w3{"waiters_one_of_two_leaves"};
const passes<waiters_come_and_go<0, 2>> w4{"waiters_two_leave"};

/// Has a signaller that touches nothing after the end if it finds no waiter, one that waits, and one that looks.
struct waiters_or_none {
  static constexpr int threads = 3;
  waiters::word list{nullptr};
  model_var<int> result{0};
  void run(int t) {
    if (t == 0) {
      result.set(1);
      if (!waiters::raise_alone(list, token()))
        fire_all(list);
      return;
    }
    if (t == 2) {
      if (waiters::is_token(list.load(acquire)))
        expect(result.get() == 1, "who sees the end sees the result");
      return;
    }
    model_node mine;
    mine.written.set(1);
    if (waiters::attach(list, mine) && !waiters::detach(list, mine))
      wait_until_fired(mine);
  }
  void check() { expect(waiters::is_token(list.load(relaxed)), "the word is raised"); }
};
const passes<waiters_or_none> w6{"waiters_or_none"};

/// Lets two waiters go that were attached before, while a third one waits for the end.
struct waiters_leave_a_list {
  static constexpr int threads = 3;
  waiters::word list{nullptr};
  model_node nodes[3];
  waiters_leave_a_list() {
    for (model_node &n : nodes) {
      n.written.set(1);
      expect(waiters::attach(list, n), "nothing has been raised");
    }
  }
  void run(int t) {
    if (t == 2)
      return fire_all(list);
    if (!waiters::detach(list, nodes[t]))
      wait_until_fired(nodes[t]);
  }
  void check() { expect(nodes[2].fired.load(relaxed) == 1, "the one that stays is fired"); }
};
const passes<waiters_leave_a_list> w5{"waiters_leave_a_list"};

/// Detaches without the lock: two neighbours that leave at once, of which one comes back.
struct waiters_unlocked {
  static constexpr int threads = 2;
  waiters::word list{nullptr};
  model_node nodes[3];
  waiters_unlocked() {
    for (model_node &n : nodes) {
      n.written.set(1);
      expect(waiters::attach(list, n), "nothing has been raised");
    }
  }
  void run(int t) {
    model_node &mine = nodes[t];
    for (model_node *n = &nodes[2]; n; n = n->next.get())
      if (n->next.get() == &mine)
        n->next.set(mine.next.get());
  }
  void check() {
    for (model_node *n = &nodes[2]; n; n = n->next.get())
      expect(n == &nodes[2], "a waiter that left is in the list");
  }
};
const fails<waiters_unlocked> f3{"waiters_that_leave_without_the_lock", "data race"};

// --- one waiter for several ends

/// Waits for the inputs one by one. The creator and the signallers of the inputs hand it on.
struct model_all : model_node {
  waiters::word ends[3]{nullptr, nullptr, nullptr};
  model_var<std::size_t> passed_over{0};
  std::size_t inputs = 0;
};
struct model_inputs {
  static std::size_t count(const model_all &all) { return all.inputs; }
  static std::size_t passed(const model_all &all) { return all.passed_over.get(); }
  static void pass(model_all &all, std::size_t n) { all.passed_over.set(n); }
  static waiters::word &end_of(model_all &all, std::size_t at) { return all.ends[at]; }
};

/// Counts an input after the node has been attached to it, when it may be another thread's.
bool count_too_late(model_all &all) {
  for (std::size_t at = all.passed_over.get(); at < all.inputs; ++at)
    if (waiters::attach(all.ends[at], all)) {
      all.passed_over.set(at + 1);
      return true;
    }
  return false;
}

template <int Inputs, bool (*Attach)(model_all &)>
struct handed_over {
  static constexpr int threads = 1 + Inputs;
  model_all all;
  model_var<int> results[Inputs];
  model_atomic<int> ended{0};
  handed_over() { all.inputs = Inputs; }
  void go_on() {
    if (Attach(all))
      return;
    expect(ended.fetch_add(1, relaxed) == 0, "the whole ends once");
    for (model_var<int> &result : results)
      expect(result.get() == 1, "the whole ends behind all inputs, and sees what they did");
  }
  void run(int t) {
    if (t == 0)
      return go_on();
    results[t - 1].set(1);
    if (waiters::raise(all.ends[t - 1], token()))
      go_on();
  }
  void check() { expect(ended.load(relaxed) == 1, "the whole ends"); }
};
const passes<handed_over<1, &attach_to_next<waiters, model_inputs, model_all>>> h1{"hand_over_one"};
const passes<handed_over<2, &attach_to_next<waiters, model_inputs, model_all>>> h2{"hand_over_two"};
const passes<handed_over<3, &attach_to_next<waiters, model_inputs, model_all>>> h3{
    "hand_over_three"};
const fails<handed_over<2, &count_too_late>> f4{"hand_over_that_counts_too_late", "data race"};

} // namespace
