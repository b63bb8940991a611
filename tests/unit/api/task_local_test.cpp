// SPDX-License-Identifier: Apache-2.0
#include "support/case_process.hpp"
#include "support/gate.hpp"

#include <weft/layer/task.hpp>
#include <weft/weft.hpp>

#include <atomic>
#include <deque>
#include <gtest/gtest.h>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace {

/// Counts what lives and what was made.
struct counted {
  static inline std::atomic<int> made{0}, alive{0};
  int value = 0;
  counted() { ++made, ++alive; }
  counted(const counted &o) : value(o.value) { ++made, ++alive; }
  counted &operator=(const counted &) = delete;
  ~counted() { --alive; }
  static void reset() { made = alive = 0; }
};

TEST(task_local, each_task_begins_with_the_initial_value) {
  static weft::task_local<int> depth(7);
  *depth = 1;
  std::atomic<int> wrong{0};
  for (int i = 0; i != 100; ++i)
    weft::spawn([&, i] {
      wrong += *depth != 7;
      *depth = i;
      weft::spawn([&] { wrong += *depth != 7; }); // not inherited
      weft::taskwait();
      wrong += *depth != i;
    });
  weft::taskwait();
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(*depth, 1);
}

TEST(task_local, moves_with_a_task_that_suspends) {
  weft::task_local<std::string> name;
  std::atomic<int> wrong{0};
  for (int i = 0; i != 50; ++i)
    weft::spawn([&, i] {
      std::string *before = &*name;
      *name = std::to_string(i);
      for (int k = 0; k != 5; ++k) {
        test::dawdle();
        wrong += &*name != before || name->compare(std::to_string(i)) != 0;
      }
    });
  weft::taskwait();
  EXPECT_EQ(wrong, 0);
}

TEST(task_local, is_destroyed_when_the_body_has_ended_and_before_successors_run) {
  counted::reset();
  weft::task_local<counted> local;
  int x = 0, alive_in_successor = -1;
  weft::spawn([&] { ++x, local->value = 1; }, weft::inout(x));
  weft::spawn([&] { alive_in_successor = counted::alive; }, weft::in(x));
  weft::taskwait();
  EXPECT_EQ(alive_in_successor, 0);
  EXPECT_EQ(counted::made, 1);
}

TEST(task_local, is_destroyed_when_the_body_throws) {
  counted::reset();
  weft::task_local<counted> local;
  weft::spawn([&] {
    local->value = 1;
    throw std::runtime_error("on purpose");
  });
  EXPECT_THROW(weft::taskwait(), std::runtime_error);
  EXPECT_EQ(counted::made, 1);
  EXPECT_EQ(counted::alive, 0);
}

TEST(task_local, is_destroyed_although_an_event_holds_the_task) {
  counted::reset();
  weft::task_local<counted> local;
  weft::task_ref held;
  test::gate announced;
  weft::spawn([&] {
    local->value = 1;
    weft::this_task::increase_events();
    held = weft::this_task::self();
    announced.open();
  });
  EXPECT_TRUE(announced.pass());
  EXPECT_TRUE(test::eventually([] { return counted::alive == 0; }));
  weft::decrease_events(held);
  weft::taskwait();
}

TEST(task_local, newer_values_are_destroyed_first_and_may_use_older_ones) {
  static std::string order;
  order.clear();
  static weft::task_local<std::string> older;
  struct uses_older {
    ~uses_older() { order += "newer saw " + *older + ";"; }
  };
  struct tells {
    ~tells() { order += "oldest;"; }
  };
  weft::task_local<tells> oldest;
  weft::task_local<uses_older> newer;
  weft::spawn([&] {
    (void)*oldest;
    *older = "older";
    (void)*newer;
  });
  weft::taskwait();
  EXPECT_EQ(order, "newer saw older;oldest;");
}

TEST(task_local, a_destructor_may_spawn_wait_and_make_values) {
  static std::atomic<int> spawned{0};
  static weft::task_local<counted> made_late;
  counted::reset();
  spawned = 0;
  struct spawns {
    ~spawns() {
      weft::spawn([] { test::dawdle(), ++spawned; });
      weft::taskwait();
      made_late->value = 1;
    }
  };
  weft::task_local<spawns> local;
  weft::spawn([&] { (void)*local; });
  weft::taskwait();
  EXPECT_EQ(spawned, 1);
  EXPECT_EQ(counted::made, 1);
  EXPECT_EQ(counted::alive, 0);
}

TEST(task_local, a_value_that_was_destroyed_is_found_no_more) {
  static std::vector<int> order;
  static weft::task_local<counted> again;
  order.clear();
  counted::reset();
  struct looks {
    ~looks() {
      order.push_back(again->value++);
    } // of the second one, which is older than `again` was
  };
  weft::task_local<looks> first, second;
  weft::spawn([&] {
    (void)*first;
    (void)*second;
    again->value = 7; // newest: destroyed first
  });
  weft::taskwait();
  EXPECT_EQ(order, (std::vector<int>{0, 0}))
      << "each destructor makes one anew, which is then the newest";
  EXPECT_EQ(counted::made, 3);
  EXPECT_EQ(counted::alive, 0);
}

