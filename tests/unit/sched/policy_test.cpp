// SPDX-License-Identifier: Apache-2.0
// What every policy promises, and what each promises beyond that.
#include "sched/policy.hpp"

#include "unit/sched/family.hpp"

#include <atomic>
#include <gtest/gtest.h>
#include <map>
#include <set>
#include <thread>
#include <vector>

namespace {

using namespace weft::rt;

struct variant {
  const char *name;
  policy_kind kind;
  lock_kind lock = lock_kind::delegation;
  int spsc_queues = 0;
  int high_queues = 1;
  int lock_queues = 1; // 0: one per node
  friend void PrintTo(const variant &v, std::ostream *to) { *to << v.name; }
};

settings of(const variant &v) {
  settings s;
  s.sched_policy = v.kind;
  s.sched_lock = v.lock;
  s.sched_spsc_queues = v.spsc_queues;
  s.sched_spsc_capacity = 100;
  s.sched_high_queues = v.high_queues;
  s.sched_lock_queues = v.lock_queues;
  return s;
}

/// Four cpus on two NUMA nodes: 0 and 2, 1 and 3.
machine two_nodes() {
  machine m;
  for (int i = 0; i < 4; ++i) {
    m.cpus.emplace_back();
    m.cpus.back().node = i % 2;
  }
  return m;
}

constexpr unsigned k_workers = 4, k_ids = 8; // ids beyond the workers are threads of the user

struct bench {
  explicit bench(const variant &v)
      : place(two_nodes()), policy(make_policy(of(v), place, k_workers, k_ids)) {
    for (unsigned id = 0; id < k_ids; ++id)
      policy->attach(id, counts[id]);
  }
  void add(int from, int to, unsigned id) {
    for (int i = from; i < to; ++i)
      policy->add(&family.child(), id, origin::fresh);
  }
  /// The numbers of what `id` gets, until it gets nothing.
  std::vector<int> drain(unsigned id) {
    std::vector<int> got;
    while (runnable *r = policy->get(id))
      got.push_back(number(r));
    return got;
  }
  int number(runnable *r) {
    for (int i = 0;; ++i)
      if (&family[i] == r)
        return i;
  }
  machine place;
  test::family family;
  std::vector<weft::rt::counter_block> counts{k_ids};
  std::unique_ptr<weft::rt::policy> policy;
  std::uint64_t steals() const {
    std::uint64_t n = 0;
    for (const auto &c : counts)
      n += c.stolen;
    return n;
  }
  lineage all{&family.root(), nullptr};
};

using numbers = std::vector<int>;

class every_policy : public testing::TestWithParam<variant> {
 protected:
  bench b{GetParam()};
};

TEST_P(every_policy, gives_out_what_was_added_once) {
  b.add(0, 3, 0);
  b.add(3, 6, 1);
  b.add(6, 8, k_outside);
  b.add(8, 10, k_workers + 1);
  const numbers got = b.drain(2);
  EXPECT_EQ(std::set<int>(got.begin(), got.end()).size(), 10u);
  EXPECT_EQ(got.size(), 10u);
}

TEST_P(every_policy, serves_urgent_work_first_and_patient_work_last) {
  for (int p : {-2, 0, 5, -7, 9})
    b.policy->add(&b.family.child(p), 0, origin::fresh);
  EXPECT_EQ(b.drain(0), (numbers{4, 2, 1, 0, 3}));
  for (int p : {-2, 0, 5, -7, 9})
    b.policy->add(&b.family.child(p), k_outside, origin::fresh);
  EXPECT_EQ(b.drain(1), (numbers{9, 7, 6, 5, 8}));
}

TEST_P(every_policy, has_work_as_long_as_there_is_any) {
  for (const int priority : {-3, 0, 5})
    for (const unsigned id : {0u, k_workers + 1, k_outside})
      for (const origin from : {origin::fresh, origin::yielded, origin::resumed}) {
        EXPECT_FALSE(b.policy->has_work());
        task &t = b.family.child(priority);
        b.policy->add(&t, id, from);
        EXPECT_TRUE(b.policy->has_work()) << "priority " << priority << ", added by " << id;
        EXPECT_EQ(b.policy->get(2), &t);
      }
  EXPECT_FALSE(b.policy->has_work());
}

TEST_P(every_policy, gives_a_waiter_the_newest_that_its_worker_added) {
  b.add(0, 3, 0);
  b.add(3, 6, 1);
  EXPECT_EQ(b.policy->take_newest(0, b.all), &b.family[2]);
  EXPECT_EQ(b.policy->take_newest(1, b.all), &b.family[5]);
  EXPECT_EQ(b.policy->take_newest(0, b.all), &b.family[1]);
  EXPECT_EQ(b.policy->take_newest(2, b.all), nullptr);
  EXPECT_EQ(b.policy->take_newest(0, b.all), &b.family[0]);
  EXPECT_EQ(b.policy->take_newest(0, b.all), nullptr);
  EXPECT_EQ(b.drain(3).size(), 2u);
}

TEST_P(every_policy, gives_a_waiter_beyond_the_workers_its_newest) {
  b.add(0, 2, k_workers + 2);
  EXPECT_EQ(b.policy->take_newest(k_workers + 2, b.all), &b.family[1]);
  EXPECT_EQ(b.policy->get(k_workers + 3), &b.family[0]);
  EXPECT_EQ(b.policy->get(k_workers + 2), nullptr);
}

TEST_P(every_policy, gives_a_waiter_no_unrelated_task_and_keeps_the_order) {
  bench untouched(GetParam());
  for (bench *each : {&b, &untouched}) {
    each->add(0, 3, 0);
    each->policy->add(&each->family.unrelated(), 0, origin::fresh);
  }
  EXPECT_EQ(b.policy->take_newest(0, b.all), nullptr);
  EXPECT_EQ(b.drain(1), untouched.drain(1));
}

/// Longer than a deque's first ring: what a waiter puts back must find room, whatever the deque remembers of its thieves.
TEST_P(every_policy, keeps_what_a_waiter_may_not_have_while_thieves_take_all_else) {
  runnable &other = b.family.unrelated();
  for (int i = 0; i < 1000; ++i) {
    b.policy->add(&other, 0, origin::fresh);
    if (i % 4 != 0) { // so that each fill of the ring ends once with an add, and once with a return
      ASSERT_EQ(b.policy->take_newest(0, b.all), nullptr);
    }
    ASSERT_EQ(b.policy->get(1), &other) << "round " << i;
  }
}

TEST_P(every_policy, gives_a_waiter_nothing_while_urgent_work_of_others_is_ready) {
  b.add(0, 1, 0);
  b.policy->add(&b.family.unrelated(1), 1, origin::fresh);
  EXPECT_EQ(b.policy->take_newest(0, b.all), nullptr);
  EXPECT_EQ(b.policy->get(0), &b.family[1]);
  EXPECT_EQ(b.policy->take_newest(0, b.all), &b.family[0]);
}

TEST_P(every_policy, gives_a_waiter_its_newest_urgent_work) {
  for (int i = 0; i < 3; ++i)
    b.policy->add(&b.family.child(6), 0, origin::fresh);
  EXPECT_EQ(b.policy->take_newest(0, b.all), &b.family[2]);
  EXPECT_EQ(b.policy->take_newest(0, b.all), &b.family[1]);
  EXPECT_EQ(b.policy->get(1), &b.family[0]);
}

TEST_P(every_policy, gives_a_waiter_no_resumed_frame) {
  runnable frame;
  frame.what = runnable::kind::frame;
  b.policy->add(&frame, 0, origin::resumed);
  EXPECT_EQ(b.policy->take_newest(0, b.all), nullptr);
  EXPECT_EQ(b.policy->get(1), &frame);
}

/// More threads than cpus and than ids of the delegation lock, each adding, waiting and getting.
TEST_P(every_policy, counts_looks_that_took_the_schedulers_lock) {
  b.add(0, 3, 0);
  b.drain(2);
  const bool delegated = GetParam().kind == policy_kind::delegated;
  EXPECT_EQ(b.counts[2].lock_owned, delegated ? 3u : 0u) << "the look that finds nothing takes none";
  EXPECT_EQ(b.counts[2].lock_answered + b.counts[2].lock_parked, 0u) << "no other thread looks";
  EXPECT_EQ(b.counts[0].lock_owned, 0u);
}

TEST_P(every_policy, loses_and_doubles_nothing_among_eight_threads) {
  const int each = test::scaled(4000, 200);
  std::vector<std::atomic<int>> taken(static_cast<std::size_t>(each) * k_ids);
  struct work : weft::rt::task {
    work() : weft::rt::task(weft::detail::k_no_body, nullptr, nullptr) {}
  };
  std::vector<work> tasks(taken.size());
  std::atomic<int> left{static_cast<int>(taken.size())};
  const auto take = [&](runnable *r) {
    if (r) {
      ++taken[static_cast<std::size_t>(static_cast<work *>(r) - tasks.data())];
      --left;
    }
  };
  std::vector<std::thread> threads;
  for (unsigned id = 0; id < k_ids; ++id)
    threads.emplace_back([&, id] {
      for (int i = 0; i < each; ++i) {
        weft::rt::task &t =
            tasks[id * static_cast<std::size_t>(each) + static_cast<std::size_t>(i)];
        t.parent = &b.family.root();
        t.priority = static_cast<std::int16_t>(i % 16 == 7 ? 1 : i % 16 == 9 ? -1 : 0);
        b.policy->add(&t, i % 8 == 3 ? k_outside : id,
                      i % 8 == 4 ? origin::yielded : origin::fresh);
        take(i % 3 ? b.policy->take_newest(id, b.all) : nullptr);
        take(i % 3 == 2 ? b.policy->get(id) : nullptr);
      }
      while (left > 0) {
        take(b.policy->get(id));
        std::this_thread::yield();
      }
    });
  for (std::thread &t : threads)
    t.join();
  for (const auto &n : taken)
    ASSERT_EQ(n, 1);
  if (GetParam().kind != policy_kind::delegated)
    return;
  std::uint64_t looks = 0;
  for (unsigned id = 0; id < k_ids; ++id) {
    looks += b.counts[id].lock_owned + b.counts[id].lock_answered;
    if (id >= k_workers || GetParam().lock == lock_kind::ticket) {
      EXPECT_EQ(b.counts[id].lock_answered, 0u) << "the lock knows the workers alone: " << id;
    }
  }
  EXPECT_GE(looks, taken.size());
}

INSTANTIATE_TEST_SUITE_P(
    , every_policy,
    testing::Values(variant{"stealing", policy_kind::stealing},
                    variant{"central", policy_kind::central},
                    variant{"delegated", policy_kind::delegated},
                    variant{"delegated_one_queue", policy_kind::delegated, lock_kind::delegation,
                            1},
                    variant{"delegated_ticket", policy_kind::delegated, lock_kind::ticket},
                    variant{"delegated_per_node", policy_kind::delegated, lock_kind::delegation, 0,
                            1, 0},
                    variant{"delegated_per_node_ticket", policy_kind::delegated, lock_kind::ticket,
                            0, 1, 0},
                    variant{"delegated_three_locks", policy_kind::delegated, lock_kind::delegation,
                            0, 1, 3},
                    variant{"delegated_more_locks_than_workers", policy_kind::delegated,
                            lock_kind::delegation, 1, 1, 64},
                    variant{"local_fifo", policy_kind::local_fifo},
                    variant{"local_fifo_three_high_queues", policy_kind::local_fifo,
                            lock_kind::delegation, 0, 3}),
    [](const auto &info) { return std::string(info.param.name); });

TEST(stealing, is_newest_first_at_home_and_oldest_first_away) {
  bench b({"", policy_kind::stealing});
  b.add(0, 6, 0);
  EXPECT_EQ(b.policy->get(1), &b.family[0]);
  EXPECT_EQ(b.policy->get(0), &b.family[5]);
  EXPECT_EQ(b.policy->get(2), &b.family[1]);
  EXPECT_EQ(b.policy->get(0), &b.family[4]);
  EXPECT_EQ(b.steals(), 2u);
}

TEST(stealing, lets_work_from_outside_and_yielded_work_not_starve) {
  bench b({"", policy_kind::stealing});
  b.policy->add(&b.family.child(), k_outside, origin::fresh);
  b.policy->add(&b.family.child(), 0, origin::yielded);
  bool seen[2] = {};
  for (int i = 0; i < 200 && !(seen[0] && seen[1]); ++i) { // the deque is never empty
    b.policy->add(&b.family.child(), 0, origin::fresh);
    b.policy->add(&b.family.child(), 0, origin::fresh);
    const int n = b.number(b.policy->get(0));
    if (n < 2)
      seen[n] = true;
  }
  EXPECT_TRUE(seen[0] && seen[1]);
}

// As the work of a thread that runs none itself, when the only worker never runs out of its own.
TEST(stealing, takes_work_of_another_thread_now_and_then_when_asked_for_shared_work) {
  bench b({"", policy_kind::stealing});
  b.add(0, 2, 5);
  int asked = 0, found = 0;
  for (int i = 0; i < 100 && found < 2; ++i, ++asked) { // the deque is never empty
    b.policy->add(&b.family.child(), 0, origin::fresh);
    b.policy->add(&b.family.child(), 0, origin::fresh);
    const int n = b.number(b.policy->get_shared_first(0));
    if (n < 2) {
      EXPECT_EQ(n, found++) << "the oldest first";
    }
  }
  EXPECT_EQ(found, 2);
  EXPECT_EQ(asked, 2 * 16) << "seldom: a steal takes cache lines of its victim";
}

// As above, while a task yields all the time.
TEST(stealing, takes_work_of_another_thread_while_yielded_work_comes_back) {
  bench b({"", policy_kind::stealing});
  b.add(0, 1, 5);
  runnable *yielder = &b.family.child();
  b.policy->add(yielder, 0, origin::yielded);
  bool found = false;
  for (int i = 0; i < 100 && !found; ++i) {
    runnable *const next = b.policy->get_shared_first(0);
    found = next != yielder;
    if (!found)
      b.policy->add(yielder, 0, origin::yielded);
  }
  EXPECT_TRUE(found);
}

TEST(central, is_first_in_first_out_over_all_workers) {
  bench b({"", policy_kind::central});
  for (unsigned i = 0; i < 8; ++i)
    b.add(0, 1, i % 3);
  EXPECT_EQ(b.drain(3), (numbers{0, 1, 2, 3, 4, 5, 6, 7}));
}

TEST(delegated, is_first_in_first_out_for_each_adder) {
  bench b({"", policy_kind::delegated});
  for (unsigned i = 0; i < 300; ++i) // more than the insertion queues hold
    b.add(0, 1, i % 2);
  const numbers got = b.drain(3);
  ASSERT_EQ(got.size(), 300u);
  int last[2] = {-1, -1};
  for (const int n : got) {
    EXPECT_GT(n, last[n % 2]);
    last[n % 2] = n;
  }
}

const variant k_per_node{"", policy_kind::delegated, lock_kind::delegation, 0, 1, 0};

TEST(delegated_per_node, is_first_in_first_out_for_each_adder) {
  bench b(k_per_node);
  for (unsigned i = 0; i < 300; ++i) // more than the insertion queues hold
    b.add(0, 1, i % 2);
  const numbers got = b.drain(3);
  ASSERT_EQ(got.size(), 300u);
  int last[2] = {-1, -1};
  for (const int n : got) {
    EXPECT_GT(n, last[n % 2]);
    last[n % 2] = n;
  }
}

TEST(delegated_per_node, looks_at_its_own_node_first) {
  bench b(k_per_node);
  b.add(0, 2, 1);
  b.add(2, 4, 0);
  EXPECT_EQ(b.policy->get(2), &b.family[2]); // 0 and 2 are of one node
  EXPECT_EQ(b.policy->get(3), &b.family[0]);
  EXPECT_EQ(b.policy->get(2), &b.family[3]);
  EXPECT_EQ(b.policy->get(2), &b.family[1]) << "of the other node, when its own has nothing";
  EXPECT_EQ(b.counts[2].lock_owned, 3u) << "one lock for each item: empty queues are seen without it";
  EXPECT_FALSE(b.policy->has_work());
}

TEST(delegated_per_node, takes_urgent_work_of_another_node_first_and_patient_work_last) {
  bench b(k_per_node);
  b.policy->add(&b.family.child(-1), 0, origin::fresh);
  b.policy->add(&b.family.child(0), 0, origin::fresh);
  b.policy->add(&b.family.child(0), 1, origin::fresh);
  b.policy->add(&b.family.child(3), 0, origin::fresh);
  b.policy->add(&b.family.child(7), 1, origin::fresh);
  EXPECT_TRUE(b.policy->outranks(6));
  EXPECT_EQ(b.drain(0), (numbers{4, 3, 1, 2, 0}));
  EXPECT_FALSE(b.policy->outranks(0));
}

TEST(delegated_per_node, knows_of_urgent_and_of_patient_work) {
  for (const int priority : {7, -7}) {
    bench b(k_per_node);
    b.policy->add(&b.family.child(priority), 1, origin::fresh);
    EXPECT_TRUE(b.policy->has_work()) << priority;
    EXPECT_EQ(b.policy->length(k_outside), 1u) << priority;
    EXPECT_EQ(b.policy->outranks(6), priority > 0) << priority;
    EXPECT_EQ(b.policy->get(0), &b.family[0]) << priority;
    EXPECT_EQ(b.policy->length(k_outside), 0u) << priority;
  }
}

TEST(delegated_per_node, a_waiter_takes_nothing_in_place_while_urgent_work_is_ready) {
  bench b(k_per_node);
  b.add(0, 1, 1);
  b.policy->add(&b.family.child(7), 0, origin::fresh);
  EXPECT_EQ(b.policy->take_newest(1, b.all), nullptr);
  EXPECT_EQ(b.policy->get(1), &b.family[1]);
  EXPECT_EQ(b.policy->take_newest(1, b.all), &b.family[0]);
}

// As tasks that wait for others by yielding, where the workers of those nodes are busy or park. With four
// queues the work of worker 3 is behind two queues to which yielded work comes back.
TEST(delegated_per_node, takes_work_of_each_node_while_yielded_work_comes_back) {
  for (const int queues : {0, 4}) {
    variant v = k_per_node;
    v.lock_queues = queues;
    bench b(v);
    b.add(0, 1, 1);
    b.add(1, 2, 3);
    const std::map<runnable *, unsigned> yielders{{&b.family.child(), 0}, {&b.family.child(), 1}};
    for (const auto &[yielder, id] : yielders)
      b.policy->add(yielder, id, origin::yielded);
    std::set<runnable *> found;
    for (int i = 0; i < 500; ++i) {
      runnable *const next = b.policy->get(0);
      if (const auto yielder = yielders.find(next); yielder != yielders.end())
        b.policy->add(next, yielder->second, origin::yielded);
      else
        found.insert(next);
    }
    EXPECT_EQ(found, (std::set<runnable *>{&b.family[0], &b.family[1]})) << queues;
  }
}

TEST(local_fifo, is_first_in_first_out_at_home) {
  bench b({"", policy_kind::local_fifo});
  b.add(0, 20, 0);
  const numbers got = b.drain(0);
  for (int i = 0; i < 20; ++i)
    EXPECT_EQ(got[static_cast<std::size_t>(i)], i);
}

TEST(local_fifo, prefers_pending_at_home_and_staged_away) {
  bench b({"", policy_kind::local_fifo});
  b.add(0, 1, 0);
  b.policy->add(&b.family.child(), 0, origin::resumed);
  b.add(0, 1, 2);
  b.policy->add(&b.family.child(), 2, origin::resumed);
  EXPECT_EQ(b.policy->get(0), &b.family[1]);
  EXPECT_EQ(b.policy->get(0), &b.family[0]);
  EXPECT_EQ(b.policy->get(0), &b.family[2]);
  EXPECT_EQ(b.policy->get(0), &b.family[3]);
  EXPECT_EQ(b.steals(), 2u);
}

TEST(local_fifo, robs_neighbours_of_its_node_first) {
  bench b({"", policy_kind::local_fifo});
  b.add(0, 1, 1);
  b.policy->add(&b.family.child(), 2, origin::resumed);
  b.add(0, 1, 3);
  EXPECT_EQ(b.policy->get(0), &b.family[1]); // pending on the own node before staged on the other
  EXPECT_EQ(b.policy->get(2), &b.family[2]); // the next worker in turn
  EXPECT_EQ(b.policy->get(0), &b.family[0]);
}

TEST(local_fifo, finds_a_waiters_newest_after_it_became_pending) {
  bench b({"", policy_kind::local_fifo});
  b.add(0, 4, 0);
  EXPECT_EQ(b.policy->get(0), &b.family[0]); // the rest of the batch is pending now
  EXPECT_EQ(b.policy->take_newest(0, b.all), &b.family[3]);
  b.add(0, 1, 0);
  EXPECT_EQ(b.policy->take_newest(0, b.all), &b.family[4]);
  EXPECT_EQ(b.drain(0), (numbers{1, 2}));
}

} // namespace
