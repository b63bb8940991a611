// SPDX-License-Identifier: Apache-2.0
// What `weft-bench adapt --curves` makes of times: curves with their marks, pictures, the page and its values.
#include <driver/adapt/curves.hpp>
#include <driver/page.hpp>
#include <driver/results.hpp>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <iterator>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace {

using namespace bench::adapt;
using points = std::vector<std::pair<long, double>>;
using places = std::vector<std::pair<double, double>>;
using kind = grain_curve::kind;

std::string refusal(const std::vector<std::string> &arguments) {
  try {
    static_cast<void>(parse_options(arguments));
  } catch (const std::runtime_error &e) {
    return e.what();
  }
  return "";
}

struct folder_of_test {
  std::string path = "/tmp/weft-curves-XXXXXX";
  folder_of_test() { EXPECT_NE(mkdtemp(path.data()), nullptr); }
  folder_of_test(const folder_of_test &) = delete;
  folder_of_test &operator=(const folder_of_test &) = delete;
  ~folder_of_test() { std::filesystem::remove_all(path); }
};

TEST(curves, of_a_loop_have_the_time_of_each_grain_and_a_mark_of_each_mode) {
  const grain_curve c = curve_of_loop(
      "uniform", 51, {{"serial", 80}, {"self", 80}, {"static", 6}, {"guided", 5}, {"1", 9}, {"4", 7}},
      {{"serial", 90}, {"self", 55}, {"static", 65}, {"guided", 5}, {"1", 800}, {"4", 75}, {"64", 50}, {"256", 99}});
  EXPECT_EQ(c.what, kind::loop);
  EXPECT_EQ(c.subject, "uniform");
  EXPECT_EQ(c.serial, 90);
  EXPECT_EQ(c.by_hand, (points{{1, 800}, {4, 75}, {51, 65}, {64, 50}, {256, 99}}))
      << "each of as many runs: none of those with tune=off";
  EXPECT_EQ(c.untuned.ns, 80);
  EXPECT_EQ(c.self.ns, 55);
  EXPECT_FALSE(c.untuned.grain || c.self.grain);
  EXPECT_EQ(c.best().ns, 50);
  EXPECT_EQ(c.best().grain, 64);
  for (const auto &[first, second] : {std::pair(7.0, 8.0), {8.0, 7.0}})
    EXPECT_EQ(curve_of_loop("u", 4, {}, {{"4", first}, {"static", second}}).by_hand, (points{{4, 7}}))
        << "a fixed grain may be the share";
}

TEST(curves, of_a_recursion_are_of_one_kind_of_fork) {
  const std::vector<way_time> all{{"serial", 10}, {"join", 90},    {"spawn", 300},    {"cost", 11},
                                  {"inline", 40}, {"join/15", 12}, {"spawn/15", 20}, {"spawn/8", 40},
                                  {"cost-calls", 5}, {"spawn/x", 1}};
  const grain_curve join = curve_of_recursion("fib", "cut-off", "join", all);
  EXPECT_EQ(join.what, kind::recursion);
  EXPECT_EQ(join.unit, "cut-off");
  EXPECT_EQ(join.serial, 10);
  EXPECT_EQ(join.by_hand, (points{{15, 12}}));
  EXPECT_EQ(join.untuned.ns, 90);
  EXPECT_EQ(join.self.ns, 11);
  const grain_curve spawn = curve_of_recursion("fib", "cut-off", "spawn", all);
  EXPECT_EQ(spawn.by_hand, (points{{8, 40}, {15, 20}}));
  EXPECT_EQ(spawn.untuned.ns, 300);
  EXPECT_EQ(spawn.self.ns, 40);
  EXPECT_EQ(spawn.best().grain, 15);
  EXPECT_EQ(curve_of_recursion("fib", "", "spawn", {{"serial", 10}}).self.ns, 0) << "not measured";
}

TEST(curves, keep_the_lesser_time_of_two_turns) {
  std::vector<way_time> all{{"serial", 10}};
  take_least(all, {{"serial", 12}, {"self", 7}});
  take_least(all, {{"serial", 9}, {"self", 8}});
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[0].ns, 9);
  EXPECT_EQ(all[1].way, "self");
  EXPECT_EQ(all[1].ns, 7);
  for (const auto &[runs, of_application] : {std::pair(1, 1), {19, 1}, {20, 2}, {30, 3}, {1000, 3}}) {
    options o;
    o.runs = runs;
    EXPECT_EQ(application_runs(o), of_application);
  }
}

