// SPDX-License-Identifier: Apache-2.0
// Tests what each function of ALPI does, and what it returns on misuse.
#include <alpi/alpi.h>

#include "support/case_process.hpp"
#include "support/gate.hpp"

#include <weft/weft.hpp>

#include <atomic>
#include <cstring>
#include <functional>
#include <gtest/gtest.h>
#include <sched.h>
#include <semaphore>
#include <string>
#include <thread>
#include <unistd.h>
#include <vector>

namespace {

/// Runs `f` as a task and waits for it.
void in_task(const std::function<void()> &f) {
  weft::spawn([&] { f(); });
  weft::taskwait();
}
alpi_task *self() {
  alpi_task *task = nullptr;
  EXPECT_EQ(alpi_task_self(&task), ALPI_SUCCESS);
  return task;
}

TEST(alpi_info, explains_every_code_and_any_other_number) {
  std::vector<std::string> texts;
  for (int code = 0; code < ALPI_ERR_MAX; ++code) {
    const char *text = alpi_error_string(static_cast<alpi_error_t>(code));
    ASSERT_NE(text, nullptr);
    texts.emplace_back(text);
    EXPECT_NE(texts.back(), "Error code not recognized");
    for (int other = 0; other < code; ++other)
      EXPECT_NE(texts[static_cast<std::size_t>(other)], texts.back());
  }
  EXPECT_EQ(ALPI_ERR_MAX, 8);
  for (int code : {-1, int{ALPI_ERR_MAX}, 1000})
    EXPECT_STREQ(alpi_error_string(static_cast<alpi_error_t>(code)), "Error code not recognized");
}

TEST(alpi_info, has_the_numbers_of_the_interface) {
  EXPECT_EQ(ALPI_ERR_VERSION, 1);
  EXPECT_EQ(ALPI_ERR_NOT_INITIALIZED, 2);
  EXPECT_EQ(ALPI_ERR_PARAMETER, 3);
  EXPECT_EQ(ALPI_ERR_OUT_OF_MEMORY, 4);
  EXPECT_EQ(ALPI_ERR_OUTSIDE_TASK, 5);
  EXPECT_EQ(ALPI_ERR_UNKNOWN, 6);
  EXPECT_EQ(ALPI_ERR_FEATURE_UNKNOWN, 7);
  EXPECT_EQ(ALPI_INFO_VERSION, 2);
  EXPECT_EQ(ALPI_SUSPEND_EVENT_SUBMIT, 3);
}

TEST(alpi_info, tells_its_version_and_which_it_can_stand_in_for) {
  int major = 0, minor = 0;
  EXPECT_EQ(alpi_version_get(&major, &minor), ALPI_SUCCESS);
  EXPECT_EQ(major, 1);
  EXPECT_EQ(minor, 2);
  EXPECT_EQ(alpi_version_get(nullptr, &minor), ALPI_ERR_PARAMETER);
  EXPECT_EQ(alpi_version_get(&major, nullptr), ALPI_ERR_PARAMETER);
  for (int m : {0, 1, 2})
    EXPECT_EQ(alpi_version_check(1, m), ALPI_SUCCESS);
  EXPECT_EQ(alpi_version_check(1, 3), ALPI_ERR_VERSION);
  EXPECT_EQ(alpi_version_check(2, 0), ALPI_ERR_VERSION);
  EXPECT_EQ(alpi_version_check(0, 0), ALPI_ERR_VERSION);
}

TEST(alpi_info, names_the_runtime_within_the_room_that_it_gets) {
  char text[64];
  int length = 0;
  EXPECT_EQ(alpi_info_get(ALPI_INFO_RUNTIME_NAME, text, sizeof text, &length), ALPI_SUCCESS);
  EXPECT_STREQ(text, "Weft");
  EXPECT_EQ(length, 4);
  EXPECT_EQ(alpi_info_get(ALPI_INFO_RUNTIME_VENDOR, text, sizeof text, nullptr), ALPI_SUCCESS);
  EXPECT_STRNE(text, "");
  EXPECT_EQ(alpi_info_get(ALPI_INFO_VERSION, text, sizeof text, &length), ALPI_SUCCESS);
  EXPECT_EQ(std::string(text), std::string("ALPI 1.2 (Weft ") + WEFT_VERSION_STRING + ")");
  EXPECT_EQ(alpi_info_get(ALPI_INFO_RUNTIME_NAME, text, 3, &length), ALPI_SUCCESS);
  EXPECT_STREQ(text, "We");
  EXPECT_EQ(length, 2);
  EXPECT_EQ(alpi_info_get(ALPI_INFO_RUNTIME_NAME, text, 0, &length), ALPI_ERR_PARAMETER);
  EXPECT_EQ(alpi_info_get(ALPI_INFO_RUNTIME_NAME, nullptr, 8, &length), ALPI_ERR_PARAMETER);
  EXPECT_EQ(alpi_info_get(static_cast<alpi_info_t>(9), text, sizeof text, &length),
            ALPI_ERR_PARAMETER);
}

TEST(alpi_info, knows_its_features) {
  const int all =
      ALPI_FEATURE_BLOCKING | ALPI_FEATURE_EVENTS | ALPI_FEATURE_RESOURCES | ALPI_FEATURE_SUSPEND;
  EXPECT_EQ(all, 15);
  for (int mask = 0; mask <= all; ++mask)
    EXPECT_EQ(alpi_feature_check(mask), ALPI_SUCCESS);
  EXPECT_EQ(alpi_feature_check(16), ALPI_ERR_FEATURE_UNKNOWN);
  EXPECT_EQ(alpi_feature_check(1 | 1 << 20), ALPI_ERR_FEATURE_UNKNOWN);
}

/// Runs a body on a thread that Weft does not know.
void in_unadopted_thread(const std::function<void()> &f) { std::thread(f).join(); }

TEST(alpi_self, is_the_running_task_the_first_thread_or_one_that_has_used_weft) {
  EXPECT_EQ(alpi_task_self(nullptr), ALPI_ERR_PARAMETER);
  alpi_task *const first = self();
  EXPECT_NE(first, nullptr);
  in_unadopted_thread([first] {
    EXPECT_EQ(self(), nullptr);
    weft::start();
    alpi_task *const mine = self();
    EXPECT_NE(mine, nullptr);
    EXPECT_NE(mine, first);
    EXPECT_EQ(self(), mine);
  });
  in_task([first] {
    alpi_task *outer = self();
    EXPECT_NE(outer, nullptr);
    EXPECT_NE(outer, first);
    weft::spawn([outer] { EXPECT_NE(self(), outer); });
    weft::taskwait();
    EXPECT_EQ(self(), outer);
  });
  EXPECT_EQ(self(), first);
}

TEST(alpi_self, is_null_in_services) {
  struct seen {
    std::atomic<bool> asked{false}, none{false};
  } at;
  const weft::service s(
      "looks", weft::poll_point::idle,
      [](void *p) {
        auto &at = *static_cast<seen *>(p);
        at.none = self() == nullptr;
        at.asked = true;
        return false;
      },
      &at);
  EXPECT_TRUE(test::eventually([&] { return at.asked.load(); }));
  EXPECT_TRUE(at.none);
}

TEST(alpi_self, starts_the_runtime_for_the_first_thread_only) {
  auto end = test::in_process({}, [] {
    in_unadopted_thread([] { EXPECT_EQ(self(), nullptr); });
    weft::configure("workers", "1"); // would come too late
    EXPECT_NE(self(), nullptr);
    EXPECT_THROW(weft::configure("workers", "2"), weft::error);
    EXPECT_EQ(weft::worker_count(), 1);
  });
  EXPECT_TRUE(end.exited(0)) << end;
}

TEST(alpi_self, tells_of_a_wrong_setting) {
  auto end = test::in_process({{"WEFT_WORKERS", "few"}}, [] {
    alpi_task *task = nullptr;
    EXPECT_EQ(alpi_task_self(&task), ALPI_ERR_NOT_INITIALIZED);
    EXPECT_EQ(task, nullptr);
    EXPECT_EQ(alpi_task_waitfor_ns(1, nullptr), ALPI_ERR_NOT_INITIALIZED);
  });
  EXPECT_TRUE(end.exited(0)) << end;
}

TEST(alpi_block, lasts_until_the_unblock_of_any_thread) {
  std::atomic<alpi_task *> task{nullptr};
  std::atomic<bool> unblocked{false}, in_time{false}, other_ran{false};
  weft::spawn([&] {
    task = self();
    EXPECT_EQ(alpi_task_block(task), ALPI_SUCCESS);
    in_time = unblocked.load();
  });
  weft::spawn([&] { other_ran = true; }); // needs a worker: the blocked task holds none
  std::thread other([&] {
    while (!task || !other_ran)
      std::this_thread::yield();
    unblocked = true;
    EXPECT_EQ(alpi_task_unblock(task), ALPI_SUCCESS);
  });
  weft::taskwait();
  other.join();
  EXPECT_TRUE(in_time);
}

TEST(alpi_block, returns_at_once_when_one_unblock_came_first) {
  in_task([] {
    EXPECT_EQ(alpi_task_unblock(self()), ALPI_SUCCESS);
    EXPECT_EQ(alpi_task_unblock(self()), ALPI_ERR_PARAMETER) << "a second one before the block";
    EXPECT_EQ(alpi_task_block(self()), ALPI_SUCCESS);
    EXPECT_EQ(alpi_task_unblock(self()), ALPI_SUCCESS);
    EXPECT_EQ(alpi_task_block(self()), ALPI_SUCCESS);
  });
}

TEST(alpi_block, refuses_unadopted_threads) {
  int nobody = 0;
  in_unadopted_thread([&] {
    EXPECT_EQ(alpi_task_block(reinterpret_cast<alpi_task *>(&nobody)), ALPI_ERR_OUTSIDE_TASK);
    EXPECT_EQ(alpi_task_block(nullptr), ALPI_ERR_OUTSIDE_TASK);
  });
  EXPECT_EQ(alpi_task_unblock(nullptr), ALPI_ERR_PARAMETER);
  in_task([&] {
    EXPECT_EQ(alpi_task_block(nullptr), ALPI_ERR_PARAMETER);
    EXPECT_EQ(alpi_task_block(reinterpret_cast<alpi_task *>(&nobody)), ALPI_ERR_PARAMETER);
  });
}

TEST(alpi_waitfor, lasts_at_least_as_long_and_is_not_unblocked) {
  in_unadopted_thread([] {
    std::uint64_t actual = 0;
    EXPECT_EQ(alpi_task_waitfor_ns(1000, &actual), ALPI_ERR_OUTSIDE_TASK);
  });
  in_task([] {
    std::uint64_t passed = 0;
    EXPECT_EQ(alpi_task_unblock(self()), ALPI_SUCCESS); // is kept for the next block
    EXPECT_EQ(alpi_task_waitfor_ns(2'000'000, &passed), ALPI_SUCCESS);
    EXPECT_GE(passed, 2'000'000u);
    EXPECT_EQ(alpi_task_waitfor_ns(1000, nullptr), ALPI_SUCCESS);
    EXPECT_EQ(alpi_task_waitfor_ns(0, &passed), ALPI_SUCCESS);
    EXPECT_EQ(alpi_task_block(self()), ALPI_SUCCESS);
  });
}

TEST(alpi_events, hold_the_data_until_any_thread_has_decreased_them) {
  int x = 0, seen = 0;
  std::atomic<alpi_task *> task{nullptr};
  weft::spawn(
      [&] {
        EXPECT_EQ(alpi_task_events_increase(self(), 3), ALPI_SUCCESS);
        task = self();
      },
      weft::out(x));
  weft::spawn([&] { seen = x; }, weft::in(x));
  std::thread other([&] { // knows nothing of Weft
    while (!task)
      std::this_thread::yield();
    EXPECT_EQ(alpi_task_events_decrease(task, 2), ALPI_SUCCESS);
    EXPECT_EQ(alpi_task_events_decrease(task, 2), ALPI_ERR_PARAMETER) << "more than there are";
    x = 9;
    EXPECT_EQ(alpi_task_events_decrease(task, 1), ALPI_SUCCESS);
  });
  weft::taskwait();
  other.join();
  EXPECT_EQ(seen, 9);
}

TEST(alpi_events, are_tested_by_their_task) {
  std::uint64_t has = 7;
  in_task([&] {
    EXPECT_EQ(alpi_task_events_test(self(), &has), ALPI_SUCCESS);
    EXPECT_EQ(has, 0u);
    EXPECT_EQ(alpi_task_events_increase(self(), 2), ALPI_SUCCESS);
    EXPECT_EQ(alpi_task_events_decrease(self(), 1), ALPI_SUCCESS);
    EXPECT_EQ(alpi_task_events_test(self(), &has), ALPI_SUCCESS);
    EXPECT_EQ(has, 1u);
    EXPECT_EQ(alpi_task_events_decrease(self(), 1), ALPI_SUCCESS);
    EXPECT_EQ(alpi_task_events_test(self(), &has), ALPI_SUCCESS);
    EXPECT_EQ(has, 0u);
    EXPECT_EQ(alpi_task_events_test(self(), nullptr), ALPI_ERR_PARAMETER);
    EXPECT_EQ(alpi_task_events_test(nullptr, &has), ALPI_ERR_PARAMETER);
  });
  in_unadopted_thread(
      [&] { EXPECT_EQ(alpi_task_events_test(nullptr, &has), ALPI_ERR_OUTSIDE_TASK); });
}

TEST(alpi_events, refuse_unadopted_threads_and_what_is_too_much) {
  in_unadopted_thread(
      [] { EXPECT_EQ(alpi_task_events_increase(nullptr, 1), ALPI_ERR_OUTSIDE_TASK); });
  EXPECT_EQ(alpi_task_events_decrease(nullptr, 1), ALPI_ERR_PARAMETER);
  in_task([] {
    EXPECT_EQ(alpi_task_events_increase(nullptr, 1), ALPI_ERR_PARAMETER);
    EXPECT_EQ(alpi_task_events_increase(self(), 0), ALPI_SUCCESS);
    EXPECT_EQ(alpi_task_events_decrease(self(), 0), ALPI_SUCCESS);
    EXPECT_EQ(alpi_task_events_increase(self(), std::uint64_t{1} << 32), ALPI_ERR_PARAMETER);
    EXPECT_EQ(alpi_task_events_decrease(self(), 1), ALPI_ERR_PARAMETER);
    EXPECT_EQ(alpi_task_events_decrease(self(), std::uint64_t{1} << 40), ALPI_ERR_PARAMETER);
  });
}

TEST(alpi_attr, are_made_by_the_library_or_in_memory_of_the_caller) {
  alpi_attr *attr = nullptr;
  ASSERT_EQ(alpi_attr_create(&attr), ALPI_SUCCESS);
  ASSERT_NE(attr, nullptr);
  EXPECT_EQ(alpi_attr_init(attr), ALPI_SUCCESS);
  EXPECT_EQ(alpi_attr_destroy(attr), ALPI_SUCCESS);
  std::uint64_t bytes = 0;
  ASSERT_EQ(alpi_attr_size(&bytes), ALPI_SUCCESS);
  std::vector<std::uint64_t> room(bytes / sizeof(std::uint64_t) + 1, 0);
  auto *own = reinterpret_cast<alpi_attr *>(room.data());
  const auto nothing = [](void *) {};
  EXPECT_EQ(alpi_task_spawn(nothing, nullptr, nothing, nullptr, "unset", own), ALPI_ERR_PARAMETER);
  EXPECT_EQ(alpi_attr_destroy(own), ALPI_ERR_PARAMETER);
  EXPECT_EQ(alpi_attr_init(own), ALPI_SUCCESS);
  std::atomic<bool> over{false};
  EXPECT_EQ(alpi_task_spawn(
                nothing, nullptr, [](void *p) { *static_cast<std::atomic<bool> *>(p) = true; },
                &over, "set", own),
            ALPI_SUCCESS);
  EXPECT_TRUE(test::eventually([&] { return over.load(); }));
  EXPECT_EQ(alpi_attr_create(nullptr), ALPI_ERR_PARAMETER);
  EXPECT_EQ(alpi_attr_init(nullptr), ALPI_ERR_PARAMETER);
  EXPECT_EQ(alpi_attr_destroy(nullptr), ALPI_ERR_PARAMETER);
  EXPECT_EQ(alpi_attr_size(nullptr), ALPI_ERR_PARAMETER);
}

struct job {
  std::atomic<int> steps{0}, at_completion{-1};
  std::atomic<bool> over{false};
  std::string label;
  static void body(void *p) {
    auto *e = static_cast<job *>(p);
    EXPECT_NE(self(), nullptr);
    e->label = weft::this_task::label();
    weft::spawn([e] { weft::taskyield(), ++e->steps; });
    alpi_task_events_increase(self(), 1);
    weft::spawn([e, task = self()] { ++e->steps, alpi_task_events_decrease(task, 1); });
  }
  static void completed(void *p) {
    auto *e = static_cast<job *>(p);
    e->at_completion = e->steps.load();
    e->over = true;
  }
};

TEST(alpi_spawn, runs_the_body_and_after_all_of_it_the_callback) {
  job e;
  {
    std::string label = "job of a library"; // is copied
    EXPECT_EQ(alpi_task_spawn(&job::body, &e, &job::completed, &e, label.c_str(), nullptr),
              ALPI_SUCCESS);
    label = "something else, as long as that";
  }
  EXPECT_TRUE(test::eventually([&] { return e.over.load(); }));
  EXPECT_EQ(e.at_completion, 2);
  EXPECT_EQ(e.label, "job of a library");
}

// Of a library that numbers its tasks, say. Labels that are known stay.
TEST(alpi_spawn, keeps_a_bounded_number_of_labels) {
  constexpr int k_most = 4096;
  const auto label_of = [](const std::string &label) {
    job e;
    EXPECT_EQ(alpi_task_spawn(&job::body, &e, &job::completed, &e, label.c_str(), nullptr),
              ALPI_SUCCESS);
    EXPECT_TRUE(test::eventually([&] { return e.over.load(); }));
    return e.label;
  };
  EXPECT_EQ(label_of("number 0"), "number 0");
  for (int i = 1; i <= k_most; ++i)
    ASSERT_EQ(alpi_task_spawn([](void *) {}, nullptr, [](void *) {}, nullptr,
                              ("number " + std::to_string(i)).c_str(), nullptr),
              ALPI_SUCCESS);
  EXPECT_EQ(label_of("number " + std::to_string(k_most)), "alpi task");
  EXPECT_EQ(label_of("number 0"), "number 0");
}

TEST(alpi_spawn, works_from_tasks_threads_and_callbacks) {
  job of_thread, of_task, of_callback;
  std::thread([&] {
    EXPECT_EQ(
        alpi_task_spawn(&job::body, &of_thread, &job::completed, &of_thread, nullptr, nullptr),
        ALPI_SUCCESS);
  }).join();
  in_task([&] {
    EXPECT_EQ(alpi_task_spawn(&job::body, &of_task, &job::completed, &of_task, nullptr, nullptr),
              ALPI_SUCCESS);
  });
  EXPECT_EQ(alpi_task_spawn([](void *) {}, nullptr,
                            [](void *p) {
                              alpi_task_spawn(&job::body, p, &job::completed, p, nullptr, nullptr);
                            },
                            &of_callback, nullptr, nullptr),
            ALPI_SUCCESS);
  for (job *e : {&of_thread, &of_task, &of_callback})
    EXPECT_TRUE(test::eventually([&] { return e->over.load(); }));
}

TEST(alpi_spawn, needs_both_functions) {
  const auto nothing = [](void *) {};
  EXPECT_EQ(alpi_task_spawn(nullptr, nullptr, nothing, nullptr, nullptr, nullptr),
            ALPI_ERR_PARAMETER);
  EXPECT_EQ(alpi_task_spawn(nothing, nullptr, nullptr, nullptr, nullptr, nullptr),
            ALPI_ERR_PARAMETER);
}

TEST(alpi_spawn, after_the_shutdown_says_so) {
  auto end = test::in_process({}, [] {
    weft::start();
    weft::shutdown();
    const auto nothing = [](void *) {};
    EXPECT_EQ(alpi_task_spawn(nothing, nullptr, nothing, nullptr, nullptr, nullptr),
              ALPI_ERR_NOT_INITIALIZED);
    std::uint64_t n = 0;
    EXPECT_EQ(alpi_cpu_count(&n), ALPI_ERR_NOT_INITIALIZED);
    EXPECT_EQ(self(), nullptr);
  });
  EXPECT_TRUE(end.exited(0)) << end;
}

TEST(alpi_cpu, numbers_are_refused_outside_of_tasks) {
  std::uint64_t id = 0;
  EXPECT_EQ(alpi_cpu_count(nullptr), ALPI_ERR_PARAMETER);
  EXPECT_EQ(alpi_cpu_logical_id(nullptr), ALPI_ERR_PARAMETER);
  EXPECT_EQ(alpi_cpu_system_id(nullptr), ALPI_ERR_PARAMETER);
  in_unadopted_thread([&] {
    EXPECT_EQ(alpi_cpu_logical_id(&id), ALPI_ERR_OUTSIDE_TASK);
    EXPECT_EQ(alpi_cpu_system_id(&id), ALPI_ERR_OUTSIDE_TASK);
  });
}

/// Asks for a number in each of many tasks on `workers` workers, and in `threads` threads.
/// Checks that no two of them have the same number at once.
void numbers_are_of_one_at_a_time(const char *workers, int threads) {
  weft::configure("workers", workers);
  std::uint64_t count = 0;
  ASSERT_EQ(alpi_cpu_count(&count), ALPI_SUCCESS);
  EXPECT_EQ(count, static_cast<std::uint64_t>(sysconf(_SC_NPROCESSORS_CONF)));
  std::vector<std::atomic<int>> inside(count);
  std::atomic<int> met{0}, wrong{0};
  const auto ask = [&] {
    std::uint64_t mine = 0, system = 0;
    wrong += alpi_cpu_logical_id(&mine) != ALPI_SUCCESS || mine >= count;
    wrong += alpi_cpu_system_id(&system) != ALPI_SUCCESS || system >= CPU_SETSIZE;
    met += ++inside[mine] != 1;
    for (int k = 0; k != 3000; ++k)
      static_cast<void>(weft::this_task::label());
    --inside[mine];
  };
  std::vector<std::thread> others;
  for (int i = 0; i != threads; ++i)
    others.emplace_back([&] {
      weft::start();
      for (int k = 0; k != 100; ++k)
        ask();
    });
  for (int i = 0; i != 2000; ++i)
    weft::spawn(ask);
  weft::taskwait();
  for (std::thread &t : others)
    t.join();
  EXPECT_EQ(met, 0);
  EXPECT_EQ(wrong, 0);
}

TEST(alpi_cpu, a_number_is_of_one_task_at_a_time) {
  auto end = test::in_process({}, [] { numbers_are_of_one_at_a_time("2", 0); });
  EXPECT_TRUE(end.exited(0)) << end;
}

TEST(alpi_cpu, more_workers_and_threads_than_cpus_share_the_numbers) {
  auto end = test::in_process({}, [] { numbers_are_of_one_at_a_time("8", 4); });
  EXPECT_TRUE(end.exited(0)) << end;
}

TEST(alpi_cpu, who_sleeps_in_the_kernel_keeps_no_number) {
  auto end = test::in_process({{"WEFT_WORKERS", "4"}}, [] {
    const int all =
        static_cast<int>(sysconf(_SC_NPROCESSORS_CONF)) + 2; // more than there are numbers
    std::vector<std::thread> sleepers;
    std::atomic<int> asleep{0};
    std::counting_semaphore<> open{0};
    for (int i = 0; i != all; ++i)
      sleepers.emplace_back([&] {
        weft::start();
        std::uint64_t id = 0;
        EXPECT_EQ(alpi_cpu_logical_id(&id), ALPI_SUCCESS);
        ++asleep;
        open.acquire();
      });
    in_task([] {
      std::uint64_t id = 0;
      EXPECT_EQ(alpi_cpu_logical_id(&id), ALPI_SUCCESS);
    });
    EXPECT_TRUE(test::eventually([&] { return asleep == all; }));
    open.release(all);
    for (std::thread &t : sleepers)
      t.join();
  });
  EXPECT_TRUE(end.exited(0)) << end;
}

} // namespace
