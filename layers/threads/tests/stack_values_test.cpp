// SPDX-License-Identifier: Apache-2.0
// Tests values of pthread keys that belong to the stacks of Weft's tasks.
#include "moving.hpp"

#include "support/case_process.hpp"
#include "weft_threads/block/values_by_stack.hpp"

#include <weft_threads/light_thread.hpp>

#include <array>
#include <cstdint>
#include <mutex>
#include <set>

#include <gtest/gtest.h>
#include <pthread.h>
#include <sys/wait.h>

namespace {

using namespace weft_threads;
using test::move_to_other_thread;
using test::run_by_workers;

const test::environment k_two{{"WEFT_WORKERS", "3"}}; // and the first thread, which sleeps

void destroy(void *) {}

/// A library that numbers its threads at their first call, as TBB does.
class library {
 public:
  explicit library(void (*destructor)(void *)) {
    if (pthread_key_create(&m_key, destructor) != 0)
      std::abort();
  }
  ~library() { pthread_key_delete(m_key); }
  /// Returns the number of the calling thread.
  [[gnu::noinline]] std::uintptr_t self() {
    if (!pthread_getspecific(m_key))
      pthread_setspecific(m_key, reinterpret_cast<void *>(++m_threads));
    return value();
  }
  [[gnu::noinline]] std::uintptr_t value() const {
    return reinterpret_cast<std::uintptr_t>(pthread_getspecific(m_key));
  }
  [[nodiscard]] std::uintptr_t threads() const { return m_threads; }
  [[nodiscard]] pthread_key_t key() const { return m_key; }