TEST(task_local, a_task_may_have_a_thousand_and_loses_them_newest_first) {
  static std::vector<int> ended;
  ended.clear();
  struct numbered {
    int number = -1;
    ~numbered() { ended.push_back(number); }
  };
  std::deque<weft::task_local<numbered>> all(1000);
  for (int round = 0; round < 3; ++round) { // the second time as the first
    ended.clear();
    weft::spawn([&] {
      for (int i = 0; i < 1000; ++i) {
        EXPECT_EQ(all[static_cast<std::size_t>(i)]->number, -1);
        all[static_cast<std::size_t>(i)]->number = i;
      }
      for (int i = 0; i < 1000; ++i)
        EXPECT_EQ(all[static_cast<std::size_t>(i)]->number, i);
    });
    weft::taskwait();
    ASSERT_EQ(ended.size(), 1000u);
    for (int i = 0; i < 1000; ++i)
      EXPECT_EQ(ended[static_cast<std::size_t>(i)], 999 - i);
  }
}

TEST(task_local, both_branches_of_a_join_see_the_value_of_the_caller) {
  weft::task_local<std::atomic<int>> local;
  std::atomic<int> wrong{0};
  for (int i = 0; i != 50; ++i)
    weft::spawn([&] {
      std::atomic<int> *seen[2] = {nullptr, nullptr};
      weft::join([&] { test::dawdle(), seen[0] = &*local; }, [&] { seen[1] = &*local, ++*local; });
      wrong += seen[0] != seen[1] || &*local != seen[0] || *local != 1;
    });
  weft::taskwait();
  EXPECT_EQ(wrong, 0);
}

TEST(task_local, a_constructor_that_throws_leaves_no_value) {
  static int refusals = 0;
  refusals = 1;
  struct refuses {
    refuses() {
      if (refusals-- > 0)
        throw std::runtime_error("not yet");
    }
    int value = 3;
  };
  weft::task_local<refuses> local;
  EXPECT_THROW((void)*local, std::runtime_error);
  EXPECT_EQ(local->value, 3);
}

TEST(task_local, keeps_the_alignment_of_its_type) {
  struct alignas(128) wide {
    char c = 'w';
  };
  weft::task_local<wide> local;
  weft::spawn([&] { EXPECT_EQ(reinterpret_cast<std::uintptr_t>(&*local) % 128, 0u); });
  weft::taskwait();
}

TEST(task_local, of_a_thread_lives_until_the_thread_ends) {
  counted::reset();
  weft::task_local<counted> local;
  std::thread([&] {
    local->value = 1;
    weft::spawn([] { weft::taskyield(); });
    weft::taskwait();
    EXPECT_EQ(local->value, 1);
    EXPECT_EQ(counted::alive, 1);
  }).join();
  EXPECT_EQ(counted::alive, 0);
}

TEST(task_local, of_the_first_thread_lives_until_exit) {
  auto end = test::in_process({}, [] {
    struct says {
      ~says() { std::fputs("destroyed\n", stderr); }
    };
    static weft::task_local<says> local;
    (void)*local;
    std::fputs("main ends\n", stderr);
  });
  EXPECT_TRUE(end.exited(0)) << end;
  EXPECT_NE(end.output.find("main ends\ndestroyed\n"), std::string::npos) << end;
}

TEST(task_local, in_a_service_is_an_error) {
  weft::task_local<int> local;
  std::atomic<int> code{0};
  {
    struct asked {
      weft::task_local<int> &local;
      std::atomic<int> &code;
    } a{local, code};
    weft::service s(
        "asks", weft::poll_point::idle,
        [](void *p) {
          auto &a = *static_cast<asked *>(p);
          try {
            (void)*a.local;
            a.code = -1;
          } catch (const weft::error &e) {
            a.code = static_cast<int>(e.code());
          }
          return false;
        },
        &a);
    EXPECT_TRUE(test::eventually([&] { return code != 0; }));
  }
  EXPECT_EQ(code, static_cast<int>(weft::errc::not_a_task));
}

/// What layer::find_task_value() finds.
struct found_value {
  void *value = nullptr;
  bool in_task;
  explicit found_value(std::uint64_t key) : in_task(weft::layer::find_task_value(key, value)) {}
};

TEST(task_local, a_layer_finds_the_value_of_a_task_and_makes_none) {
  static constexpr weft::detail::local_ops ops{
      sizeof(int), alignof(int), [](void *storage, const void *) { ::new (storage) int(3); },
      [](void *) noexcept {}};
  const std::uint64_t key = weft::detail::local_key();
  EXPECT_FALSE(found_value(key).in_task); // a thread
  std::atomic<int> wrong{0};
  weft::spawn([&] {
    const found_value before(key);
    wrong += !before.in_task || before.value != nullptr;
    void *const made = weft::detail::local_value(key, ops, nullptr);
    wrong += found_value(key).value != made;
    const auto branch = [&] { wrong += found_value(key).value != made; };
    weft::join(branch, branch);
    weft::spawn([&] {
      const found_value of_child(key);
      wrong += !of_child.in_task || of_child.value != nullptr;
    });
    weft::taskwait();
  });
  weft::taskwait();
  std::atomic<bool> ready{false};
  auto note_ready = [&] {
    wrong += found_value(key).in_task;
    ready = true;
  };
  weft::spawn([] {}, weft::onready(note_ready));
  weft::taskwait();
  EXPECT_TRUE(ready);
  EXPECT_EQ(wrong, 0);
}

