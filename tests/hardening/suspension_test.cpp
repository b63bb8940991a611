// SPDX-License-Identifier: Apache-2.0
// Waiting in the places where a stack is delicate: handlers, destructors that run while an exception flies,
// coroutines, under a lock.
#include "hardening/work.hpp"
#include "support/process.hpp"
#include "support/scale.hpp"

#include <coroutine>
#include <exception>
#include <gtest/gtest.h>
#include <stdexcept>
#include <string>
#include <unistd.h>

namespace {

constexpr int k_tasks = test::scaled(100, 10);

struct by_number : std::runtime_error {
  explicit by_number(int n) : std::runtime_error(std::to_string(n)), number(n) {}
  int number;
};

int current_number() {
  try {
    std::rethrow_exception(std::current_exception());
  } catch (const by_number &e) {
    return e.number;
  }
}

void wait_somehow(int i) {
  switch (i % 4) {
  case 0:
    weft::taskyield();
    break;
  case 1:
    weft::this_task::sleep_for(std::chrono::microseconds(20));
    break;
  case 2:
    weft::spawn([] { weft::taskyield(); });
    weft::taskwait();
    break;
  default:
    weft::join([] { weft::taskyield(); }, [] { weft::taskyield(); });
  }
}

TEST(suspension, inside_catch_keeps_the_exception) {
  std::atomic<int> wrong{0};
  for (int i = 0; i != k_tasks; ++i)
    weft::spawn([&, i] {
      try {
        try {
          throw by_number(i);
        } catch (...) {
          for (int k = 0; k != 4; ++k) {
            wait_somehow(k);
            wrong += current_number() != i;
          }
          throw;
        }
      } catch (const by_number &e) {
        wait_somehow(i);
        wrong += e.number != i;
      }
      wrong += std::current_exception() != nullptr;
    });
  weft::taskwait();
  EXPECT_EQ(wrong, 0);
}

TEST(suspension, inside_nested_handlers_keeps_both_exceptions) {
  std::atomic<int> wrong{0};
  for (int i = 0; i != k_tasks; ++i)
    weft::spawn([&, i] {
      try {
        throw by_number(i);
      } catch (...) {
        wait_somehow(i);
        try {
          throw by_number(-i);
        } catch (...) {
          wait_somehow(i + 1);
          wrong += current_number() != -i;
        }
        wait_somehow(i + 2);
        wrong += current_number() != i;
      }
    });
  weft::taskwait();
  EXPECT_EQ(wrong, 0);
}

TEST(suspension, during_unwinding_keeps_the_exception_in_flight) {
  struct waits {
    std::atomic<int> &wrong;
    int i;
    ~waits() {
      wrong += std::uncaught_exceptions() != 1;
      wait_somehow(i);
      wrong += std::uncaught_exceptions() != 1;
      try {
        wait_somehow(i + 1);
        throw by_number(-i); // and one inside of it
      } catch (const by_number &e) {
        wait_somehow(i + 2);
        wrong += e.number != -i;
      }
    }
  };
  std::atomic<int> wrong{0};
  for (int i = 0; i != k_tasks; ++i)
    weft::spawn([&, i] {
      try {
        waits first{wrong, i}, second{wrong, i + 1};
        throw by_number(i);
      } catch (const by_number &e) {
        wrong += e.number != i;
      }
      wrong += std::uncaught_exceptions() != 0;
    });
  weft::taskwait();
  EXPECT_EQ(wrong, 0);
}

// ---- coroutines
// -----------------------------------------------------------------------------------------------------

/// Numbers, one by one.
struct generator {
  struct promise_type {
    int value = 0;
    generator get_return_object() {
      return {std::coroutine_handle<promise_type>::from_promise(*this)};
    }
    std::suspend_always initial_suspend() noexcept { return {}; }
    std::suspend_always final_suspend() noexcept { return {}; }
    std::suspend_always yield_value(int v) noexcept {
      value = v;
      return {};
    }
    void return_void() {}
    void unhandled_exception() { throw; }
  };
  std::coroutine_handle<promise_type> handle;
  generator(std::coroutine_handle<promise_type> h) : handle(h) {}
  generator(const generator &) = delete;
  generator &operator=(const generator &) = delete;
  ~generator() { handle.destroy(); }
  bool next() {
    handle.resume();
    return !handle.done();
  }
};

generator waiting_numbers(int from, int count) {
  for (int i = 0; i != count; ++i) {
    wait_somehow(i); // the task is suspended, in the middle of the coroutine
    co_yield from + i;
  }
}

TEST(suspension, inside_a_coroutine_suspends_the_task_around_it) {
  std::atomic<int> wrong{0};
  for (int i = 0; i != k_tasks; ++i)
    weft::spawn([&, i] {
      generator g = waiting_numbers(i, 5);
      for (int k = 0; k != 5; ++k)
        wrong += !g.next() || g.handle.promise().value != i + k;
      wrong += g.next();
    });
  weft::taskwait();
  EXPECT_EQ(wrong, 0);
}

TEST(suspension, of_a_coroutine_that_each_step_another_task_resumes) {
  std::atomic<int> wrong{0};
  for (int i = 0; i != k_tasks / 5 + 1; ++i)
    weft::spawn([&, i] {
      generator g = waiting_numbers(i, 5);
      int turn = 0;
      for (int k = 0; k != 5; ++k)
        weft::spawn([&, k] { wrong += !g.next() || g.handle.promise().value != i + k; },
                    weft::inout(turn));
      weft::taskwait();
    });
  weft::taskwait();
  EXPECT_EQ(wrong, 0);
}

/// A coroutine that goes on as a task of its own after each co_await.
struct hop {
  bool await_ready() const noexcept { return false; }
  void await_suspend(std::coroutine_handle<> h) const {
    weft::spawn([h] { h.resume(); });
  }
  void await_resume() const noexcept {}
};

struct detached {
  struct promise_type {
    detached get_return_object() noexcept { return {}; }
    std::suspend_never initial_suspend() noexcept { return {}; }
    std::suspend_never final_suspend() noexcept { return {}; }
    void return_void() noexcept {}
    void unhandled_exception() noexcept { std::terminate(); }
  };
};

detached hops(int count, std::atomic<int> &done) {
  for (int i = 0; i != count; ++i) {
    co_await hop{};
    wait_somehow(i);
  }
  ++done;
}

TEST(suspension, of_a_coroutine_that_hops_from_task_to_task) {
  std::atomic<int> done{0};
  for (int i = 0; i != k_tasks; ++i)
    weft::spawn([&] { hops(8, done); });
  weft::taskwait();
  EXPECT_EQ(done, k_tasks);
}

// ---- under a lock: a program of its own, since libweft-locks.so is preloaded into it
// ------------------------------------

std::string beside(const std::string &name) {
  const std::string program = test::program_path();
  return program.substr(0, program.rfind('/')) + "/" + name;
}

class locks : public testing::Test {
 protected:
  void SetUp() override {
    if (test::k_sanitized)
      GTEST_SKIP() << "held locks: sanitizers wrap the same functions";
    m_program = beside("weft_holds_locks");
    if (access(m_program.c_str(), X_OK) != 0)
      GTEST_SKIP() << "held locks: needs the shared library (WEFT_SHARED)";
    const std::string preload = beside("../lib/libweft-locks.so");
    if (access(preload.c_str(), R_OK) == 0) // else a debug build, which counts by itself
      m_settings.emplace_back("LD_PRELOAD", preload);
  }
  test::ending run(const std::string &mode, const char *check) {
    auto settings = m_settings;
    if (check)
      settings.emplace_back("WEFT_CHECK_SUSPENSIONS", check);
    return test::run({m_program, mode}, settings);
  }
  std::string m_program;
  test::environment m_settings;
};

TEST_F(locks, held_over_a_wait_are_reported_with_the_task) {
  for (const char *mode : {"mutex", "recursive", "shared", "timed"}) {
    const auto end = run(mode, "warn");
    EXPECT_TRUE(end.exited(0)) << mode << ": " << end;
    EXPECT_TRUE(end.printed("weft: warning: task 'holder' waits while it holds 1 std::mutex"))
        << mode << ": " << end;
  }
}

TEST_F(locks, are_watched_by_a_word_to_weft_run) {
  const std::string tool = beside("../bin/weft");
  if (access(tool.c_str(), X_OK) != 0)
    GTEST_SKIP() << "weft run: the tool was not built (WEFT_TOOLS)";
  const auto end = test::run({tool, "run", "--locks", m_program, "mutex"}, {});
  EXPECT_TRUE(end.exited(0)) << end;
  EXPECT_TRUE(end.printed("weft: warning: task 'holder' waits while it holds 1 std::mutex")) << end;
}

TEST_F(locks, held_over_a_wait_may_end_the_program) {
  const auto end = run("mutex", "abort");
  EXPECT_TRUE(end.aborted()) << end;
  EXPECT_TRUE(end.printed("weft: fatal: task 'holder' waits while it holds 1 std::mutex")) << end;
}

TEST_F(locks, given_back_before_a_wait_or_held_by_main_are_not_reported) {
  for (const char *mode : {"released", "condition", "main", "weft-mutex"}) {
    const auto end = run(mode, "abort");
    EXPECT_TRUE(end.exited(0)) << mode << ": " << end;
    EXPECT_FALSE(end.printed("weft:")) << mode << ": " << end;
  }
}

TEST_F(locks, are_reported_in_debug_builds_that_set_nothing) {
  const auto end = run("mutex", nullptr);
  EXPECT_TRUE(end.exited(0)) << end;
#ifdef NDEBUG
  EXPECT_FALSE(end.printed("weft:")) << end;
#else
  EXPECT_TRUE(end.printed("weft: warning: task 'holder' waits while it holds 1 std::mutex")) << end;
#endif
}

TEST_F(locks, are_not_looked_for_unless_asked) {
  const auto end = run("mutex", "off");
  EXPECT_TRUE(end.exited(0)) << end;
  EXPECT_FALSE(end.printed("weft:")) << end;
}

} // namespace
