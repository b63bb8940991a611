// SPDX-License-Identifier: Apache-2.0
// Numbers that were put into a segment come out of it, also of one that another process has left.
#include "observe/format.hpp"
#include "observe/segment.hpp"
#include "observe/store.hpp"
#include "observe/timekeeper.hpp"
#include "observe/user_counter.hpp"
#include "support/case_process.hpp"

#include <cmath>
#include <csignal>
#include <fstream>
#include <gtest/gtest.h>
#include <set>
#include <sstream>
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
    const auto quantile = [&](auto damage) { // of a histogram
      for (std::uint32_t i = 0; i != h.entries; ++i)
        if (auto &each = *reinterpret_cast<catalogue_entry *>(base + h.catalogue_offset +
                                                              std::size_t{h.entry_bytes} * i);
            each.kind == counter_kind::histogram)
          damage(each);
      return value(read_segment(store_base(), program_state::running), "/threads/time/duration-p50");
    };
    EXPECT_FALSE(std::isnan(quantile([](auto &) {})));
    EXPECT_TRUE(std::isnan(quantile([](auto &x) {
      x.scope = counter_scope::process;
      x.worker_offset = 0xffff'fff8;
    })));
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

TEST(counter_reading, difference_finds_each_slot_and_type_wherever_it_was) {
  const auto end = test::in_process({}, [] {
    open(false);
    fill();
    put(block_of_slot(4, block_kind::thread).executed, 50);
    count(find_type(block_of_slot(0, block_kind::worker).types, {"z", nullptr}).tasks, 3);
    reading before = read_segment(store_base(), program_state::running);
    const std::size_t executed = before.find("/threads/count/executed");
    std::swap(before.slots[0], before.slots[2]); // those of slots 0 and 4
    std::swap(before.durations[0], before.durations[2]);
    for (std::size_t e = 0; e < before.catalogue.size(); ++e)
      std::swap(before.cells[4 * e + 1], before.cells[4 * e + 3]);
    count(block_of_slot(0, block_kind::worker).executed, 1);
    count(block_of_slot(4, block_kind::thread).executed, 7);
    count(block_of_slot(0, block_kind::worker).durations[3], 2);
    count(find_type(block_of_slot(4, block_kind::thread).types, {"a", nullptr}).tasks, 5);
    count(find_type(block_of_slot(4, block_kind::thread).types, {"z", nullptr}).tasks, 2);
    const reading d = difference(read_segment(store_base(), program_state::running), before);
    ASSERT_EQ(d.slots.size(), 3u);
    EXPECT_EQ(d.of_slot(executed, 0), 1);
    EXPECT_EQ(d.of_slot(executed, 1), 0);
    EXPECT_EQ(d.of_slot(executed, 2), 7);
    EXPECT_EQ(d.durations[0][3], 2u);
    ASSERT_EQ(d.types.size(), 2u);
    EXPECT_EQ(d.types[0].tasks, 5u) << "of 'a', which has come since";
    EXPECT_EQ(d.types[1].tasks, 2u);
  });
  EXPECT_TRUE(end.exited(0)) << end;
}

