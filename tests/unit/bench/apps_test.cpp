// SPDX-License-Identifier: Apache-2.0
#include <driver/apps/apps.hpp>
#include <driver/apps/chart.hpp>
#include <driver/apps/curves.hpp>
#include <driver/apps/record.hpp>
#include <driver/apps/report.hpp>
#include <driver/apps/subjects.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <string>

using namespace bench::apps;

namespace {

/// A folder that vanishes.
class scratch {
 public:
  scratch() {
    char name[] = "/tmp/weft-bench-XXXXXX";
    m_path = mkdtemp(name);
  }
  ~scratch() { std::filesystem::remove_all(m_path); }
  [[nodiscard]] const std::string &path() const { return m_path; }

 private:
  std::string m_path;
};

const subject k_subject{"toy", "A toy & more", 1000, 100, {1, 10, 100}};

sample sample_of(const std::string &series, long tile, int run, double wall_s,
                 double serial_s = 1) {
  return {"toy", series, 2, 1000, tile, run, 1000 / tile, serial_s, wall_s};
}

/// Ten instructions per step: tasks of 10, 100 and 1000.
void count_all(record &r) {
  for (const long tile : k_subject.sweep)
    r.add(count{"toy", 1000, tile, 10000, 1000 / tile});
}

std::string message_of(const std::vector<std::string> &arguments) {
  try {
    (void)parse_options(arguments);
  } catch (const std::runtime_error &e) {
    return e.what();
  }
  return "accepted";
}

bool has(const std::string &text, const std::string &part) {
  return text.find(part) != std::string::npos;
}

} // namespace

TEST(apps_options, defaults_depend_on_the_mode) {
  EXPECT_EQ(parse_options({}).runs, 3);
  EXPECT_EQ(parse_options({"--coarse"}).runs, 15);
  EXPECT_EQ(parse_options({"--coarse", "--runs", "7"}).runs, 7);
  EXPECT_EQ(parse_options({"--pragmas"}).runs, 15);
  const options o = parse_options({"--only", "dot,matmul", "--tiles", "8,16", "--budget", "60"});
  EXPECT_EQ(o.only, (std::vector<std::string>{"dot", "matmul"}));
  EXPECT_EQ(o.tiles, (std::vector<long>{8, 16}));
  EXPECT_EQ(o.budget_s, 60);
}

TEST(apps_options, refusals_name_the_option_and_what_it_takes) {
  EXPECT_TRUE(has(message_of({"--runs", "0"}), "--runs wants a number from 1 to 1000, not '0'"));
  EXPECT_TRUE(has(message_of({"--tiles", "8,x"}), "--tiles wants a number"));
  EXPECT_TRUE(has(message_of({"--runs"}), "--runs wants a value"));
  EXPECT_TRUE(has(message_of({"--report", "--fresh"}), "--fresh forgets what --report"));
  EXPECT_TRUE(has(message_of({"--run"}), "unknown option '--run'"));
  EXPECT_TRUE(has(message_of({"--series", "gomp"}), "no series is called 'gomp'; there are weft"));
}

TEST(apps_subjects, a_description_is_read_with_the_blanks_of_its_title) {
  const subject s = parse_description("app=dot size=100 coarse=8 sweep=1,2,8 title=Dot product\n");
  EXPECT_EQ(s.name, "dot");
  EXPECT_EQ(s.size, 100);
  EXPECT_EQ(s.coarse, 8);
  EXPECT_EQ(s.sweep, (std::vector<long>{1, 2, 8}));
  EXPECT_EQ(s.title, "Dot product");
  EXPECT_THROW((void)parse_description("app=dot size=100 sweep= title=x\n"), std::runtime_error);
}

TEST(apps_subjects, an_absent_program_of_pragmas_is_named_before_anything_is_measured) {
  const auto message = [](const std::vector<std::string> &series) -> std::string {
    try {
      require_pragma_programs({k_subject}, series);
    } catch (const std::runtime_error &e) {
      return e.what();
    }
    return "accepted";
  };
  EXPECT_TRUE(has(message({}), "app-toy-clang, which is absent; build the target weft_apps_clang"))
      << message({});
  EXPECT_TRUE(has(message({"oss"}), "app-toy-oss, which is absent")) << message({"oss"});
}

TEST(apps_record, what_was_written_is_found_by_the_next_one) {
  const scratch folder;
  {
    record r(folder.path());
    r.add(sample_of("weft", 10, 1, 0.25));
    r.add(count{"toy", 1000, 10, 12345678901.0, 100});
  }
  const record again(folder.path());
  ASSERT_EQ(again.samples().size(), 1u);
  EXPECT_EQ(again.samples()[0].wall_s, 0.25);
  EXPECT_NE(again.find(sample_of("weft", 10, 1, 0)), nullptr);
  EXPECT_EQ(again.find(sample_of("weft", 10, 2, 0)), nullptr);
  EXPECT_EQ(again.find(sample_of("libgomp", 10, 1, 0)), nullptr);
  EXPECT_EQ(again.instructions_per_task("toy", 1000, 10), 123456789.01);
  EXPECT_FALSE(again.instructions_per_task("toy", 2000, 10));
}

