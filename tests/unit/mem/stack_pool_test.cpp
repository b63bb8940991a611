// SPDX-License-Identifier: Apache-2.0
#include "mem/stack_pool.hpp"

#include "arch/sanitizer.hpp"
#include "support/death_test.hpp"

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstring>
#include <gtest/gtest.h>
#include <iterator>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <set>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

namespace {

using weft::rt::find_guard;
using weft::rt::stack;
using weft::rt::stack_cache;

std::size_t page() { return static_cast<std::size_t>(sysconf(_SC_PAGESIZE)); }
char *low_of(const stack *s) { return static_cast<char *>(s->low); }

std::size_t resident_pages(const stack *s) {
  std::vector<unsigned char> in(s->bytes / page() + 2);
  char *top =
      reinterpret_cast<char *>(reinterpret_cast<std::uintptr_t>(s) / page() * page()) + page();
  EXPECT_EQ(mincore(s->low, static_cast<std::size_t>(top - low_of(s)), in.data()), 0);
  std::size_t n = 0;
  for (std::size_t i = 0; i < static_cast<std::size_t>(top - low_of(s)) / page(); ++i)
    n += in[i] & 1u;
  return n;
}

TEST(stack_pool, a_stack_has_the_configured_size_less_guard_and_descriptor) {
  weft::rt::configure_stacks(100'000, 4);
  EXPECT_EQ(weft::rt::configured_stack_bytes() % page(), 0u);
  EXPECT_GE(weft::rt::configured_stack_bytes(), 100'000u);
  stack_cache cache;
  stack *s = cache.acquire();
  ASSERT_NE(s, nullptr);
  EXPECT_EQ(s->bytes, weft::rt::configured_stack_bytes() - page() - 64);
  EXPECT_EQ(low_of(s) + s->bytes, reinterpret_cast<char *>(s));
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(s) % 64, 0u);
  cache.release(s);
}

TEST(stack_pool, all_of_a_stack_can_be_written_and_stacks_do_not_overlap) {
  weft::rt::configure_stacks(64 << 10, 4);
  stack_cache cache;
  std::vector<stack *> stacks;
  for (int i = 0; i < 130; ++i) {
    stacks.push_back(cache.acquire());
    ASSERT_NE(stacks.back(), nullptr);
    std::memset(stacks.back()->low, i, stacks.back()->bytes);
  }
  for (int i = 0; i < 130; ++i) {
    const stack *s = stacks[static_cast<std::size_t>(i)];
    EXPECT_EQ(low_of(s)[0], static_cast<char>(i));
    EXPECT_EQ(low_of(s)[s->bytes - 1], static_cast<char>(i));
    EXPECT_TRUE(s->guarded);
  }
  for (stack *s : stacks)
    cache.release(s);
}

TEST(stack_pool, the_stack_released_last_is_acquired_first) {
  weft::rt::configure_stacks(64 << 10, 4);
  stack_cache cache;
  stack *a = cache.acquire(), *b = cache.acquire();
  cache.release(a);
  cache.release(b);
  EXPECT_EQ(cache.acquire(), b);
  EXPECT_EQ(cache.acquire(), a);
  cache.release(a);
  cache.release(b);
}

TEST(stack_pool, making_a_stack_touches_one_page) {
  weft::rt::configure_stacks(80 << 10, 4); // a size that no other case uses: fresh stacks
  stack_cache cache;
  stack *s = cache.acquire();
  EXPECT_EQ(resident_pages(s), 1u);
  cache.release(s);
}

TEST(stack_pool, a_cache_that_is_full_gives_to_the_others) {
  weft::rt::configure_stacks(64 << 10, 8);
  stack_cache first, second;
  std::set<stack *> stacks;
  for (int i = 0; i < 20; ++i)
    stacks.insert(first.acquire());
  EXPECT_EQ(stacks.size(), 20u);
  for (stack *s : stacks)
    first.release(s);
  EXPECT_LE(first.count(), 8);
  std::size_t seen = 0;
  std::vector<stack *> taken;
  for (int i = 0; i < 12; ++i) {
    taken.push_back(second.acquire());
    seen += stacks.count(taken.back());
  }
  EXPECT_EQ(seen, 12u);
  for (stack *s : taken)
    second.release(s);
}

TEST(stack_pool, without_caches_every_stack_is_shared) {
  weft::rt::configure_stacks(64 << 10, 0);
  stack_cache first, second;
  stack *s = first.acquire();
  first.release(s);
  EXPECT_EQ(first.count(), 0);
  EXPECT_EQ(second.acquire(), s);
  second.release(s);
}

TEST(stack_pool, many_free_stacks_keep_two_pages_each) {
  weft::rt::configure_stacks(72 << 10, 16);
  stack_cache cache;
  std::vector<stack *> stacks;
  for (int i = 0; i < 600; ++i) {
    stacks.push_back(cache.acquire());
    std::memset(stacks.back()->low, 1, stacks.back()->bytes);
  }
  for (stack *s : stacks)
    cache.release(s);
  int cool = 0;
  for (stack *s : stacks)
    cool += resident_pages(s) <= 2;
  EXPECT_GE(cool, 600 - 256 - 17);
  EXPECT_LE(cool, 600 - 16);
}

TEST(stack_pool, threads_share_stacks_without_sharing_one) {
  weft::rt::configure_stacks(64 << 10, 4);
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&wrong, t] {
      stack_cache cache;
      for (int round = 0; round < 300; ++round) {
        stack *held[12];
        for (auto &s : held) {
          s = cache.acquire();
          *static_cast<volatile int *>(s->low) = t;
        }
        for (stack *s : held)
          wrong += *static_cast<volatile int *>(s->low) != t;
        for (stack *s : held)
          cache.release(s);
      }
    });
  for (auto &t : threads)
    t.join();
  EXPECT_EQ(wrong, 0);
}

