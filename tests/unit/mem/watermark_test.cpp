// SPDX-License-Identifier: Apache-2.0
#include "mem/stack_pool.hpp"
#include "mem/watermark.hpp"

#include "arch/sanitizer.hpp"
#include "support/scale.hpp"

#include <gtest/gtest.h>
#include <thread>

namespace {

using weft::rt::watermark;

/// Uses `bytes` of the stack, and a little more.
[[gnu::noinline]] WEFT_UNINSTRUMENTED void use(std::size_t bytes) {
  auto *room = static_cast<volatile char *>(__builtin_alloca(bytes));
  for (std::size_t i = 0; i < bytes; i += 64)
    room[i] = 1;
}

WEFT_UNINSTRUMENTED const char *far_below() {
  return static_cast<const char *>(__builtin_frame_address(0)) - (100 << 10);
}

void expect_about(std::size_t measured, std::size_t used) {
  EXPECT_GE(measured, used);
  EXPECT_LE(measured, used + 1500) << "the functions that measure take a little themselves";
}

class watermark_test : public testing::Test {
 protected:
  void SetUp() override {
    if (test::k_sanitized)
      GTEST_SKIP() << "a sanitizer's frames are larger";
  }
  watermark *innermost = nullptr;
};

TEST_F(watermark_test, tells_the_depth_that_was_reached) {
  for (std::size_t bytes :
       {std::size_t{2000}, std::size_t{40'000}, std::size_t{9000}}) { // less than before, too
    watermark m;
    m.begin(far_below(), innermost);
    EXPECT_EQ(innermost, &m);
    use(bytes);
    expect_about(m.end(innermost), bytes);
    EXPECT_EQ(innermost, nullptr);
  }
}

TEST_F(watermark_test, of_little_use_is_the_least_there_is) {
  watermark m;
  m.begin(far_below(), innermost);
  EXPECT_EQ(m.end(innermost), watermark::k_least);
}

TEST_F(watermark_test, what_is_measured_inside_counts_for_what_is_outside) {
  watermark outer;
  outer.begin(far_below(), innermost);
  use(3000);
  watermark inner;
  inner.begin(far_below(), innermost);
  use(20'000);
  expect_about(inner.end(innermost), 20'000);
  EXPECT_EQ(innermost, &outer);
  expect_about(outer.end(innermost), 20'000);
}

TEST_F(watermark_test, what_the_outside_had_used_before_is_kept) {
  watermark outer;
  outer.begin(far_below(), innermost);
  use(30'000);
  watermark inner;
  inner.begin(far_below(), innermost);
  use(2000);
  expect_about(inner.end(innermost), 2000);
  expect_about(outer.end(innermost), 30'000);
}

TEST_F(watermark_test, all_of_the_stack_is_seen_as_all_of_it) {
  watermark m;
  const char *low = far_below();
  m.begin(low, innermost);
  use(120'000);
  EXPECT_NEAR(static_cast<double>(m.end(innermost)), 100 << 10, 1500);
  EXPECT_LE(m.deepest() - low, 64) << "one byte in 64 is used";
}

TEST(watermark_report, says_where_a_depth_above_the_limit_comes_from) {
  testing::internal::CaptureStderr();
  const auto limit = weft::rt::configured_stack_bytes();
  weft::rt::note_watermark("fits", limit);
  weft::rt::note_watermark("deep", limit + 1);
  weft::rt::report_watermarks();
  EXPECT_EQ(
      testing::internal::GetCapturedStderr(),
      "weft: stack.watermark: task 'deep' used at most " + std::to_string(limit + 1) +
          " bytes in 1 runs, on a thread's own stack; one of Weft's would overflow (stack.bytes is " +
          std::to_string(limit) + ")\nweft: stack.watermark: task 'fits' used at most " +
          std::to_string(limit) + " bytes in 1 runs\n");
}

TEST(watermark_report, names_the_largest_depth_of_each_name_largest_first) {
  testing::internal::CaptureStderr();
  weft::rt::note_watermark("small", 600);
  weft::rt::note_watermark("large", 5000);
  weft::rt::note_watermark("small", 700);
  weft::rt::note_watermark("small", 650);
  weft::rt::note_stack_depth(5300, 98'176);
  weft::rt::note_stack_depth(900, 98'176);
  weft::rt::report_watermarks();
  weft::rt::report_watermarks(); // once
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "weft: stack.watermark: task 'large' used at most 5000 bytes in 1 runs\n"
            "weft: stack.watermark: task 'small' used at most 700 bytes in 3 runs\n"
            "weft: stack.watermark: the deepest stack used 5300 of 98176 bytes\n");
}

} // namespace