TEST(apps_record, a_line_that_was_cut_short_is_named) {
  const scratch folder;
  std::ofstream(folder.path() + "/samples.csv")
      << "head\ntoy,weft,2,1000,10,1,100,1,0.5\ntoy,weft,2\n";
  try {
    const record r(folder.path());
    FAIL() << "it was read";
  } catch (const std::runtime_error &e) {
    EXPECT_TRUE(has(e.what(), "samples.csv, line 3 cannot be read: 'toy,weft,2'")) << e.what();
  }
}

TEST(apps_curves, efficiency_is_of_medians_and_performance_of_the_best_seen) {
  const scratch folder;
  record r(folder.path());
  count_all(r);
  for (const int run : {1, 2, 3}) {
    r.add(sample_of("weft", 10, run, run == 3 ? 9 : 1.0, 1.6)); // one run was disturbed
    r.add(sample_of("libgomp", 10, run, 2.0, 1.6));
    r.add(sample_of("libgomp", 100, run, 0.8, 1.5));
  }
  r.add({"toy", "weft", 4, 1000, 10, 1, 100, 1, 0.1}); // other workers are another curve
  const std::vector<curve> all = curves(r, k_subject, 2);
  ASSERT_EQ(all.size(), 2u);
  const curve *weft = find(all, "weft"), *gomp = find(all, "libgomp");
  ASSERT_TRUE(weft && gomp);
  ASSERT_EQ(weft->points.size(), 1u);
  EXPECT_DOUBLE_EQ(weft->points[0].instructions, 100);
  EXPECT_DOUBLE_EQ(weft->points[0].efficiency, 0.8);
  EXPECT_DOUBLE_EQ(weft->points[0].relative, 0.8);
  ASSERT_EQ(gomp->points.size(), 2u);
  EXPECT_DOUBLE_EQ(gomp->points[1].instructions, 1000);
  EXPECT_DOUBLE_EQ(gomp->points[1].relative, 1);
}

TEST(apps_curves, the_half_point_is_interpolated_on_a_logarithm) {
  curve c{"weft",
          {{1, 0, 10, 0, 0, 0.3, 0}, {10, 0, 1000, 0, 0, 0.7, 0}, {100, 0, 10000, 0, 0, 0.4, 0}}};
  const auto between = half(c);
  ASSERT_TRUE(between);
  EXPECT_NEAR(between->instructions, 100, 1e-9);
  EXPECT_EQ(between->tile, 10);
  EXPECT_FALSE(between->beyond);
  c.points[0].efficiency = 0.6;
  EXPECT_TRUE(half(c)->beyond);
  EXPECT_EQ(half(c)->tile, 1);
  for (point &p : c.points)
    p.efficiency = 0.2;
  EXPECT_FALSE(half(c));
}

TEST(apps_curves, the_interval_of_a_median_follows_the_binomial_distribution) {
  std::vector<double> ratios;
  for (int i = 15; i > 0; --i)
    ratios.push_back(i);
  const ratio fifteen = interval(ratios); // the 4th and the 12th of 15 hold the median with 96.5 %
  EXPECT_EQ(fifteen.median, 8);
  EXPECT_EQ(fifteen.low, 4);
  EXPECT_EQ(fifteen.high, 12);
  EXPECT_TRUE(fifteen.enough);
  const ratio three = interval({2, 1, 3});
  EXPECT_EQ(three.low, 1);
  EXPECT_EQ(three.high, 3);
  EXPECT_FALSE(three.enough) << "the range holds the median with 75 %";
  EXPECT_FALSE(interval({1, 2, 3, 4, 5}).enough) << "with 93.75 %";
  EXPECT_TRUE(interval({1, 2, 3, 4, 5, 6}).enough) << "with 96.875 %";
}

TEST(apps_curves, too_few_pairs_have_no_verdict) {
  const auto said = [](double low, double high) {
    return std::string(verdict({"", 6, 1, low, high, true}, 1.05, "met"));
  };
  EXPECT_EQ(said(0.9, 1.05), "met");
  EXPECT_EQ(said(1.06, 1.2), "missed");
  EXPECT_EQ(said(1.05, 1.06), "open");
  EXPECT_STREQ(verdict(interval({0.5, 0.5, 0.5}), 1.05, "met"), "too few");
}

