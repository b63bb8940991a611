// SPDX-License-Identifier: Apache-2.0
// How weft-bench and its commands read options.
#include <driver/arguments.hpp>
#include <driver/options.hpp>

#include <gtest/gtest.h>

#include <stdexcept>

namespace {

std::string message_of(const std::function<void()> &call) {
  try {
    call();
  } catch (const std::runtime_error &e) {
    return e.what();
  }
  return "";
}

TEST(bench_arguments, acts_on_each_option_in_its_order) {
  std::string order, text;
  std::vector<std::string> list;
  std::vector<int> numbers{9};
  long number = 0;
  bench::option_table table("weft-bench some", "");
  table.flag("--a", [&] { order += 'a'; })
      .value("--b", [&](const std::string &value) { order += value; })
      .value("--text", text)
      .list("--list", list)
      .number("--number", number, 10, 3)
      .numbers("--numbers", numbers, 8)
      .parse({"--b", "1", "--a", "--b", "2", "--text", "t", "--list", "x,y", "--number", "3",
              "--numbers", "1,8"});
  EXPECT_EQ(order, "1a2");
  EXPECT_EQ(text, "t");
  EXPECT_EQ(list, (std::vector<std::string>{"x", "y"}));
  EXPECT_EQ(number, 3);
  EXPECT_EQ(numbers, (std::vector<int>{1, 8}));
}

TEST(bench_arguments, names_what_is_wrong) {
  long number = 5;
  std::vector<int> numbers{9};
  bench::option_table table("weft-bench some", "");
  table.flag("--a", [] {}).number("--n", number, 10, 3).numbers("--all", numbers, 8);
  const auto parse = [&](const std::vector<std::string> &arguments) {
    return message_of([&] { table.parse(arguments); });
  };
  EXPECT_EQ(parse({"--c"}), "unknown option '--c'; see weft-bench some --help");
  EXPECT_EQ(parse({"--n"}), "--n wants a value");
  for (const char *text : {"2", "11", "3x", "x", ""})
    EXPECT_EQ(parse({"--n", text}),
              "--n wants a number from 3 to 10, not '" + std::string(text) + "'");
  EXPECT_EQ(parse({"--all", ""}), "--all wants a number from 1 to 8, not ''");
  EXPECT_EQ(parse({"--all", "3,9"}), "--all wants a number from 1 to 8, not '9'");
  EXPECT_EQ(number, 5);
  EXPECT_EQ(numbers, std::vector<int>{9});
}

TEST(bench_arguments, chooses_what_weft_bench_does) {
  using mode = bench::options::mode;
  EXPECT_EQ(bench::parse_options({}).what, mode::suites);
  EXPECT_EQ(bench::parse_options({}).runs, 9);
  EXPECT_EQ(bench::parse_options({"--quick"}).runs, 3);
  EXPECT_EQ(bench::parse_options({"--quick", "--runs", "5"}).runs, 5);
  EXPECT_EQ(bench::parse_options({"--runs", "5", "--quick"}).runs, 5);
  EXPECT_EQ(bench::parse_options({"--instructions"}).what, mode::instructions);
  EXPECT_EQ(bench::parse_options({"--memory"}).what, mode::memory);
  EXPECT_EQ(bench::parse_options({"--list"}).what, mode::list);
  const bench::options beside = bench::parse_options({"--beside", "2"});
  EXPECT_EQ(beside.what, mode::beside);
  EXPECT_EQ(beside.busy, 2);
  EXPECT_EQ(bench::parse_options({"--markdown"}).output, bench::form::markdown);
  EXPECT_EQ(bench::parse_options({"--workers", "3"}).workers, 3);
  EXPECT_EQ(message_of([] { (void)bench::parse_options({"--beside", "0"}); }),
            "--beside wants a number from 1 to 1024, not '0'");
}

TEST(bench_arguments, cuts_lists) {
  EXPECT_EQ(bench::split("a,b"), (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(bench::split("a b", ' '), (std::vector<std::string>{"a", "b"}));
  EXPECT_TRUE(bench::split("").empty());
}

} // namespace
