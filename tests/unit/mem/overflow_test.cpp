// SPDX-License-Identifier: Apache-2.0
#include "arch/context.hpp"
#include "arch/sanitizer.hpp"
#include "mem/overflow.hpp"
#include "mem/stack_pool.hpp"
#include "support/death_test.hpp"

#include <csignal>
#include <cstdint>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace {

using namespace weft::rt;

context g_main;
sanitized_stack g_main_stack, g_task_stack;

volatile int g_deepest = 1'000'000'000;

int recurse(int depth) {
  volatile char frame[512];
  frame[0] = static_cast<char>(depth);
  return depth < g_deepest ? recurse(depth + 1) + frame[0] : 0;
}

WEFT_UNINSTRUMENTED void deep(void *) {
  stack_entered(g_task_stack);
  recurse(0);
  __builtin_unreachable();
}

/// Runs until its stack is used up.
void overflow_a_stack(std::size_t bytes = 0) {
  stack_cache cache;
  stack *s = bytes ? acquire_sized_stack(bytes) : cache.acquire();
  announce_thread_stack(g_main_stack);
  announce_stack(g_task_stack, s->low, s->bytes);
  switch_stack(&g_main, g_main_stack, make_context(s->low, s->bytes, deep), g_task_stack, nullptr);
}

void overflow_in_task(const char *label) {
  configure_stacks(96 << 10, 4);
  static const char *name;
  name = label;
  set_overflow_witness([](overflow_victim &v) {
    v.label = name;
    return true;
  });
  install_overflow_stack();
  overflow_a_stack();
}

class overflow_death_test : public testing::Test {
 protected:
  void SetUp() override { test::use_a_process_for_each_death(); }
};

/// How a program ends in the handler that was there before Weft's: by the signal, or as a sanitizer's does.
bool ended_badly(int status) {
#if defined(WEFT_ASAN) || defined(WEFT_TSAN)
  return !WIFEXITED(status) || WEXITSTATUS(status) != 0;
#else
  return WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV;
#endif
}

TEST_F(overflow_death_test, says_task_range_size_and_remedy) {
  EXPECT_EXIT(
      overflow_in_task("rec"), ended_badly,
      "weft: stack overflow in task 'rec' \\(task stack 0x[0-9a-f]+-0x[0-9a-f]+, 96 KiB, fault at "
      "0x[0-9a-f]+\\); raise stack.bytes, for example WEFT_STACK_BYTES=192KiB");
}

TEST_F(overflow_death_test, is_told_on_other_threads_too) {
  EXPECT_EXIT(std::thread([] { overflow_in_task("on a thread"); }).join(), ended_badly,
              "stack overflow in task 'on a thread'");
}

TEST_F(overflow_death_test, is_told_where_nobody_names_the_task) {
  EXPECT_EXIT(overflow_in_task(nullptr), ended_badly, "stack overflow in task '\\?'");
}

TEST_F(overflow_death_test, of_a_stack_of_its_own_size_says_what_to_raise) {
  EXPECT_EXIT(
      {
        set_overflow_witness([](overflow_victim &v) {
          v.label = "deep";
          return true;
        });
        install_overflow_stack();
        overflow_a_stack(200'000);
      },
      ended_badly,
      "task 'deep' \\(task stack .*, 196 KiB, .*\\); raise the task's weft::stack_bytes, for example to 401408");
}

TEST(overflow, a_thread_gives_its_alternate_stack_back) {
  bool had_none = true, has_one = false, has_none_again = false;
  std::thread([&] {
    stack_t now{};
    sigaltstack(nullptr, &now);
    had_none = (now.ss_flags & SS_DISABLE) != 0; // AddressSanitizer's threads have one
    install_overflow_stack();
    sigaltstack(nullptr, &now);
    has_one = (now.ss_flags & SS_DISABLE) == 0;
    uninstall_overflow_stack();
    sigaltstack(nullptr, &now);
    has_none_again = (now.ss_flags & SS_DISABLE) != 0;
  }).join();
  EXPECT_TRUE(has_one);
  EXPECT_EQ(has_none_again, had_none);
}

TEST(overflow, a_threads_own_alternate_stack_stays) {
  static char mine[64 << 10];
  void *kept = nullptr;
  std::thread([&] {
    stack_t own{};
    own.ss_sp = mine;
    own.ss_size = sizeof mine;
    stack_t before{};
    sigaltstack(&own, &before);
    install_overflow_stack();
    uninstall_overflow_stack();
    stack_t now{};
    sigaltstack(&before, &now);
    kept = now.ss_sp;
  }).join();
  EXPECT_EQ(kept, mine);
}

} // namespace
