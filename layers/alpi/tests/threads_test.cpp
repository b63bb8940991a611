// SPDX-License-Identifier: Apache-2.0
// Tests that the first thread, and each thread that has used Weft, is a task to ALPI: it blocks,
// waits and has events. Its worker runs tasks meanwhile.
#include "load_probe.hpp"

#include "support/case_process.hpp"
#include "support/gate.hpp"

#include <weft/weft.hpp>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <gtest/gtest.h>
#include <thread>

namespace {

alpi_task *self() {
  alpi_task *task = nullptr;
  EXPECT_EQ(alpi_task_self(&task), ALPI_SUCCESS);
  return task;
}

/// Does all that a thread may do like a task.
void acts_as_a_task() {
  alpi_task *const me = self();
  ASSERT_NE(me, nullptr);
  std::atomic<bool> task_ran{false};
  weft::spawn([&] { // on this thread's worker, where there is one worker
    task_ran = true;
    EXPECT_NE(self(), me);
    EXPECT_EQ(alpi_task_unblock(me), ALPI_SUCCESS);
  });
  EXPECT_EQ(alpi_task_block(me), ALPI_SUCCESS);
  EXPECT_TRUE(task_ran);
  EXPECT_EQ(alpi_task_unblock(me), ALPI_SUCCESS) << "comes first";
  EXPECT_EQ(alpi_task_unblock(me), ALPI_ERR_PARAMETER);
  EXPECT_EQ(alpi_task_block(me), ALPI_SUCCESS);
  std::uint64_t passed = 0;
  EXPECT_EQ(alpi_task_waitfor_ns(1'000'000, &passed), ALPI_SUCCESS);
  EXPECT_GE(passed, 1'000'000u);

  std::uint64_t has = 7;
  EXPECT_EQ(alpi_task_events_test(me, &has), ALPI_SUCCESS);
  EXPECT_EQ(has, 0u);
  EXPECT_EQ(alpi_task_events_increase(me, 2), ALPI_SUCCESS);
  std::thread([me] { EXPECT_EQ(alpi_task_events_decrease(me, 1), ALPI_SUCCESS); }).join();
  EXPECT_EQ(alpi_task_events_test(me, &has), ALPI_SUCCESS);
  EXPECT_EQ(has, 1u);
  EXPECT_EQ(alpi_task_events_decrease(me, 2), ALPI_ERR_PARAMETER) << "more than there are";
  EXPECT_EQ(alpi_task_events_decrease(me, 1), ALPI_SUCCESS);
  EXPECT_EQ(alpi_task_events_test(me, &has), ALPI_SUCCESS);
  EXPECT_EQ(has, 0u);

  std::uint64_t cpu = 0;
  EXPECT_EQ(alpi_cpu_logical_id(&cpu), ALPI_SUCCESS);
  EXPECT_EQ(alpi_cpu_system_id(&cpu), ALPI_SUCCESS);
  EXPECT_EQ(alpi_task_suspend_mode_set(me, ALPI_SUSPEND_SUBMIT, 0), ALPI_ERR_UNKNOWN)
      << "its body is not Weft's to run again";
  EXPECT_EQ(alpi_task_suspend(me), ALPI_ERR_UNKNOWN);
}

TEST(alpi_threads, the_first_thread_acts_as_a_task_before_anything_else_has_used_weft) {
  auto end = test::in_process({{"WEFT_WORKERS", "1"}}, [] {
    EXPECT_EQ(alpi_task_waitfor_ns(1000, nullptr),
              ALPI_SUCCESS); // what a library calls first, perhaps
    acts_as_a_task();
  });
  EXPECT_TRUE(end.exited(0)) << end;
}

TEST(alpi_threads, one_that_has_used_weft_acts_as_a_task) {
  std::thread([] {
    weft::start();
    acts_as_a_task();
  }).join();
}

TEST(alpi_threads, a_thread_ends_when_its_events_are_over) {
  std::atomic<alpi_task *> task{nullptr};
  std::atomic<bool> over{false}, in_time{false};
  std::thread other([&] {
    weft::start();
    EXPECT_EQ(alpi_task_events_increase(self(), 1), ALPI_SUCCESS);
    task = self();
  });
  weft::spawn([&] {
    while (!task)
      weft::taskyield();
    weft::this_task::sleep_for(std::chrono::milliseconds(3));
    over = true;
    EXPECT_EQ(alpi_task_events_decrease(task, 1), ALPI_SUCCESS);
  });
  other.join();
  in_time = over.load();
  weft::taskwait();
  EXPECT_TRUE(in_time);
}

std::atomic<bool> g_over{false};

TEST(alpi_threads, exit_goes_on_when_the_events_of_the_first_thread_are_over) {
  auto end = test::in_process({}, [] {
    std::atexit([] { // before Weft begins, and so after it has ended
      if (!g_over)
        std::_Exit(9);
    });
    alpi_task *const me = self();
    EXPECT_EQ(alpi_task_events_increase(me, 1), ALPI_SUCCESS);
    std::thread([me] {
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
      g_over = true;
      EXPECT_EQ(alpi_task_events_decrease(me, 1), ALPI_SUCCESS);
    }).detach();
  });
  EXPECT_TRUE(end.exited(0)) << end;
}

int nothing_is_done(int, void **, int *) { return 0; }

TEST(alpi_threads, wait_for_the_end_of_polling) {
  const probe_library *p = load_probe();
  ASSERT_NE(p, nullptr);
  for (const bool suspends : {false, true}) {
    ASSERT_TRUE(p->start(&nothing_is_done, 20'000, suspends));
    std::thread([p] {
      EXPECT_FALSE(p->stop()) << "a thread that Weft does not know has nothing that could wait";
      weft::start();
      EXPECT_TRUE(p->stop());
    }).join();
    ASSERT_TRUE(p->start(&nothing_is_done, 20'000, suspends));
    EXPECT_TRUE(p->stop());
  }
}

} // namespace