TEST(apps_curves, pairs_are_samples_of_one_run_with_the_fastest_peer) {
  const scratch folder;
  record r(folder.path());
  for (const int run : {1, 2, 3}) {
    r.add(sample_of("weft", 100, run, 1.0 * run));
    r.add(sample_of("libgomp", 100, run, 2.0 * run));
    r.add(sample_of("libiomp5", 100, run, 5.0 * run));
  }
  r.add(sample_of("weft", 100, 4, 100)); // has no partner
  const auto found = against_best_peer(r, k_subject, 100, 2);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->other, "libgomp");
  EXPECT_EQ(found->pairs, 3);
  EXPECT_EQ(found->median, 0.5);
  EXPECT_FALSE(against_best_peer(r, k_subject, 10, 2));
}

TEST(apps_report, the_table_says_what_is_missed) {
  const scratch folder;
  record r(folder.path());
  count_all(r);
  for (const auto &[series, fine, middle, coarse] :
       {std::tuple{"weft", 2.0, 0.6, 0.5}, std::tuple{"libgomp", 9.0, 1.0, 0.5}}) {
    r.add(sample_of(series, 1, 1, fine));
    r.add(sample_of(series, 10, 1, middle));
    r.add(sample_of(series, 100, 1, coarse));
  }
  std::ostringstream text;
  write_tables(text, r, {k_subject}, 2);
  EXPECT_TRUE(has(text.str(), "| 83 % (missed) |")) << text.str();
  EXPECT_TRUE(has(text.str(), "(missed) | 83 %")) << text.str();
  EXPECT_TRUE(has(text.str(), "| toy | 100 | libgomp | 1 | 1.000 | 1.000 to 1.000 | too few |"))
      << text.str();
}

TEST(apps_report, times_are_compared_with_threads_tile_by_tile) {
  const scratch folder;
  record r(folder.path());
  count_all(r);
  r.add(sample_of("threads", 10, 1, 2));
  r.add(sample_of("threads", 100, 1, 2));
  r.add(sample_of("weft", 10, 1, 3));
  r.add(sample_of("weft:taskfor", 100, 1, 2.5));
  std::ostringstream text;
  write_tables(text, r, {k_subject}, 2);
  EXPECT_TRUE(has(text.str(), "| 10 | 1.50 |  |\n| 100 |  | 1.25 |\n")) << text.str();
}

TEST(apps_report, pragmas_are_compared_with_the_same_compiler_at_the_finest_and_the_coarse_tile) {
  const scratch folder;
  record r(folder.path());
  for (const int run : {1, 2, 3, 4, 5, 6}) {
    r.add(sample_of("weft:clang", 1, run, 2));
    r.add(sample_of("oss", 1, run, 2.4));
    r.add(sample_of("weft:clang", 10, run, 1));
    r.add(sample_of("oss", 10, run, 9)); // neither the finest nor the coarse one
    r.add(sample_of("weft:clang", 100, run, 1));
    r.add(sample_of("oss", 100, run, run == 1 ? 0.5 : 1.015));
    r.add(sample_of("weft", 100, run, 3));
  }
  std::ostringstream text;
  write_pragma_table(text, r, {k_subject}, 2);
  EXPECT_TRUE(has(text.str(), "| toy | 1 | 6 | 1.200 | 1.200 to 1.200 | 1.15 | missed |\n"
                              "| toy | 100 | 6 | 1.015 | 0.500 to 1.015 | 1.02 | met |\n"))
      << text.str();
  r.add(sample_of("weft:clang", 100, 7, 1));
  r.add(sample_of("oss", 100, 7, 1.5));
  text.str("");
  write_pragma_table(text, r, {k_subject}, 2);
  EXPECT_TRUE(has(text.str(), "0.500 to 1.500 | 1.02 | open |")) << text.str();
}

TEST(apps_report, each_application_gets_a_table_and_a_picture_of_every_point) {
  const scratch folder;
  record r(folder.path());
  count_all(r);
  r.add(sample_of("weft", 1, 1, 2));
  r.add(sample_of("weft", 10, 1, 1));
  write_files(r, k_subject, 2);
  std::ifstream table(folder.path() + "/toy.csv"), picture(folder.path() + "/toy.svg");
  std::string line, svg((std::istreambuf_iterator<char>(picture)), {});
  std::getline(table, line);
  std::getline(table, line);
  EXPECT_EQ(line, "weft,2,1000,1,1000,10,1,2,0.25,0.5");
  EXPECT_TRUE(has(svg, "A toy &amp; more"));
  std::size_t circles = 0;
  for (std::size_t at = 0; (at = svg.find("<circle", at)) != std::string::npos; ++at)
    ++circles;
  EXPECT_EQ(circles, 4u); // two points in two panels
  EXPECT_TRUE(svg.ends_with("</svg>\n"));
}