TEST(stack_pool, a_sized_stack_is_as_large_as_asked_and_used_again) {
  stack_cache cache;
  stack *s = weft::rt::acquire_sized_stack(1'000'000);
  ASSERT_NE(s, nullptr);
  EXPECT_GE(s->bytes + page() + 64, 1'000'000u);
  std::memset(s->low, 1, s->bytes);
  cache.release(s);
  EXPECT_EQ(cache.count(), 0) << "no worker keeps it";
  EXPECT_LE(resident_pages(s), 2u);
  EXPECT_EQ(weft::rt::acquire_sized_stack(900'000), s);
  stack *larger = weft::rt::acquire_sized_stack(1'100'000);
  EXPECT_NE(larger, s);
  cache.release(s);
  EXPECT_NE(weft::rt::acquire_sized_stack(100'000), s) << "a tenth of it would be a waste";
}

TEST(stack_pool, a_size_that_cannot_be_had_gives_null) {
  EXPECT_EQ(weft::rt::acquire_sized_stack(std::size_t{1} << 60), nullptr);
  EXPECT_EQ(weft::rt::acquire_sized_stack(SIZE_MAX), nullptr);
}

TEST(stack_pool, the_guard_below_each_stack_is_known_and_nothing_else_is) {
  weft::rt::configure_stacks(64 << 10, 4);
  stack_cache cache;
  stack *s = cache.acquire(), *sized = weft::rt::acquire_sized_stack(1 << 20);
  for (stack *each : {s, sized}) {
    const auto r = find_guard(low_of(each) - 8);
    EXPECT_EQ(r.low, low_of(each) - page());
    EXPECT_EQ(r.guard_bytes, page());
    EXPECT_EQ(r.stack_bytes, each->bytes + page() + 64);
    EXPECT_EQ(find_guard(each->low).low, nullptr) << "the stack itself is no guard";
  }
  int on_this_stack = 0;
  EXPECT_EQ(find_guard(&on_this_stack).low, nullptr);
  EXPECT_EQ(find_guard(nullptr).low, nullptr);
  cache.release(s);
  cache.release(sized);
}

TEST(stack_pool_death_test, a_write_into_the_guard_ends_the_program) {
  test::use_a_process_for_each_death();
  EXPECT_DEATH(
      {
        stack_cache cache;
        *(static_cast<volatile char *>(cache.acquire()->low) - 1) = 1;
      },
      "");
}

/// From now on the kernel is one that does not know guards by advice and, if asked, has no mappings left.
void pretend_old_kernel(bool mappings_left) {
  sock_filter program[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_mprotect, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, mappings_left ? SECCOMP_RET_ALLOW : SECCOMP_RET_ERRNO | ENOMEM),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_madvise, 0, 3),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, args[2])),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 102, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EINVAL),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const sock_fprog filter{std::size(program), program};
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
      prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) != 0)
    _exit(77);
}

bool seccomp_works() {
  static const bool works = [] {
    const pid_t child = fork();
    if (child == 0) {
      pretend_old_kernel(true);
      _exit(0);
    }
    int status = 0;
    return waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
  }();
  return works;
}

void write_below_a_stack_on_an_old_kernel() {
  pretend_old_kernel(true);
  stack_cache cache;
  stack *s = cache.acquire();
  if (!s->guarded)
    _exit(1);
  *(static_cast<volatile char *>(s->low) - 1) = 1;
}

TEST(stack_pool_death_test, kernels_without_guards_by_advice_get_protected_pages) {
  if (!seccomp_works())
    GTEST_SKIP() << "system calls cannot be filtered here";
  test::use_a_process_for_each_death();
  EXPECT_DEATH(write_below_a_stack_on_an_old_kernel(), "");
}

