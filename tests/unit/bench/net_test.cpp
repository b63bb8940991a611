// SPDX-License-Identifier: Apache-2.0
// What `weft-bench net` makes of the lines of ranks, and what the applications measure of themselves.
#include "driver/net/net.hpp"
#include "net/apps/kernels.hpp"
#include "net/apps/meter.hpp"
#include "net/apps/options.hpp"
#include "net/apps/uses.hpp"

#include <gtest/gtest.h>

#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

std::string line(int rank, int rep, const std::string &seconds) {
  return "net app=jacobi version=cached rank=" + std::to_string(rank) +
         " ranks=2 rep=" + std::to_string(rep) + " seconds=" + seconds +
         " kernels=0.5 computing=0.4 awaiting=0.2 both=0.1 processor=0.6 tasks=10 messages=4 bytes=8 right=1\n";
}

TEST(net_bounds, an_idle_rank_that_says_nothing_misses) {
  std::ostringstream said;
  EXPECT_EQ(bench::net::missed_when_idle(said, "idle 0 0.5\nweft: note\nidle 1 1.0\n", 2), 0);
  EXPECT_EQ(bench::net::missed_when_idle(said, "idle 0 0.5\nidle 1 1.1\n", 2), 1);
  EXPECT_EQ(bench::net::missed_when_idle(said, "idle 0 0.5\n", 2), 1);
  EXPECT_EQ(bench::net::missed_when_idle(said, "", 2), 2);
  EXPECT_NE(said.str().find("rank 1 has said nothing  MISSED"), std::string::npos) << said.str();
}

TEST(net_bounds, operations_that_nothing_compares_miss) {
  std::ostringstream said;
  EXPECT_EQ(bench::net::missed_above_ucx(said, "put 300\nabove_ucx_ns put_8 100\n"), 0);
  EXPECT_EQ(bench::net::missed_above_ucx(said, "above_ucx_ns put_8 101\nabove_ucx_ns get_8 40\n"), 1);
  EXPECT_EQ(bench::net::missed_above_ucx(said, "above_mpi_ns put_8 5\n"), 1);
  EXPECT_NE(said.str().find("no line compares"), std::string::npos) << said.str();
}

TEST(net_lines, ranks_of_a_run_are_joined) {
  const auto runs =
      bench::net::read_runs("weft: 2 ranks\n" + line(1, 2, "1.5") + line(0, 1, "1.0") +
                            line(0, 2, "0.5") + line(1, 1, "2.0"));
  ASSERT_EQ(runs.size(), 2u);
  EXPECT_DOUBLE_EQ(runs[0].seconds, 2.0);
  EXPECT_DOUBLE_EQ(runs[1].seconds, 1.5);
  EXPECT_DOUBLE_EQ(runs[0].kernels, 1.0);
  EXPECT_DOUBLE_EQ(runs[0].computing, 0.8);
  EXPECT_DOUBLE_EQ(runs[0].awaiting, 0.4);
  EXPECT_DOUBLE_EQ(runs[0].both, 0.2);
  EXPECT_DOUBLE_EQ(runs[0].processor, 1.2);
  EXPECT_DOUBLE_EQ(runs[0].messages, 8);
}

TEST(net_lines, a_missing_rank_is_an_error) {
  EXPECT_THROW((void)bench::net::read_runs(line(0, 1, "1")), std::runtime_error);
  EXPECT_THROW((void)bench::net::read_runs("nothing\n"), std::runtime_error);
}

TEST(net_table, shares_are_of_all_threads) {
  bench::net::run_values r;
  r.seconds = 2;
  r.kernels = 3;
  r.awaiting = 0.4;
  r.both = 0.1;
  r.processor = 3.5;
  r.messages = 7;
  std::ostringstream to;
  bench::net::write_table(to, "t", {{"cached", {r}}, {"absent", {}}}, 2);
  EXPECT_NE(to.str().find("| cached | 2000.0 | 2000.0 | 3500.0 | 3000.0 | 25 % | 25 % | 7 |"),
            std::string::npos)
      << to.str();
  EXPECT_EQ(to.str().find("absent"), std::string::npos);
}

