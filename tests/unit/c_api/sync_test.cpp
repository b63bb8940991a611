// SPDX-License-Identifier: Apache-2.0
// Joins, mutexes, critical sections and services of C.
#include "tune/in_place_types.hpp"
#include "support/gate.hpp"

#include <weft.h>
#include <weft/mutex.hpp>

#include <atomic>
#include <gtest/gtest.h>
#include <stdexcept>

namespace {

int fail_with(void *arg) { return *static_cast<int *>(arg); }

struct fibonacci {
  int n;
  long result;
  static int run(void *arg) {
    auto *self = static_cast<fibonacci *>(arg);
    if (self->n < 2) {
      self->result = self->n;
      return 0;
    }
    fibonacci a{self->n - 1, 0}, b{self->n - 2, 0};
    const int status = weft_join(run, &a, run, &b, nullptr);
    self->result = a.result + b.result;
    return status;
  }
};

TEST(c_join, runs_both_and_returns_when_both_have_ended) {
  fibonacci f{18, 0};
  EXPECT_EQ(fibonacci::run(&f), 0);
  EXPECT_EQ(f.result, 2584);
}

TEST(c_join, gives_the_code_of_f_or_else_of_g) {
  int zero = 0, three = 3, four = 4, code = -1;
  EXPECT_EQ(weft_join(fail_with, &zero, fail_with, &zero, &code), 0);
  EXPECT_EQ(code, 0);
  EXPECT_EQ(weft_join(fail_with, &three, fail_with, &four, &code), WEFT_ERR_TASK_FAILED);
  EXPECT_EQ(code, 3);
  EXPECT_EQ(weft_join(fail_with, &zero, fail_with, &four, &code), WEFT_ERR_TASK_FAILED);
  EXPECT_EQ(code, 4);
}

TEST(c_join, a_cxx_exception_of_a_branch_becomes_a_code) {
  int zero = 0, code = 0;
  const weft_body thrower = [](void *) -> int { throw std::runtime_error("branch"); };
  EXPECT_EQ(weft_join(fail_with, &zero, thrower, nullptr, &code), WEFT_ERR_TASK_FAILED);
  EXPECT_EQ(code, WEFT_ERR_EXCEPTION);
  EXPECT_STREQ(weft_last_error_message(), "branch");
}

TEST(c_join, null_is_refused) {
  int zero = 0;
  EXPECT_EQ(weft_join(nullptr, &zero, fail_with, &zero, nullptr), WEFT_ERR_INVALID_ARGUMENT);
  EXPECT_EQ(weft_join(fail_with, &zero, nullptr, &zero, nullptr), WEFT_ERR_INVALID_ARGUMENT);
}

TEST(c_join, by_cost_does_the_same_in_place) {
  const auto before = weft::rt::g_in_place_mode.load();
  for (const auto mode : {weft::rt::in_place_mode::always, weft::rt::in_place_mode::never}) {
    EXPECT_EQ(weft_taskwait(nullptr), 0); // starts Weft
    weft::rt::g_in_place_mode = mode;
    fibonacci a{10, 0}, b{11, 0};
    EXPECT_EQ(weft_join_by_cost(9, fibonacci::run, &a, fibonacci::run, &b, nullptr), 0);
    EXPECT_EQ(a.result + b.result, 144);
    int zero = 0, three = 3, four = 4, code = -1;
    EXPECT_EQ(weft_join_by_cost(1, fail_with, &zero, fail_with, &four, &code),
              WEFT_ERR_TASK_FAILED);
    EXPECT_EQ(code, 4);
    EXPECT_EQ(weft_join_by_cost(1, fail_with, &three, fail_with, &four, &code),
              WEFT_ERR_TASK_FAILED);
    EXPECT_EQ(code, 3);
    const weft_body thrower = [](void *) -> int { throw std::runtime_error("branch"); };
    EXPECT_EQ(weft_join_by_cost(1, thrower, nullptr, fail_with, &zero, &code),
              WEFT_ERR_TASK_FAILED);
    EXPECT_EQ(code, WEFT_ERR_EXCEPTION);
    EXPECT_EQ(weft_join_by_cost(1, nullptr, &zero, fail_with, &zero, nullptr),
              WEFT_ERR_INVALID_ARGUMENT);
    EXPECT_EQ(weft_join_by_cost(1, fail_with, &zero, nullptr, &zero, nullptr),
              WEFT_ERR_INVALID_ARGUMENT);
  }
  weft::rt::g_in_place_mode = before;
}

TEST(c_mutex, excludes) {
  struct shared {
    weft_mutex *mutex = nullptr;
    int counter = 0;
  } s;
  ASSERT_EQ(weft_mutex_create(&s.mutex), 0);
  for (int i = 0; i < 200; ++i)
    ASSERT_EQ(weft_spawn(
                  [](void *arg) {
                    auto *s = static_cast<shared *>(arg);
                    if (const int status = weft_mutex_lock(s->mutex))
                      return status;
                    const int before = s->counter;
                    weft_taskyield();
                    s->counter = before + 1;
                    return weft_mutex_unlock(s->mutex);
                  },
                  &s, 0, nullptr, 0, nullptr, nullptr),
              0);
  EXPECT_EQ(weft_taskwait(nullptr), 0);
  EXPECT_EQ(s.counter, 200);
  EXPECT_EQ(weft_mutex_destroy(s.mutex), 0);
}

TEST(c_mutex, try_lock_says_busy) {
  weft_mutex *mutex = nullptr;
  ASSERT_EQ(weft_mutex_create(&mutex), 0);
  EXPECT_EQ(weft_mutex_try_lock(mutex), 0);
  EXPECT_EQ(weft_mutex_try_lock(mutex), WEFT_ERR_BUSY);
  EXPECT_EQ(weft_mutex_unlock(mutex), 0);
  EXPECT_EQ(weft_mutex_try_lock(mutex), 0);
  EXPECT_EQ(weft_mutex_unlock(mutex), 0);
  EXPECT_EQ(weft_mutex_destroy(mutex), 0);
}

TEST(c_mutex, null_is_refused_but_may_be_destroyed) {
  EXPECT_EQ(weft_mutex_create(nullptr), WEFT_ERR_INVALID_ARGUMENT);
  EXPECT_EQ(weft_mutex_lock(nullptr), WEFT_ERR_INVALID_ARGUMENT);
  EXPECT_EQ(weft_mutex_try_lock(nullptr), WEFT_ERR_INVALID_ARGUMENT);
  EXPECT_EQ(weft_mutex_unlock(nullptr), WEFT_ERR_INVALID_ARGUMENT);
  EXPECT_EQ(weft_mutex_destroy(nullptr), 0);
}

TEST(c_critical, excludes_sections_of_the_same_name_in_cxx_too) {
  static int counter;
  counter = 0;
  const weft_body increment = [](void *) {
    const int before = counter;
    weft_taskyield();
    counter = before + 1;
    return 0;
  };
  for (int i = 0; i < 50; ++i) {
    ASSERT_EQ(weft_spawn(
                  [](void *arg) {
                    return weft_critical("counter", *static_cast<weft_body *>(arg), nullptr,
                                         nullptr);
                  },
                  &increment, sizeof increment, nullptr, 0, nullptr, nullptr),
              0);
    ASSERT_EQ(weft_spawn(
                  [](void *arg) {
                    return weft::critical(
                        "counter", [&] { return (*static_cast<weft_body *>(arg))(nullptr); });
                  },
                  &increment, sizeof increment, nullptr, 0, nullptr, nullptr),
              0);
  }
  EXPECT_EQ(weft_taskwait(nullptr), 0);
  EXPECT_EQ(counter, 100);
}

TEST(c_critical, gives_the_code_of_its_body) {
  int seven = 7, code = 0;
  EXPECT_EQ(weft_critical(nullptr, fail_with, &seven, &code), WEFT_ERR_TASK_FAILED);
  EXPECT_EQ(code, 7);
  seven = 0;
  EXPECT_EQ(weft_critical(nullptr, fail_with, &seven, &code), 0) << "the section is free again";
  EXPECT_EQ(weft_critical("x", nullptr, nullptr, nullptr), WEFT_ERR_INVALID_ARGUMENT);
}

TEST(c_service, is_polled_and_ends) {
  struct counter {
    std::atomic<int> calls = 0;
    static int poll(void *context) {
      ++static_cast<counter *>(context)->calls;
      return 1;
    }
  } c;
  for (int point : {WEFT_POLL_POINT_IDLE, WEFT_POLL_POINT_TIMER}) {
    weft_service *service = nullptr;
    c.calls = 0;
    ASSERT_EQ(weft_service_create("counter", point, 0, &counter::poll, &c, &service), 0);
    EXPECT_TRUE(test::eventually([&] { return c.calls >= 3; }));
    EXPECT_EQ(weft_service_destroy(service), 0);
    const int at_end = c.calls;
    test::dawdle();
    EXPECT_EQ(c.calls, at_end);
  }
}

TEST(c_service, is_called_where_tasks_pass) {
  struct counter {
    std::atomic<int> calls = 0;
    static int poll(void *context) {
      ++static_cast<counter *>(context)->calls;
      return 0;
    }
  } at_wait, between;
  weft_service *a = nullptr, *b = nullptr;
  ASSERT_EQ(weft_service_create("wait", WEFT_POLL_POINT_TASKWAIT, 0, &counter::poll, &at_wait, &a),
            0);
  ASSERT_EQ(weft_service_create("between", WEFT_POLL_POINT_SCHEDULING_POINT, 0, &counter::poll,
                                &between, &b),
            0);
  ASSERT_EQ(weft_spawn([](void *) { return 0; }, nullptr, 0, nullptr, 0, nullptr, nullptr), 0);
  do // another thread may have the turn
    ASSERT_EQ(weft_taskyield(), 0);
  while (between.calls == 0);
  do { // a child that has ended is not waited for
    ASSERT_EQ(weft_spawn([](void *) { return 0; }, nullptr, 0, nullptr, 0, nullptr, nullptr), 0);
    ASSERT_EQ(weft_taskwait(nullptr), 0);
  } while (at_wait.calls == 0);
  EXPECT_EQ(weft_service_destroy(a), 0);
  EXPECT_EQ(weft_service_destroy(b), 0);
}

TEST(c_service, bad_arguments_are_refused) {
  weft_service *service = nullptr;
  EXPECT_EQ(weft_service_create("s", 4, 0, fail_with, nullptr, &service),
            WEFT_ERR_INVALID_ARGUMENT);
  EXPECT_EQ(weft_service_create("s", -1, 0, fail_with, nullptr, &service),
            WEFT_ERR_INVALID_ARGUMENT);
  EXPECT_EQ(weft_service_create(nullptr, 0, 0, fail_with, nullptr, &service),
            WEFT_ERR_INVALID_ARGUMENT);
  EXPECT_EQ(weft_service_create("s", 0, 0, nullptr, nullptr, &service), WEFT_ERR_INVALID_ARGUMENT);
  EXPECT_EQ(weft_service_create("s", 0, 0, fail_with, nullptr, nullptr), WEFT_ERR_INVALID_ARGUMENT);
  EXPECT_EQ(service, nullptr);
  service = reinterpret_cast<weft_service *>(&service);
  EXPECT_EQ(weft_service_create("s", 4, 0, fail_with, nullptr, &service),
            WEFT_ERR_INVALID_ARGUMENT);
  EXPECT_EQ(service, nullptr) << "nothing that could be destroyed is left in it";
  EXPECT_EQ(weft_service_destroy(nullptr), 0);
}

} // namespace
