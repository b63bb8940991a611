// SPDX-License-Identifier: Apache-2.0
// Exceptions from tasks: where they arrive, and that suspension keeps them apart.
#include "support/case_process.hpp"
#include "support/gate.hpp"
#include "support/scale.hpp"

#include <weft/weft.hpp>

#include <atomic>
#include <exception>
#include <gtest/gtest.h>
#include <stdexcept>
#include <string>
#include <thread>

namespace {

using test::dawdle;

template <class F>
int thrown_by(F &&f) {
  try {
    f();
  } catch (int v) {
    return v;
  }
  return -1;
}

TEST(exceptions, of_a_task_are_rethrown_by_taskwait) {
  weft::spawn([] { throw 5; });
  EXPECT_EQ(thrown_by([] { weft::taskwait(); }), 5);
  EXPECT_EQ(thrown_by([] { weft::taskwait(); }), -1) << "it was delivered already";
}

TEST(exceptions, keep_their_dynamic_type_and_content) {
  weft::spawn([] { throw std::out_of_range("the text"); });
  try {
    weft::taskwait();
    FAIL() << "taskwait did not throw";
  } catch (const std::out_of_range &e) {
    EXPECT_STREQ(e.what(), "the text");
  }
}

TEST(exceptions, do_not_stop_other_tasks) {
  int x = 0;
  std::atomic<int> ran{0};
  weft::spawn(
      [&] {
        x = 1;
        throw 1;
      },
      weft::out(x));
  for (int i = 0; i != 20; ++i)
    weft::spawn([&] { ran += x; }, weft::in(x));
  EXPECT_EQ(thrown_by([] { weft::taskwait(); }), 1);
  EXPECT_EQ(ran, 20);
}

TEST(exceptions, of_many_tasks_give_one_of_them) {
  for (int i = 0; i != 20; ++i)
    weft::spawn([i] { throw i; });
  int v = thrown_by([] { weft::taskwait(); });
  EXPECT_GE(v, 0);
  EXPECT_LT(v, 20);
  EXPECT_EQ(thrown_by([] { weft::taskwait(); }), -1);
}

TEST(exceptions, of_nested_tasks_reach_the_taskwait_of_an_ancestor) {
  weft::spawn([] {
    weft::spawn([] {
      weft::spawn([] {
        dawdle();
        throw 8;
      });
    });
  });
  EXPECT_EQ(thrown_by([] { weft::taskwait(); }), 8);
}

TEST(exceptions, caught_by_an_inner_taskwait_go_no_further) {
  int inner = -1;
  weft::spawn([&] {
    weft::spawn([] { throw 3; });
    inner = thrown_by([] { weft::taskwait(); });
  });
  EXPECT_EQ(thrown_by([] { weft::taskwait(); }), -1);
  EXPECT_EQ(inner, 3);
}

TEST(exceptions, that_leave_a_taskwait_end_its_task_and_reach_the_next) {
  bool after = false;
  weft::spawn([&] {
    weft::spawn([] { throw 4; });
    weft::taskwait();
    after = true;
  });
  EXPECT_EQ(thrown_by([] { weft::taskwait(); }), 4);
  EXPECT_FALSE(after);
}

TEST(exceptions, arrive_at_the_handle_of_their_task) {
  auto h = weft::spawn([]() -> int { throw 6; });
  EXPECT_EQ(thrown_by([&] { h.wait(); }), -1) << "wait() does not rethrow";
  EXPECT_EQ(thrown_by([&] { (void)h.get(); }), 6);
  EXPECT_EQ(thrown_by([] { weft::taskwait(); }), -1) << "it was delivered already";
}

TEST(exceptions, arrive_at_the_handle_of_a_tracked_task) {
  auto h = weft::spawn(
      [] {
        dawdle();
        throw 7;
      },
      weft::tracked);
  EXPECT_EQ(thrown_by([&] { h.get(); }), 7);
  EXPECT_EQ(thrown_by([] { weft::taskwait(); }), -1);
}

TEST(exceptions, of_a_dropped_handle_are_reported) {
  auto end = test::in_process({}, [] {
    (void)weft::spawn([]() -> int { throw std::runtime_error("nobody cares"); },
                      weft::label("forgotten"));
    try {
      weft::taskwait();
    } catch (const std::runtime_error &e) {
      std::fprintf(stderr, "%s\n", e.what());
    }
  });
  EXPECT_TRUE(end.exited(0)) << end;
  EXPECT_TRUE(end.printed("nobody cares")) << end;
}

TEST(exceptions, of_an_undeferred_task_are_rethrown_by_taskwait) {
  bool ran = false;
  EXPECT_EQ(thrown_by([&] {
              weft::spawn(
                  [&] {
                    ran = true;
                    throw 9;
                  },
                  weft::if_(false));
            }),
            -1);
  EXPECT_TRUE(ran);
  EXPECT_EQ(thrown_by([] { weft::taskwait(); }), 9);
}

TEST(exceptions, of_children_of_a_final_task_are_rethrown_by_taskwait) {
  bool went_on = false;
  int inner = -1;
  weft::spawn(
      [&] {
        weft::spawn([] { throw 10; });
        went_on = true;
        inner = thrown_by([] { weft::taskwait(); });
        weft::spawn([] { throw 11; });
      },
      weft::final());
  EXPECT_EQ(thrown_by([] { weft::taskwait(); }), 11);
  EXPECT_TRUE(went_on);
  EXPECT_EQ(inner, 10);
}

TEST(exceptions, release_the_accesses_of_the_task) {
  int x = 0;
  for (int i = 0; i != 20; ++i)
    weft::spawn(
        [&] {
          ++x;
          throw 1;
        },
        weft::inout(x));
  EXPECT_EQ(thrown_by([] { weft::taskwait(); }), 1);
  EXPECT_EQ(x, 20);
}

TEST(exceptions, leave_the_children_of_the_task_running) {
  bool child = false;
  weft::spawn([&] {
    weft::spawn([&] { dawdle(), child = true; });
    throw 12;
  });
  EXPECT_EQ(thrown_by([] { weft::taskwait(); }), 12);
  EXPECT_TRUE(child);
}

TEST(exceptions, work_for_tasks_of_an_external_thread) {
  int got = -1;
  std::thread([&] {
    weft::spawn([] { throw 13; });
    got = thrown_by([] { weft::taskwait(); });
  }).join();
  EXPECT_EQ(got, 13);
  EXPECT_EQ(thrown_by([] { weft::taskwait(); }), -1) << "it belongs to the other thread";
}

TEST(exceptions, in_flight_survive_suspension_inside_a_handler) {
  std::atomic<int> wrong{0};
  const int n = test::scaled(200, 20);
  for (int i = 0; i != n; ++i)
    weft::spawn([&wrong, i] {
      try {
        throw i;
      } catch (int v) {
        weft::taskyield();
        weft::this_task::sleep_for(std::chrono::microseconds(i % 7 * 20));
        try {
          throw std::to_string(v);
        } catch (const std::string &text) {
          weft::taskyield();
          wrong += text != std::to_string(i);
        }
        weft::taskyield();
        try {
          throw; // the exception that this handler handles, not another task's
        } catch (int again) {
          wrong += again != i;
        } catch (...) {
          ++wrong;
        }
      }
      wrong += std::current_exception() != nullptr;
    });
  weft::taskwait();
  EXPECT_EQ(wrong, 0);
}

TEST(exceptions, a_task_that_waits_inside_a_handler_keeps_its_exception) {
  std::atomic<int> wrong{0};
  for (int i = 0; i != 30; ++i)
    weft::spawn([&wrong, i] {
      try {
        throw i;
      } catch (int) {
        for (int k = 0; k != 3; ++k)
          weft::spawn([&wrong, k] {
            wrong += std::current_exception() != nullptr; // the handler is not this task's
            try {
              dawdle();
              throw -k;
            } catch (int v) {
              dawdle();
              wrong += v != -k;
            }
          });
        weft::taskwait();
        wrong += thrown_by([] { throw; }) != i;
      }
    });
  weft::taskwait();
  EXPECT_EQ(wrong, 0);
}

struct yields_while_unwinding {
  std::atomic<int> *wrong;
  ~yields_while_unwinding() {
    *wrong += std::uncaught_exceptions() != 1;
    weft::taskyield();
    *wrong += std::uncaught_exceptions() != 1;
  }
};

TEST(exceptions, a_destructor_may_suspend_during_unwinding) {
  std::atomic<int> wrong{0};
  const int n = test::scaled(100, 20);
  for (int i = 0; i != n; ++i)
    weft::spawn([&wrong, i] {
      try {
        yields_while_unwinding y{&wrong};
        throw i;
      } catch (int v) {
        wrong += v != i;
      }
      wrong += std::uncaught_exceptions() != 0;
    });
  weft::taskwait();
  EXPECT_EQ(wrong, 0);
}

TEST(exceptions, from_a_suspended_task_arrive_too) {
  for (int i = 0; i != 10; ++i) {
    weft::spawn([i] {
      dawdle();
      throw i;
    });
    EXPECT_EQ(thrown_by([] { weft::taskwait(); }), i);
  }
}

TEST(exceptions, of_tasks_outside_of_groups_end_the_program_when_the_setting_says_terminate) {
  auto end = test::in_process({{"WEFT_GROUP_EXCEPTIONS", "terminate"}}, [] {
    weft::spawn([] { throw std::runtime_error("out of cheese"); }, weft::label("the_guilty"));
    weft::taskwait();
  });
  EXPECT_TRUE(end.aborted()) << end;
  EXPECT_TRUE(end.printed(
      "weft: fatal: task 'the_guilty' threw and its policy is terminate: out of cheese"))
      << end;
}

TEST(exceptions, that_nobody_waits_for_are_reported_at_the_end) {
  auto end = test::in_process({}, [] {
    weft::spawn([] { throw std::runtime_error("left behind"); }, weft::label("orphan"));
  });
  EXPECT_TRUE(end.printed("left behind")) << end;
}

} // namespace
