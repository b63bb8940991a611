// SPDX-License-Identifier: Apache-2.0
// Promise: with setting deps.check a task that names what its parent does not declare, or declares for less, is reported with both
// labels and the address; what is covered is not reported, and nothing is without the setting.
#include "support/case_process.hpp"

#include <weft.h>
#include <weft/weft.hpp>

#include <cstdio>
#include <gtest/gtest.h>
#include <string>

namespace {

int g_x, g_y;

std::string hex(const void *p) {
  char text[32];
  std::snprintf(text, sizeof text, "%p", p);
  return text;
}

template <class Child, class... Parent>
void below(Child child, Parent... parent) {
  for (int i = 0; i != 3; ++i)
    weft::spawn([child] { weft::spawn([] {}, child, weft::label("inner")); }, parent...,
                weft::label("outer"));
  weft::taskwait();
}

/// Returns the report, which is one line.
template <class F>
std::string said(const char *check, F f, const void *x = &g_x) {
  const test::ending end = test::in_process({{"WEFT_DEPS_CHECK", check}}, [f, x] {
    std::printf("%s\n", (hex(x) + " is x").c_str());
    f();
  });
  EXPECT_TRUE(end.exited(0)) << end;
  return end.output;
}
void expect_report(const std::string &text, const std::string &how, const std::string &parents) {
  const std::string x = text.substr(0, text.find(" is x")), address = x.substr(x.rfind("0x"));
  const std::string begin = "task 'inner' names " + address + " (" + how + ")";
  const std::size_t at = text.find(begin);
  EXPECT_NE(at, std::string::npos) << text;
  EXPECT_NE(text.find("its parent 'outer' " + parents), std::string::npos) << text;
  EXPECT_EQ(text.find(begin, at + 1), std::string::npos) << "said more than once: " << text;
}

TEST(deps_check, names_what_the_parent_does_not_declare) {
  expect_report(said("true", [] { below(weft::inout(g_x), weft::weak_inout(g_y)); }), "inout",
                "does not declare");
}
TEST(deps_check, names_a_child_that_writes_what_its_parent_reads) {
  expect_report(said("true", [] { below(weft::out(g_x), weft::in(g_x)); }), "inout",
                "declares it (in) only");
}
TEST(deps_check, names_a_child_that_does_not_take_turns_below_one_that_has_none) {
  expect_report(said("true", [] { below(weft::inout(g_x), weft::weak_commutative(g_x)); }), "inout",
                "declares it (weak_commutative) only");
}
struct pair_of_ints {
  int a, b;
};
pair_of_ints g_pair;
int g_row[4];

TEST(deps_check, names_objects_of_different_addresses_that_overlap) {
  const auto member = [] {
    for (int i = 0; i != 3; ++i) {
      weft::spawn([] {}, weft::out(g_pair), weft::label("whole"));
      weft::spawn([] {}, weft::in(g_pair.b), weft::label("part"));
    }
    weft::taskwait();
  };
  const std::string text = said("true", member);
  EXPECT_NE(text.find("task 'part' names 4 bytes at 0x"), std::string::npos) << text;
  EXPECT_NE(text.find("which overlap what task 'whole' has named at"), std::string::npos) << text;
  EXPECT_EQ(said("false", member).find("which overlap"), std::string::npos);
}
int do_nothing(void *) { return 0; }

TEST(deps_check, names_objects_of_c_that_say_their_size) {
  const std::string text = said("true", [] {
    static char bytes[8 << 20];
    constexpr int k_long = 7 << 20;
    const auto submit = [](const char *label, const weft_access &object) {
      weft_spawn_options named = WEFT_SPAWN_OPTIONS_INIT;
      named.label = label;
      weft_prepared task;
      EXPECT_EQ(weft_task_prepare(&task, &do_nothing, 0, 1, &named), 0);
      EXPECT_EQ(weft_task_submit(&task, &object, 1), 0);
    };
    submit("whole", weft_sized(weft_out(bytes), k_long));
    submit("at its begin", weft_sized(weft_in(bytes), 3));
    submit("at 5", weft_sized(weft_in(bytes + 5), 3));
    submit("far", weft_sized(weft_weak_in(bytes + k_long - 1), 3));
    submit("behind", weft_sized(weft_in(bytes + k_long), 3));
    EXPECT_EQ(weft_taskwait(nullptr), 0);
    weft_access both[] = {weft_sized(weft_out(bytes), 8), weft_in(&g_x)};
    weft_spawn_options named = WEFT_SPAWN_OPTIONS_INIT;
    named.label = "first of two";
    EXPECT_EQ(weft_spawn(&do_nothing, nullptr, 0, both, 2, &named, nullptr), 0);
    submit("in a list", weft_out(bytes + 7));
    EXPECT_EQ(weft_taskwait(nullptr), 0);
  });
  EXPECT_NE(text.find("task 'at 5' names 3 bytes"), std::string::npos) << text;
  EXPECT_NE(text.find("task 'far' names 3 bytes"), std::string::npos) << text;
  EXPECT_NE(text.find("task 'in a list' names 1 bytes"), std::string::npos) << text;
  EXPECT_NE(text.find("overlap what task 'first of two'"), std::string::npos) << text;
  EXPECT_EQ(text.find("'at its begin'"), std::string::npos) << text;
  EXPECT_EQ(text.find("'behind'"), std::string::npos) << text;
}
TEST(deps_check, is_silent_of_neighbours_readers_first_members_and_what_is_over) {
  EXPECT_EQ(said("true",
                 [] {
                   weft::spawn([] {}, weft::out(g_row[0]), weft::label("first"));
                   weft::spawn([] {}, weft::out(g_row[1]), weft::label("second"));
                   weft::spawn([] {}, weft::in(g_pair), weft::label("reads"));
                   weft::spawn([] {}, weft::in(g_pair.b), weft::label("reads a part"));
                   weft::taskwait();
                   weft::spawn([] {}, weft::out(g_pair.b), weft::label("after the wait"));
                   weft::taskwait();
                   weft::spawn([] {}, weft::out(g_pair), weft::label("later"));
                   weft::spawn([] {}, weft::in(g_pair.a), weft::label("at the same address"));
                   weft::taskwait();
                 })
                .find("which overlap"),
            std::string::npos);
}
TEST(deps_check, is_silent_where_nothing_is_wrong_and_where_it_is_off) {
  const std::string covered = said("true", [] {
    below(weft::in(g_x), weft::weak_in(g_x));
    below(weft::out(g_x), weft::inout(g_x));
    below(weft::commutative(g_x), weft::weak_commutative(g_x));
    below(weft::inout(g_x), weft::commutative(g_x));
    below(weft::concurrent(g_x), weft::weak_concurrent(g_x));
    below(weft::inout(g_x)); // declares nothing
    weft::spawn([] { weft::spawn([] {}, weft::reduction(g_x, weft::sum)); },
                weft::weak_reduction(g_x, weft::sum));
    weft::taskwait();
  });
  EXPECT_EQ(covered.find("names"), std::string::npos) << covered;
}
TEST(deps_check, names_the_bytes_of_a_region_that_the_parent_does_not_declare) {
  static int v[10];
  const auto part = [](int first, int last) { return weft::region(v).range(first, last); };
  expect_report(
      said(
          "true", [=] { below(weft::inout(part(2, 7)), weft::weak_inout(part(0, 4))); }, &v[5]),
      "inout", "does not declare");
}
TEST(deps_check, names_a_region_that_is_written_where_the_parent_reads) {
  static int v[10];
  const auto part = [](int first, int last) { return weft::region(v).range(first, last); };
  expect_report(
      said(
          "true",
          [=] { below(weft::out(part(1, 5)), weft::inout(part(0, 2)), weft::in(part(3, 9))); },
          &v[3]),
      "inout", "declares it (in) only");
}
TEST(deps_check, is_silent_where_regions_are_covered) {
  static int v[10];
  const std::string covered = said("true", [] {
    below(weft::inout(weft::region(v).range(1, 8)), weft::inout(weft::region(v).range(0, 4)),
          weft::weak_inout(weft::region(v).range(5, 9)));
    below(weft::in(weft::region(v)), weft::weak_in(weft::region(v)));
    below(weft::inout(weft::region(v).range(2, 3))); // declares nothing
  });
  EXPECT_EQ(covered.find("names"), std::string::npos) << covered;
}
TEST(deps_check, is_off_by_default) {
  const test::ending end =
      test::in_process({}, [] { below(weft::inout(g_x), weft::weak_inout(g_y)); });
  EXPECT_TRUE(end.exited(0)) << end;
  EXPECT_EQ(end.output.find("names"), std::string::npos) << end;
}

} // namespace
