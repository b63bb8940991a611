// SPDX-License-Identifier: Apache-2.0
// What weft-bench compares, and what it says of targets.
#include <driver/break_even.hpp>
#include <driver/catalog.hpp>
#include <driver/results.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>
#include <string>
#include <vector>

namespace {

bool has(const std::string &text, const std::string &part) {
  return text.find(part) != std::string::npos;
}

} // namespace

TEST(bench_catalog, a_row_says_what_is_asked_beside_what_is_reached) {
  const std::vector<bench::row> rows{
      {"rows", "set-get", "weft", 1, "ns", {10, 20, 30}},
      {"rows", "set-get", "std", 1, "ns", {100, 110, 120}},
      {"rows", "then-chain", "weft", 1, "ns", {40}},
      {"rows", "then-chain", "boost-thread", 1, "ns", {100}},
      {"rows", "coroutine-suspend", "weft", 1, "ns", {40}},
      {"rows", "when-all", "weft", 1, "ns", {40}},
      {"algorithms", "scan-1e3", "weft", 2, "ns", {1.2}},
      {"algorithms", "scan-1e3", "serial", 2, "ns", {1}},
      {"futures", "skynet-1e8 peak_mib", "weft", 2, "MiB", {5}},
      {"policies", "chain", "weft", 2, "ns", {5}},
  };
  std::ostringstream out;
  EXPECT_EQ(bench::write_tables(out, rows, bench::form::markdown), 2);
  EXPECT_TRUE(has(out.str(), "| 0.18 of std | <= 0.25 | met |\n")) << out.str();
  EXPECT_TRUE(has(out.str(), "| 0.40 of boost-thread | <= 0.3 | missed |\n")) << out.str();
  EXPECT_TRUE(has(out.str(), "|  | <= 0.4 | no peer |\n")) << out.str();
  EXPECT_TRUE(has(out.str(), "| when-all | 1 | ns | 40.0 (40.0) |  |  |  |  |  |\n")) << out.str();
  EXPECT_TRUE(has(out.str(), "| 1.20 of serial | <= 1.1 | missed |\n")) << out.str();
  EXPECT_TRUE(has(out.str(), "| 5.00 MiB | <= 24 MiB | met |\n")) << out.str();
  EXPECT_TRUE(has(out.str(), "### policies: median (minimum)\n\n"
                             "| workload | workers | unit | weft |\n"))
      << out.str();
}

TEST(bench_catalog, a_target_has_its_peers_in_the_row) {
  int found = 0;
  for (const bench::experiment &e : bench::catalog(bench::size::full)) {
    const auto asked = bench::find_target(e.suite, e.workload, e.workers);
    if (!asked)
      continue;
    ++found;
    for (const std::string &peer : asked->peers)
      EXPECT_TRUE(std::any_of(e.contenders.begin(), e.contenders.end(),
                              [&](const bench::contender &c) { return c.runtime == peer; }))
          << e.suite << "/" << e.workload << " has no " << peer;
  }
  EXPECT_EQ(found, 9 + 4 + 1 + 35) << "of the core, rows, futures, algorithms";
}

TEST(bench_catalog, finer_sizes_have_the_serial_algorithm_and_tbb) {
  int sizes_of_scan = 0;
  for (const bench::experiment &e : bench::break_even_experiments()) {
    EXPECT_EQ(e.suite, "break-even");
    const auto runs = [&e](const char *runtime) {
      return std::any_of(e.contenders.begin(), e.contenders.end(),
                         [&](const bench::contender &c) { return c.runtime == runtime; });
    };
    EXPECT_TRUE(runs("serial") && runs("weft") && runs("pstl-tbb")) << e.workload;
    EXPECT_EQ(runs("tbb"), e.program_workload != "find") << e.workload;
    sizes_of_scan += e.program_workload == "scan" && e.count >= 1000 && e.count <= 200'000;
  }
  EXPECT_EQ(sizes_of_scan, 8);
}

TEST(bench_catalog, peers_are_neither_weft_nor_its_parts) {
  const bench::experiment core{"core", "", "", 2, 1, 0, {}},
      parts{"scheduler", "", "", 2, 1, 0, {}};
  EXPECT_TRUE(bench::is_peer(core, {"tbb", "", {}}));
  EXPECT_TRUE(bench::is_peer(core, {"glt-qthreads", "", {}}));
  EXPECT_FALSE(bench::is_peer(core, {"glt", "", {}}));
  EXPECT_FALSE(bench::is_peer(core, {"weft:delegated", "", {}}));
  EXPECT_FALSE(bench::is_peer(parts, {"ticket_lock", "", {}}));
}