TEST(curves, a_tile_is_searched_from_the_preset_one) {
  const std::vector<double> costs{9, 5, 3, 2, 4, 6, 7, 8, 8.5, 9.5, 10};
  std::vector<std::size_t> asked;
  const found_grain found = search_grain(costs.size(), 8, [&](std::size_t i) {
    asked.push_back(i);
    return costs.at(i);
  });
  EXPECT_EQ(found.index, 3u);
  ASSERT_FALSE(asked.empty());
  EXPECT_EQ(asked.front(), 8u);
  EXPECT_EQ(found.trials, static_cast<int>(asked.size()));
  EXPECT_LE(found.trials, 12);
  const found_grain only = search_grain(1, 0, [](std::size_t) { return 1.0; });
  EXPECT_EQ(only.index, 0u);
  EXPECT_EQ(only.trials, 1);
}

TEST(curves, pictures_have_a_line_or_a_point_per_mark) {
  grain_curve c{kind::application, "dot", "tile"};
  c.serial = 4e6;
  c.by_hand = {{64, 3e6}, {128, 2e6}, {256, 5e6}};
  c.untuned = {5e6, 256};
  c.self = {2.5e6};
  const auto chart = chart_of(c);
  EXPECT_EQ(chart.title, "dot");
  EXPECT_EQ(chart.x_label, "tile");
  EXPECT_EQ(chart.y_label, "time, ms");
  ASSERT_EQ(chart.curves.size(), 5u);
  const std::vector<std::pair<std::string, places>> wanted{{"by hand", {{64, 3}, {128, 2}, {256, 5}}},
                                                           {"best by hand", {{128, 2}}},
                                                           {"untuned", {{256, 5}}},
                                                           {"self-tuned", {{64, 2.5}, {256, 2.5}}},
                                                           {"serial program", {{64, 4}, {256, 4}}}};
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    EXPECT_EQ(chart.curves[i].name, wanted[i].first);
    EXPECT_EQ(chart.curves[i].points, wanted[i].second) << wanted[i].first;
  }
  for (const auto &one : chart_of({kind::loop, "none", "iterations"}).curves)
    EXPECT_TRUE(one.points.empty()) << one.name << " was not measured";
  EXPECT_EQ(picture_of(c), "application-dot.svg");
  EXPECT_EQ(picture_of({kind::recursion, "fib of 30, by join", ""}), "recursion-fib-of-30-by-join.svg");
}

grain_curve measured_loop() {
  grain_curve c{kind::loop, "uniform", "iterations"};
  c.serial = 4e6;
  c.by_hand = {{1, 3e6}, {4, 2e6}};
  c.untuned.ns = 3e6;
  c.self.ns = 2.2e6;
  return c;
}

std::vector<grain_curve> one_of_each() {
  grain_curve app{kind::application, "dot", "tile"};
  app.serial = 1e6;
  app.by_hand = {{64, 8e5}};
  app.untuned = app.self = {8e5, 64};
  app.trials = 5;
  grain_curve absent{kind::application, "amr", "tile"};
  absent.trouble = "it is \"not\" there";
  grain_curve half_known{kind::loop, "triangle", "iterations"};
  half_known.serial = 7e6;
  half_known.self.ns = 6e6;
  return {measured_loop(), half_known, app, absent};
}

TEST(curves, the_page_has_a_table_per_kind_with_ratios_and_says_what_was_not_measured) {
  std::ostringstream to;
  write_curves(to, one_of_each(), "curves");
  const std::string page = to.str();
  for (const char *line :
       {"### Loops\n", "### Applications\n", "| uniform | 4 | 2 (4) | 3 | 2.2 | 1.50 | 1.10 |\n",
        "| triangle | 7 | - | - | 6 | - | - |\n",
        "\nMedians of 1: untuned 1.50 times the best by hand, self-tuned 1.10 times.\n",
        "| dot | 1 | 0.8 (64) | 0.8 (64) | 0.8 (64, 5 trials) | 1.00 | 1.00 |\n",
        "| amr | - | - | - | - | - | - |\n", "![uniform](curves/loop-uniform.svg)\n",
        "Not measured: amr: it is \"not\" there\n"})
    EXPECT_NE(page.find(line), std::string::npos) << line << page;
  EXPECT_EQ(page.find("### Recursions"), std::string::npos) << "there are none";
  EXPECT_EQ(page.find("application-amr.svg"), std::string::npos) << "it has no picture";
  EXPECT_LT(page.find("### Loops"), page.find("### Applications"));
}