TEST(counter_reading, computes_the_same_for_one_name_and_for_all_at_once) {
  const auto end = test::in_process({}, [] {
    open(false);
    fill();
    block_of_slot(5, block_kind::thread);
    const reading r = read_segment(store_base(), program_state::running);
    calculator all(r);
    int compared = 0;
    const auto same = [&compared](double a, double b) {
      ++compared;
      return a == b || (std::isnan(a) && std::isnan(b));
    };
    for (int again = 0; again < 2; ++again)
      for (const row &found : all.rows(parse_counter_name("/*{worker#*}"))) {
        if (found.about.absent)
          continue;
        EXPECT_TRUE(same(found.total, value(r, found.about.name.c_str()))) << found.about.name;
        for (const row::part &part : found.workers)
          EXPECT_TRUE(same(part.number,
                           value(r, name_of_worker(found.about.name, part.worker).c_str())))
              << found.about.name << part.worker;
      }
    EXPECT_GT(compared, 200);
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

TEST(counter_segment, whose_header_changes_after_it_was_mapped_is_refused) {
  const auto end = test::in_process({}, [] {
    open(true);
    fill();
    segment area = map_segment(segment_path(getpid()));
    segment_header &h = store_header();
    const segment_header whole = h;
    EXPECT_EQ(value(read_segment(area, program_state::running), "/threads/count/executed"), 100);
    const auto refuses = [&](const char *why, auto change) {
      change(h);
      std::string complaint;
      try {
        static_cast<void>(read_segment(area, program_state::running));
      } catch (const weft::error &e) {
        complaint = e.what();
      }
      EXPECT_NE(complaint.find(why), std::string::npos) << why << ": " << complaint;
      h = whole;
    };
    refuses("its parts lie outside of it", [&](auto &x) { x.block_offset = area.bytes + 8; });
    refuses("its parts lie outside of it", [](auto &x) { x.entry_bytes = 8; });
    refuses("its parts lie outside of it", [](auto &x) { x.catalogue_offset += 4; });
    refuses("its parts lie outside of it", [](auto &x) { x.process_bytes = 0xffff'ffff; });
    refuses("more counters or workers", [](auto &x) { x.block_limit = (1 << 16) + 1; });
    refuses("more counters or workers", [](auto &x) { x.entry_limit = 16 * k_entry_limit + 1; });
    for (const auto &[blocks, why] : {std::pair(0xffffu, "its parts lie outside of it"),
                                      std::pair(0x10000u, "more counters or workers")})
      refuses(why, [blocks = blocks](auto &x) { // 2^22 numbers are the most
        x.entry_limit = 64;
        x.block_limit = blocks;
      });
    refuses("have layout 7", [](auto &x) { x.version = 7; });
    EXPECT_EQ(value(read_segment(area, program_state::running), "/threads/count/executed"), 100);
    unmap(area);
    end_store();
  });
  EXPECT_TRUE(end.exited(0)) << end;
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

TEST(counter_formula, leaves_out_what_is_no_number_where_the_others_tell_enough) {
  const auto end = test::in_process({}, [] {
    open(false);
    fill();
    put(block_of_slot(1, block_kind::worker).executed, 0); // so its tasks have no average
    const reading now = read_segment(store_base(), program_state::running);
    const double expected = value(now, "/threads{worker#0}/time/average");
    EXPECT_GT(expected, 0);
    EXPECT_TRUE(std::isnan(value(now, "/threads{worker#1}/time/average")));
    const auto of = [&](const std::string &formula, const char *operands) {
      return evaluator("/arithmetics/" + formula + operands).evaluate(now, now).front();
    };
    const char *const both = "@/threads{worker#1}/time/average,/threads{worker#0}/time/average";
    for (const char *formula : {"median", "p99", "min", "max", "average"})
      EXPECT_EQ(of(formula, both).number, expected) << formula;
    EXPECT_EQ(of("median", "@/threads{worker#*}/time/average").number, expected);
    EXPECT_EQ(of("count", both).number, 1);
    EXPECT_EQ(of("variance", both).number, 0);
    for (const char *formula : {"add", "subtract", "multiply", "divide"})
      EXPECT_TRUE(std::isnan(of(formula, both).number)) << formula << " needs each operand";
    const auto none = of("median", "@/threads{worker#1}/time/average");
    EXPECT_TRUE(std::isnan(none.number) && !none.absent);
  });
  EXPECT_TRUE(end.exited(0)) << end;
}

TEST(counter_formula, over_a_counter_that_becomes_absent_is_absent_and_the_others_go_on) {
  const auto end = test::in_process({}, [] {
    open(false);
    fill();
    evaluator e(
        "/statistics{/hardware/cycles}/max,/arithmetics/add@/hardware/cycles,/threads/count/executed;"
        "/arithmetics/add@/hardware/*;/hardware/cycles,/statistics{/threads/count/executed}/max");
    const reading before = read_segment(store_base(), program_state::running);
    for (const auto &v : e.evaluate(before, before))
      EXPECT_FALSE(v.absent || std::isnan(v.number)) << v.name;
    EXPECT_NO_THROW(e.require_all(before));
    mark_absent("/hardware/cycles", "no such luck");
    const reading now = read_segment(store_base(), program_state::running);
    const auto v = e.evaluate(now, now);
    ASSERT_EQ(v.size(), 5u);
    for (int i = 0; i < 4; ++i)
      EXPECT_TRUE(v[i].absent && std::isnan(v[i].number)) << v[i].name;
    EXPECT_FALSE(v[4].absent);
    EXPECT_EQ(v[4].number, value(now, "/threads/count/executed"));
    for (const char *name : {"/statistics{/hardware/cycles}/max", "/arithmetics/add@/hardware/*",
                             "/arithmetics/add@/hardware/cycles,/threads/count/executed"})
      try {
        evaluator(name).require_all(now);
        ADD_FAILURE() << name;
      } catch (const weft::error &error) {
        EXPECT_NE(std::string(error.what()).find("no such luck"), std::string::npos) << name;
      }
    for (const char *unknown : {"/statistics{/hardware/cycle}/max", "/arithmetics/add@/a/b"})
      EXPECT_THROW(static_cast<void>(evaluator(unknown).evaluate(now, now)), weft::error) << unknown;
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
    values_writer table(output_format::csv);
    const std::string csv = table.write(r, values);
    EXPECT_NE(
        csv.find(
            "seconds,\"/threads/count/executed\",\"/threads/idle-rate [%]\",\"/runtime/speedup\"\n"),
        std::string::npos)
        << csv;
    EXPECT_NE(csv.find(",100,40,\n"), std::string::npos) << csv;
    const std::string json = values_writer(output_format::json).write(r, values);
    EXPECT_NE(
        json.find(
            "\"/threads/count/executed\":100,\"/threads/idle-rate\":40,\"/runtime/speedup\":null}}\n"),
        std::string::npos)
        << json;
    count(find_type(block_of_slot(0, block_kind::worker).types, {"some", nullptr}).ns, 90'000);
    count(find_type(block_of_slot(1, block_kind::worker).types, {"some", nullptr}).ns, 1'000'000);
    const auto with_buckets = evaluator("/threads/time/duration").evaluate(r, r);
    const std::string buckets =
        values_writer(output_format::json).write(r, with_buckets);
    EXPECT_NE(buckets.find(
                  "{\"/threads/time/duration\":200},\"histograms\":{\"/threads/time/duration\":[["),
              std::string::npos)
        << buckets;
    EXPECT_NE(buckets.find(",180],["), std::string::npos) << buckets;
    EXPECT_EQ(csv_text("a \"b\", c"), "\"a \"\"b\"\", c\"");
    EXPECT_EQ(csv_text("plain"), "plain");
    const std::string metrics = open_metrics_writer().write(
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
    EXPECT_NE(open_metrics_writer().write(r, metric_samples::per_worker)
                  .find("weft_threads_count_executed_total{worker=\"1\"} 70\n"),
              std::string::npos);
    const auto two = evaluator("/threads/time/duration,/threads/time/duration").evaluate(r, r);
    const std::string twice = values_writer(output_format::json).write(r, two);
    EXPECT_NE(twice.find("]],\"/threads/time/duration\":[["), std::string::npos) << twice;
    EXPECT_NE(json.find("\"running\":true"), std::string::npos) << json;
    reading gone = r;
    gone.alive = false;
    EXPECT_NE(values_writer(output_format::json).write(gone, values)
                  .find("\"running\":false"),
              std::string::npos);
    gone = r;
    gone.ended = true;
    EXPECT_NE(values_writer(output_format::json).write(gone, values)
                  .find("\"running\":false"),
              std::string::npos);
    EXPECT_EQ(table.write(r, values), csv.substr(csv.find('\n') + 1)) << "the head comes once";
    const std::string whole = open_metrics_writer().write(r, metric_samples::total);
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

TEST(counter_format, of_csv_keeps_its_columns_when_slots_and_counters_come) {
  const auto end = test::in_process({}, [] {
    open(false);
    block_of_slot(0, block_kind::worker); // and worker 1 has not begun
    evaluator names("/threads{worker#*}/count/executed,/threads/idle-rate,/app/*,/threads/count/executed");
    values_writer table(output_format::csv);
    const auto line = [&] {
      const reading now = read_segment(store_base(), program_state::running);
      const std::string text = table.write(now, names.evaluate(now, now));
      return text.substr(text.find(',')); // without the seconds
    };
    const std::string head =
        ",\"/threads{worker#0}/count/executed\",\"/threads{worker#1}/count/executed\","
        "\"/threads/idle-rate [%]\",\"/threads/count/executed\"\n";
    const std::string first = line();
    EXPECT_TRUE(first.starts_with(head)) << first;
    EXPECT_TRUE(first.ends_with(",0,,,0\n")) << first;
    EXPECT_EQ(table.take_complaint(), "");
    fill();
    EXPECT_EQ(line(), ",30,70,40,100\n");
    EXPECT_EQ(table.take_complaint(), "") << "a worker of the first line has begun";
    put(block_of_slot(5, block_kind::thread).executed, 7);
    put(block_of_slot(6, block_kind::spare).executed, 1);
    define_counter("/app/own", "", "", counter_kind::count);
    EXPECT_EQ(line(), ",30,70,40,108\n");
    const std::string complaint = table.take_complaint();
    EXPECT_TRUE(complaint.starts_with("'/threads{worker#5}/count/executed' and 2 more came after"))
        << complaint;
    static_cast<void>(line());
    EXPECT_EQ(table.take_complaint(), "") << "once";
    values_writer anew(output_format::csv);
    const reading now = read_segment(store_base(), program_state::running);
    EXPECT_NE(anew.write(now, names.evaluate(now, now)).find("\"/app/own\""), std::string::npos);
    values_writer gone(output_format::csv);
    static_cast<void>(gone.write(now, {{"/a", "", 1}, {"/b", "", 2}, {"/c", "", 3}}));
    const std::string rest = gone.write(now, {{"/a", "", 1}, {"/c", "", 3}});
    EXPECT_TRUE(rest.ends_with(",1,,3\n")) << rest;
  });
  EXPECT_TRUE(end.exited(0)) << end;
}

TEST(counter_format, of_csv_complains_of_one_column_without_a_number) {
  const auto end = test::in_process({}, [] {
    open(false);
    const reading now = read_segment(store_base(), program_state::running);
    values_writer table(output_format::csv);
    static_cast<void>(table.write(now, {{"/a", "", 1}}));
    static_cast<void>(table.write(now, {{"/a", "", 1}, {"/b", "", 2}}));
    const std::string complaint = table.take_complaint();
    EXPECT_TRUE(complaint.starts_with("'/b' came after the first line")) << complaint;
  });
  EXPECT_TRUE(end.exited(0)) << end;
}

TEST(counter_format, of_other_programs_names_cannot_change_a_screen) {
  const auto end = test::in_process({}, [] {
    open(false);
    reading r = read_segment(store_base(), program_state::running);
    r.program = "a\033[2Jb";
    const std::vector<evaluator::result> values{{"/x\n/y", "\033u", 1}};
    const std::string text = values_writer(output_format::text).write(r, values);
    EXPECT_TRUE(text.starts_with("# a\\x1b[2Jb (pid ")) << text;
    EXPECT_NE(text.find("\n/x\\x0a/y "), std::string::npos) << text;
    EXPECT_TRUE(text.ends_with(" 1 \\x1bu\n")) << text;
    const std::string csv = values_writer(output_format::csv).write(r, values);
    EXPECT_TRUE(csv.starts_with("seconds,\"/x\\x0a/y [\\x1bu]\"\n")) << csv;
    const std::vector<counter_info> all{{"/n\033", "u\033", "h\033", counter_kind::count}};
    EXPECT_EQ(write_catalogue(output_format::csv, all),
              "name,kind,unit,per worker,absent,help\n/n\\x1b,count,u\\x1b,no,no,h\\x1b\n");
    const std::string list = write_catalogue(output_format::text, all);
    EXPECT_EQ(list.find('\033'), std::string::npos) << list;
    EXPECT_TRUE(list.starts_with("/n\\x1b ") && list.ends_with(" h\\x1b\n")) << list;
    EXPECT_EQ(csv_text("a\nb"), "a\\x0ab");
    EXPECT_EQ(json_text("\x7f\xc2\x9b\xff\xc3\xa4"), "\"\\u007f\\u009b\\ufffd\xc3\xa4\"");
  });
  EXPECT_TRUE(end.exited(0)) << end;
}

TEST(counter_format, of_open_metrics_gives_each_counter_a_name_of_its_own) {
  const auto end = test::in_process({}, [] {
    open(false);
    fill();
    struct {
      const char *name, *unit;
      counter_kind kind;
      const char *metric;
    } const own[] = {
        {"/app/a-b", "", counter_kind::count, "weft_app_a_b counter"},
        {"/app/a_b", "", counter_kind::count, "weft_app_a_b_2 counter"},
        {"/app/a/b", "", counter_kind::level, "weft_app_a_b_3 gauge"},
        {"/app/a_b_total", "", counter_kind::level, "weft_app_a_b_total_2 gauge"},
        {"/app/time", "ns", counter_kind::count, "weft_app_time_nanoseconds counter"},
        {"/app/time-nanoseconds", "", counter_kind::count, "weft_app_time_nanoseconds_2 counter"},
        {"/threads/count-executed", "", counter_kind::count,
         "weft_threads_count_executed_2 counter"},
        {"/app/b", "", counter_kind::level, "weft_app_b gauge"},
        {"/app/b/sum", "", counter_kind::level, "weft_app_b_sum gauge"},
        {"/threads/time-duration_nanoseconds_count", "", counter_kind::level,
         "weft_threads_time_duration_nanoseconds_count_2 gauge"}};
    for (const auto &c : own)
      define_counter(c.name, c.unit, "helps", c.kind);
    const std::string text = open_metrics_writer().write(
        read_segment(store_base(), program_state::running), metric_samples::per_worker);
    for (const auto &c : own)
      EXPECT_NE(text.find(std::string("# TYPE ") + c.metric + "\n"), std::string::npos)
          << c.name << " in " << text;
    EXPECT_NE(text.find("# HELP weft_app_a_b helps\n"), std::string::npos) << text;
    EXPECT_NE(text.find("# HELP weft_app_a_b_2 helps (/app/a_b)\n"), std::string::npos) << text;
    std::set<std::string> samples;
    std::istringstream lines(text);
    for (std::string each; std::getline(lines, each);)
      EXPECT_TRUE(samples.insert(each.substr(0, each.find(' ', each[0] == '#' ? 7 : 0))).second)
          << each << " comes twice";
  });
  EXPECT_TRUE(end.exited(0)) << end;
}

TEST(counter_format, of_open_metrics_keeps_the_name_of_a_metric_while_another_has_no_value) {
  const auto end = test::in_process({}, [] {
    open(false);
    define_counter("/threads/time-average_wait_nanoseconds", "", "helps", counter_kind::level);
    const std::string text = open_metrics_writer().write(
        read_segment(store_base(), program_state::running), metric_samples::total);
    EXPECT_EQ(text.find("weft_threads_time_average_wait_nanoseconds "), std::string::npos)
        << "there is no reference: " << text;
    EXPECT_NE(text.find("# TYPE weft_threads_time_average_wait_nanoseconds_2 gauge\n"),
              std::string::npos)
        << text;
  });
  EXPECT_TRUE(end.exited(0)) << end;
}

TEST(counter_format, of_open_metrics_counts_never_fall_while_the_program_runs) {
  const auto end = test::in_process({}, [] {
    open(false);
    fill();
    open_metrics_writer writer;
    reading r = read_segment(store_base(), program_state::running);
    const auto says = [&](metric_samples which, const std::string &sample) {
      return writer.write(r, which).find("\n" + sample + "\n") != std::string::npos;
    };
    const std::string exec = "weft_threads_time_cumulative_nanoseconds_total";
    EXPECT_TRUE(says(metric_samples::total, exec + " 120000"));
    EXPECT_TRUE(says(metric_samples::per_worker, exec + "{worker=\"1\"} 70000"));
    EXPECT_TRUE(says(metric_samples::total, "weft_threadqueue_length 10"));
    // A sample stands for some 500 tasks: it makes the estimate of execution smaller at once.
    put(block_of_slot(1, block_kind::worker).overhead, 30'000);
    put(block_of_slot(1, block_kind::worker).queued, 1);
    r = read_segment(store_base(), program_state::running);
    EXPECT_EQ(value(r, "/threads/time/cumulative"), 100'000);
    EXPECT_TRUE(says(metric_samples::total, exec + " 120000"));
    EXPECT_TRUE(says(metric_samples::per_worker, exec + "{worker=\"1\"} 70000"));
    EXPECT_TRUE(says(metric_samples::total, "weft_threadqueue_length 8")) << "a level may";
    put(block_of_slot(1, block_kind::worker).overall, 200'000);
    r = read_segment(store_base(), program_state::running);
    EXPECT_TRUE(says(metric_samples::total, exec + " 200000"));
  });
  EXPECT_TRUE(end.exited(0)) << end;
}

TEST(counter_format, of_open_metrics_takes_shares_per_worker_for_levels) {
  const auto end = test::in_process({}, [] {
    open(false);
    fill();
    reading r = read_segment(store_base(), program_state::running);
    for (const char *name : {"overhead", "wait"})
      EXPECT_NE(open_metrics_writer()
                    .write(r, metric_samples::total)
                    .find("# TYPE weft_threads_time_" + std::string(name) +
                          "_per_core_nanoseconds gauge\n"),
                std::string::npos)
          << "it falls when a thread comes";
    const double before = value(r, "/threads/time/overhead-per-core");
    r.slots.push_back({5, block_kind::thread, true, false}); // and it has counted nothing
    r.durations.emplace_back();
    std::vector<std::int64_t> cells;
    for (std::size_t e = 0; e < r.catalogue.size(); ++e) {
      cells.insert(cells.end(), r.cells.begin() + 3 * static_cast<std::ptrdiff_t>(e),
                   r.cells.begin() + 3 * static_cast<std::ptrdiff_t>(e) + 3);
      cells.push_back(0);
    }
    r.cells = cells;
    EXPECT_LT(value(r, "/threads/time/overhead-per-core"), before);
  });
  EXPECT_TRUE(end.exited(0)) << end;
}
