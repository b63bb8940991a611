// SPDX-License-Identifier: Apache-2.0
// What weft-bench compares, and what it says of targets.
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
