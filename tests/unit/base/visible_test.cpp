// SPDX-License-Identifier: Apache-2.0
#include "base/visible.hpp"

#include <gtest/gtest.h>
#include <string>

using namespace weft::rt;

TEST(visible, keeps_every_text_that_shows_as_it_is) {
  for (const char *text : {"", "plain", "~ \\x1b", "gr\xc3\xb6\xc3\x9f" "er", "\xe2\x82\xac",
                           "\xf0\x9f\x90\xa7", "\xc2\xa0", "\xed\x9f\xbf", "\xee\x80\x80",
                           "\xf4\x8f\xbf\xbf", "\xe0\xa0\x80", "\xf0\x90\x80\x80"})
    EXPECT_EQ(visible(text), text);
}

TEST(visible, escapes_what_a_terminal_obeys) {
  EXPECT_EQ(visible("\033[2J\007"), "\\x1b[2J\\x07");
  EXPECT_EQ(visible("a\nb\tc\rd\x7f"), "a\\x0ab\\x09c\\x0dd\\x7f");
  EXPECT_EQ(visible(std::string(1, '\0') + "a"), "\\x00a");
  EXPECT_EQ(visible("\xc2\x9b" "31m"), "\\xc2\\x9b" "31m") << "CSI of C1";
  EXPECT_EQ(visible("\xc2\x80\xc2\x9f"), "\\xc2\\x80\\xc2\\x9f");
}

TEST(visible, escapes_bytes_that_are_no_utf_8) {
  for (const std::string wrong :
       {"\x9b", "\xff", "\xc2", "\xc0\x80", "\xc1\xbf", "\xe0\x9f\xbf", "\xed\xa0\x80", "\xe2\x82",
        "\xf0\x8f\xbf\xbf", "\xf4\x90\x80\x80", "\xf5\x80\x80\x80", "\xf0\x9f\x90"})
    for (const char c : visible(wrong))
      EXPECT_TRUE(c > 0x20 && c < 0x7f) << wrong;
  EXPECT_EQ(visible("\xe2\x82z\xc3\xa9"), "\\xe2\\x82z\xc3\xa9") << "and what follows is whole";
}