 private:
  pthread_key_t m_key{};
  std::atomic<std::uintptr_t> m_threads{0};
};

bool keep() { return keep_values_on_stacks(reinterpret_cast<const void *>(&keep)); }

[[gnu::noinline]] const void *stack_bounds(std::size_t &bytes) {
  pthread_attr_t a;
  void *low = nullptr;
  EXPECT_EQ(pthread_getattr_np(pthread_self(), &a), 0);
  EXPECT_EQ(pthread_attr_getstack(&a, &low, &bytes), 0);
  pthread_attr_destroy(&a);
  return low;
}

TEST(stack_values, a_task_is_one_thread_wherever_it_goes_on) {
  auto end = test::in_process(k_two, [] {
    library one(&destroy), two(&destroy), other(nullptr);
    EXPECT_TRUE(keep());
    EXPECT_TRUE(keep()); // once more changes nothing
    run_by_workers(1, [&](int) {
      for (int i = 0; i < 50; ++i) {
        const std::uintptr_t in_one = one.self(), in_two = two.self();
        pthread_setspecific(other.key(), &one);
        move_to_other_thread();
        EXPECT_EQ(one.value(), in_one);
        EXPECT_EQ(two.value(), in_two);
        // A key without a destructor in the library is left alone: the other thread has no value, or
        // one of an earlier round.
        if (i == 0) {
          EXPECT_EQ(other.value(), 0u);
        }
      }
    });
    EXPECT_EQ(one.value(), 0u); // the first thread has called nothing
  });
  EXPECT_TRUE(end.exited(0)) << end;
}

TEST(stack_values, tasks_that_wait_at_the_same_time_are_different_threads) {
  auto end = test::in_process(k_two, [] {
    constexpr int k_tasks = 40;
    library l(&destroy);
    ASSERT_TRUE(keep());
    std::array<std::uintptr_t, k_tasks> is{};
    std::array<weft::task_ref, k_tasks> tasks;
    std::atomic<int> waiting{0}, wrong{0};
    std::atomic<bool> done{false};
    std::thread opener([&] {
      while (waiting != k_tasks)
        usleep(100);
      for (const weft::task_ref t : tasks)
        weft::unblock(t);
      done = true;
    });
    run_by_workers(k_tasks, [&](int i) {
      is[i] = l.self();
      tasks[i] = weft::this_task::self();
      ++waiting;
      weft::this_task::block();
      wrong += l.value() != is[i];
      move_to_other_thread();
      wrong += l.value() != is[i];
    });
    opener.join();
    EXPECT_EQ(wrong, 0);
    EXPECT_EQ(std::set(is.begin(), is.end()).size(), std::size_t{k_tasks});
  });
  EXPECT_TRUE(end.exited(0)) << end;
}

TEST(stack_values, a_stack_that_is_used_again_has_the_values_of_its_last_tasks) {
  auto end = test::in_process(k_two, [] {
    library l(&destroy);
    ASSERT_TRUE(keep());
    for (int i = 0; i < 300; ++i)
      run_by_workers(4, [&](int) {
        const std::uintptr_t before = l.self();
        move_to_other_thread();
        EXPECT_EQ(l.value(), before);
      });
    EXPECT_LE(l.threads(), 300u); // stacks, and not the 1200 tasks
  });
  EXPECT_TRUE(end.exited(0)) << end;
}

TEST(stack_values, a_task_on_a_stack_of_its_own_keeps_them) {
  auto end = test::in_process(k_two, [] {
    library l(&destroy);
    ASSERT_TRUE(keep());
    std::atomic<bool> done{false};
    weft::spawn(
        [&] {
          const std::uintptr_t before = l.self();
          move_to_other_thread();
          EXPECT_EQ(l.value(), before);
          done = true;
        },
        weft::stack_bytes(std::size_t{1} << 20));
    while (!done)
      usleep(100);
    weft::taskwait();
  });
  EXPECT_TRUE(end.exited(0)) << end;
}

TEST(stack_values, those_of_a_key_that_is_gone_are_not_given_to_a_new_one) {
  auto end = test::in_process(k_two, [] {
    auto first = std::make_unique<library>(&destroy);
    ASSERT_TRUE(keep());
    run_by_workers(1, [&](int) {
      EXPECT_NE(first->self(), 0u);
      std::atomic<bool> is_new{false};
      const weft::task_ref self = weft::this_task::self();
      std::unique_ptr<library> second;
      weft::spawn([&, self] {
        const pthread_key_t key = first->key();
        first.reset();
        second = std::make_unique<library>(&destroy);
        EXPECT_EQ(second->key(), key);
        EXPECT_TRUE(keep());
        is_new = true;
        weft::unblock(self);
      });
      weft::this_task::block();
      EXPECT_TRUE(is_new);
      EXPECT_EQ(second->value(), 0u);
      const std::uintptr_t mine = second->self();
      move_to_other_thread();
      EXPECT_EQ(second->value(), mine);
    });
  });
  EXPECT_TRUE(end.exited(0)) << end;
}

/// The kernel thread on which a stack has ended may put that life's values late.
TEST(stack_values, that_come_late_are_older_than_those_of_the_stacks_next_life) {
  struct kept {
    const void *stack = nullptr;
    kept *next = nullptr;
  } first, second, third, other;
  values_by_stack<kept, std::mutex> table;
  int stack, unused;
  EXPECT_EQ(table.take(&stack), nullptr);
  table.put(&stack, second, age::newest);
  table.put(&stack, first, age::oldest);
  table.put(&unused, other, age::newest);
  EXPECT_EQ(table.take(&stack), &second);
  table.put(&stack, third, age::newest);
  EXPECT_EQ(table.take(&stack), &third);
  EXPECT_EQ(table.take(&stack), &first) << "no values are lost";
  EXPECT_EQ(table.take(&stack), nullptr);
  EXPECT_EQ(table.take(&unused), &other);
}

TEST(stack_values, only_the_keys_of_the_library_are_kept) {
  library l(&destroy);
  EXPECT_TRUE(keep());
  EXPECT_FALSE(keep_values_on_stacks(reinterpret_cast<const void *>(&usleep))); // the C library's
  EXPECT_FALSE(keep_values_on_stacks(&l)); // in no object file
}

TEST(stack_values, a_child_of_fork_has_those_of_its_own_stack_only) {
  auto end = test::in_process(k_two, [] {
    library l(&destroy);
    ASSERT_TRUE(keep());
    run_by_workers(8, [&](int) {
      l.self();
      move_to_other_thread();
    });
    const std::uintptr_t own = l.self(), before = l.threads();
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      bool right = l.value() == own;
      run_by_workers(8, [&](int) {
        const std::uintptr_t mine = l.self();
        right = right && mine > before; // a new thread
        move_to_other_thread();
        right = right && l.value() == mine;
      });
      std::_Exit(right && l.value() == own ? 7 : 1);
    }
    int status = 0;
    EXPECT_EQ(waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 7) << status;
  });
  EXPECT_TRUE(end.exited(0)) << end;
}

TEST(stack_values, a_task_asks_for_the_bounds_of_the_stack_that_it_is_on) {
  auto end = test::in_process(k_two, [] {
    const auto contains = [] {
      std::size_t bytes = 0;
      const void *const low = stack_bounds(bytes);
      const char here = 0;
      return &here > low && &here < static_cast<const char *>(low) + bytes;
    };
    EXPECT_TRUE(contains());
    run_by_workers(4, [&](int) {
      EXPECT_TRUE(contains());
      move_to_other_thread();
      EXPECT_TRUE(contains());
    });
  });
  EXPECT_TRUE(end.exited(0)) << end;
}

} // namespace