/// What layer::find_part_value() finds.
struct found_part_value {
  void *value = nullptr;
  bool in_part;
  explicit found_part_value(std::uint64_t key, std::size_t outwards = 0)
      : in_part(weft::layer::find_part_value(key, value, outwards)) {}
};

/// Calls both at the same time, so that another worker runs the second one.
template <class A, class B>
void join_on_two_workers(A first, B second) {
  std::atomic<int> there{0};
  const auto meet = [&] {
    ++there;
    while (there != 2)
      weft::taskyield();
  };
  weft::join(
      [&] {
        meet();
        first();
      },
      [&] {
        meet();
        second();
      });
}

TEST(task_local, each_part_of_a_task_has_values_of_its_own) {
  static std::atomic<int> alive{0};
  alive = 0;
  static constexpr weft::detail::local_ops ops{
      sizeof(int), alignof(int),
      [](void *storage, const void *) {
        ::new (storage) int(3);
        ++alive;
      },
      [](void *) noexcept { --alive; }};
  const std::uint64_t key = weft::detail::local_key();
  EXPECT_FALSE(found_part_value(key).in_part); // a thread
  std::atomic<int> wrong{0};
  const auto makes_its_own = [&] {
    const found_part_value before(key);
    wrong += !before.in_part || before.value != nullptr;
    void *const made = weft::layer::make_part_value(key, ops);
    wrong += found_part_value(key).value != made;
    return made;
  };
  weft::spawn([&] {
    void *const of_body = makes_its_own();
    wrong += found_part_value(key, 1).in_part;
    for (int round = 0; round < 3; ++round)
      join_on_two_workers([&] { wrong += found_part_value(key).value != of_body; },
                          [&] {
                            void *const of_branch = makes_its_own();
                            wrong += found_part_value(key, 1).value != of_body;
                            wrong += found_part_value(key, 2).in_part;
                            join_on_two_workers(
                                [&] { wrong += found_part_value(key).value != of_branch; },
                                [&] {
                                  makes_its_own();
                                  wrong += found_part_value(key, 1).value != of_branch;
                                  wrong += found_part_value(key, 2).value != of_body;
                                  wrong += alive != 3;
                                });
                            wrong += alive != 2; // the value of a branch ends with it
                          });
    wrong += alive != 1;
    weft::spawn([&] { makes_its_own(); });
    weft::taskwait();
  });
  weft::taskwait();
  EXPECT_EQ(alive, 0);
  join_on_two_workers([&] { wrong += found_part_value(key).in_part; }, // the thread
                      [&] {
                        makes_its_own();
                        wrong += found_part_value(key, 1).in_part;
                      });
  EXPECT_EQ(alive, 0);
  std::atomic<bool> ready{false};
  auto note_ready = [&] {
    wrong += found_part_value(key).in_part;
    ready = true;
  };
  weft::spawn([] {}, weft::onready(note_ready));
  weft::taskwait();
  EXPECT_TRUE(ready);
  EXPECT_EQ(wrong, 0);
}

/// Spawns in its destructor, as a value of a branch does.
struct spawns_at_end {
  std::atomic<int> *done;
  ~spawns_at_end() {
    weft::spawn([to = done] { ++*to; });
  }
};

TEST(task_local, a_join_waits_for_what_values_of_its_branch_spawn_at_their_end) {
  static std::atomic<int> done{0};
  done = 0;
  static constexpr weft::detail::local_ops ops{
      sizeof(spawns_at_end), alignof(spawns_at_end),
      [](void *storage, const void *) { ::new (storage) spawns_at_end{&done}; },
      [](void *storage) noexcept { static_cast<spawns_at_end *>(storage)->~spawns_at_end(); }};
  const std::uint64_t key = weft::detail::local_key();
  weft::spawn([&] {
    join_on_two_workers([] {}, [&] { weft::layer::make_part_value(key, ops); });
    EXPECT_EQ(done, 1);
  });
  weft::taskwait();
}

/// A thread_local object whose destructor uses Weft, older than the thread's first use of it.
struct late_user {
  static inline std::atomic<int> done{0};
  bool armed = false;
  ~late_user() {
    if (!armed)
      return;
    weft::spawn([] { ++done; });
    weft::taskwait();
  }
};
thread_local late_user t_late;

TEST(thread_end, thread_local_destructors_may_use_weft_and_no_slot_is_lost) {
  late_user::done = 0;
  constexpr int k_threads = 200; // more than there are slots for threads
  for (int i = 0; i != k_threads; ++i)
    std::thread([] {
      t_late.armed = true;
      weft::spawn([] {});
      weft::taskwait();
    }).join();
  EXPECT_EQ(late_user::done, k_threads);
}

} // namespace
