// SPDX-License-Identifier: Apache-2.0
// The LogGP model of two ranks, against cases computed by hand, and what it is made from.
#include "driver/net/model.hpp"
#include "net/apps/gauss_seidel.hpp"
#include "net/apps/jacobi.hpp"
#include "net/apps/matmul.hpp"
#include "net/apps/nbody.hpp"
#include "net/model/loggp.hpp"
#include "net/model/record.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

using namespace net_bench::loggp;

// L = 10, o = 2, g = 5, G = 1.
network round_network() {
  network n;
  n.latency = 10;
  n.overhead = 2;
  n.gap = 5;
  n.per_byte = 1;
  return n;
}

TEST(net_loggp, parameters_explain_their_readings) {
  readings r;
  r.short_bytes = 8;
  r.long_bytes = 108;
  r.trip = 14;
  r.long_trip = 114;
  r.send = 3;
  r.long_send = 53;
  r.receive = 1;
  r.long_receive = 26;
  r.flood = 14 + 14 + 9 * 5;
  r.flood_count = 10;
  const network n = solve(r);
  EXPECT_DOUBLE_EQ(n.overhead, 2); // (3 + 1) / 2
  EXPECT_DOUBLE_EQ(n.latency, 10); // 14 - 3 - 1
  EXPECT_DOUBLE_EQ(n.per_byte, 1); // (114 - 14) / 100
  EXPECT_DOUBLE_EQ(n.sent_byte, 0.5);
  EXPECT_DOUBLE_EQ(n.received_byte, 0.25);
  EXPECT_DOUBLE_EQ(n.gap, 5);
}

TEST(net_loggp, no_parameter_is_negative) {
  readings r; // calls that overlap take longer than a trip
  r.long_bytes = 16;
  r.trip = 4;
  r.long_trip = 3;
  r.send = 3;
  r.receive = 3;
  r.flood = 1;
  r.flood_count = 2;
  const network n = solve(r);
  EXPECT_EQ(n.latency, 0);
  EXPECT_EQ(n.per_byte, 0);
  EXPECT_EQ(n.gap, 0);
  EXPECT_EQ(n.sent_byte, 0);
}

TEST(net_loggp, messages_are_apart_by_the_longest_of_gap_length_and_overhead) {
  network n = round_network();
  EXPECT_EQ(last_byte(n, 0, 8), 0);
  EXPECT_EQ(last_byte(n, 1, 1), 2 + 10);
  EXPECT_EQ(last_byte(n, 1, 8), 2 + 7 + 10);
  EXPECT_EQ(last_byte(n, 3, 1), 2 * 5 + 2 + 10); // by g
  EXPECT_EQ(last_byte(n, 3, 8), 2 * 7 + 2 + 7 + 10); // by 7 G
  n.gap = 1;
  EXPECT_EQ(last_byte(n, 3, 1), 2 * 2 + 2 + 10); // by o
  EXPECT_EQ(trip(n), 14);
  n.sent_byte = 3;
  n.received_byte = 4;
  EXPECT_EQ(sending(n, 8), 2 + 7 * 3);
  EXPECT_EQ(receiving(n, 8), 2 + 7 * 4);
  EXPECT_EQ(last_byte(n, 2, 8), 23 + 2 + 7 + 10); // by a processor that copies
}

costs round_costs() {
  costs c;
  c.net = round_network();
  c.kernel = 100;
  return c;
}

// Both ranks: two kernels, a message of a byte each way, three kernels of which one needs it.
std::vector<stage> two_stages() {
  stage first, second;
  first.free_before = 2;
  first.sends = 1;
  first.bytes = 1;
  first.receives = 1;
  second.free_before = 2;
  second.late_before = 1;
  return {first, second};
}

TEST(net_loggp, kernels_hide_what_they_do_not_need) {
  const std::vector<stage> ranks[2] = {two_stages(), two_stages()};
  way w;
  // 200, then 4 for the message at both ends; it comes at 200 + 12 + 2, within the next two kernels.
  EXPECT_EQ(predict(ranks, round_costs(), w), 504);
  w.overlaps = false; // 214, then three kernels
  EXPECT_EQ(predict(ranks, round_costs(), w), 514);
}

TEST(net_loggp, two_workers_halve_what_is_theirs_and_not_what_is_awaited) {
  const std::vector<stage> ranks[2] = {two_stages(), two_stages()};
  costs c = round_costs();
  c.workers = 2;
  way w;
  w.overlaps = false; // 100, it comes at 114, then three kernels
  EXPECT_EQ(predict(ranks, c, w), 264);
}

