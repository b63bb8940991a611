// SPDX-License-Identifier: Apache-2.0
// Models of src/deps/sharing/cohort_state.hpp, exclusion.hpp and the copies of reduction.hpp:
// - members start once, when their cohort is open, and the last to leave sees what all have done;
// - commutative tasks run one at a time and never wait in a circle;
// - a private copy belongs to one task at a time, and combining sees all copies.
#include "checker/models.hpp"

#include "deps/sharing/cohort_state.hpp"
#include "deps/sharing/exclusion.hpp"
#include "deps/sharing/reduction.hpp"

namespace {

using namespace weft_model;
using namespace weft::rt;
using P = model_atomics;

/// Lets thread 0 register members and close the cohort, and thread 1 open it. The thread that
/// starts a member runs it. So many members have joined and left before.
template <int Members, std::uint32_t Gone = 0>
struct joined_meanwhile {
  static constexpr int threads = 2;
  struct member {
    model_var<member *> successor{};
    model_var<int> datum{0};
    int ran = 0;
  };
  cohort_state<P, member> cohort{Gone};
  member members[Members];
  int ended = 0;

  void go(member &m) {
    expect(++m.ran == 1, "a member goes once");
    m.datum.set(1);
    leave();
  }
  void leave() {
    if (cohort.leave())
      end();
  }
  void end() {
    expect(++ended == 1, "a cohort ends once");
    expect(cohort.was_opened(), "a cohort with members was opened before it ends");
    for (member &m : members)
      expect(m.datum.get() == 1, "all members have run at the end");
  }
  void run(int thread) {
    if (thread == 1) {
      for (member *m = cohort.open(); m;) {
        member *const next = m->successor.get();
        m->successor.set(nullptr);
        go(*m);
        m = next;
      }
      return;
    }
    for (member &m : members)
      if (cohort.admit(m))
        go(m);
    if (cohort.is_over()) // the parent may look at the data already
      for (member &m : members)
        expect(m.datum.get() == 1, "who sees the end sees what the members have done");
    if (cohort.close())
      end();
  }
  void check() { expect(ended == 1, "the cohort has ended"); }
};
const passes<joined_meanwhile<1>> c1{"cohort_one_member"};
const passes<joined_meanwhile<2>> c2{"cohort_two_members"};
const passes<joined_meanwhile<2, 0xFFFF'FFFF>> c3{"cohort_wrapped"};

/// Has tasks that need one or two of two exclusions. Each is ready on a thread of its own.
/// A task that gives up an exclusion runs the tasks that it hands over to. Tasks that need the same
/// exclusions in the same order are in one line, unless another line has taken its place of
/// `Places`.
template <int Tasks, std::size_t Places, unsigned... Needs>
struct turns {
  static constexpr int threads = Tasks;
  static constexpr unsigned k_turned = 4;
  struct task;
  using exclusion_of_model = exclusion<P, task>;
  struct task {
    model_var<task *> link{}, behind{}, last{};
    model_var<std::uint32_t> ticket{};
    exclusion_of_model *needs[2] = {};
    int ran = 0;
  };
  struct traits {
    template <class F>
    static void for_each(task &t, F f) {
      for (exclusion_of_model *e : t.needs)
        if (e && !f(*e))
          return;
    }
    static constexpr std::size_t k_sets = Places, k_ways = 1;
    static bool need_same(const task &t, const task &u) {
      return t.needs[0] == u.needs[0] && t.needs[1] == u.needs[1];
    }
    static std::size_t hash(const task &t) { return t.needs[0] ? 0 : 1; }
    static task *behind(const task &t) { return t.behind.get(); }
    static void set_behind(task &t, task *behind) { t.behind.set(behind); }
    static task *last(const task &t) { return t.last.get(); }
    static void set_last(task &t, task *last) { t.last.set(last); }
    static task *next(const task &t) { return t.link.get(); }
    static void set_next(task &t, task *next) { t.link.set(next); }
    static std::uint32_t age(const task &t) { return t.ticket.get(); }
    static void set_age(task &t, std::uint32_t age) { t.ticket.set(age); }
  };
  arbiter<P, task, traits> guard;
  exclusion_of_model exclusions[2];
  model_var<int> data[2];
  task tasks[Tasks];

  turns() {
    const unsigned needs[] = {Needs...};
    for (int i = 0; i < Tasks; ++i)
      for (int e = 0; e < 2; ++e)
        if (needs[i] & (1u << e)) // k_turned: the other way round
          tasks[i].needs[needs[i] & k_turned ? 1 - e : e] = &exclusions[e];
  }

