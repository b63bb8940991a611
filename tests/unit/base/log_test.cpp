// SPDX-License-Identifier: Apache-2.0
#include "base/log.hpp"

#include "base/clock.hpp"

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <gtest/gtest.h>
#include <string>
#include <unistd.h>

namespace {

using namespace weft::rt;
using testing::internal::CaptureStderr;
using testing::internal::GetCapturedStderr;

TEST(signal_safe_line, writes_numbers_of_every_size) {
  signal_safe_line line;
  line.decimal(0).text(" ").decimal(-7).text(" ").decimal(INT64_MIN).text(" ").decimal(INT64_MAX);
  EXPECT_EQ(line.view(), "0 -7 -9223372036854775808 9223372036854775807");
}

TEST(signal_safe_line, writes_addresses_in_hexadecimal) {
  signal_safe_line line;
  line.hex(0).text(" ").hex(0xdeadbeef).text(" ").hex(UINT64_MAX).text(" ").pointer(nullptr);
  EXPECT_EQ(line.view(), "0x0 0xdeadbeef 0xffffffffffffffff 0x0");
}

TEST(signal_safe_line, is_cut_where_it_is_full) {
  signal_safe_line line;
  line.text(std::string(5000, 'x')).text("end");
  EXPECT_LT(line.view().size(), 2000u);
  EXPECT_EQ(line.view().find('e'), std::string_view::npos);
}

TEST(signal_safe_line, goes_out_with_a_newline_and_keeps_errno) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  signal_safe_line line;
  errno = 77;
  line.text("hello").write(ends[1]);
  EXPECT_EQ(errno, 77);
  EXPECT_EQ(line.view(), "");
  line.text("again").write(-1); // no such file
  EXPECT_EQ(errno, 77);
  char text[16];
  EXPECT_EQ(read(ends[0], text, sizeof text), 6);
  EXPECT_EQ(std::string(text, 6), "hello\n");
  close(ends[0]);
  close(ends[1]);
}

TEST(log, a_warning_is_one_line) {
  CaptureStderr();
  warn("%d of %s", 3, "them");
  EXPECT_EQ(GetCapturedStderr(), "weft: warning: 3 of them\n");
}

TEST(log, a_long_warning_is_cut_but_ends_its_line) {
  CaptureStderr();
  warn("%s", std::string(5000, 'x').c_str());
  const std::string text = GetCapturedStderr();
  EXPECT_EQ(text.back(), '\n');
  EXPECT_LT(text.size(), 2000u);
}

TEST(log, warn_once_speaks_once_per_flag) {
  std::atomic<bool> first{false}, second{false};
  CaptureStderr();
  for (int i = 0; i != 3; ++i)
    warn_once(first, "first %d", i);
  warn_once(second, "second");
  EXPECT_EQ(GetCapturedStderr(), "weft: warning: first 0\nweft: warning: second\n");
}

TEST(log_death, fatal_says_why_and_aborts) {
  EXPECT_EXIT(fatal("no %s left", "stacks"), testing::KilledBySignal(SIGABRT),
              "^weft: fatal: no stacks left\n$");
}

TEST(log_death, fatal_adds_what_the_context_knows) {
  EXPECT_EXIT(
      {
        set_fatal_context(
            [](signal_safe_line &line) noexcept { line.text("; task ").decimal(42); });
        fatal("lost");
      },
      testing::KilledBySignal(SIGABRT), "^weft: fatal: lost; task 42\n$");
}

TEST(log_death, a_context_that_fails_itself_ends_the_program_all_the_same) {
  EXPECT_EXIT(
      {
        set_fatal_context([](signal_safe_line &) noexcept { fatal("inner"); });
        fatal("outer");
      },
      testing::KilledBySignal(SIGABRT), "^weft: fatal: inner\n$");
}

TEST(log_death, a_failed_check_names_sentence_condition_and_place) {
  const int workers = -1;
  EXPECT_EXIT(WEFT_CHECK(workers > 0, "somebody has to work"), testing::KilledBySignal(SIGABRT),
              "weft: fatal: somebody has to work .workers > 0 is false at .*log_test.cpp:[0-9]+");
}

TEST(log, a_check_that_holds_evaluates_once_and_says_nothing) {
  int evaluated = 0;
  CaptureStderr();
  WEFT_CHECK(++evaluated == 1, "counted once");
  EXPECT_EQ(evaluated, 1);
  EXPECT_EQ(GetCapturedStderr(), "");
}

TEST(log, an_assertion_costs_nothing_in_release_builds) {
  int evaluated = 0;
  WEFT_ASSERT(++evaluated == 1, "counted once");
#ifdef NDEBUG
  EXPECT_EQ(evaluated, 0);
#else
  EXPECT_EQ(evaluated, 1);
#endif
}

TEST(clock, never_goes_back) {
  auto last = now_ns();
  EXPECT_GT(last, 0u);
  for (int i = 0; i != 10000; ++i) {
    const auto now = now_ns();
    ASSERT_GE(now, last);
    last = now;
  }
}

} // namespace