TEST(net_loggp, ends_of_supersteps_take_trips) {
  const std::vector<stage> ranks[2] = {two_stages(), two_stages()};
  way w;
  w.overlaps = false;
  w.ends = ending::barrier; // 214, and a trip of 14
  EXPECT_EQ(predict(ranks, round_costs(), w), 528);
  w.ends = ending::counts; // the counts come no later than the message
  EXPECT_EQ(predict(ranks, round_costs(), w), 528);
  w.ends = ending::fetched; // counts, barrier, request, the data, and two trips
  EXPECT_EQ(predict(ranks, round_costs(), w), 200 + 3 * 14 + 14 + 2 * 14 + 300);
  EXPECT_EQ(end_messages(w), 4);
  w.ends = ending::counts;
  EXPECT_EQ(end_messages(w), 2);
  w.ends = ending::none;
  w.stage_messages = 1;
  EXPECT_EQ(end_messages(w), 1);
}

TEST(net_loggp, messages_take_processor_time) {
  costs c = round_costs();
  c.task = 7;
  c.copied_byte = 3;
  way w;
  w.send_tasks = 1;
  w.receive_tasks = 2;
  w.more_messages = 1;
  w.copies = true;
  // Each of 4 sends: o, a task, a message; each of 5 receives: o, two tasks, the copy, a message.
  EXPECT_EQ(message_time(c, w, 4, 5, 1), 4 * (2 + 7 + 2) + 5 * (2 + 14 + 3 + 2));
}

TEST(net_loggp, a_slow_rank_holds_the_other_up) {
  std::vector<stage> slow = two_stages();
  slow[0].free_before = 10;
  const std::vector<stage> ranks[2] = {two_stages(), slow};
  // The fast one waits for the message of 1000, until 1014, and has one kernel left; the slow one has 1004 + 300.
  EXPECT_EQ(predict(ranks, round_costs(), {}), 1304);
  slow[1] = {};
  const std::vector<stage> ended[2] = {two_stages(), slow};
  EXPECT_EQ(predict(ended, round_costs(), {}), 1114);
}

net_bench::options small_app(int rounds = 0) {
  net_bench::options o;
  o.small = 1;
  o.rounds = rounds;
  return o;
}

double kernels_of(const std::vector<stage> &all) {
  double count = 0;
  for (const stage &s : all)
    count += s.free_before + s.late_before + s.free_behind + s.late_behind;
  return count;
}

TEST(net_stages, of_jacobi) {
  // 3 x 3 blocks; the row of blocks beside the other rank is late.
  const std::vector<stage> all = stages_of<net_bench::jacobi>(small_app(2), 0, 2);
  ASSERT_EQ(all.size(), 3u);
  EXPECT_EQ(all[0].sends, 3);
  EXPECT_EQ(all[0].receives, 3);
  EXPECT_EQ(all[0].bytes, 16 * 8);
  EXPECT_EQ(kernels_of({all[0]}), 0);
  EXPECT_EQ(all[1].free_before, 6);
  EXPECT_EQ(all[1].late_before, 3);
  EXPECT_EQ(all[2].free_before + all[2].late_before, 9);
  EXPECT_EQ(all[2].sends, 0);
}

TEST(net_stages, of_jacobi_with_blocks_of_whole_rows) {
  net_bench::options o = small_app(2);
  o.columns = 1;
  const std::vector<stage> all = stages_of<net_bench::jacobi>(o, 0, 2);
  ASSERT_EQ(all.size(), 3u);
  EXPECT_EQ(all[0].sends, 1);
  EXPECT_EQ(all[0].bytes, 48 * 8);
  EXPECT_EQ(all[1].free_before, 2);
  EXPECT_EQ(all[1].late_before, 1);
  o.columns = 5; // does not divide 48
  EXPECT_THROW((void)stages_of<net_bench::jacobi>(o, 0, 2), std::runtime_error);
}

/// Is a version that keeps the priorities of the kernels.
struct ranked {
  std::vector<int> priorities;
  template <class F>
  void run(std::size_t, const net_bench::uses &, int priority, const F &) {
    priorities.push_back(priority);
  }
  static void send(int, int, int, const double *, const net_bench::token &) {}
  static void receive(int, const std::vector<net_bench::arrival> &) {}
};

