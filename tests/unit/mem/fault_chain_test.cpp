// SPDX-License-Identifier: Apache-2.0
// A fault that is no overflow goes where it would have gone without Weft.
#include "mem/overflow.hpp"
#include "support/death_test.hpp"
#include "support/scale.hpp"

#include <atomic>
#include <csetjmp>
#include <csignal>
#include <cstdint>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

namespace {

using weft::rt::install_overflow_stack;

/// A write where nothing is mapped; the compiler must not know.
void fault() {
  std::uintptr_t address = 64;
  asm volatile("" : "+r"(address));
  *reinterpret_cast<volatile int *>(address) = 1;
}

/// Another kind of fault: a page of a file that has no such page.
void bus_error() {
  char name[] = "/tmp/weft-bus-XXXXXX";
  const int fd = mkstemp(name);
  unlink(name);
  *static_cast<volatile char *>(mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0)) = 1;
}

void handle(int signal, void (*plain)(int), int flags = 0) {
  struct sigaction mine{};
  mine.sa_handler = plain;
  mine.sa_flags = flags;
  sigaction(signal, &mine, nullptr);
}

void handle(int signal, void (*with_info)(int, siginfo_t *, void *), int flags = 0) {
  struct sigaction mine{};
  mine.sa_sigaction = with_info;
  mine.sa_flags = flags | SA_SIGINFO;
  sigaction(signal, &mine, nullptr);
}

void leave_42(int) { _exit(42); }
void leave_if_told_where(int signal, siginfo_t *info, void *context) {
  _exit(signal == SIGSEGV && info->si_addr == reinterpret_cast<void *>(64) && context ? 43 : 1);
}

constexpr bool k_default_is_the_end = !test::k_sanitized; // a sanitizer has a handler of its own

class fault_chain_death_test : public testing::Test {
 protected:
  void SetUp() override { test::use_a_process_for_each_death(); }
};

TEST_F(fault_chain_death_test,
       without_a_handler_the_program_ends_by_the_signal_and_weft_says_nothing) {
  if (!k_default_is_the_end)
    GTEST_SKIP();
  EXPECT_EXIT(
      {
        install_overflow_stack();
        fault();
      },
      testing::KilledBySignal(SIGSEGV), "^$");
}

TEST_F(fault_chain_death_test, a_bus_error_ends_the_program_as_a_bus_error) {
  if (!k_default_is_the_end)
    GTEST_SKIP();
  EXPECT_EXIT(
      {
        install_overflow_stack();
        bus_error();
      },
      testing::KilledBySignal(SIGBUS), "^$");
}

TEST_F(fault_chain_death_test, a_signal_that_was_sent_ends_the_program_too) {
  if (!k_default_is_the_end)
    GTEST_SKIP();
  EXPECT_EXIT(
      {
        install_overflow_stack();
        kill(getpid(), SIGSEGV);
        _exit(5);
      },
      testing::KilledBySignal(SIGSEGV), "^$");
}

TEST_F(fault_chain_death_test, an_ignored_signal_that_was_sent_stays_ignored) {
  EXPECT_EXIT(
      {
        handle(SIGSEGV, SIG_IGN);
        install_overflow_stack();
        raise(SIGSEGV);
        raise(SIGSEGV);
        _exit(44);
      },
      testing::ExitedWithCode(44), "^$");
}

TEST_F(fault_chain_death_test, a_fault_of_an_instruction_cannot_be_ignored) {
  EXPECT_EXIT(
      {
        handle(SIGSEGV, SIG_IGN);
        install_overflow_stack();
        fault();
      },
      testing::KilledBySignal(SIGSEGV), "^$");
}

TEST_F(fault_chain_death_test, a_plain_handler_from_before_is_called) {
  EXPECT_EXIT(
      {
        handle(SIGSEGV, leave_42);
        install_overflow_stack();
        fault();
      },
      testing::ExitedWithCode(42), "^$");
}

TEST_F(fault_chain_death_test, a_handler_from_before_that_takes_information_gets_it) {
  EXPECT_EXIT(
      {
        handle(SIGSEGV, leave_if_told_where);
        install_overflow_stack();
        fault();
      },
      testing::ExitedWithCode(43), "^$");
}

TEST_F(fault_chain_death_test, a_handler_from_after_is_called) {
  EXPECT_EXIT(
      {
        install_overflow_stack();
        handle(SIGSEGV, leave_if_told_where);
        fault();
      },
      testing::ExitedWithCode(43), "^$");
}

