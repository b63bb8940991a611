// SPDX-License-Identifier: Apache-2.0
// Task reductions: copies, operations, nesting, and when each task sees the result.
#include "support/case_process.hpp"
#include "support/gate.hpp"
#include "support/refusal.hpp"
#include "support/scale.hpp"

#include <weft/weft.hpp>

#include <array>
#include <atomic>
#include <gtest/gtest.h>
#include <map>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

namespace {

using test::dawdle;

TEST(reduction, a_reader_sees_the_sum_of_all) {
  const int n = test::scaled(1000);
  long x = 0, seen = -1;
  weft::spawn([&] { dawdle(), x = 5; }, weft::out(x));
  for (int i = 0; i != n; ++i)
    weft::spawn([&, i] { weft::reduction_local(x) += i; }, weft::reduction(x, weft::sum));
  weft::spawn([&] { seen = x; }, weft::in(x));
  weft::taskwait();
  EXPECT_EQ(seen, 5 + long{n} * (n - 1) / 2);
}

TEST(reduction, tasks_run_at_once) {
  int x = 0;
  test::gate both[2];
  bool met[2] = {};
  for (int i : {0, 1})
    weft::spawn(
        [&, i] {
          both[i].open();
          met[i] = both[1 - i].pass();
          weft::reduction_local(x) += 1 + i;
        },
        weft::reduction(x, weft::sum));
  weft::taskwait();
  EXPECT_TRUE(met[0] && met[1]);
  EXPECT_EQ(x, 3);
}

TEST(reduction, taskwait_taskwait_on_and_group_wait_combine) {
  int x = 0;
  auto add = [&] { weft::reduction_local(x) += 1; };
  weft::spawn(add, weft::reduction(x, weft::sum));
  weft::taskwait();
  EXPECT_EQ(x, 1);
  weft::spawn(add, weft::reduction(x, weft::sum));
  weft::taskwait(weft::in(x));
  EXPECT_EQ(x, 2);
  weft::task_group g;
  g.spawn(add, weft::reduction(x, weft::sum));
  g.wait();
  EXPECT_EQ(x, 3);
  {
    weft::task_group other;
    other.spawn(add, weft::reduction(x, weft::sum));
  }
  EXPECT_EQ(x, 4);
  weft::taskwait();
}

template <class T, class Op>
T reduced(T start, Op op, std::initializer_list<T> values) {
  T x = start;
  for (T v : values)
    weft::spawn(
        [&x, v, op] {
          T &mine = weft::reduction_local(x);
          op(mine, v);
        },
        weft::reduction(x, op));
  weft::taskwait();
  return x;
}

TEST(reduction, knows_the_usual_operations) {
  EXPECT_EQ(reduced(1, weft::sum, {2, 3, 4}), 10);
  EXPECT_EQ(reduced(2, weft::product, {3, 4, 5}), 120);
  EXPECT_EQ(reduced(7, weft::minimum, {9, 3, 8}), 3);
  EXPECT_EQ(reduced(2, weft::minimum, {9, 3, 8}), 2);
  EXPECT_EQ(reduced(-7, weft::maximum, {-9, -3, -8}), -3);
  EXPECT_EQ(reduced(-1.5, weft::maximum, {-9.0, -3.0}), -1.5);
  EXPECT_EQ(reduced(-1.5, weft::minimum, {2.0, 1e300}), -1.5);
  EXPECT_EQ(reduced(0xFFu, weft::bit_and, {0xF0u, 0x3Cu}), 0x30u);
  EXPECT_EQ(reduced(1u, weft::bit_or, {2u, 8u}), 11u);
  EXPECT_EQ(reduced(1u, weft::bit_xor, {3u, 8u}), 10u);
  EXPECT_EQ(reduced(true, weft::logical_and, {true, true}), true);
  EXPECT_EQ(reduced(true, weft::logical_and, {true, false}), false);
  EXPECT_EQ(reduced(false, weft::logical_or, {false, false}), false);
  EXPECT_EQ(reduced(0, weft::logical_or, {0, 4}), 1);
}

TEST(reduction, of_arrays) {
  const int n = test::scaled(200);
  std::vector<int> x(1000, 1);
  for (int i = 0; i != n; ++i)
    weft::spawn(
        [&] {
          int *mine = weft::reduction_local(x.data(), 1000);
          for (int k = 0; k != 1000; ++k)
            mine[k] += k;
        },
        weft::reduction(x.data(), 1000, weft::sum));
  int y[3] = {};
  weft::spawn([&] { weft::reduction_local(y)[2] = 9; }, weft::reduction(y, weft::maximum));
  weft::spawn(
      [&] {
        weft::spawn([&] { weft::reduction_local(y)[1] = 4; }, weft::reduction(y, weft::maximum));
      },
      weft::weak_reduction(y, weft::maximum));
  weft::taskwait();
  for (int k = 0; k != 1000; ++k)
    EXPECT_EQ(x[static_cast<std::size_t>(k)], 1 + n * k);
  EXPECT_EQ(y[0], 0);
  EXPECT_EQ(y[1], 4);
  EXPECT_EQ(y[2], 9);
}

constexpr auto merge = [](std::map<std::string, int> &into,
                          const std::map<std::string, int> &from) {
  for (auto &[key, value] : from)
    into[key] += value;
};

TEST(reduction, of_a_type_and_an_operation_of_the_user) {
  std::map<std::string, int> words{{"a", 1}};
  for (int i = 0; i != 30; ++i)
    weft::spawn([&, i] { ++weft::reduction_local(words)[i % 3 ? "b" : "a"]; },
                weft::reduction(words, merge, {}));
  weft::taskwait();
  EXPECT_EQ(words["a"], 11);
  EXPECT_EQ(words["b"], 20);
}

TEST(reduction, begins_with_the_identity_that_was_given) {
  constexpr auto longest = [](const std::string &a, const std::string &b) {
    return a.size() < b.size() ? b : a;
  };
  std::string x;
  std::atomic<int> wrong{0};
  for (int i = 0; i != 20; ++i)
    weft::spawn(
        [&, i] {
          std::string &mine = weft::reduction_local(x);
          wrong += mine.size() < 4;
          if (static_cast<int>(mine.size()) < i)
            mine = std::string(static_cast<std::size_t>(i), 'x');
        },
        weft::reduction(weft::object(x), longest, std::string("four")));
  weft::taskwait();
  EXPECT_EQ(x, std::string(19, 'x'));
  EXPECT_EQ(wrong, 0);
}

TEST(reduction, two_operations_one_after_the_other_are_ordered) {
  const int rounds = test::scaled(100);
  unsigned x = 0, expected = 0;
  for (int r = 0; r != rounds; ++r) {
    for (unsigned i = 1; i != 4; ++i)
      weft::spawn([&, i] { weft::reduction_local(x) += i; }, weft::reduction(x, weft::sum));
    for (unsigned i = 1; i != 4; ++i)
      weft::spawn([&, i] { weft::reduction_local(x) *= i; }, weft::reduction(x, weft::product));
    expected = (expected + 6) * 6;
  }
  weft::taskwait();
  EXPECT_EQ(x, expected);
}

TEST(reduction, children_add_to_the_copies_of_their_parents_reduction) {
  const int n = test::scaled(100);
  long x = 0, seen = -1;
  std::atomic<int> before{0};
  for (int i = 0; i != n; ++i)
    weft::spawn(
        [&] {
          weft::reduction_local(x) += 1;
          for (int k = 0; k != 4; ++k)
            weft::spawn([&] { weft::reduction_local(x) += 10; }, weft::reduction(x, weft::sum));
          before += x != 0; // nothing is combined yet
        },
        weft::reduction(x, weft::sum));
  weft::spawn([&] { seen = x; }, weft::in(x));
  weft::taskwait();
  EXPECT_EQ(seen, 41 * n);
  EXPECT_EQ(before, 0);
}

TEST(reduction, weak_over_several_levels) {
  long x = 3, seen = -1;
  struct tree {
    long *x;
    void grow(int depth) const {
      for (int i = 0; i != 3; ++i) {
        if (depth == 1)
          weft::spawn([*this] { weft::reduction_local(*x) += 1; }, weft::reduction(*x, weft::sum));
        else
          weft::spawn([*this, depth] { grow(depth - 1); }, weft::weak_reduction(*x, weft::sum));
      }
    }
  };
  weft::spawn([&] { dawdle(), x += 1; }, weft::inout(x));
  tree{&x}.grow(5);
  weft::spawn([&] { seen = x; }, weft::in(x));
  weft::taskwait();
  EXPECT_EQ(seen, 4 + 243);
}

TEST(reduction, below_a_weak_inout_combines_at_the_end_of_the_body) {
  long x = 0, seen = -1;
  weft::spawn([&] { dawdle(), x = 1; }, weft::out(x));
  weft::spawn(
      [&] {
        for (int i = 0; i != 10; ++i)
          weft::spawn([&] { dawdle(), weft::reduction_local(x) += 1; },
                      weft::reduction(x, weft::sum));
      },
      weft::weak_inout(x));
  weft::spawn([&] { seen = x; }, weft::in(x));
  weft::taskwait();
  EXPECT_EQ(seen, 11);
}

TEST(reduction, another_operation_below_a_reduction_combines_by_itself) {
  int x = 1;
  weft::spawn(
      [&] {
        for (int i = 0; i != 3; ++i)
          weft::spawn([&] { weft::reduction_local(x) *= 2; }, weft::reduction(x, weft::product));
      },
      weft::reduction(x, weft::sum));
  weft::taskwait();
  EXPECT_EQ(x, 8);
}

TEST(reduction, a_task_that_waits_keeps_its_copy) {
  const int n = test::scaled(100);
  int x = 0;
  std::atomic<int> wrong{0};
  for (int i = 0; i != n; ++i)
    weft::spawn(
        [&] {
          int &mine = weft::reduction_local(x);
          const int before = mine;
          weft::taskyield();
          wrong += &weft::reduction_local(x) != &mine || mine != before;
          mine = before + 1;
        },
        weft::reduction(x, weft::sum));
  weft::taskwait();
  EXPECT_EQ(x, n);
  EXPECT_EQ(wrong, 0);
}

struct counted {
  static inline std::atomic<int> made{0}, live{0};
  int value = 0;
  counted() = default;
  counted(const counted &other) : value(other.value) { ++made, ++live; }
  counted &operator=(const counted &) = default;
  ~counted() { --live; }
};
constexpr auto add_counted = [](counted &into, const counted &from) { into.value += from.value; };

TEST(reduction, makes_few_copies_and_frees_them) {
  const int n = test::scaled(1000);
  {
    counted x, zero;
    counted::made = 0, counted::live = 0;
    for (int i = 0; i != n; ++i)
      weft::spawn([&] { weft::reduction_local(x).value += 1; },
                  weft::reduction(x, add_counted, zero));
    for (int i = 0; i != 10; ++i)
      weft::spawn([] {}, weft::reduction(x, add_counted, zero)); // asks for none
    weft::taskwait();
    EXPECT_EQ(x.value, n);
    // one of the identity, and one per worker (adopted threads of other tests included)
    EXPECT_LE(counted::made, 1 + static_cast<int>(weft::worker_count()) + 1);
    EXPECT_EQ(counted::live, 0);
  }
}

TEST(reduction, a_task_that_has_the_object_for_itself_adds_to_it) {
  int x = 0;
  auto add = [&] { weft::reduction_local(x) += 1; };
  weft::spawn(add, weft::inout(x));
  weft::spawn(add, weft::commutative(x));
  weft::spawn(add, weft::reduction(x, weft::sum), weft::inout(x)); // two kinds in one list
  weft::spawn([&] { weft::spawn(add, weft::reduction(x, weft::sum)); }, weft::inout(x),
              weft::final());
  weft::spawn([&] { weft::spawn(add, weft::reduction(x, weft::sum)); },
              weft::reduction(x, weft::sum), weft::final());
  weft::spawn([&] { weft::spawn(add, weft::reduction(x, weft::sum)); },
              weft::weak_reduction(x, weft::sum), weft::final());
  weft::taskwait();
  EXPECT_EQ(x, 6);
}

/// Adds in a loop whose iterations meet if several workers run them.
struct shared_sum {
  long sum = 0;
  std::atomic<int> inside{0};
  std::atomic<bool> met{false};

