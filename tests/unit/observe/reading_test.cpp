// SPDX-License-Identifier: Apache-2.0
// Numbers that were put into a segment come out of it, also of one that another process has left.
#include "observe/format.hpp"
#include "observe/segment.hpp"
#include "observe/store.hpp"
#include "observe/timekeeper.hpp"
#include "support/case_process.hpp"

#include <cmath>
#include <csignal>
#include <fstream>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>
#include <weft/error.hpp>
#include <weft/version.hpp>

using namespace weft::rt;

namespace {

/// Two workers with round numbers: 100 us overall each, of which 40 and 20 idle and 10 each between tasks.
void fill() {
  const std::uint64_t idle[] = {40'000, 20'000}, tasks[] = {30, 70};
  for (unsigned id = 0; id < 2; ++id) {
    counter_block &c = block_of_slot(id, block_kind::worker);
    put(c.executed, tasks[id]);
    put(c.without_accesses, 60);
    put(c.successors, 10);
    put(c.resumed, 5);
    put(c.misses, 2);
    put(c.overall, 100'000);
    put(c.idle, idle[id]);
    put(c.overhead, 10'000);
    put(c.queued, 3);
    put(c.durations[duration_bucket(1000)], 90);
    put(c.durations[duration_bucket(100'000)], 10);
  }
  put(process_counters().shared_queue, 4);
  store_header().reference_task_ns = 1000;
}

double value(const reading &r, const char *name) { return value_of(r, parse_counter_name(name)); }

void open(bool share, bool keep = false) { open_store({2, 2, 8, share, keep, false}); }

} // namespace

TEST(counter_reading, tells_what_the_header_says_and_the_sum_of_each_type) {
  const auto end = test::in_process({}, [] {
    open(false);
    fill();
    reinterpret_cast<segment_header *>(const_cast<char *>(store_base()))->reference_run_ns = 5e6;
    count(find_type(block_of_slot(0, block_kind::worker).types, {"some", nullptr}).tasks, 3);
    count(find_type(block_of_slot(1, block_kind::worker).types, {"some", nullptr}).tasks, 4);
    const reading r = read_segment(store_base(), program_state::running);
    EXPECT_EQ(r.workers, 2u);
    EXPECT_EQ(r.library, WEFT_VERSION_STRING);
    EXPECT_EQ(r.reference_run_ns, 5e6);
    ASSERT_EQ(r.types.size(), 1u);
    EXPECT_EQ(r.types[0].tasks, 7u);
  });
  EXPECT_TRUE(end.exited(0)) << end;
}

// The file is another program's, and may be of another version, or damaged.
TEST(counter_reading, leaves_out_counters_that_lie_outside_of_their_block) {
  const auto end = test::in_process({}, [] {
    open(false);
    fill();
    char *const base = const_cast<char *>(store_base());
    const auto &h = *reinterpret_cast<segment_header *>(base);
    catalogue_entry *e = nullptr;
    for (std::uint32_t i = 0; i != h.entries && !e; ++i)
      if (auto &each = *reinterpret_cast<catalogue_entry *>(base + h.catalogue_offset +
                                                            std::size_t{h.entry_bytes} * i);
          std::string_view(each.name) == "/threads/count/executed")
        e = &each;
    ASSERT_NE(e, nullptr);
    ASSERT_EQ(value(read_segment(store_base(), program_state::running), "/threads/count/executed"),
              100);
    const catalogue_entry whole = *e;
    const auto reads = [&](auto damage) {
      *e = whole;
      damage(*e);
      const double v =
          value(read_segment(store_base(), program_state::running), "/threads/count/executed");
      *e = whole;
      return v;
    };
    EXPECT_EQ(reads([](auto &x) { x.words = 0; }), 0);
    EXPECT_EQ(reads([](auto &x) { x.words = k_duration_buckets + 1; }), 0);
    EXPECT_EQ(reads([](auto &x) { x.worker_offset += 4; }), 0);
    EXPECT_EQ(reads([&](auto &x) { x.worker_offset = h.block_bytes; }), 0);
    EXPECT_EQ(reads([](auto &) {}), 100);
  });
  EXPECT_TRUE(end.exited(0)) << end;
}

TEST(counter_reading, computes_the_metrics_of_the_paper_by_its_equations) {
  const auto end = test::in_process({}, [] {
    open(false);
    fill();
    const reading r = read_segment(store_base(), program_state::running);
    // exec: 50,000 and 70,000
    EXPECT_EQ(value(r, "/threads/count/cumulative"), 100);
    EXPECT_EQ(value(r, "/threads{worker#1}/count/cumulative"), 70);
    EXPECT_EQ(value(r, "/threads/count/cumulative-phases"), 110);
    EXPECT_EQ(value(r, "/threads/time/cumulative"), 120'000);
    EXPECT_EQ(value(r, "/threads{worker#0}/time/cumulative"), 50'000);
    EXPECT_EQ(value(r, "/threads/idle-rate"), 40) << "Eq. 1";
    EXPECT_EQ(value(r, "/threads/time/average"), 1200) << "Eq. 2";
    EXPECT_EQ(value(r, "/threads/time/average-overhead"), 800) << "Eq. 3";
    EXPECT_EQ(value(r, "/threads/time/overhead-per-core"), 40'000) << "Eq. 4";
    EXPECT_EQ(value(r, "/threads/time/average-wait"), 200) << "Eq. 5";
    EXPECT_EQ(value(r, "/threads/time/wait-per-core"), 10'000) << "Eq. 6";
    EXPECT_EQ(value(r, "/threads/count/pending-accesses"), 110 - 20 + 4);
    EXPECT_EQ(value(r, "/threads/count/instantaneous/all"), 20);
    EXPECT_EQ(value(r, "/threads/count/instantaneous/pending"), 10);
    EXPECT_EQ(value(r, "/threads/count/instantaneous/waiting"), 10);
    EXPECT_EQ(value(r, "/threads/count/instantaneous/active"), 0) << "the stopwatches are stopped";
    put(block_of_slot(0, block_kind::worker).suspended, 17);
    put(block_of_slot(1, block_kind::worker).overall, ~std::uint64_t{0}); // runs
    const reading later = read_segment(store_base(), program_state::running);
    EXPECT_EQ(value(later, "/threads/count/instantaneous/suspended"), 17 - 2 * 5);
    EXPECT_EQ(value(later, "/threads{worker#1}/count/instantaneous/active"), 1);
    EXPECT_EQ(value(later, "/threads{worker#0}/count/instantaneous/active"), 0);
    EXPECT_EQ(value(r, "/threadqueue/length"), 10);
    EXPECT_EQ(value(r, "/threads/time/duration"), 200);
    EXPECT_NEAR(value(r, "/threads/time/duration-p50"), 1000, 250);
    EXPECT_NEAR(value(r, "/threads/time/duration-p99"), 100'000, 25'000);
    EXPECT_GT(value(r, "/memory/resident"), 100'000);
    EXPECT_EQ(value(r, "/threads/time/average-management"), 200);
    EXPECT_NEAR(value(r, "/threads/time/average-phase"), 120'000 / 110., 1e-9);
    EXPECT_NEAR(value(r, "/threads/time/average-phase-overhead"), 80'000 / 110., 1e-9);
    EXPECT_EQ(value(r, "/threads/time/cumulative-overhead"), 80'000);
    EXPECT_EQ(value(r, "/runtime/uptime"), static_cast<double>(r.span_ns));
    EXPECT_NEAR(value(r, "/threads/rate"), 100 / (static_cast<double>(r.span_ns) * 1e-9), 1e-6);
  });
  EXPECT_TRUE(end.exited(0)) << end;
}

TEST(counter_reading, counts_what_was_created_and_is_accessed_in_each_of_its_ways) {
  const auto end = test::in_process({}, [] {
    open(false);
    fill();
    counter_block &c = block_of_slot(1, block_kind::worker);
    put(c.rounds, 8);
    put(c.waited, 5);
    put(c.free_at_once, 3);
    put(c.more_accesses, 2);
    const reading r = read_segment(store_base(), program_state::running);
    EXPECT_EQ(value(r, "/threads/count/spawned"), 60 + 60 + 5 + 3);
    EXPECT_EQ(value(r, "/threads/count/cumulative"), 30 + 70 + 8);
    EXPECT_EQ(value(r, "/threads/count/cumulative-phases"), 30 + 70 + 8 + 5 + 5);
    EXPECT_EQ(value(r, "/dependencies/count/accesses"), 5 + 3 + 2);
    put(c.successors, 1000); // read later than what it is taken from: no look is less than none
    EXPECT_EQ(value(read_segment(store_base(), program_state::running),
                    "/threads/count/pending-accesses"),
              4);
    put(c.idle, 200'000);
    EXPECT_EQ(value(read_segment(store_base(), program_state::running),
                    "/threads{worker#1}/time/cumulative"),
              0)
        << "nor is time";
  });
  EXPECT_TRUE(end.exited(0)) << end;
}

TEST(counter_reading, wait_time_says_nothing_without_the_reference) {
  const auto end = test::in_process({}, [] {
    open(false);
    fill();
    store_header().reference_task_ns = 0;
    const reading r = read_segment(store_base(), program_state::running);
    EXPECT_TRUE(std::isnan(value(r, "/threads/time/average-wait")));
    EXPECT_TRUE(std::isnan(value(r, "/threads/time/wait-per-core")));
  });
  EXPECT_TRUE(end.exited(0)) << end;
}

TEST(counter_reading, workers_count_when_they_are_there_or_have_run) {
  const auto end = test::in_process({}, [] {
    open(false);
    fill();
    reading r = read_segment(store_base(), program_state::running);
    ASSERT_GE(r.slots.size(), 2u);
    for (auto &slot : r.slots)
      slot.present = slot.idle = false;
    EXPECT_EQ(value(r, "/threads/count/instantaneous/workers"), 2) << "both have run and left";
    EXPECT_EQ(value(r, "/threads/count/instantaneous/active"), 0);
    r.slots[0].present = true;
    EXPECT_EQ(value(r, "/threads/count/instantaneous/active"), 1);
    EXPECT_EQ(value(r, "/threads/count/instantaneous/idle"), 0);
    r.slots[0].idle = true;
    EXPECT_EQ(value(r, "/threads/count/instantaneous/active"), 0);
    EXPECT_EQ(value(r, "/threads/count/instantaneous/idle"), 1);
    EXPECT_EQ(value(r, "/threads{worker#1}/count/instantaneous/active"), 0);
    r.resident_bytes = 0;
    EXPECT_TRUE(std::isnan(value(r, "/memory/resident")))
        << "not known of a program that has ended";
  });
  EXPECT_TRUE(end.exited(0)) << end;
}

TEST(counter_reading, of_a_speedup_needs_the_reference_and_says_nothing_without) {
  const auto end = test::in_process({}, [] {
    open(false);
    fill();
    reading r = read_segment(store_base(), program_state::running);
    EXPECT_TRUE(std::isnan(value(r, "/runtime/speedup")));
    r.reference_run_ns = 1.5 * static_cast<double>(r.span_ns);
    EXPECT_NEAR(value(r, "/runtime/speedup"), 1.5, 1e-9) << "Eq. 7";
    EXPECT_NEAR(value(difference(r, r), "/runtime/speedup"), 1.5, 1e-9)
        << "of the run, not of an interval";
    EXPECT_NEAR(value(r, "/runtime/efficiency"), 75, 1e-9) << "Eq. 8";
    EXPECT_NEAR(value(r, "/runtime/efficiency-loss"), 25, 1e-9) << "Eq. 9";
    EXPECT_NEAR(value(r, "/runtime/ideal-time"), r.reference_run_ns / 2, 1) << "Eq. 13";
  });
  EXPECT_TRUE(end.exited(0)) << end;
}

TEST(counter_reading, total_is_the_sum_of_the_workers_it_shows) {
  const auto end = test::in_process({}, [] {
    open(false);
    fill();
    const reading r = read_segment(store_base(), program_state::running);
    for (const auto &row : rows_of(r, parse_counter_name("/threads{worker#*}/count/*"))) {
      if (!row.about.per_worker || row.about.kind == counter_kind::level)
        continue;
      double sum = 0;
      for (const auto &p : row.workers)
        sum += p.number;
      EXPECT_EQ(sum, row.total) << row.about.name;
    }
  });
  EXPECT_TRUE(end.exited(0)) << end;
}

TEST(counter_reading, difference_subtracts_counts_and_keeps_levels) {
  const auto end = test::in_process({}, [] {
    open(false);
    fill();
    const reading before = read_segment(store_base(), program_state::running);
    counter_block &c = block_of_slot(1, block_kind::worker);
    count(c.executed, 5);
    put(c.queued, 1);
    put(block_of_slot(5, block_kind::thread).executed, 7); // came later
    const reading now = read_segment(store_base(), program_state::running),
                  d = difference(now, before);
    EXPECT_EQ(value(d, "/threads/count/cumulative"), 12);
    EXPECT_EQ(value(d, "/threads{worker#1}/count/cumulative"), 5);
    EXPECT_EQ(value(d, "/threads{worker#5}/count/cumulative"), 7);
    EXPECT_EQ(value(d, "/threadqueue/length"), 8);
    EXPECT_EQ(value(d, "/threads/count/instantaneous/all"), 8)
        << "a level, of 120 tasks that were created and 112 begun";
    EXPECT_EQ(value(difference(now, now), "/threads/count/instantaneous/all"), 8);
    EXPECT_TRUE(std::isnan(value(d, "/threads/time/duration-p50")));
    reading other = now;
    other.pid = 1;
    EXPECT_THROW(static_cast<void>(difference(now, other)), weft::error);
  });
  EXPECT_TRUE(end.exited(0)) << end;
}

TEST(counter_reading, of_an_unknown_name_is_refused_with_the_nearest) {
  const auto end = test::in_process({}, [] {
    open(false);
    const reading r = read_segment(store_base(), program_state::running);
    try {
      value(r, "/threads/count/cumulatve");
      ADD_FAILURE();
    } catch (const weft::error &e) {
      EXPECT_NE(std::string(e.what()).find("did you mean '/threads/count/cumulative'"),
                std::string::npos)
          << e.what();
    }
    EXPECT_THROW(value(r, "/threads/count/*"), weft::error);
    EXPECT_THROW(value(r, "/threads{worker#7}/count/executed"), weft::error);
    EXPECT_THROW(value(r, "/memory{worker#0}/tasks"), weft::error) << "of the process only";
    mark_absent("/hardware/cycles", "no such luck");
    try {
      value(read_segment(store_base(), program_state::running), "/hardware/cycles");
      ADD_FAILURE();
    } catch (const weft::error &e) {
      EXPECT_NE(std::string(e.what()).find("no such luck"), std::string::npos) << e.what();
    }
  });
  EXPECT_TRUE(end.exited(0)) << end;
}

TEST(counter_segment, of_a_running_and_of_a_killed_program_is_read_by_another_process) {
  const auto end = test::in_process({}, [] {
    int ready[2], go[2];
    ASSERT_EQ(pipe(ready) | pipe(go), 0);
    const pid_t child = fork();
    if (child == 0) {
      open(true);
      fill();
      char c = 'x';
      if (write(ready[1], &c, 1) != 1 || read(go[0], &c, 1) != 1)
        _exit(1);
      for (;;)
        pause();
    }
    char c = 0;
    ASSERT_EQ(read(ready[0], &c, 1), 1);
    const reading running = read_program(child);
    EXPECT_TRUE(running.alive);
    EXPECT_EQ(running.pid, static_cast<unsigned>(child));
    EXPECT_EQ(value(running, "/threads/count/cumulative"), 100);
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
    const reading dead = read_program(child);
    EXPECT_FALSE(dead.alive);
    EXPECT_FALSE(dead.ended);
    EXPECT_EQ(value(dead, "/threads/count/cumulative"), 100);
    EXPECT_EQ(unlink(segment_path(child).c_str()), 0);
    EXPECT_THROW(static_cast<void>(read_program(child)), weft::error);
  });
  EXPECT_TRUE(end.exited(0)) << end;
}

TEST(counter_segment, goes_with_an_orderly_end_unless_it_is_kept) {
  const auto end = test::in_process({}, [] {
    for (const bool keep : {false, true}) {
      const pid_t child = fork();
      if (child == 0) {
        open(true, keep);
        fill();
        end_store();
        _exit(0);
      }
      waitpid(child, nullptr, 0);
      if (!keep) {
        EXPECT_NE(access(segment_path(child).c_str(), F_OK), 0);
        continue;
      }
      const reading r = read_program(child);
      EXPECT_TRUE(r.ended);
      EXPECT_EQ(value(r, "/threads/count/cumulative"), 100);
      unlink(segment_path(child).c_str());
    }
  });
  EXPECT_TRUE(end.exited(0)) << end;
}

TEST(counter_segment, of_a_child_is_another_than_its_parents) {
  const auto end = test::in_process({}, [] {
    open(true);
    fill();
    const pid_t child = fork();
    if (child == 0) {
      forget_store_in_child();
      open(true);
      put(block_of_slot(0, block_kind::worker).executed, 1);
      const bool apart = value(read_segment(store_base(), program_state::running),
                               "/threads/count/cumulative") == 1;
      end_store();
      _exit(apart ? 0 : 1);
    }
    int status = 0;
    waitpid(child, &status, 0);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    EXPECT_EQ(
        value(read_segment(store_base(), program_state::running), "/threads/count/cumulative"),
        100);
    EXPECT_EQ(access(segment_path(getpid()).c_str(), F_OK), 0);
    end_store();
  });
  EXPECT_TRUE(end.exited(0)) << end;
}

TEST(counter_segment, that_is_none_is_refused) {
  const std::string path = testing::TempDir() + "weft_no_segment" + std::to_string(getpid());
  std::ofstream(path) << std::string(10'000, 'x');
  try {
    static_cast<void>(map_segment(path));
    ADD_FAILURE();
  } catch (const weft::error &e) {
    EXPECT_NE(std::string(e.what()).find("another kind of file"), std::string::npos) << e.what();
  }
  std::ofstream(path) << "short";
  EXPECT_THROW(static_cast<void>(map_segment(path)), weft::error);
  unlink(path.c_str());
  try {
    static_cast<void>(read_program(getppid()));
    ADD_FAILURE();
  } catch (const weft::error &e) {
    EXPECT_NE(std::string(e.what()).find("shows no counters"), std::string::npos) << e.what();
  }
  EXPECT_THROW(static_cast<void>(read_program(0x7ffffff0)), weft::error);
}

TEST(counter_segment, of_an_earlier_program_is_not_that_of_the_one_that_has_its_number) {
  const auto end = test::in_process({}, [] {
    open(true);
    const pid_t other = fork();
    if (other == 0)
      pause();
    const std::string left = segment_path(other);
    std::ofstream(left, std::ios::binary)
        << std::ifstream(segment_path(getpid()), std::ios::binary).rdbuf();
    std::string complaint;
    try {
      static_cast<void>(read_program(other));
    } catch (const weft::error &e) {
      complaint = e.what();
    }
    EXPECT_NE(complaint.find("shows no counters"), std::string::npos) << complaint;
    kill(other, SIGKILL);
    siginfo_t ended;
    waitid(P_PID, static_cast<id_t>(other), &ended,
           WEXITED | WNOWAIT); // its counters are readable until its parent has waited for it
    EXPECT_FALSE(read_program(other).alive);
    waitpid(other, nullptr, 0);
    EXPECT_FALSE(read_program(other).alive);
    unlink(left.c_str());
    end_store();
  });
  EXPECT_TRUE(end.exited(0)) << end;
}

TEST(counter_formula, computes_over_counters_of_one_moment_and_of_several) {
  const auto end = test::in_process({}, [] {
    open(false);
    fill();
    evaluator e(
        "/arithmetics/divide@/threads/time/idle,/threads/time/overall;/arithmetics/add@/threads{worker#*}/count/executed;"
        "/statistics{/threads/count/executed}/max@2,/statistics{/threads/count/executed}/average");
    reading last = read_segment(store_base(), program_state::running);
    const double expected_max[] = {3, 8, 8, 1}, expected_mean[] = {3, 5.5, 4, 3.25};
    const unsigned more[] = {3, 8, 1, 1};
    for (int i = 0; i < 4; ++i) {
      count(block_of_slot(0, block_kind::worker).executed, more[i]);
      const reading now = read_segment(store_base(), program_state::running);
      const auto v = e.evaluate(now, difference(now, last));
      last = now;
      ASSERT_EQ(v.size(), 4u);
      EXPECT_DOUBLE_EQ(v[0].number, 0.3);
      EXPECT_EQ(v[1].number, value(now, "/threads/count/executed"));
      EXPECT_EQ(v[2].number, expected_max[i]);
      EXPECT_EQ(v[3].number, expected_mean[i]);
    }
    EXPECT_THROW(evaluator("/arithmetics/guess@/a/b"), weft::error);
    EXPECT_THROW(evaluator(""), weft::error);
    EXPECT_THROW(evaluator("/statistics{/a/b}/max@x"), weft::error);
  });
  EXPECT_TRUE(end.exited(0)) << end;
}

TEST(counter_format, writes_csv_json_and_open_metrics) {
  const auto end = test::in_process({}, [] {
    open(false);
    fill();
    const reading r = read_segment(store_base(), program_state::running);
    const auto values =
        evaluator("/threads/count/executed,/threads/idle-rate,/runtime/speedup").evaluate(r, r);
    const std::string csv = write_values(output_format::csv, r, values, csv_header::written);
    EXPECT_NE(
        csv.find(
            "seconds,\"/threads/count/executed\",\"/threads/idle-rate [%]\",\"/runtime/speedup\"\n"),
        std::string::npos)
        << csv;
    EXPECT_NE(csv.find(",100,40,\n"), std::string::npos) << csv;
    const std::string json = write_values(output_format::json, r, values, csv_header::written);
    EXPECT_NE(
        json.find(
            "\"/threads/count/executed\":100,\"/threads/idle-rate\":40,\"/runtime/speedup\":null}}\n"),
        std::string::npos)
        << json;
    count(find_type(block_of_slot(0, block_kind::worker).types, {"some", nullptr}).ns, 90'000);
    count(find_type(block_of_slot(1, block_kind::worker).types, {"some", nullptr}).ns, 1'000'000);
    const auto with_buckets = evaluator("/threads/time/duration").evaluate(r, r);
    const std::string buckets =
        write_values(output_format::json, r, with_buckets, csv_header::written);
    EXPECT_NE(buckets.find(
                  "{\"/threads/time/duration\":200},\"histograms\":{\"/threads/time/duration\":[["),
              std::string::npos)
        << buckets;
    EXPECT_NE(buckets.find(",180],["), std::string::npos) << buckets;
    EXPECT_EQ(csv_text("a \"b\", c"), "\"a \"\"b\"\", c\"");
    EXPECT_EQ(csv_text("plain"), "plain");
    const std::string metrics = write_open_metrics(
        read_segment(store_base(), program_state::running), metric_samples::total);
    EXPECT_NE(metrics.find("# TYPE weft_threads_count_executed counter\n"), std::string::npos);
    EXPECT_NE(metrics.find("\nweft_threads_count_executed_total 100\n"), std::string::npos);
    EXPECT_NE(metrics.find("\nweft_threads_time_duration_nanoseconds_bucket{le=\"+Inf\"} 200\n"),
              std::string::npos);
    EXPECT_NE(metrics.find(
                  "_nanoseconds_count 200\nweft_threads_time_duration_nanoseconds_sum 1090000\n"),
              std::string::npos)
        << metrics;
    EXPECT_NE(metrics.find("weft_threads_idle_rate_percent"), std::string::npos) << metrics;
    EXPECT_TRUE(metrics.ends_with("# EOF\n"));
    EXPECT_NE(write_open_metrics(r, metric_samples::per_worker)
                  .find("weft_threads_count_executed_total{worker=\"1\"} 70\n"),
              std::string::npos);
    const auto two = evaluator("/threads/time/duration,/threads/time/duration").evaluate(r, r);
    const std::string twice = write_values(output_format::json, r, two, csv_header::written);
    EXPECT_NE(twice.find("]],\"/threads/time/duration\":[["), std::string::npos) << twice;
    EXPECT_NE(json.find("\"running\":true"), std::string::npos) << json;
    reading gone = r;
    gone.alive = false;
    EXPECT_NE(write_values(output_format::json, gone, values, csv_header::written)
                  .find("\"running\":false"),
              std::string::npos);
    gone = r;
    gone.ended = true;
    EXPECT_NE(write_values(output_format::json, gone, values, csv_header::written)
                  .find("\"running\":false"),
              std::string::npos);
    EXPECT_EQ(write_values(output_format::csv, r, values, csv_header::left_out),
              csv.substr(csv.find('\n') + 1))
        << "the head comes once";
    const std::string whole = write_open_metrics(r, metric_samples::total);
    for (const char *name : {"weft_memory_resident_bytes", "weft_threads_idle_rate_percent",
                             "weft_threads_time_average_nanoseconds"})
      EXPECT_NE(whole.find(std::string("# TYPE ") + name + " gauge\n# HELP "), std::string::npos)
          << name;
    EXPECT_NE(whole.find("# TYPE weft_threads_count_cumulative counter\n"), std::string::npos);
    EXPECT_EQ(json_text("a\"b\\\n"), "\"a\\\"b\\\\\\u000a\"");
    EXPECT_EQ(number_text(0.5), "0.5");
    EXPECT_EQ(number_text(1e15), "1000000000000000");
  });
  EXPECT_TRUE(end.exited(0)) << end;
}