TEST(net_stages, older_rounds_of_gauss_seidel_go_first_by_priorities) {
  net_bench::options o = small_app(2);
  ranked without;
  net_bench::gauss_seidel(o, 1, 2).spawn(without);
  EXPECT_EQ(without.priorities, std::vector<int>(without.priorities.size(), 0));
  o.priorities = 1;
  ranked with;
  net_bench::gauss_seidel(o, 1, 2).spawn(with);
  ASSERT_EQ(with.priorities.size(), without.priorities.size());
  EXPECT_TRUE(std::is_sorted(with.priorities.rbegin(), with.priorities.rend()));
  EXPECT_GT(with.priorities.front(), with.priorities.back());
  EXPECT_GT(with.priorities.back(), 0);
}

TEST(net_stages, of_a_ring) {
  // 3 blocks with 3: those of the rank itself before the others have come, which all are late.
  const std::vector<stage> all = stages_of<net_bench::nbody>(small_app(1), 1, 2);
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[0].sends, 3);
  EXPECT_EQ(all[0].free_behind, 9);
  EXPECT_EQ(all[1].late_before, 9 + 3); // and the moves
  EXPECT_EQ(all[1].free_before, 0);
}

TEST(net_stages, have_the_same_kernels_at_both_ranks) {
  const auto same = [](const std::vector<stage> &a, const std::vector<stage> &b) {
    EXPECT_EQ(a.size(), b.size());
    EXPECT_EQ(kernels_of(a), kernels_of(b));
    for (std::size_t n = 0; n != a.size(); ++n)
      EXPECT_EQ(a[n].sends, b[n].receives) << n;
  };
  using namespace net_bench;
  const options o = small_app();
  same(stages_of<jacobi>(o, 0, 2), stages_of<jacobi>(o, 1, 2));
  same(stages_of<gauss_seidel>(o, 0, 2), stages_of<gauss_seidel>(o, 1, 2));
  same(stages_of<nbody>(o, 0, 2), stages_of<nbody>(o, 1, 2));
  same(stages_of<matmul>(o, 0, 2), stages_of<matmul>(o, 1, 2));
}

TEST(net_model, reads_networks) {
  const auto all = bench::net::read_networks(
      "weft: 2 ranks\nreadings of=ucx trip=1\n"
      "loggp of=ucx L=100.0 o=50.0 g=70.0 G=80.00 sent_byte=20.00 received_byte=1.00\n");
  ASSERT_EQ(all.size(), 1u);
  EXPECT_DOUBLE_EQ(all.at("ucx").latency, 100e-9);
  EXPECT_DOUBLE_EQ(all.at("ucx").overhead, 50e-9);
  EXPECT_DOUBLE_EQ(all.at("ucx").gap, 70e-9);
  EXPECT_DOUBLE_EQ(all.at("ucx").per_byte, 80e-12);
  EXPECT_DOUBLE_EQ(all.at("ucx").sent_byte, 20e-12);
  EXPECT_DOUBLE_EQ(all.at("ucx").received_byte, 1e-12);
}

std::string said_alone() {
  std::string text;
  for (const char *rank : {"0", "1"}) {
    const std::string own = std::string("app=jacobi rank=") + rank + " ";
    text +=
        "stage " + own + "free=1 late=2 sends=3 bytes=4 free_behind=5 late_behind=6 receives=7\n";
    text += "machine rank=" + std::string(rank) + " task=0.5 copied_byte=0.25\n";
  }
  text += "alone app=jacobi rank=0 rep=1 kernels=10 tasks=20 loop=10\n"
          "alone app=jacobi rank=1 rep=1 kernels=10 tasks=30 loop=5\n"
          "alone app=jacobi rank=0 rep=2 kernels=10 tasks=50 loop=10\n"
          "alone app=jacobi rank=1 rep=2 kernels=10 tasks=10 loop=30\n"
          "alone app=jacobi rank=0 rep=3 kernels=10 tasks=10 loop=10\n"
          "alone app=jacobi rank=1 rep=3 kernels=10 tasks=10 loop=20\n";
  return text;
}