TEST(curves, medians_are_of_the_subjects_that_have_both_ratios) {
  grain_curve slower = measured_loop();
  slower.untuned.ns = 5e6;
  slower.self.ns = 2.6e6;
  std::ostringstream to;
  write_curves(to, {measured_loop(), slower}, "c");
  EXPECT_NE(to.str().find("Medians of 2: untuned 2.00 times the best by hand, self-tuned 1.20 times."),
            std::string::npos)
      << to.str();
}

TEST(curves, values_are_json_with_null_for_what_was_not_measured) {
  options o;
  o.workers = 2;
  o.runs = 7;
  std::ostringstream to;
  write_curves_json(to, one_of_each(), "a \"busy\" machine\n", o);
  EXPECT_EQ(to.str(), R"({
  "conditions": "a \"busy\" machine\u000a",
  "unit": "ns",
  "workers": 2,
  "runs": 7,
  "curves": [
    {"kind": "loop", "subject": "uniform", "grain_unit": "iterations", "serial": 4000000,
     "best": {"ns": 2000000, "grain": 4}, "untuned": {"ns": 3000000, "grain": null}, "self": {"ns": 2200000, "grain": null}, "trials": null, "trouble": null,
     "by_hand": [[1, 3000000], [4, 2000000]]},
    {"kind": "loop", "subject": "triangle", "grain_unit": "iterations", "serial": 7000000,
     "best": {"ns": null, "grain": null}, "untuned": {"ns": null, "grain": null}, "self": {"ns": 6000000, "grain": null}, "trials": null, "trouble": null,
     "by_hand": []},
    {"kind": "application", "subject": "dot", "grain_unit": "tile", "serial": 1000000,
     "best": {"ns": 800000, "grain": 64}, "untuned": {"ns": 800000, "grain": 64}, "self": {"ns": 800000, "grain": 64}, "trials": 5, "trouble": null,
     "by_hand": [[64, 800000]]},
    {"kind": "application", "subject": "amr", "grain_unit": "tile", "serial": null,
     "best": {"ns": null, "grain": null}, "untuned": {"ns": null, "grain": null}, "self": {"ns": null, "grain": null}, "trials": null, "trouble": "it is \"not\" there",
     "by_hand": []}
  ]
}
)");
}

TEST(curves, options_that_do_not_fit_are_refused_with_the_remedy) {
  const options o = parse_options({"--curves", "a/page.md", "--only", "loops,fib,dot,applications,recursions"});
  EXPECT_EQ(o.curves, "a/page.md");
  EXPECT_EQ(o.only.size(), 5u);
  EXPECT_EQ(refusal({"--only", "T1"}), "");
  EXPECT_EQ(refusal({"--curves", "page.html"}),
            "--curves writes Markdown; name a page that ends in .md, not 'page.html'");
  EXPECT_EQ(refusal({"--list", "--curves", "page.md"}),
            "--list names rows and measures nothing; drop it, or --curves");
  EXPECT_EQ(refusal({"--curves", "page.md", "--only", "fib,T1"}),
            "there is no curve 'T1'; there are loops recursions applications uniform triangle power half mandelbrot banded powerlaw "
            "dense-row blocks scattered arrow fib nqueens sort uts health amr cholesky dot gauss_seidel hpccg lulesh matmul nbody "
            "sparselu two_wave");
}

TEST(curves, a_page_without_marks_is_refused_before_anything_is_measured) {
  const folder_of_test folder;
  options o;
  o.curves = folder.path + "/page.md";
  o.only = {"fib"};
  std::ofstream(o.curves) << "my own page\n";
  try {
    static_cast<void>(run(o));
    FAIL() << "it has no marks";
  } catch (const std::runtime_error &e) {
    EXPECT_NE(std::string(e.what()).find("has no lines '<!-- report: begin -->'"), std::string::npos)
        << e.what();
  }
  EXPECT_FALSE(std::filesystem::exists(folder.path + "/page")) << "nothing was measured";
  o.curves = folder.path + "/none/page.md";
  EXPECT_THROW(static_cast<void>(run(o)), std::runtime_error);
}

TEST(curves, pages_are_created_with_marks_and_only_the_part_between_is_replaced) {
  const folder_of_test folder;
  const std::string page = folder.path + "/page.md";
  bench::create_page(page, "Heading");
  bench::put_between_marks(page, "first");
  bench::create_page(page, "Another one");
  bench::put_between_marks(page, "second");
  std::ifstream from(page);
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(from), {}),
            "# Heading\n\n<!-- report: begin -->\nsecond\n<!-- report: end -->\n");
  std::ofstream(page) << "<!-- report: end -->\n<!-- report: begin -->\n";
  EXPECT_THROW(bench::check_page(page), std::runtime_error);
}

} // namespace
