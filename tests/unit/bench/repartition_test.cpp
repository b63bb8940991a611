// SPDX-License-Identifier: Apache-2.0
// The searches of `weft-bench repartition` over recorded costs, which objective leads where, and the
// table and the picture of them.
#include <driver/stencil/repartition.hpp>
#include <driver/stencil/stencil.hpp>
#include <driver/stencil/trials.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <gtest/gtest.h>
#include <sstream>
#include <stdexcept>
#include <unistd.h>

namespace {

using namespace bench::stencil;

constexpr int k_workers = 20;
constexpr double k_updates = 5e9; // 1e8 points, 50 steps

/// Returns what a run of the thesis' stencil costs: tasks have 760 ns of overhead, a point takes
/// longer the larger its partition is, and the last tasks leave workers idle.
counts thesis_costs(long size) {
  counts c;
  c.tasks = k_updates / static_cast<double>(size);
  c.exec = k_updates * 1.2 * (1 + 0.15 * std::log10(static_cast<double>(size) / 1000));
  c.overhead = c.tasks * 760 + k_workers * 20.0 * static_cast<double>(size);
  c.overall = c.exec + c.overhead;
  c.ns = c.overall / k_workers;
  return c;
}

std::vector<long> thesis_sizes() { return sizes(100'000'000, 1000, 100'000'000 / k_workers); }

double best_time() {
  double best = 1e300;
  for (const long size : thesis_sizes())
    best = std::min(best, thesis_costs(size).ns);
  return best;
}

double time_of(const search_result &s) { return thesis_costs(s.size).ns / best_time(); }

const measure recorded = [](const std::string &, long size) { return thesis_costs(size); };

search_result with(const std::string &name) {
  for (const objective &what : all_objectives())
    if (what.name == name)
      return by_simplex(thesis_sizes(), what, recorded);
  throw std::logic_error("no objective " + name);
}

std::string message_of(auto f) {
  try {
    f();
  } catch (const std::runtime_error &e) {
    return e.what();
  }
  return "nothing was thrown";
}

TEST(repartition, there_are_47_sizes_and_four_objectives) {
  EXPECT_EQ(thesis_sizes().size(), 47U);
  counts c;
  c.overhead = 30, c.overall = 120, c.exec = 90;
  std::vector<std::string> names;
  std::vector<double> costs;
  for (const objective &what : all_objectives()) {
    names.emplace_back(what.name);
    costs.push_back(what.cost(c));
  }
  EXPECT_EQ(names, (std::vector<std::string>{"idle-rate", "overhead", "cumulative", "overall"}));
  EXPECT_EQ(costs, (std::vector<double>{0.25, 30, 90, 120}));
  EXPECT_EQ(all_objectives()[0].cost({}), 0) << "nothing has run";
}

TEST(repartition, overall_leads_to_the_best_size_and_cumulative_to_the_worst) {
  const search_result overall = with("overall"), cumulative = with("cumulative");
  EXPECT_LE(time_of(overall), 1.02);
  EXPECT_LE(overall.path.size(), 20U);
  for (const char *name : {"idle-rate", "overhead", "cumulative"}) {
    EXPECT_GE(time_of(with(name)), time_of(overall)) << name;
    EXPECT_LE(time_of(with(name)), time_of(cumulative)) << name;
  }
  EXPECT_GT(time_of(cumulative), 1.3);
  EXPECT_LT(cumulative.size, overall.size) << "it does not see what small tasks cost";
  EXPECT_GT(with("idle-rate").size, overall.size) << "it does not see that large tasks are slower";
}

TEST(repartition, the_simplex_begins_at_a_quarter_and_three_quarters_and_tries_no_size_twice) {
  const search_result s = with("overall");
  const std::vector<long> all = thesis_sizes();
  ASSERT_GE(s.path.size(), 3U);
  EXPECT_EQ(s.path[0].size, all[12]); // 11.5
  EXPECT_EQ(s.path[1].size, all[35]); // 34.5
  std::vector<long> tried;
  for (const trial &one : s.path)
    tried.push_back(one.size);
  std::sort(tried.begin(), tried.end());
  EXPECT_EQ(std::adjacent_find(tried.begin(), tried.end()), tried.end());
}

TEST(repartition, the_simplex_begins_at_each_start_and_half_of_the_list_away) {
  const std::vector<long> all = thesis_sizes();
  const std::vector<search_result> searches = by_simplexes(all, {all[2], all[40]}, recorded);
  ASSERT_EQ(searches.size(), 2 * all_objectives().size());
  EXPECT_EQ(searches[0].name, "simplex:idle-rate from " + std::to_string(all[2]));
  EXPECT_EQ(searches[7].name, "simplex:overall from " + std::to_string(all[40]));
  for (std::size_t i = 0; i < searches.size(); ++i) {
    ASSERT_GE(searches[i].path.size(), 2U);
    EXPECT_EQ(searches[i].path[0].size, all[i % 2 == 0 ? 2 : 40]) << searches[i].name;
    EXPECT_EQ(searches[i].path[1].size, all[i % 2 == 0 ? 25 : 17]) << searches[i].name;
  }
  for (const std::size_t overall : {6, 7})
    EXPECT_LE(time_of(searches[overall]), 1.05) << "wherever it begins";
  std::ostringstream text;
  write_searches(text, {{all[2], 1e6, 1e3}}, searches);
  EXPECT_NE(text.str().find("\n| simplex:overall from " + std::to_string(all[2]) + " | "),
            std::string::npos)
      << text.str();
  const std::vector<search_result> usual = by_simplexes(all, {}, recorded);
  ASSERT_EQ(usual.size(), all_objectives().size());
  EXPECT_EQ(usual[3].path.size(), with("overall").path.size());
  EXPECT_EQ(message_of([&] { (void)by_simplexes(all, {all[2] + 1}, recorded); }),
            "a search cannot start at " + std::to_string(all[2] + 1) +
                " points: no partition of the list has so many");
}

TEST(repartition, law_and_history_need_few_trials) {
  const search_result law = by_law(thesis_sizes(), k_updates, k_workers, recorded);
  EXPECT_EQ(law.path.front().size, 1000) << "the smallest size shows what a task costs";
  EXPECT_LE(law.path.size(), 8U);
  EXPECT_LE(time_of(law), 1.02);
  double cost = 0;
  for (const trial &one : law.path)
    cost += one.is.ns / best_time();
  EXPECT_LE(cost, 10);
  const search_result again = by_history(thesis_sizes(), law.size, recorded);
  EXPECT_EQ(again.path.front().size, law.size);
  EXPECT_LE(again.path.size(), 3U);
  EXPECT_LE(time_of(again), time_of(law));
}

TEST(repartition, the_law_keeps_the_smallest_size_where_it_is_the_best) {
  const search_result s =
      by_law({1000, 10'000, 100'000, 1'000'000}, 1e6, 1, [](const std::string &, long size) {
        counts c;
        c.tasks = 10, c.exec = 9000, c.ns = static_cast<double>(9000 + size);
        return c;
      });
  EXPECT_EQ(s.size, 1000);
}

TEST(repartition, a_search_asks_for_numbered_trials_and_gives_the_least_costly) {
  std::vector<std::string> asked;
  const search_result s = by_history({1, 2, 4}, 2, [&](const std::string &name, long size) {
    asked.push_back(name + "=" + std::to_string(size));
    counts c;
    c.ns = size == 4 ? 5 : 10;
    return c;
  });
  ASSERT_GE(asked.size(), 2U);
  EXPECT_EQ(asked[0], "history:1=2");
  EXPECT_EQ(asked[1], "history:2=4");
  EXPECT_EQ(s.size, 4);
  EXPECT_EQ(s.name, "history");
  weft::rt::line_search none(3, 0, 0); // no trial is allowed
  EXPECT_EQ(message_of([&] {
              (void)search_sizes("short", none, {1, 2, 4}, all_objectives()[0], recorded);
            }),
            "search short has found no size");
}

TEST(repartition, a_search_that_was_stopped_goes_on_with_the_trials_of_the_record) {
  const std::string path = testing::TempDir() + "repartition." + std::to_string(getpid());
  const search_result whole = with("overall");
  const auto subject_of = [](const std::string &name, long size) {
    return subject{name, "tasks", 100'000'000, 50, k_workers, size};
  };
  {
    std::ofstream to(path);
    for (std::size_t i = 0; i < whole.path.size(); ++i)
      write_sample(to, {subject_of("simplex:overall:" + std::to_string(i + 1), whole.path[i].size),
                        whole.path[i].is});
  }
  trials kept(path, false);
  const search_result again =
      by_simplex(thesis_sizes(), all_objectives()[3], [&](const std::string &name, long size) {
        return kept.of(subject_of(name, size), 1).front();
      });
  EXPECT_EQ(again.size, whole.size);
  EXPECT_EQ(kept.known(), static_cast<int>(whole.path.size()));
  EXPECT_EQ(kept.measured(), 0);
  std::remove(path.c_str());
}

sample known(long size, double ns) {
  counts c;
  c.ns = ns, c.tasks = 10, c.exec = 20'000;
  return {{"repartition", "tasks", 1000, 5, 2, size}, c};
}

TEST(repartition, the_table_has_trials_cost_and_distance) {
  const std::vector<sample> all{known(10, 3e6),
                                known(10, 9e6),
                                known(10, 4e6),
                                known(20, 2e6),
                                {{"law:1", "tasks", 1000, 5, 2, 20}, {}}};
  const auto sizes_known = known_sizes(all, {"repartition", "tasks", 1000, 5, 2, 0});
  ASSERT_EQ(sizes_known.size(), 2U);
  EXPECT_EQ(sizes_known[0].size, 10);
  EXPECT_EQ(sizes_known[0].ns, 4e6) << "the median";
  EXPECT_EQ(sizes_known[0].task_ns, 2000);
  const std::vector<search_result> searches{
      {"law", {{20, known(20, 2e6).is}, {10, known(10, 5e6).is}}, 10}, {"odd", {}, 30}};
  std::ostringstream text;
  write_searches(text, sizes_known, searches);
  EXPECT_NE(text.str().find("The best of 2 sizes is 20 points: 2.0 ms, tasks of 2.0 us."),
            std::string::npos)
      << text.str();
  EXPECT_NE(text.str().find("| law | 10 | 2.0 | 2 | 3.5 | 2.000 |\n"), std::string::npos)
      << text.str();
  EXPECT_NE(text.str().find("| odd | 30 | - | 0 | 0.0 | - |\n"), std::string::npos) << text.str();
  EXPECT_EQ(message_of([&] { write_searches(text, {}, searches); }), "no size has been measured");
  std::ostringstream picture;
  write_paths(picture, sizes_known, searches);
  EXPECT_TRUE(picture.str().starts_with("<svg")) << picture.str();
  for (const char *name : {"all sizes", "law", "points of a partition"})
    EXPECT_NE(picture.str().find(name), std::string::npos) << name;
}

TEST(repartition, options_say_what_is_wrong_with_them) {
  const options none = parse_repartition({});
  EXPECT_EQ(none.least, 1000);
  EXPECT_EQ(none.runs, 3);
  EXPECT_EQ(none.points, 100'000'000);
  EXPECT_EQ(none.workers.size(), 1U);
  const options o = parse_repartition({"--workers", "3", "--picture", "file", "--least", "10",
                                       "--points", "1000", "--steps", "2", "--fresh", "--start",
                                       "20,50"});
  EXPECT_TRUE(none.starts.empty());
  EXPECT_EQ(o.starts, (std::vector<long>{20, 50}));
  EXPECT_EQ(o.workers, std::vector<int>{3});
  EXPECT_EQ(o.picture, "file");
  EXPECT_TRUE(o.fresh);
  EXPECT_EQ(message_of([] { (void)parse_repartition({"--workers", "1,2"}); }),
            "weft-bench repartition takes one number of workers");
  options odd = o;
  odd.starts = {21};
  EXPECT_EQ(message_of([&] { (void)run_repartition(odd); }),
            "a search cannot start at 21 points: no partition of the list has so many");
  options large = o;
  large.least = 400;
  EXPECT_EQ(message_of([&] { (void)run_repartition(large); }),
            "no partition of 400 points or more makes 1000 up and leaves one to each of 3 workers");
}

} // namespace