void use_unguarded_stacks(bool overflow) {
  pretend_old_kernel(false);
  weft::rt::configure_stacks(64 << 10, 4);
  stack_cache cache;
  stack *s = cache.acquire(), *t = cache.acquire();
  if (s->guarded || t->guarded)
    _exit(1);
  cache.release(t);
  std::memset(low_of(s) + page(), 1, s->bytes - page());
  if (overflow)
    low_of(s)[0] = 1;
  cache.release(s);
  _exit(cache.acquire() == s ? 0 : 2);
}

TEST(stack_pool_death_test, stacks_without_a_guard_are_used_and_said_once) {
  if (!seccomp_works())
    GTEST_SKIP() << "system calls cannot be filtered here";
  test::use_a_process_for_each_death();
  EXPECT_EXIT(
      use_unguarded_stacks(false), testing::ExitedWithCode(0),
      "^weft: warning: no more guard pages for task stacks \\(vm.max_map_count\\)[^\n]*\n$");
}

/// What is cooled keeps the word at its low end that tells of an overflow.
void cool_unguarded_stacks() {
  pretend_old_kernel(false);
  weft::rt::configure_stacks(64 << 10, 0);
  stack_cache cache;
  for (int round = 0; round != 3; ++round) {
    stack *s = weft::rt::acquire_sized_stack(1 << 20);
    if (s->guarded)
      _exit(1);
    std::memset(low_of(s) + page(), 1, s->bytes - page());
    cache.release(s);
    if (resident_pages(s) > 3)
      _exit(2); // it was not cooled
  }
  std::vector<stack *> all(400); // more than the shared list keeps warm
  for (int round = 0; round != 3; ++round) {
    for (stack *&s : all)
      s = cache.acquire();
    for (stack *s : all) {
      std::memset(low_of(s) + page(), 1, s->bytes - page());
      cache.release(s);
    }
  }
  _exit(0);
}

TEST(stack_pool_death_test, stacks_without_a_guard_are_cooled_and_used_again) {
  if (!seccomp_works())
    GTEST_SKIP() << "system calls cannot be filtered here";
  test::use_a_process_for_each_death();
  EXPECT_EXIT(cool_unguarded_stacks(), testing::ExitedWithCode(0), "");
}

TEST(stack_pool_death_test, an_overflow_without_a_guard_is_seen_when_the_stack_is_given_back) {
  if (!seccomp_works())
    GTEST_SKIP() << "system calls cannot be filtered here";
  test::use_a_process_for_each_death();
  EXPECT_EXIT(use_unguarded_stacks(true), testing::KilledBySignal(SIGABRT),
              "a task has overflown its stack");
}

#if !defined(WEFT_ASAN) && !defined(WEFT_TSAN) // their shadow memory has no address space then

void acquire_without_address_space() {
  const rlimit none{1 << 20, 1 << 20};
  setrlimit(RLIMIT_AS, &none);
  stack_cache cache;
  _exit(cache.acquire() == nullptr ? 0 : 1);
}

TEST(stack_pool_death_test, no_address_space_gives_null) {
  test::use_a_process_for_each_death();
  EXPECT_EXIT(acquire_without_address_space(), testing::ExitedWithCode(0), "");
}

/// Large stacks take half of the address space at most; further ones have the usual size.
void acquire_in_limited_space() {
  const rlimit limit{std::size_t{4} << 30, std::size_t{4} << 30};
  setrlimit(RLIMIT_AS, &limit);
  weft::rt::configure_stacks(8 << 20, 0);
  stack_cache cache;
  std::size_t large = 0;
  std::vector<stack *> all(2'000);
  for (stack *&s : all) {
    s = cache.acquire();
    if (!s)
      _exit(1);
    const std::size_t bytes = s->bytes + page() + 64;
    if (bytes == 8 << 20)
      ++large;
    else if (bytes != 96 << 10)
      _exit(2);
    const auto guard = find_guard(low_of(s) - 1);
    if (guard.low + page() != low_of(s) || guard.stack_bytes != bytes)
      _exit(3);
    *low_of(s) = 1;
  }
  if (large != 256 || std::set<stack *>(all.begin(), all.end()).size() != all.size())
    _exit(4);
  for (stack *s : all)
    cache.release(s);
  _exit(cache.acquire() ? 0 : 5);
}

TEST(stack_pool_death_test, large_stacks_leave_half_of_a_limited_address_space) {
  test::use_a_process_for_each_death();
  EXPECT_EXIT(
      acquire_in_limited_space(), testing::ExitedWithCode(0),
      "^weft: warning: no address space for more task stacks of 8192 KiB \\(RLIMIT_AS[^\n]*\n$");
}

#endif

} // namespace