TEST(net_options, are_read) {
  const auto o = bench::net::parse_options({"--apps", "nbody", "--workers", "2", "--small"});
  EXPECT_EQ(o.apps, std::vector<std::string>{"nbody"});
  EXPECT_EQ(o.workers, std::vector<int>{2});
  EXPECT_TRUE(o.small);
  EXPECT_THROW((void)bench::net::parse_options({"--apps", "life"}), std::runtime_error);
  EXPECT_THROW((void)bench::net::parse_options({"--versions", "cache"}), std::runtime_error);
  const auto micro = bench::net::parse_options({"--micro", "7"});
  EXPECT_EQ(micro.what, bench::net::options::mode::micro);
  EXPECT_EQ(micro.rest, std::vector<std::string>{"7"});
}

TEST(net_versions, only_plain_mpi_has_one_thread) {
  for (const auto &v : bench::net::all_versions())
    EXPECT_EQ(v.has_workers, v.name.rfind("plain", 0) != 0) << v.name;
}

TEST(net_meter, adds_up_what_overlaps) {
  // A kernel from 1 to 4, one from 2 to 3, and data awaited from 3 to 6, of 0 to 10.
  const auto m = net_bench::sum_up(
      {{3, -1, 0}, {1, 1, 0}, {2, 1, 0}, {3, 0, 1}, {6, 0, -1}, {4, -1, 0}}, 0, 10);
  EXPECT_DOUBLE_EQ(m.seconds, 10);
  EXPECT_DOUBLE_EQ(m.kernels, 4);
  EXPECT_DOUBLE_EQ(m.computing, 3);
  EXPECT_DOUBLE_EQ(m.awaiting, 3);
  EXPECT_DOUBLE_EQ(m.both, 1);
  EXPECT_EQ(m.tasks, 2u);
}

TEST(net_meter, what_has_not_ended_ends_with_the_run) {
  const auto m = net_bench::sum_up({{1, 1, 0}}, 0, 3);
  EXPECT_DOUBLE_EQ(m.kernels, 2);
}

TEST(net_meter, more_events_than_room_are_an_error) {
  net_bench::meter small(1);
  small.begin();
  small.kernel(1);
  EXPECT_EQ(small.end().tasks, 1u);
  small.begin();
  small.kernel(1);
  small.kernel(-1);
  EXPECT_THROW((void)small.end(), std::runtime_error);
}

TEST(net_app_options, are_read) {
  const auto o = net_bench::parse({"gauss_seidel", "--small", "--columns", "1", "--rounds", "7"});
  EXPECT_EQ(o.what, net_bench::app::gauss_seidel);
  EXPECT_EQ(o.small, 1);
  EXPECT_EQ(o.columns, 1);
  EXPECT_EQ(o.rounds, 7);
  EXPECT_EQ(o.priorities, 0);
  EXPECT_EQ(net_bench::parse({"all", "--priorities"}).all, 1);
  for (const std::vector<std::string> &wrong :
       std::vector<std::vector<std::string>>{{},
                                             {"life"},
                                             {"all", "--reps"},
                                             {"all", "--reps", "0"},
                                             {"all", "--reps", "3x"},
                                             {"all", "--fast"}})
    EXPECT_THROW((void)net_bench::parse(wrong), std::runtime_error);
}

TEST(net_kernels, heat_of_one_cell) {
  // One cell: 0.25 * ((1 + 0) + (0 + 0)), whatever was there.
  EXPECT_DOUBLE_EQ(net_bench::serial_jacobi(1, 1, 1)[0], 0.25);
  // Two rows: the second one of Gauss and Seidel takes the new first value.
  const auto plate = net_bench::serial_gauss_seidel(2, 1, 1);
  EXPECT_DOUBLE_EQ(plate[0], 0.25 * (1 + net_bench::first_value(1)));
  EXPECT_DOUBLE_EQ(plate[1], 0.25 * plate[0]);
}

TEST(net_kernels, momentum_is_kept) {
  constexpr std::size_t k_count = 6;
  const auto bodies = net_bench::serial_nbody(k_count, 1, 3);
  for (std::size_t d = 0; d != 3; ++d) {
    double moved = 0;
    for (std::size_t i = 0; i != k_count; ++i)
      moved += bodies[3 * k_count + i] *
               (bodies[d * k_count + i] - net_bench::first_value(d * k_count + i));
    EXPECT_NEAR(moved, 0, 1e-12);
  }
}

TEST(net_kernels, a_product_of_two_rows) {
  const auto v = [](std::size_t i) { return net_bench::first_value(i); };
  const auto product = net_bench::serial_matmul(2, 1, 0, 1);
  EXPECT_NEAR(product[0], v(0) * v(4) + v(1) * v(6), 1e-15);
  EXPECT_NEAR(product[3], v(2) * v(5) + v(3) * v(7), 1e-15);
}

} // namespace
