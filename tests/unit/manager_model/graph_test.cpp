// SPDX-License-Identifier: Apache-2.0
// The graphs of the modelled programs, the parameters' file, and the pictures.
#include "applications.hpp"
#include "chart.hpp"
#include "parameters.hpp"

#include <gtest/gtest.h>
#include <sstream>
#include <stdexcept>

namespace {

using namespace manager_model;

std::size_t edges_of(const task_graph &g) {
  std::size_t n = 0;
  for (task_id t = 0; t < g.size(); ++t)
    n += g.successors(t).size();
  return n;
}

TEST(graph, readers_wait_for_the_writer_and_the_next_writer_for_the_readers) {
  graph_builder b;
  const task_id w = b.add(0, 1, {{7, mode_of::out}}), r1 = b.add(0, 1, {{7, mode_of::in}}),
                r2 = b.add(0, 1, {{7, mode_of::in}});
  const task_id again = b.add(0, 1, {{7, mode_of::inout}, {8, mode_of::in}});
  const task_graph g = b.build();
  EXPECT_EQ(g[w].predecessors, 0u);
  EXPECT_EQ(g[r1].predecessors, 1u);
  EXPECT_EQ(g[r2].predecessors, 1u);
  EXPECT_EQ(g[again].predecessors, 3u);
  EXPECT_EQ(g[0].children, 4u);
  EXPECT_EQ(g[again].accesses, 2u);
  EXPECT_EQ(g.critical_path_ns(), 3);
}

TEST(graph, children_of_different_tasks_are_not_ordered) {
  graph_builder b;
  const task_id one = b.add(0, 0, {{1, mode_of::in}}), two = b.add(0, 0, {{1, mode_of::in}});
  const task_id x = b.add(one, 5, {{9, mode_of::inout}}), y = b.add(two, 6, {{9, mode_of::inout}});
  EXPECT_THROW(b.add(one, 1, {{9, mode_of::inout}}), std::logic_error);
  const task_graph g = b.build();
  EXPECT_EQ(g[x].predecessors + g[y].predecessors, 0u);
  EXPECT_EQ(g.critical_path_ns(), 6);
}

TEST(applications, have_the_paper_s_numbers_of_tasks) {
  EXPECT_EQ(synthetic(10000, 1).size(), 20001u);
  EXPECT_EQ(matmul(16, 1).size(), 4097u);
  EXPECT_EQ(matmul(32, 1).size(), 32769u);
  EXPECT_EQ(cholesky(32, 1).size(), 5985u);
  EXPECT_EQ(cholesky(64, 1).size(), 45761u);
  EXPECT_EQ(sparselu(3, 1).size(), 1u + 9 + 4 + 1) << "three blocks per side are all there";
  EXPECT_EQ(sparselu(4, 1).size(), 1u + 9 + 4 + 4 + 1) << "the corners are empty";
  EXPECT_EQ(nbody(128, 16, 1).size(), 262177u);
}

TEST(applications, have_the_shapes_that_the_paper_describes) {
  EXPECT_EQ(edges_of(synthetic(10, 1)), 10u)
      << "the i-th of the second wave waits for the i-th of the first";
  EXPECT_EQ(edges_of(matmul(4, 1)), 16u * 3) << "a chain for each block of the result";
  EXPECT_EQ(matmul(4, 1).critical_path_ns(), 4);
  EXPECT_EQ(cholesky(1, 6).critical_path_ns(), 1);
  EXPECT_EQ(cholesky(2, 6).critical_path_ns(), 1 + 3 + 3 + 1);
  EXPECT_EQ(nbody(4, 3, 1).critical_path_ns(), 3 * (4 + 1))
      << "per step a chain for each block, then the move";
}

TEST(parameters, come_from_lines_and_say_what_is_wrong) {
  parameters p;
  std::istringstream good("# a machine\n\ncreate = 12.5 # ns\n max_spins=7\r\n");
  read(p, good, "costs");
  EXPECT_EQ(p.create, 12.5);
  EXPECT_EQ(p.max_spins, 7);
  const auto refused = [](const char *text, const char *why) {
    parameters q;
    std::istringstream bad(text);
    try {
      read(q, bad, "costs");
      ADD_FAILURE() << text;
    } catch (const std::invalid_argument &e) {
      EXPECT_NE(std::string(e.what()).find(why), std::string::npos) << e.what();
    }
  };
  refused("create = 1\ncreat = 2", "costs:2: there is no parameter 'creat'");
  refused("create 1", "costs:1: 'create 1' assigns nothing");
  refused("max_spins = 0", "max_spins = 0 is not a number from 1 to 1e+09");
  refused("create = 1 ns", "create = 1 ns is not a number");
  EXPECT_THROW(static_cast<void>(mode_named("forced")), std::invalid_argument);
}

TEST(chart, draws_a_point_per_value_and_survives_empty_curves) {
  chart c{"a < b & c",        "workers",     "speedup",
          scale::logarithmic, scale::linear, {{"one", {{1, 1}, {2, 2}, {4, 3}}}, {"none", {}}}};
  std::ostringstream svg;
  write_svg(svg, c);
  EXPECT_NE(svg.str().find("a &lt; b &amp; c"), std::string::npos);
  EXPECT_NE(svg.str().find("points='70.0,240.0 330.0,140.0 590.0,40.0 '"), std::string::npos)
      << svg.str();
  EXPECT_NE(svg.str().find("points=''"), std::string::npos);
  EXPECT_EQ(svg.str().find("<circle"), std::string::npos);
  c.curves.push_back({"best", {{2, 3}, {-1, 1}}}); // the latter has no logarithm
  std::ostringstream marked;
  write_svg(marked, c);
  EXPECT_NE(marked.str().find("<circle r='7' fill='none' stroke-width='2' stroke='#e0a030' cx='330.0' cy='40.0'/>"), std::string::npos)
      << "one point is a ring, so that those at one place are all seen: " << marked.str();
  std::ostringstream empty;
  write_svg(empty, {"nothing", "x", "y", scale::logarithmic, scale::logarithmic, {}});
  EXPECT_NE(empty.str().find("</svg>"), std::string::npos);
}

} // namespace