TEST(net_model, takes_the_median_of_the_slower_rank) {
  const bench::net::computation c = bench::net::read_computation(said_alone());
  EXPECT_DOUBLE_EQ(c.task_kernel, 3); // of 30, 50, 10
  EXPECT_DOUBLE_EQ(c.loop_kernel, 2); // of 10, 30, 20
  EXPECT_DOUBLE_EQ(c.task, 0.5);
  EXPECT_DOUBLE_EQ(c.copied_byte, 0.25);
  ASSERT_EQ(c.stages[1].size(), 1u);
  const stage &s = c.stages[1][0];
  EXPECT_EQ(s.free_before, 1);
  EXPECT_EQ(s.late_before, 2);
  EXPECT_EQ(s.sends, 3);
  EXPECT_EQ(s.bytes, 4);
  EXPECT_EQ(s.free_behind, 5);
  EXPECT_EQ(s.late_behind, 6);
  EXPECT_EQ(s.receives, 7);
  EXPECT_THROW((void)bench::net::read_computation("nothing"), std::runtime_error);
  EXPECT_THROW((void)bench::net::read_computation(
                   said_alone() + "stage app=jacobi rank=1 free=1 late=2 sends=3 bytes=4 "
                                  "free_behind=5 late_behind=6 receives=7\n"),
               std::runtime_error);
}

TEST(net_model, versions_differ_in_what_ends_a_stage) {
  using bench::net::way_of;
  EXPECT_EQ(way_of("default").ends, ending::counts);
  EXPECT_EQ(way_of("cached").ends, ending::none);
  EXPECT_EQ(way_of("cached_barrier").ends, ending::barrier);
  EXPECT_EQ(way_of("get").ends, ending::fetched);
  EXPECT_EQ(way_of("cached_ack").stage_messages, 1);
  EXPECT_EQ(way_of("notify").more_messages, 1);
  EXPECT_FALSE(way_of("task_mpich").copies);
  EXPECT_TRUE(way_of("task_mpich").overlaps);
  EXPECT_FALSE(way_of("plain_mpich").overlaps);
  EXPECT_FALSE(way_of("openmp_openmpi").overlaps);
}

TEST(net_model, kernels_of_plain_programs_are_those_of_the_loop) {
  bench::net::computation c;
  for (auto &stages : c.stages)
    stages = two_stages();
  c.task_kernel = 100;
  c.loop_kernel = 50;
  const bench::net::prediction plain = bench::net::predict("plain_mpich", c, round_network(), 1);
  EXPECT_EQ(plain.seconds, 100 + 14 + 150);
  EXPECT_EQ(plain.computing, 250);
  // Seconds of kernels as tasks are those of all workers together.
  EXPECT_EQ(bench::net::predict("cached", c, {}, 2).seconds, 500);
}

TEST(net_model, rows_say_how_far_off_they_are) {
  std::ostringstream to;
  // The machine has half the speed in the second run, for the kernels, too.
  bench::net::write_model_row(
      to, "cached", "ucx",
      {{0.002, 0.004, 0.003}, {{0.0022, 0.0011}, {0.0044, 0.0022}, {0.006, 0.0045}}});
  EXPECT_EQ(to.str(), "| cached | ucx | 3.00 | 2.00 | 4.40 | +10.0 % | 50.00 % |\n");
  std::ostringstream far;
  bench::net::write_model_row(far, "get", "ucx", {{0.002}, {{0.001, 0.001}}});
  EXPECT_NE(far.str().find("| -50.0 % (beyond 15) |"), std::string::npos) << far.str();
}

TEST(net_options, of_the_model) {
  const auto o = bench::net::parse_options({"--model", "--apps", "jacobi", "--engines", "ucx"});
  EXPECT_EQ(o.what, bench::net::options::mode::model);
  EXPECT_EQ(o.apps, std::vector<std::string>{"jacobi"});
  EXPECT_EQ(o.engines, std::vector<std::string>{"ucx"});
  EXPECT_EQ(o.workers, std::vector<int>{1});
  EXPECT_EQ(o.samples * o.reps, 15);
  const auto parameters = bench::net::parse_options({"--loggp", "9"});
  EXPECT_EQ(parameters.what, bench::net::options::mode::loggp);
  EXPECT_EQ(parameters.rest, std::vector<std::string>{"9"});
}

TEST(net_options, of_the_model_are_refused_where_it_has_no_rows) {
  using bench::net::parse_options;
  EXPECT_NO_THROW(parse_options({"--model", "--engines", "ucx,inproc", "--ranks", "2"}));
  EXPECT_THROW(parse_options({"--model", "--engines", "ucx,inprok"}), std::runtime_error);
  EXPECT_THROW(parse_options({"--model", "--engines", "mpi"}), std::runtime_error);
  EXPECT_THROW(parse_options({"--model", "--ranks", "4"}), std::runtime_error);
  EXPECT_NO_THROW(parse_options({"--ranks", "4"}));
}

} // namespace
