// SPDX-License-Identifier: Apache-2.0
// Which values a knob of the program may have, and their texts.
#include "tune/domain.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <limits>

namespace {

using namespace weft::rt;

knob_domain range_of(std::int64_t least, std::int64_t most) {
  knob_domain d;
  d.least = least;
  d.most = most;
  return d;
}

TEST(knob_domain, a_range_has_its_ends_and_no_more) {
  const knob_domain d = range_of(-2, 8);
  EXPECT_EQ(d.parse("-2"), -2);
  EXPECT_EQ(d.parse("8"), 8);
  for (const char *wrong : {"-3", "9", "", "3 ", "+3", "3.0", "x", "99999999999999999999"})
    EXPECT_FALSE(d.parse(wrong)) << wrong;
  EXPECT_EQ(d.text(-2), "-2");
  EXPECT_EQ(d.allowed(), "an integer from -2 to 8");
  EXPECT_STREQ(d.type(), "int");
}

TEST(knob_domain, a_list_has_its_values_alone) {
  knob_domain d;
  d.what = knob_domain::kind::numbers;
  d.numbers = {160, 1000, 100'000};
  EXPECT_EQ(d.parse("1000"), 1000);
  EXPECT_FALSE(d.parse("161"));
  EXPECT_EQ(d.allowed(), "one of 160, 1000, 100000");
  for (std::int64_t n = 0; n < 20; ++n)
    d.numbers.push_back(200'000 + n);
  EXPECT_TRUE(d.allowed().ends_with(", 200012, ... 200019 (23 values)")) << d.allowed();
}

TEST(knob_domain, reals_know_no_nan) {
  knob_domain d;
  d.what = knob_domain::kind::reals;
  d.real_least = 0.25;
  d.real_most = 4;
  EXPECT_EQ(std::bit_cast<double>(d.parse("0.25").value()), 0.25);
  EXPECT_EQ(d.text(d.parse("1.5").value()), "1.5");
  EXPECT_FALSE(d.parse("0.24"));
  EXPECT_FALSE(d.parse("nan"));
  EXPECT_FALSE(d.includes(std::bit_cast<std::int64_t>(std::numeric_limits<double>::quiet_NaN())));
  EXPECT_EQ(d.allowed(), "a number from 0.25 to 4");
  EXPECT_STREQ(d.type(), "real");
}

TEST(knob_domain, words_are_their_indices) {
  knob_domain d;
  d.what = knob_domain::kind::words;
  d.words = {"row", "column"};
  EXPECT_EQ(d.parse("column"), 1);
  EXPECT_FALSE(d.parse("1"));
  EXPECT_FALSE(d.includes(2));
  EXPECT_FALSE(d.includes(-1));
  EXPECT_EQ(d.text(0), "row");
  EXPECT_EQ(d.allowed(), "one of row, column");
  EXPECT_STREQ(d.type(), "choice");
}

} // namespace