namespace {

/// Returns rows of an algorithm of 1000, 2000, 5000 and 10,000 elements; the serial one takes 100.
std::vector<bench::row> rows_at(const std::string &algorithm, const std::vector<double> &weft,
                                const std::vector<double> &tbb,
                                const std::vector<double> &pstl_tbb) {
  const char *sizes[] = {"-1e3", "-2e3", "-5e3", "-1e4"};
  std::vector<bench::row> rows;
  for (std::size_t i = 0; i < 4; ++i) {
    const auto add = [&](const char *runtime, double ns) {
      rows.push_back({"break-even", algorithm + sizes[i], runtime, 2, "ns", {ns}});
    };
    add("serial", 100);
    add("weft", weft[i]);
    if (!tbb.empty())
      add("tbb", tbb[i]);
    add("pstl-tbb", pstl_tbb[i]);
  }
  return rows;
}

std::string table(const std::vector<bench::row> &rows, int missed) {
  std::ostringstream out;
  EXPECT_EQ(bench::write_break_even(out, rows, bench::form::markdown), missed) << out.str();
  return out.str();
}

} // namespace

TEST(bench_break_even, is_where_a_runtime_begins_to_pay_for_good) {
  using bound = bench::break_even::bound;
  const auto of = [](const std::vector<double> &times) {
    return bench::find_break_even(rows_at("scan", times, {}, times), "scan", "weft");
  };
  EXPECT_EQ(of({99, 96, 90, 50}).elements, 5000) << "96 of 100 are not less";
  EXPECT_EQ(of({99, 96, 90, 50}).what, bound::exactly);
  EXPECT_EQ(of({90, 120, 90, 50}).elements, 5000) << "the last loss decides";
  EXPECT_EQ(of({90, 90, 90, 50}).what, bound::at_most);
  EXPECT_EQ(of({90, 90, 90, 50}).elements, 1000);
  EXPECT_EQ(of({90, 90, 90, 100}).what, bound::above);
  EXPECT_EQ(of({90, 90, 90, 100}).elements, 10'000);
  const std::vector<double> any(4, 1);
  EXPECT_EQ(bench::find_break_even(rows_at("scan", any, {}, any), "scan", "tbb").what,
            bound::absent);
}

TEST(bench_break_even, half_of_tbbs_elements_is_asked) {
  const std::vector<double> from_1000{50, 50, 50, 50}, from_2000{100, 50, 50, 50},
      from_5000{100, 100, 50, 50}, from_10000{100, 100, 100, 50}, never{100, 100, 100, 100};
  const auto line = [&](const std::vector<double> &weft, const std::vector<double> &tbb,
                        const std::vector<double> &pstl_tbb, int missed = 0) {
    return table(rows_at("reduce", weft, tbb, pstl_tbb), missed);
  };
  const auto ends = [](const std::string &text, const std::string &end) {
    EXPECT_TRUE(text.ends_with(end + "\n\n")) << text;
  };
  EXPECT_TRUE(has(line(from_2000, from_5000, from_10000),
                  "| algorithm | weft | tbb | pstl-tbb | weft reaches | asked |  |\n"));
  ends(line(from_2000, from_5000, from_10000),
       "| reduce | 2000 | 5000 | 10000 | 0.4 of tbb | <= 0.5 | met |");
  ends(line(from_5000, from_10000, from_2000, 1),
       "| reduce | 5000 | 10000 | 2000 | 2.5 of pstl-tbb | <= 0.5 | missed |");
  ends(line(from_5000, {}, from_10000),
       "| reduce | 5000 | 10000 | 0.5 of pstl-tbb | <= 0.5 | met |");
  ends(line(from_1000, from_2000, never),
       "| reduce | <= 1000 | 2000 | > 10000 | <= 0.5 of tbb | <= 0.5 | met |");
  ends(line(from_1000, from_1000, never),
       "| reduce | <= 1000 | <= 1000 | > 10000 |  | <= 0.5 | undecided |");
  ends(line(from_10000, never, never),
       "| reduce | 10000 | > 10000 | > 10000 | <= 1 of tbb | <= 0.5 | undecided |");
  ends(line(never, from_10000, never, 1),
       "| reduce | > 10000 | 10000 | > 10000 | >= 1 of tbb | <= 0.5 | missed |");
  ends(line(from_2000, from_1000, never, 1),
       "| reduce | 2000 | <= 1000 | > 10000 | >= 2 of tbb | <= 0.5 | missed |");
}