TEST_F(fault_chain_death_test, a_handler_for_the_alternate_stack_stands_on_it) {
  EXPECT_EXIT(
      {
        install_overflow_stack();
        handle(
            SIGSEGV,
            [](int) {
              stack_t now{};
              sigaltstack(nullptr, &now);
              _exit(now.ss_flags & SS_ONSTACK ? 45 : 1);
            },
            SA_ONSTACK);
        fault();
      },
      testing::ExitedWithCode(45), "^$");
}

struct sigaction g_found;

TEST_F(fault_chain_death_test,
       a_handler_from_after_that_calls_what_it_found_reaches_the_one_from_before) {
  EXPECT_EXIT(
      {
        handle(SIGSEGV, leave_42);
        install_overflow_stack();
        struct sigaction mine{};
        mine.sa_flags = SA_SIGINFO;
        mine.sa_sigaction = [](int signal, siginfo_t *info, void *context) {
          g_found.sa_sigaction(signal, info, context);
        };
        sigaction(SIGSEGV, &mine, &g_found);
        fault();
      },
      testing::ExitedWithCode(42), "^$");
}

/// A handler that was there before and is installed once more, so that it calls Weft's and Weft's calls it.
TEST_F(fault_chain_death_test, handlers_that_call_each_other_come_to_an_end) {
  EXPECT_EXIT(
      {
        static const auto mine = [](int signal, siginfo_t *info, void *context) {
          if (g_found.sa_sigaction)
            g_found.sa_sigaction(signal, info, context);
        };
        handle(SIGSEGV, mine, SA_NODEFER);
        install_overflow_stack();
        struct sigaction again{};
        again.sa_flags = SA_SIGINFO | SA_NODEFER;
        again.sa_sigaction = mine;
        sigaction(SIGSEGV, &again, &g_found);
        fault();
      },
      testing::KilledBySignal(SIGSEGV), "^$");
}

TEST_F(fault_chain_death_test, a_handler_for_one_time_is_called_one_time) {
  EXPECT_EXIT(
      {
        handle(
            SIGSEGV,
            [](int) {
              static std::atomic<int> calls{0};
              if (++calls == 2)
                _exit(1);
            },
            SA_RESETHAND);
        install_overflow_stack();
        fault(); // comes again when the handler returns
      },
      testing::KilledBySignal(SIGSEGV), "^$");
}

TEST_F(fault_chain_death_test, a_fault_inside_the_handler_ends_the_program) {
  EXPECT_EXIT(
      {
        handle(SIGSEGV, [](int) { fault(); });
        install_overflow_stack();
        fault();
      },
      testing::KilledBySignal(SIGSEGV), "^$");
}

TEST_F(fault_chain_death_test, a_handler_may_mend_the_fault_and_go_on) {
  EXPECT_EXIT(
      {
        static void *page = mmap(nullptr, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        handle(SIGSEGV, [](int) { mprotect(page, 4096, PROT_READ | PROT_WRITE); });
        install_overflow_stack();
        *static_cast<volatile int *>(page) = 46;
        _exit(*static_cast<volatile int *>(page));
      },
      testing::ExitedWithCode(46), "^$");
}

sigjmp_buf g_back;

TEST_F(fault_chain_death_test, a_handler_may_jump_out_as_often_as_it_likes) {
  EXPECT_EXIT(
      {
        handle(SIGSEGV, [](int) { siglongjmp(g_back, 1); });
        install_overflow_stack();
        static volatile int jumps = 0;
        sigsetjmp(g_back, 1);
        jumps = jumps + 1;
        if (jumps <= 10)
          fault();
        _exit(jumps == 11 ? 47 : 1);
      },
      testing::ExitedWithCode(47), "^$");
}

TEST_F(fault_chain_death_test, the_handlers_mask_is_in_force_while_it_runs) {
  EXPECT_EXIT(
      {
        struct sigaction mine{};
        sigaddset(&mine.sa_mask, SIGUSR1);
        mine.sa_handler = [](int) {
          sigset_t now;
          pthread_sigmask(SIG_BLOCK, nullptr, &now);
          _exit(sigismember(&now, SIGUSR1) && sigismember(&now, SIGSEGV) ? 48 : 1);
        };
        sigaction(SIGSEGV, &mine, nullptr);
        install_overflow_stack();
        fault();
      },
      testing::ExitedWithCode(48), "^$");
}

} // namespace
