// SPDX-License-Identifier: Apache-2.0
#include "arch/exception_state.hpp"

#include "unit/arch/fiber.hpp"

#include <exception>
#include <utility>

#include <gtest/gtest.h>
#include <stdexcept>
#include <string>
#include <thread>

namespace {

using test::fiber;
using weft::rt::exception_state;
using weft::rt::weft_exception_globals;

enum class keeping { on, off };

/// Goes back to the resumer and keeps the exceptions of this stack for it.
void yield_keeping(fiber &self, keeping kept) {
  if (kept == keeping::off) {
    self.yield();
    return;
  }
  const exception_state mine = std::exchange(*weft_exception_globals(), {});
  self.yield();
  *weft_exception_globals() = mine;
}

std::string current() {
  const std::exception_ptr p = std::current_exception();
  if (!p)
    return "none";
  try {
    std::rethrow_exception(p);
  } catch (const std::exception &e) {
    return e.what();
  }
}

/// Two stacks suspend inside their catch blocks, one in the other's time. What each then believes to be handling.
std::string what_two_stacks_handle(keeping kept) {
  std::string seen;
  auto body = [&](const char *name) {
    return [&seen, name, kept](fiber &self) {
      try {
        throw std::runtime_error(name);
      } catch (...) {
        yield_keeping(self, kept);
        seen += current() + ";";
        yield_keeping(self, kept);
      }
    };
  };
  fiber first(body("first")), second(body("second"));
  first.resume();
  second.resume(); // both are in their handlers
  first.resume();
  seen += current() + ";"; // of this stack, which handles nothing
  second.resume();
  second
      .resume(); // they end in the order that is harmless even where both share one stack of exceptions
  first.resume();
  EXPECT_TRUE(first.done && second.done);
  return seen;
}

TEST(exception_state, each_stack_handles_its_own_exception) {
  EXPECT_EQ(what_two_stacks_handle(keeping::on), "first;none;second;");
}

TEST(exception_state, without_it_stacks_take_each_others_exceptions) {
  EXPECT_EQ(what_two_stacks_handle(keeping::off), "second;second;second;");
}

TEST(exception_state, a_bare_throw_after_a_switch_throws_the_stacks_own_exception) {
  std::string rethrown;
  fiber f([&](fiber &self) {
    try {
      try {
        throw std::runtime_error("mine");
      } catch (...) {
        yield_keeping(self, keeping::on);
        throw;
      }
    } catch (const std::exception &e) {
      rethrown = e.what();
    }
  });
  f.resume();
  try {
    throw std::logic_error("the resumer's");
  } catch (...) {
    const exception_state mine = std::exchange(*weft_exception_globals(), {});
    f.resume();
    *weft_exception_globals() = mine;
    EXPECT_EQ(current(), "the resumer's");
  }
  EXPECT_EQ(rethrown, "mine");
}

TEST(exception_state, what_a_stack_has_thrown_and_not_caught_is_its_own) {
  int elsewhere = -1, on_return = -1;
  fiber f([&](fiber &self) {
    struct yields_while_unwinding {
      fiber &self;
      int &count;
      ~yields_while_unwinding() {
        yield_keeping(self, keeping::on);
        count = std::uncaught_exceptions();
      }
    };
    try {
      yields_while_unwinding guard{self, on_return};
      throw 1;
    } catch (int) {
    }
  });
  f.resume();
  elsewhere = std::uncaught_exceptions();
  f.resume();
  EXPECT_EQ(elsewhere, 0);
  EXPECT_EQ(on_return, 1);
  EXPECT_TRUE(f.done);
}

TEST(exception_state, goes_along_to_another_thread) {
  std::string before, after;
  fiber f([&](fiber &self) {
    try {
      throw std::runtime_error("carried");
    } catch (...) {
      before = current();
      yield_keeping(self, keeping::on);
      after = current();
    }
  });
  f.resume();
  std::thread([&] { f.resume(); }).join();
  EXPECT_EQ(before, "carried");
  EXPECT_EQ(after, "carried");
  EXPECT_TRUE(f.done);
}

} // namespace
