// SPDX-License-Identifier: Apache-2.0
// How the command quotes words: for JSON, TOML and DOT, and for shells.
#include "tools/weft/support/text.hpp"

#include <gtest/gtest.h>

namespace {

TEST(text, quotes_for_json_keep_every_character) {
  EXPECT_EQ(weft_tool::double_quoted(""), R"("")");
  EXPECT_EQ(weft_tool::double_quoted("task 'a'"), R"("task 'a'")");
  EXPECT_EQ(weft_tool::double_quoted(R"(say "a\b")"), R"("say \"a\\b\"")");
  EXPECT_EQ(weft_tool::double_quoted("a\nb\x1f\x20\x7f"), "\"a\\u000ab\\u001f \\u007f\"");
  EXPECT_EQ(weft_tool::double_quoted("\xc2\x9b\xff"), R"("\u009b\ufffd")");
  EXPECT_EQ(weft_tool::double_quoted("\xc3\xa9"), "\"\xc3\xa9\"");
}

TEST(text, quotes_for_shells_end_and_begin_again_at_a_quote) {
  EXPECT_EQ(weft_tool::shell_quoted(""), "''");
  EXPECT_EQ(weft_tool::shell_quoted("a $b \"c\""), "'a $b \"c\"'");
  EXPECT_EQ(weft_tool::shell_quoted("it's"), R"('it'\''s')");
  EXPECT_EQ(weft_tool::shell_quoted("it's", "\\'"), R"('it\'s')");
}

} // namespace
