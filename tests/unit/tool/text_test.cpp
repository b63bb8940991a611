// SPDX-License-Identifier: Apache-2.0
// Times for people: the unit that suits, and its digits.
#include "tools/weft/support/text.hpp"

#include <gtest/gtest.h>

namespace {

using weft_tool::duration;

TEST(text, a_duration_has_the_unit_that_suits_it) {
  EXPECT_EQ(duration(0), "0 ns");
  EXPECT_EQ(duration(999), "999 ns");
  EXPECT_EQ(duration(1e3), "1.0 us");
  EXPECT_EQ(duration(12'340), "12.3 us");
  EXPECT_EQ(duration(1e6), "1.00 ms");
  EXPECT_EQ(duration(12'340'000), "12.34 ms");
  EXPECT_EQ(duration(1e9), "1.000 s");
  EXPECT_EQ(duration(1'234'500'000'000), "1234.500 s");
}

TEST(text, is_what_printf_writes) { EXPECT_EQ(weft_tool::text("%d %s", 7, "x"), "7 x"); }

} // namespace
