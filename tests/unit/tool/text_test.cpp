// SPDX-License-Identifier: Apache-2.0
// How the command quotes words, for JSON, TOML and DOT, and for shells; how it splits texts.
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

using list = std::vector<std::string>;

TEST(text, is_split_at_each_separator) {
  EXPECT_EQ(weft_tool::split("", ':'), list{});
  EXPECT_EQ(weft_tool::split("a", ':'), list{"a"});
  EXPECT_EQ(weft_tool::split("/a:/b c", ':'), (list{"/a", "/b c"}));
  EXPECT_EQ(weft_tool::split(":a::b:", ':'), (list{"", "a", "", "b"}));
  EXPECT_EQ(weft_tool::split(std::string("A=1\0B=\0", 7), '\0'), (list{"A=1", "B="}));
}

TEST(text, is_split_into_words) {
  EXPECT_EQ(weft_tool::split_words(""), list{});
  EXPECT_EQ(weft_tool::split_words(" \t\n"), list{});
  EXPECT_EQ(weft_tool::split_words("ssh"), list{"ssh"});
  EXPECT_EQ(weft_tool::split_words("  ssh \t-p\n22 "), (list{"ssh", "-p", "22"}));
}

} // namespace
