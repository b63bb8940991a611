// SPDX-License-Identifier: Apache-2.0
#include "observe/layout.hpp"
#include "observe/name.hpp"

#include <gtest/gtest.h>
#include <weft/error.hpp>

using namespace weft::rt;
using of = counter_name::of;

TEST(counter_name, of_the_whole_program_has_no_instance_or_total) {
  for (const char *text : {"/threads/count/cumulative", "/threads{total}/count/cumulative",
                           "/threads{locality#0/total}/count/cumulative"}) {
    const counter_name n = parse_counter_name(text);
    EXPECT_EQ(n.base, "/threads/count/cumulative") << text;
    EXPECT_EQ(n.instance, of::total) << text;
    EXPECT_FALSE(n.is_pattern()) << text;
  }
}

TEST(counter_name, of_a_worker_is_read_in_our_spelling_and_in_that_of_hpx) {
  for (const char *text :
       {"/threads{worker#3}/idle-rate", "/threads{locality#0/worker-thread#3}/idle-rate",
        "/threads{locality#0/pool#default/worker-thread#3}/idle-rate"}) {
    const counter_name n = parse_counter_name(text);
    EXPECT_EQ(n.instance, of::worker) << text;
    EXPECT_EQ(n.worker, 3u) << text;
    EXPECT_EQ(n.base, "/threads/idle-rate") << text;
  }
  EXPECT_EQ(parse_counter_name("/threads{worker#*}/idle-rate").instance, of::every_worker);
  EXPECT_EQ(name_of_worker("/threads/idle-rate", 3), "/threads{worker#3}/idle-rate");
}

TEST(counter_name, of_formulas_keeps_what_they_are_of) {
  const counter_name s = parse_counter_name("/statistics{/threads{worker#1}/idle-rate}/max@10");
  EXPECT_TRUE(s.is_statistics());
  EXPECT_EQ(s.inner, "/threads{worker#1}/idle-rate");
  EXPECT_EQ(s.parameters, "10");
  EXPECT_EQ(parse_counter_name("/statistics{/threads/idle-rate}/max").inner, "/threads/idle-rate");
  const counter_name a = parse_counter_name("/arithmetics/add@/a/b,/c{worker#2}/d");
  EXPECT_TRUE(a.is_arithmetics());
  EXPECT_EQ(a.base, "/arithmetics/add");
  EXPECT_EQ(a.parameters, "/a/b,/c{worker#2}/d");
}

TEST(counter_name, that_is_wrong_is_refused_with_the_reason) {
  for (const char *text :
       {"", "threads/x", "/threads{worker#3/x", "/threads{worker#x}/y", "/threads{core#1}/y",
        "/thr eads/x", "/statistics/max", "/arithmetics/add", "/threads{worker#99999999}/y"})
    try {
      static_cast<void>(parse_counter_name(text));
      ADD_FAILURE() << "took '" << text << "'";
    } catch (const weft::error &e) {
      EXPECT_EQ(e.code(), weft::errc::invalid_argument);
      EXPECT_NE(std::string(e.what()).find(std::string("'") + text + "'"), std::string::npos)
          << e.what();
    }
}

TEST(counter_name, patterns_match_any_part) {
  EXPECT_TRUE(matches("*", "/a/b"));
  EXPECT_TRUE(matches("/a/*", "/a/b/c"));
  EXPECT_TRUE(matches("/a/?", "/a/b"));
  EXPECT_TRUE(matches("*c*e", "abcde"));
  EXPECT_TRUE(matches("a*b*b", "aabbb"));
  EXPECT_FALSE(matches("/a/?", "/a/bc"));
  EXPECT_FALSE(matches("a*b", "abc"));
  EXPECT_FALSE(matches("", "a"));
  EXPECT_TRUE(matches("a**", "a")) << "what follows the text may be any number of stars";
  EXPECT_FALSE(matches("a*?", "a"));
  EXPECT_TRUE(matches("*?b", "aab")) << "a star takes more when what follows it does not match";
}

TEST(counter_name, of_a_program_has_two_parts_and_none_of_a_formula) {
  for (const char *good : {"/app/hits", "/app/cache/hits-2_x"})
    EXPECT_TRUE(is_plain_name(good)) << good;
  for (const char *bad : {"app/hits", "/app", "/app/", "/app//x", "/app/hi ts", "/app{total}/x",
                          "/statistics/x", "/arithmetics/add", "/app/*"})
    EXPECT_FALSE(is_plain_name(bad)) << bad;
  EXPECT_TRUE(is_plain_name("/aZ09-_/azAZ09")) << "the first and the last of each range";
  for (const char beside : {'`', '{', '@', '[', '/', ':', '^', ',', '.'})
    EXPECT_FALSE(is_plain_name(std::string("/app/x") + beside + (beside == '/' ? "" : "y")))
        << beside;
  const std::size_t room = sizeof(catalogue_entry::name) - 1; // the last byte ends it
  EXPECT_TRUE(is_plain_name("/app/" + std::string(room - 5, 'x')));
  EXPECT_FALSE(is_plain_name("/app/" + std::string(room - 4, 'x')));
}

TEST(counter_name, lists_are_split_at_commas_but_not_inside_of_formulas) {
  const std::vector<std::string> plain{"/a/b", "/c{worker#*}/d"};
  EXPECT_EQ(split_names(" /a/b, /c{worker#*}/d ,"), plain);
  const std::vector<std::string> formula{"/a/b", "/arithmetics/add@/c/d,/e/f", "/g/h"};
  EXPECT_EQ(split_names("/a/b,/arithmetics/add@/c/d,/e/f;/g/h"), formula);
  EXPECT_TRUE(split_names("").empty());
}
