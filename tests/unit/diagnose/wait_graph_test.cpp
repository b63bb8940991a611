// SPDX-License-Identifier: Apache-2.0
#include "diagnose/wait_graph.hpp"

#include <gtest/gtest.h>

namespace {

using namespace weft::rt;

struct wait_graph_test : testing::Test {
  wait_graph g;
  int ids[8] = {};
  std::size_t task(int i, const char *name) { return g.add(node_kind::task, &ids[i], name); }
};

TEST_F(wait_graph_test, an_id_is_one_node) {
  const auto first = task(0, "a");
  EXPECT_EQ(task(0, "other"), first);
  EXPECT_EQ(g.nodes().size(), 1u);
  EXPECT_EQ(g.nodes()[0].name, "a");
  EXPECT_EQ(g.find(&ids[1]), g.nodes().size());
}

TEST_F(wait_graph_test, an_edge_is_kept_once_per_reason) {
  const auto a = task(0, "a"), b = task(1, "b");
  g.wait(a, b, "waits for");
  g.wait(a, b, "waits for");
  g.wait(a, b, "needs");
  EXPECT_EQ(g.edges().size(), 2u);
}

TEST_F(wait_graph_test, a_tree_has_no_cycle) {
  const auto a = task(0, "a"), b = task(1, "b"), c = task(2, "c"), d = task(3, "d");
  g.wait(a, b, "-"), g.wait(a, c, "-"), g.wait(b, d, "-"), g.wait(c, d, "-");
  EXPECT_TRUE(g.cycle().empty());
}

TEST_F(wait_graph_test, a_cycle_is_found_behind_who_only_waits_for_it) {
  const auto a = task(0, "a"), b = task(1, "b"), c = task(2, "c"), d = task(3, "d");
  g.wait(a, b, "-"), g.wait(b, c, "1"), g.wait(c, d, "2"), g.wait(d, b, "3");
  std::string way;
  for (const std::size_t e : g.cycle())
    way += g.edges()[e].reason;
  EXPECT_EQ(way, "123");
}

TEST_F(wait_graph_test, a_guess_is_shown_but_makes_no_cycle) {
  const auto a = task(0, "a"), b = task(1, "b");
  g.wait(a, b, "waits for"), g.wait(b, a, "waits, perhaps, for", wait_graph::guess);
  EXPECT_TRUE(g.cycle().empty());
  EXPECT_EQ(g.text(g.edges()[1]), "task 'b' waits, perhaps, for task 'a'");
}

TEST_F(wait_graph_test, later_edges_of_a_node_can_be_doubted) {
  const auto a = task(0, "a"), b = task(1, "b");
  g.wait(a, b, "1");
  g.wait(b, a, "2");
  g.doubt(a, 1);
  EXPECT_EQ(g.cycle().size(), 2u) << "its edge is an earlier one";
  g.doubt(a, 0);
  EXPECT_TRUE(g.cycle().empty());
  EXPECT_EQ(g.edges()[1].how, wait_graph::certain) << "of another node";
}

TEST_F(wait_graph_test, a_cycle_can_be_left_out) {
  const auto a = task(0, "a"), b = task(1, "b"), c = task(2, "c");
  g.wait(a, a, "1"), g.wait(b, c, "2"), g.wait(c, b, "3"), g.wait(c, a, "4");
  EXPECT_EQ(g.cycle().size(), 1u);
  ASSERT_EQ(g.cycle({&ids[0]}).size(), 2u);
  EXPECT_NE(g.edges()[g.cycle({&ids[0]})[0]].from, a);
  EXPECT_TRUE(g.cycle({&ids[0], &ids[1]}).empty());
}

TEST_F(wait_graph_test, the_shortest_cycle_is_told) {
  const auto a = task(0, "a"), b = task(1, "b"), c = task(2, "c");
  g.wait(a, b, "-"), g.wait(b, c, "-"), g.wait(c, a, "-"), g.wait(b, a, "-");
  EXPECT_EQ(g.cycle().size(), 2u);
}

TEST_F(wait_graph_test, who_waits_for_itself_is_a_cycle) {
  const auto a = task(0, "a");
  g.wait(a, a, "waits for");
  ASSERT_EQ(g.cycle().size(), 1u);
  EXPECT_EQ(g.text(g.edges()[g.cycle()[0]]), "task 'a' waits for task 'a'");
}

TEST_F(wait_graph_test, what_only_others_can_do_is_known) {
  const auto a = task(0, "a");
  g.wait(a, task(1, "b"), "waits for");
  EXPECT_FALSE(g.needs_outside());
  g.wait(a, g.add(node_kind::outside, &ids[2], "an unblock()"), "waits for");
  EXPECT_TRUE(g.needs_outside());
  EXPECT_EQ(g.text(g.edges().back()), "task 'a' waits for an unblock()");
}

} // namespace