  void add(long value) {
    long &mine = weft::reduction_local(sum);
    if (&mine == &sum) {
      if (inside.fetch_add(1) != 0)
        met = true;
      dawdle();
      inside.fetch_sub(1);
    }
    mine += value;
  }
  void loop(const auto &...clauses) {
    weft::taskfor(
        weft::range(1, 21), [this](long i) { add(i); }, weft::reduction(sum, weft::sum),
        clauses...);
  }
  void loops() {
    loop();
    loop(weft::grain_size(1));
    const auto sum_of = weft::reduction(sum, weft::sum);
    const weft::access listed[] = {sum_of.as_access()};
    weft::taskfor(
        weft::range(1, 21), [this](long i) { add(i); }, weft::accesses(listed),
        weft::grain_size(2));
    weft::taskwait();
  }
  void expect(long all) const {
    EXPECT_EQ(sum, all);
    EXPECT_FALSE(met) << "two workers added to the object itself";
  }
};

TEST(reduction, a_loop_of_one_task_adds_up) {
  shared_sum all;
  all.loops();
  all.expect(630);
}

TEST(reduction, a_loop_of_one_task_adds_up_among_regions) {
  shared_sum all;
  int other[2] = {};
  weft::spawn([&] { other[0] = 1; }, weft::out(weft::region(other)));
  all.loops();
  all.expect(630);
}

TEST(reduction, a_loop_of_one_task_adds_up_below_a_final_task) {
  shared_sum all;
  weft::spawn([&] { all.loops(); }, weft::inout(all.sum), weft::final());
  weft::spawn([&] { all.loops(); }, weft::reduction(all.sum, weft::sum), weft::final());
  weft::taskwait();
  all.expect(1260);
}

TEST(reduction, a_loop_of_one_task_adds_up_in_rounds_with_regions) {
  shared_sum all;
  int other[2] = {};
  weft::taskiter(3, [&] {
    weft::spawn([&] { ++other[0]; }, weft::inout(weft::region(other)));
    all.loop(weft::grain_size(1));
  });
  weft::taskwait();
  all.expect(630);
}

TEST(reduction, branches_of_a_join_add_up) {
  const int n = test::scaled(200);
  int x = 0;
  for (int i = 0; i != n; ++i)
    weft::spawn(
        [&] {
          weft::join([&] { weft::reduction_local(x) += 1; },
                     [&] { weft::taskyield(), weft::reduction_local(x) += 2; });
        },
        weft::reduction(x, weft::sum));
  weft::taskwait();
  EXPECT_EQ(x, 3 * n);
}

TEST(reduction, in_a_list_by_an_object_that_is_kept) {
  int x = 0, y = 1, seen = -1;
  const auto r = weft::reduction(x, weft::sum);
  std::vector<weft::access> list{weft::in(y), r};
  for (int i = 0; i != 5; ++i)
    weft::spawn([&] { weft::reduction_local(x) += y; }, weft::accesses(list));
  weft::spawn([&] { seen = x; }, weft::in(x));
  weft::taskwait();
  EXPECT_EQ(seen, 5);
}

TEST(reduction, of_nothing_is_ignored) {
  int *none = nullptr;
  int x = 0, ran = 0;
  weft::spawn([&] { ++ran; }, weft::reduction(none, 5, weft::sum),
              weft::reduction(&x, 0, weft::sum));
  weft::taskwait();
  EXPECT_EQ(ran, 1);
}

using test::refusal;
std::string hex(const void *p) {
  char text[32];
  std::snprintf(text, sizeof text, "%p", p);
  return text;
}

TEST(reduction, misuse_names_the_task_and_the_address) {
  int x = 0;
  auto none = [] {};
  const weft::label name("adder");
  for (const std::string &text :
       {refusal([&] {
          weft::spawn(none, weft::reduction(x, weft::sum), weft::reduction(x, weft::product), name);
        }),
        refusal([&] { weft::spawn(none, weft::reduction(&x, -1, weft::sum), name); }),
        refusal([&] { weft::spawn(none, weft::reduction(&x, PTRDIFF_MAX, weft::sum), name); }),
        refusal([&] {
          weft::spawn([&] { (void)weft::reduction_local(x); }, weft::in(x), name, weft::tracked)
              .get();
        }),
        refusal([&] {
          weft::spawn([&] { (void)weft::reduction_local(x); }, weft::weak_reduction(x, weft::sum),
                      name, weft::tracked)
              .get();
        }),
        refusal([&] {
          weft::spawn([&] { (void)weft::reduction_local(&x, 2); }, weft::reduction(x, weft::sum),
                      name, weft::tracked)
              .get();
        })}) {
    EXPECT_NE(text.find("task 'adder'"), std::string::npos) << text;
    EXPECT_NE(text.find(hex(&x)), std::string::npos) << text;
  }
  EXPECT_THROW((void)weft::reduction_local(x), weft::error);
  int ran = 0;
  weft::spawn([&] { ++ran; }, weft::inout(x)); // what was refused holds nothing up
  weft::taskwait();
  EXPECT_EQ(ran, 1);
}

constexpr auto refuses = [](int &into, const int &from) {
  if (from == 3)
    throw std::string("three");
  into += from;
};

TEST(reduction, an_exception_of_the_operation_is_a_failing_child) {
  int x = 0, after = 0;
  weft::spawn([&] { weft::reduction_local(x) = 3; }, weft::reduction(x, refuses, 0));
  weft::spawn([&] { after = 1; }, weft::inout(x));
  EXPECT_THROW(weft::taskwait(), std::string);
  EXPECT_EQ(after, 1);
  weft::spawn([&] { weft::reduction_local(x) = 3; },
              weft::reduction(x, refuses, 0)); // combined by taskwait itself
  EXPECT_THROW(weft::taskwait(), std::string);
}

TEST(reduction, an_operation_must_not_wait) {
  constexpr auto waits = [](int &into, const int &from) {
    into += from;
    weft::taskyield();
    weft::this_task::sleep_for(std::chrono::nanoseconds(1));
  };
  int x = 0;
  weft::spawn([&] { weft::reduction_local(x) = 3; }, weft::reduction(x, waits, 0));
  try {
    weft::taskwait();
    FAIL() << "it waited";
  } catch (const weft::error &e) {
    EXPECT_EQ(e.code(), weft::errc::no_block);
    EXPECT_NE(std::string(e.what()).find("reduction"), std::string::npos) << e.what();
  }
}

/// Lets the operation of a reduction do what is refused, where a wait combines, and where the last
/// task does, on a loop of its own; returns the messages.
template <class Operation>
std::vector<std::string> refusals_in(Operation operation) {
  std::vector<std::string> said;
  const auto waits = [&] {
    try {
      weft::taskwait();
      ADD_FAILURE() << "it was not refused";
    } catch (const weft::error &e) {
      EXPECT_EQ(e.code(), weft::errc::not_a_task);
      said.push_back(e.what());
    }
  };
  int x = 0;
  weft::spawn([&] { weft::reduction_local(x) = 3; }, weft::reduction(x, operation, 0));
  waits();
  test::gate closed;
  bool passed = false;
  weft::spawn(
      [&] {
        passed = closed.pass();
        weft::reduction_local(x) = 3;
      },
      weft::reduction(x, operation, 0));
  weft::spawn([] {}, weft::inout(x)); // closes the cohort, so that its last member combines
  weft::spawn([&] { closed.open(); });
  waits();
  EXPECT_TRUE(passed);
  return said;
}

TEST(reduction, an_operation_must_not_spawn) {
  static std::atomic<int> ran;
  ran = 0;
  const auto texts = refusals_in([](int &into, const int &from) {
    into += from;
    weft::spawn([] { ++ran; });
  });
  const auto in_a_group = refusals_in([](int &into, const int &from) {
    into += from;
    weft::task_group group;
    group.spawn([] { ++ran; });
    group.wait();
  });
  const auto with_accesses = refusals_in([](int &into, const int &from) {
    into += from;
    weft::spawn([] { ++ran; }, weft::inout(into), weft::in(ran));
  });
  for (const auto &said : {texts, in_a_group, with_accesses})
    for (const std::string &text : said)
      EXPECT_NE(text.find("the operation of a reduction below task"), std::string::npos) << text;
  EXPECT_EQ(ran, 0);
}

TEST(reduction, an_operation_has_no_copy) {
  for (const std::string &text : refusals_in([](int &into, const int &from) {
         into += from;
         weft::reduction_local(into) += 1;
       }))
    EXPECT_NE(text.find("reduction_local() in the operation of a reduction"), std::string::npos)
        << text;
}

TEST(reduction, an_operation_may_join) {
  constexpr auto joins = [](long &into, const long &from) {
    long a = 0, b = 0;
    weft::join([&] { a = from / 2; },
               [&] {
                 b = from - from / 2;
                 EXPECT_THROW(weft::spawn([] {}), weft::error); // on each worker
               });
    into += a + b;
  };
  for (int round = 0; round != 100; ++round) {
    long x = 0, seen = -1;
    for (int i = 0; i != 8; ++i)
      weft::spawn([&x, i] { weft::reduction_local(x) += i; }, weft::reduction(x, joins, 0L));
    weft::spawn([&] { seen = x; }, weft::in(x));
    weft::taskwait();
    EXPECT_EQ(seen, 28);
  }
}

weft::task_ref g_outer, g_inner;
std::string g_said_by_outer, g_said_by_inner;

/// Spawns in an operation. Returns the message of the refusal.
std::string refusal_of_spawn() {
  try {
    weft::spawn([] {});
  } catch (const weft::error &e) {
    return e.what();
  }
  return "nothing was thrown";
}

struct ends_inner {
  void operator()(int &into, const int &from) const {
    into += from;
    weft::decrease_events(g_inner); // combines there
    g_said_by_outer = refusal_of_spawn();
  }
};
struct adds {
  void operator()(int &into, const int &from) const { into += from; }
};
struct adds_and_spawns {
  void operator()(int &into, const int &from) const {
    into += from;
    g_said_by_inner = refusal_of_spawn();
  }
};

/// Spawns a task that reduces `x`, and holds it by an event.
template <class Operation>
void spawn_held(int &x, weft::task_ref &self, Operation operation, const char *label) {
  weft::spawn(
      [&] {
        weft::this_task::increase_events(1);
        self = weft::this_task::self();
        weft::reduction_local(x) = 3;
      },
      weft::reduction(x, operation, 0), weft::label(label));
  weft::spawn([] {}, weft::inout(x)); // closes the cohort, so that its last member combines
  while (!self)
    weft::taskyield(); // with one worker the task is over then
}

/// Combines in an operation, both times on a thread that Weft does not know.
template <class Inner>
void combine_within_an_operation(Inner inner) {
  int x = 0, y = 0;
  spawn_held(y, g_inner, inner, "inner");
  spawn_held(x, g_outer, ends_inner{}, "outer");
  std::thread([] { weft::decrease_events(g_outer); }).join();
  weft::taskwait();
  EXPECT_EQ(x, 3);
  EXPECT_EQ(y, 3);
  EXPECT_NE(g_said_by_outer.find("a task is spawned in the operation of a reduction"),
            std::string::npos)
      << g_said_by_outer;
}

const test::environment k_one{{"WEFT_WORKERS", "1"}, {"WEFT_WATCH_MAX_SPARES", "0"}};

TEST(reduction, an_operation_around_another_must_not_spawn_after_it) {
  auto end = test::in_process(k_one, [] { combine_within_an_operation(adds{}); });
  EXPECT_TRUE(end.exited(0)) << end;
}

TEST(reduction, an_operation_around_another_must_not_spawn_after_that_was_refused) {
  auto end = test::in_process(k_one, [] {
    combine_within_an_operation(adds_and_spawns{});
    EXPECT_NE(g_said_by_inner.find("a task is spawned in the operation of a reduction"),
              std::string::npos)
        << g_said_by_inner;
  });
  EXPECT_TRUE(end.exited(0)) << end;
}

TEST(reduction, the_prefix_of_failed_tasks_counts) {
  int x = 0;
  for (int i = 0; i != 10; ++i)
    weft::spawn(
        [&, i] {
          weft::reduction_local(x) += 1;
          if (i == 4)
            throw 4;
        },
        weft::reduction(x, weft::sum));
  EXPECT_THROW(weft::taskwait(), int);
  EXPECT_EQ(x, 10);
}

TEST(reduction,
     one_worker_adds_in_the_order_of_the_tasks_and_a_sum_of_doubles_stays_within_its_bound) {
  const int n = test::scaled(20'000);
  double x = 0, serial = 0, magnitude = 0;
  for (int i = 0; i != n; ++i) {
    const double v = 1.0 / (1 + i) * (i % 2 ? 1 : -1);
    serial += v, magnitude += 1.0 / (1 + i);
    weft::spawn([&x, v] { weft::reduction_local(x) += v; }, weft::reduction(x, weft::sum));
  }
  weft::taskwait();
  EXPECT_NEAR(x, serial,
              n * 2.3e-16 * magnitude); // n additions, each off by half a unit in the last place
}

} // namespace