  void body(task &t) {
    expect(++t.ran == 1, "a task runs once");
    for (exclusion_of_model *e : t.needs)
      if (e) {
        model_var<int> &datum = data[e - exclusions];
        datum.set(datum.get() + 1); // a race unless the tasks run one at a time
      }
    for (exclusion_of_model *e : t.needs) {
      task *ready = nullptr;
      if (e)
        guard.give_up(*e, [&](task &other) {
          expect(!ready, "one exclusion goes to one task");
          ready = &other;
        });
      if (ready)
        body(*ready);
    }
  }
  void run(int thread) {
    if (guard.take(tasks[thread]))
      body(tasks[thread]);
  }
  void check() {
    int uses[2] = {};
    for (task &t : tasks) {
      expect(t.ran == 1, "every task has run");
      expect(!t.behind.get() && !t.last.get(), "its links are as they were");
      for (exclusion_of_model *e : t.needs)
        if (e)
          ++uses[e - exclusions];
    }
    for (int e = 0; e < 2; ++e) {
      expect(data[e].get() == uses[e], "no turn was lost");
      expect(!exclusions[e].waiting.get(), "nobody waits");
    }
  }
};
constexpr unsigned k_one = 0b01, k_other = 0b10, k_both = 0b11, k_both_turned = 0b111;
const passes<turns<2, 2, k_one, k_one>> t1{"exclusion_one"};
const passes<turns<2, 2, k_both, k_both_turned>> t2{"exclusion_two_each"};
const passes<turns<3, 2, k_both, k_other, k_one>> t3{"exclusion_three_tasks"};
const passes<turns<3, 2, k_both, k_both, k_both>> t4{"exclusion_line_of_three"};
const passes<turns<3, 1, k_both, k_one, k_both>> t5{"exclusion_line_not_found"};

/// Has tasks that add to copies; the last one to leave adds up the copies. SharedHint: the workers
/// have the same number. Migrates: the first task continues, and ends, on the other worker.
template <int Tasks, bool SharedHint = false, bool Migrates = false>
struct reduced {
  static constexpr int threads = 2;
  struct copy {
    model_var<copy *> next{};
    model_atomic<const void *> holder{nullptr};
    model_var<const void *> home{};
    model_var<bool> fresh{};
    model_var<int> value{0};
  };
  struct member {
    model_var<member *> successor{};
  };
  cohort_state<P, member> cohort;
  copy_shelf<P, copy> shelf;
  copy copies[Tasks];
  member members[Tasks];
  model_var<int> total{0};
  model_atomic<copy *> migrant{nullptr};
  int ended = 0;

  reduced() {
    (void)cohort.open();
    for (member &m : members)
      (void)cohort.admit(m);
    (void)cohort.close();
  }
  void task(int i, int thread) {
    const auto id = static_cast<unsigned>(SharedHint ? 0 : thread);
    copy *c = shelf.take_near(&members[i], &copies[thread], id);
    if (!c)
      c = shelf.take(&members[i], &copies[thread], id);
    if (!c) {
      c = &copies[i];
      shelf.add(*c, &members[i], &copies[thread], id);
    }
    c->value.set(c->value.get() + i + 1); // a race if the copy were given out twice
    expect(shelf.take(&members[i], nullptr, id) == c, "a task keeps its copy");
    if (Migrates && i == 0) { // the task ends on the other worker
      migrant.store(c, std::memory_order_release);
      return;
    }
    end(*c);
  }
  void end(copy &c) {
    shelf.give_back(c);
    if (!cohort.leave())
      return;
    ++ended;
    for (copy *each = shelf.first(); each; each = each->next.get())
      total.set(total.get() + each->value.get());
  }
  void run(int thread) {
    for (int i = thread; i < Tasks; i += threads)
      task(i, thread);
    if (Migrates && thread == 1)
      if (copy *c =
              P::await(migrant, [](copy *m) { return m != nullptr; }, std::memory_order_acquire)) {
        c->value.set(c->value.get());
        end(*c);
      }
  }
  void check() {
    expect(ended == 1, "combined once");
    expect(total.get() == Tasks * (Tasks + 1) / 2, "nothing is lost");
  }
};
const passes<reduced<2>> r1{"reduction_two_tasks"};
const passes<reduced<3>> r2{"reduction_three_tasks"};
const passes<reduced<3, true>> r3{"reduction_with_one_hint"};
const passes<reduced<3, false, true>> r4{"reduction_of_a_migrant"};
const passes<reduced<3, true, true>> r5{"reduction_of_a_migrant_with_one_hint"};

} // namespace
