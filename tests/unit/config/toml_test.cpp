// SPDX-License-Identifier: Apache-2.0
#include "config/toml.hpp"

#include <weft/error.hpp>

#include <gtest/gtest.h>
#include <string>

namespace {

using namespace weft::rt;

/// All entries as "key=text@line".
std::string read(const std::string &text) {
  std::string out;
  for (const auto &entry : parse_toml(text, "t.toml"))
    out +=
        (out.empty() ? "" : " ") + entry.key + "=" + entry.text + "@" + std::to_string(entry.line);
  return out;
}

std::string refusal(const std::string &text) {
  try {
    return "accepted: " + read(text);
  } catch (const weft::error &e) {
    EXPECT_EQ(e.code(), weft::errc::bad_setting);
    return e.what();
  }
}

TEST(toml, of_nothing_but_blanks_and_comments_is_empty) {
  EXPECT_EQ(read(""), "");
  EXPECT_EQ(read("\n  # workers = 3\n\t\n"), "");
}

TEST(toml, tables_stand_before_the_keys_below_them) {
  EXPECT_EQ(read("a = 1\n[b]\nc = 2\nd.e = 3\n[ f . g ]\nh=4"),
            "a=1@1 b.c=2@3 b.d.e=3@4 f.g.h=4@6");
}

TEST(toml, keys_may_be_quoted) { EXPECT_EQ(read("\"a\".'b' = 1"), "a.b=1@1"); }

TEST(toml, strings_lose_their_quotes) {
  EXPECT_EQ(read("a = \"x # y\" # z"), "a=x # y@1");
  EXPECT_EQ(read(R"(a = "q\"\\\t.")"), "a=q\"\\\t.@1");
  EXPECT_EQ(read(R"(a = 'raw\n')"), "a=raw\\n@1");
  EXPECT_EQ(read("a = \"\""), "a=@1");
  EXPECT_EQ(read(R"(a = "\u0041\u007f\u0080\u07fF\u0800\uFFFd\u0009z")"),
            "a=A\x7f\xc2\x80\xdf\xbf\xe0\xa0\x80\xef\xbf\xbd\tz@1");
}

TEST(toml, numbers_lose_their_underscores) {
  EXPECT_EQ(read("a = 1_000_000"), "a=1000000@1");
  EXPECT_EQ(read("a = +5\nb = -5"), "a=5@1 b=-5@2");
  EXPECT_EQ(read("a = 0.5# half\nb = 1e3\nc = 2.5E-1"), "a=0.5@1 b=1e3@2 c=2.5E-1@3");
}

TEST(toml, truth_values_stay_words) {
  EXPECT_EQ(read("a = true\nb = false"), "a=true@1 b=false@2");
}

TEST(toml, lines_may_end_as_on_windows) {
  EXPECT_EQ(read("a = 1\r\n[b]\r\nc = \"x\"\r\n"), "a=1@1 b.c=x@3");
}

TEST(toml, a_mistake_is_reported_with_file_and_line) {
  EXPECT_EQ(refusal("\n\na ? 1").rfind("t.toml:3: ", 0), 0u);
}

TEST(toml, each_mistake_has_its_sentence) {
  const std::pair<const char *, const char *> cases[] = {
      {"a = 1\na = 2", "t.toml:2: 'a' was set in line 1 already"},
      {"[b]\nc = 1\n[b]\nc = 2", "'b.c' was set in line 2"},
      {"a", "no '='"},
      {"= 1", "a key is missing"},
      {"a. = 1", "a key is missing"},
      {"[a", "no closing ]"},
      {"[]", "a key is missing"},
      {"[[a]]", "arrays of tables"},
      {"a =", "the value is missing"},
      {"a = # 1", "the value is missing"},
      {"a = [1]", "arrays"},
      {"a = {b = 1}", "inline tables"},
      {"a = \"x", "no closing \""},
      {"a = \"x\\", "no closing \""},
      {"a = 'x", "no closing '"},
      {"a = \"\\x41\"", "escape \\x"},
      {"a = \"\\u041\"", "four hexadecimal digits"},
      {"a = \"\\u41", "four hexadecimal digits"},
      {"a = \"\\u-041\"", "four hexadecimal digits"},
      {"a = \"\\ud800\"", "four hexadecimal digits"},
      {"a = \"\\udfff\"", "four hexadecimal digits"},
      {"a = \"\"\"x\"\"\"", "several lines"},
      {"a = 16MiB", "put it in quotes: \"16MiB\""},
      {"a = yes", "put it in quotes"},
      {"a = 1__0", "neither a number"},
      {"a = 1_x", "neither a number"},
      {"a = _1", "neither a number"},
      {"a = 1_", "neither a number"},
      {"a = 1.", "neither a number"},
      {"a = .5", "neither a number"},
      {"a = 1e", "neither a number"},
      {"a = 0x10", "neither a number"},
      {"a = -", "neither a number"},
      {"a = 1 2", "something follows"},
      {"a = 1, b = 2", "neither a number"},
      {"[a] b = 1", "something follows"},
  };
  for (const auto &[text, sentence] : cases)
    EXPECT_NE(refusal(text).find(sentence), std::string::npos) << text << "\n" << refusal(text);
}

} // namespace
