// SPDX-License-Identifier: Apache-2.0
// What the readers say of traces that no program has run: each sentence of `weft trace check`, which the fuzzer relies on, and predictions to the nanosecond.
#include "support/fake_tree.hpp"
#include "support/made_trace.hpp"
#include "support/process.hpp"

#include "os/file.hpp"

#include <cstdlib>
#include <filesystem>
#include <functional>
#include <gtest/gtest.h>
#include <string>
#include <sys/stat.h>
#include <unistd.h>

namespace {

using on = weft::rt::trace_event;
using test::made_trace;
using weft::rt::counted_value;
using weft::rt::trace_description;
using weft::rt::trace_level;
using weft::rt::trace_mode;

constexpr std::uint64_t k_ms =
    1'000'000; // what is closer than 10 us may have happened the other way round
constexpr std::uint64_t k_close = 9'000, k_far = 11'000;
constexpr std::uint16_t k_main = 1, k_one = 2, k_other = 3;

class made_traces : public testing::Test {
 protected:
  void SetUp() override {
    const auto program = test::program_path(), tests = program.substr(0, program.rfind('/'));
    m_weft = tests.substr(0, tests.rfind('/')) + "/bin/weft";
    if (access(m_weft.c_str(), X_OK) != 0)
      GTEST_SKIP() << m_weft << " was not built (WEFT_TOOLS is OFF)";
  }
  test::ending weft(made_trace &t, std::vector<std::string> arguments) {
    t.write(m_tree.root());
    arguments.insert(arguments.begin(), m_weft);
    arguments.push_back(m_tree.root());
    return test::run(arguments, {{"WEFT_CONFIG", ""}});
  }
  test::ending check(made_trace &t) { return weft(t, {"trace", "check"}); }
  void expect_sound(made_trace t, const std::string &said = "sound: ") {
    const auto end = check(t);
    EXPECT_TRUE(end.exited(0) && end.printed(said)) << said << "\n" << end;
  }
  /// `faults`: of which this sentence is one; 1: it alone.
  void expect_fault(made_trace t, const std::string &sentence, int faults = 1) {
    const auto end = check(t);
    EXPECT_TRUE(end.exited(1)) << sentence << "\n" << end;
    EXPECT_TRUE(end.printed("fault: " + sentence + "\n")) << sentence << "\n" << end;
    EXPECT_TRUE(end.printed("\n" + std::to_string(faults) + " faults in ")) << sentence << "\n"
                                                                            << end;
  }

  test::fake_tree m_tree;
  std::string m_weft;
};

/// Task 7 of type `one`, created at 1 ms, which runs from 2 ms to 3 ms.
made_trace one_task(trace_level level = trace_level::graph) {
  return made_trace(level)
      .put(1 * k_ms, on::create, 7, k_one)
      .put(2 * k_ms, on::begin, 7, k_one)
      .put(3 * k_ms, on::end, 7, k_one);
}

} // namespace

TEST_F(made_traces, what_a_task_may_do_is_sound) {
  expect_sound(one_task(), "sound: 3 records; 1 tasks created = 1 executed + 0 live\n");
  expect_sound(made_trace().put(1 * k_ms, on::create, 7, k_one),
               "sound: 1 records; 1 tasks created = 0 executed + 1 live\n");
  expect_sound(made_trace()
                   .put(1 * k_ms, on::create, 7, k_one)
                   .put(2 * k_ms, on::ready, 7)
                   .put(3 * k_ms, on::begin, 7, k_one)
                   .put(4 * k_ms, on::suspend, 7)
                   .put(5 * k_ms, on::resume, 7)
                   .put(6 * k_ms, on::end, 7, k_one),
               "1 tasks created = 1 executed + 0 live");
  expect_sound(one_task()
                   .put(4 * k_ms, on::create, 7, k_other)
                   .put(5 * k_ms, on::begin, 7, k_other)
                   .put(6 * k_ms, on::end, 7, k_other),
               "2 tasks created = 2 executed + 0 live"); // numbers are used again
  expect_sound(made_trace().put(1 * k_ms, on::create, 7, k_one).put(2 * k_ms, on::abandon, 7),
               "sound: 2 records; 0 tasks created = 0 executed + 0 live");
  expect_sound(made_trace()
                   .put(1 * k_ms, on::root, 1, k_main)
                   .put(2 * k_ms, on::suspend, 1)
                   .put(3 * k_ms, on::resume, 1)
                   .put(4 * k_ms, on::end, 1, k_main));
  expect_sound(made_trace()
                   .put(1 * k_ms, on::create, 7, k_one)
                   .put(2 * k_ms, on::begin, 7, k_one)
                   .put(3 * k_ms, on::end, 7, k_one, weft::rt::k_again)
                   .put(4 * k_ms, on::begin, 7, k_one)
                   .put(5 * k_ms, on::end, 7, k_one),
               "1 tasks created = 1 executed + 0 live"); // a body that runs again
  expect_sound(made_trace()
                   .put(1 * k_ms, on::create, 7, k_one)
                   .put(2 * k_ms, on::begin, 7, k_one)
                   .put(2 * k_ms, on::left, 7, k_other)
                   .put(3 * k_ms, on::end, 7, k_one, weft::rt::k_again)
                   .put(4 * k_ms, on::begin, 7, k_one)
                   .put(5 * k_ms, on::end, 7, k_one),
               "1 tasks created = 1 executed + 0 live"); // a coroutine that waits
  expect_sound(made_trace()
                   .put(1 * k_ms, on::create, 7, k_one, weft::rt::k_created_for_rounds)
                   .put(2 * k_ms, on::begin, 7, k_one, 0, weft::rt::k_round)
                   .put(3 * k_ms, on::end, 7, k_one, weft::rt::k_round)
                   .put(4 * k_ms, on::begin, 7, k_one, 0, weft::rt::k_round)
                   .put(5 * k_ms, on::end, 7, k_one, weft::rt::k_round),
               "0 tasks created = 0 executed + 0 live");
}

TEST_F(made_traces, names_in_a_trace_cannot_change_the_screen) {
  made_trace t(trace_level::graph, {"main", "o\033[2Jne", "other"});
  t.about.program = "ma\177de"; // an escape is not written
  t.about.kernel = "\xc2\x9b";
  t.put(1 * k_ms, on::create, 7, k_one).put(2 * k_ms, on::begin, 7, k_one).put(3 * k_ms, on::end, 7, k_one);
  const auto info = weft(t, {"trace", "info"});
  EXPECT_TRUE(info.printed("program    ma\\x7fde (pid 1)")) << info;
  EXPECT_TRUE(info.printed("kernel     \\xc2\\x9b\n")) << info;
  EXPECT_TRUE(info.printed("\no\\x1b[2Jne  ")) << info;
  EXPECT_FALSE(info.printed("\033")) << info;
}

TEST_F(made_traces, what_no_task_can_do_is_said) {
  expect_fault(made_trace().put(1 * k_ms, on::create, 7, k_one).put(2 * k_ms, on::create, 7, k_one),
               "0.002000000 s: create of task 7: it was created before and has not ended",
               2); // and the type does not add up
  expect_fault(made_trace()
                   .put(1 * k_ms, on::begin, 7, k_one)
                   .put(2 * k_ms, on::create, 7, k_one)
                   .put(3 * k_ms, on::end, 7, k_one),
               "0.002000000 s: create of task 7: it ran before it was created");
  expect_fault(one_task().put(4 * k_ms, on::begin, 7, k_one),
               "0.004000000 s: begin of task 7: its body has run already");
  expect_fault(made_trace()
                   .put(1 * k_ms, on::create, 7, k_one)
                   .put(2 * k_ms, on::begin, 7, k_one)
                   .put(3 * k_ms, on::begin, 7, k_one, 0, 0, 1)
                   .put(4 * k_ms, on::end, 7, k_one),
               "0.003000000 s: begin of task 7: it is running already");
  expect_fault(made_trace().put(1 * k_ms, on::create, 7, k_one).put(2 * k_ms, on::end, 7, k_one),
               "0.002000000 s: end of task 7: it was not running");
  expect_fault(made_trace()
                   .put(1 * k_ms, on::create, 7, k_one)
                   .put(2 * k_ms, on::begin, 7, k_one)
                   .put(3 * k_ms, on::suspend, 7)
                   .put(4 * k_ms, on::end, 7, k_one),
               "0.004000000 s: end of task 7: it was suspended");
  expect_fault(made_trace()
                   .put(1 * k_ms, on::create, 7, k_one)
                   .put(2 * k_ms, on::begin, 7, k_one)
                   .put(3 * k_ms, on::suspend, 7)
                   .put(4 * k_ms, on::suspend, 7)
                   .put(5 * k_ms, on::resume, 7)
                   .put(6 * k_ms, on::resume, 7)
                   .put(7 * k_ms, on::end, 7, k_one),
               "0.004000000 s: suspend of task 7: it is suspended already");
  expect_fault(made_trace()
                   .put(1 * k_ms, on::create, 7, k_one)
                   .put(2 * k_ms, on::begin, 7, k_one)
                   .put(3 * k_ms, on::resume, 7)
                   .put(4 * k_ms, on::suspend, 7)
                   .put(5 * k_ms, on::end, 7, k_one),
               "0.003000000 s: resume of task 7: it was not suspended");
  expect_fault(one_task().put(4 * k_ms, on::left, 7, k_other),
               "0.004000000 s: left of task 7: it was not running");
  expect_fault(made_trace()
                   .put(1 * k_ms, on::create, 7, k_one)
                   .put(2 * k_ms, on::begin, 7, k_one)
                   .put(3 * k_ms, on::left, 7, k_other)
                   .put(4 * k_ms, on::end, 7, k_one),
               "0.004000000 s: end of task 7: a coroutine of it waits");
  expect_fault(one_task().put(4 * k_ms, on::ready, 7),
               "0.004000000 s: ready of task 7: it has ended");
  expect_fault(made_trace().put(1 * k_ms, on::ready, 7),
               "0.001000000 s: begin of task 7: it was never created");
  expect_fault(made_trace().put(1 * k_ms, on::begin, 7, k_one).put(2 * k_ms, on::end, 7, k_one),
               "0.002000000 s: begin of task 7: it was never created", 2);
}

TEST_F(made_traces, what_two_processors_see_in_another_order_is_forgiven) {
  expect_sound(made_trace()
                   .put(1 * k_ms, on::begin, 7, k_one)
                   .put(1 * k_ms + k_close, on::create, 7, k_one)
                   .put(2 * k_ms, on::end, 7, k_one));
  const auto twice =
      [](std::uint64_t
             apart) { // the second worker goes on with the body before the first has written that it left
        return made_trace()
            .put(1 * k_ms, on::create, 7, k_one)
            .put(2 * k_ms, on::begin, 7, k_one)
            .put(2 * k_ms + apart, on::resume, 7, 0, 0, 0, 1)
            .put(3 * k_ms, on::suspend, 7)
            .put(4 * k_ms, on::end, 7, k_one);
      };
  expect_sound(twice(k_close));
  expect_fault(twice(k_far), "0.002011000 s: resume of task 7: it was not suspended");
  const auto ends = [](std::uint64_t apart) {
    return made_trace()
        .put(1 * k_ms, on::create, 7, k_one)
        .put(2 * k_ms, on::begin, 7, k_one)
        .put(3 * k_ms, on::suspend, 7)
        .put(4 * k_ms, on::suspend, 8)
        .put(3 * k_ms + apart, on::end, 7, k_one, 0, 0, 1)
        .put(5 * k_ms, on::resume, 7)
        .put(6 * k_ms, on::resume, 8);
  };
  expect_sound(ends(k_close));
  expect_fault(ends(k_far), "0.003011000 s: end of task 7: it was suspended");
  const auto leaves = [](std::uint64_t apart) {
    return made_trace()
        .put(1 * k_ms, on::create, 7, k_one)
        .put(2 * k_ms, on::begin, 7, k_one)
        .put(3 * k_ms, on::left, 7, k_other)
        .put(3 * k_ms + apart, on::end, 7, k_one, 0, 0, 1);
  };
  expect_sound(leaves(k_close));
  expect_fault(leaves(k_far), "0.003011000 s: end of task 7: a coroutine of it waits");
}

TEST_F(made_traces, what_a_trace_lacks_is_no_fault) {
  auto part = made_trace()
                  .put(1 * k_ms, on::end, 7, k_one)
                  .put(2 * k_ms, on::resume, 8)
                  .put(3 * k_ms, on::create, 9, k_one)
                  .put(4 * k_ms, on::create, 9, k_one);
  part.about.mode = trace_mode::flight;
  expect_sound(part, "sound as far as it goes: 4 records of 4");
  auto coroutine = made_trace().put(1 * k_ms, on::left, 7, k_other).put(2 * k_ms, on::end, 7, k_one);
  coroutine.about.mode = trace_mode::flight;
  expect_sound(coroutine, "sound as far as it goes: 2 records");
  part.about.mode = trace_mode::stream;
  part.discarded = 3;
  expect_sound(part, "sound as far as it goes: 4 records of 7");
  auto goes_on = made_trace().put(1 * k_ms, on::begin, 7, k_one);
  goes_on.about.state = trace_description::ended; // whose workers may still have had a word for it
  expect_sound(goes_on);
}

TEST_F(made_traces, where_counters_differ_from_the_trace_is_said) {
  const auto counted = [](std::uint64_t executed, std::uint64_t created, std::uint64_t reruns,
                          std::uint64_t rounds) {
    return made_trace()
        .put(1 * k_ms, on::create, 7, k_one)
        .put(2 * k_ms, on::begin, 7, k_one)
        .put(3 * k_ms, on::end, 7, k_one)
        .counted(counted_value::executed, executed)
        .counted(counted_value::created, created)
        .counted(counted_value::reruns, reruns)
        .counted(counted_value::rounds, rounds);
  };
  expect_sound(counted(1, 1, 0, 0), "= 1 executed + 0 live, as the counters say");
  expect_fault(counted(2, 1, 0, 0), "the counters say 2 tasks executed, the trace shows 1");
  expect_fault(counted(1, 0, 0, 0), "the counters say 0 tasks created, the trace shows 1");
  expect_fault(counted(1, 1, 3, 0),
               "the counters say 3 ends of bodies that run again, the trace shows 0");
  expect_fault(counted(1, 1, 0, 4),
               "the counters say 4 rounds of recorded tasks, the trace shows 0");
  expect_fault(counted(9, 9, 9, 9),
               "the counters say 9 rounds of recorded tasks, the trace shows 0", 4);
}

TEST_F(made_traces, at_level_switch_only_what_runs_is_compared) {
  const auto runs = [](std::uint64_t executed) {
    return made_trace(trace_level::switches)
        .put(1 * k_ms, on::begin, 7, k_one)
        .put(2 * k_ms, on::begin, 7, k_one)
        .put(3 * k_ms, on::begin, 8, k_other)
        .counted(counted_value::executed, executed)
        .counted(counted_value::created, 77);
  };
  expect_sound(runs(3), "sound: 5 records; 3 tasks executed, as the counters say");
  expect_fault(runs(4), "the counters say 4 tasks executed, the trace shows 3");
}

TEST_F(made_traces, types_that_do_not_add_up_are_said) {
  // Two bodies of one creation, the second ended within what clocks may differ by.
  expect_fault(made_trace()
                   .put(1 * k_ms, on::create, 7, k_one)
                   .put(2 * k_ms, on::begin, 7, k_one)
                   .put(3 * k_ms, on::end, 7, k_one)
                   .put(3 * k_ms + k_close, on::end, 7, k_one),
               "of type 'one' 1 tasks were created, which is not 2 executed + 0 live");
  expect_fault(
      made_trace()
          .put(1 * k_ms, on::create, 7, k_one)
          .put(2 * k_ms, on::create, 8, k_other)
          .put(3 * k_ms, on::abandon, 8)
          .put(4 * k_ms, on::abandon, 8),
      "of type 'other' 18446744073709551615 tasks were created, which is not 0 executed + 0 live");
}

TEST_F(made_traces, a_report_shows_for_which_runtimes_the_workers_computed) {
  made_trace t = one_task();
  const auto report = [&] { return weft(t, {"report", "--output", m_tree.root() + "/page.html"}); };
  const auto page = [&] {
    return weft::rt::read_file(m_tree.root() + "/page.html", 1 << 22).value_or("");
  };
  auto end = report();
  EXPECT_TRUE(end.exited(0) && !end.printed("by runtime")) << end;
  EXPECT_EQ(page().find("<h2>Runtimes"), std::string::npos) << "only tasks have run";
  t.about.shares = {{"OpenMP", 3'000'000}, {"TBB", 0}, {"tasks", 1'000'000}, {"idle", 4'000'000}};
  end = report();
  EXPECT_TRUE(end.exited(0)) << end;
  EXPECT_TRUE(
      end.printed("The time of the workers by runtime: OpenMP 38 %, tasks 13 %, idle 50 %.\n"))
      << end;
  const std::string text = page();
  EXPECT_NE(text.find("<tr><td>OpenMP<td>3.00 ms<td>37.5 %</tr>"), std::string::npos);
  EXPECT_NE(text.find("<tr><td>idle<td>4.00 ms<td>50.0 %</tr>"), std::string::npos);
  EXPECT_EQ(text.find("<td>TBB<td>"), std::string::npos) << "nothing was spent there";
}

TEST_F(made_traces, all_faults_are_counted_and_twenty_are_told) {
  made_trace t;
  for (std::uint32_t task = 1; task <= 25; ++task)
    t.put(task * k_ms, on::create, task, k_one)
        .put(task * k_ms, on::begin, task, k_one)
        .put(task * k_ms, on::end, task, k_one)
        .put((30 + task) * k_ms, on::ready, task);
  const auto end = check(t);
  EXPECT_TRUE(end.exited(1) && end.printed("\n25 faults in 100 records")) << end;
  std::size_t told = 0;
  for (std::size_t at = 0; (at = end.output.find("fault: ", at)) != std::string::npos; ++at)
    ++told;
  EXPECT_EQ(told, 20u) << end;
}

// Predictions. A theft takes 200 ns, and an idle worker 2000 to begin, where the trace shows none.

namespace {

/// The main task creates `tasks` of 10 us each, 100 ns apart, and waits for them.
made_trace independent(std::uint32_t tasks) {
  made_trace t;
  t.put(0, on::root, 1, k_main);
  for (std::uint32_t i = 0; i != tasks; ++i)
    t.put(100 * (i + 1), on::create, 2 + i, k_one, 1);
  std::uint64_t at = 100 * (tasks + 1);
  const std::uint64_t since = at;
  for (std::uint32_t i = 0; i != tasks; ++i, at += 10'000)
    t.put(at, on::begin, 2 + i, k_one).put(at + 10'000, on::end, 2 + i, k_one);
  return t.put(at, on::waited, 1, 0, since).put(at, on::end, 1, k_main);
}

double number_after(const std::string &text, const std::string &key, std::size_t from = 0) {
  const auto at = text.find(key, from);
  return at == std::string::npos ? -1 : std::strtod(text.c_str() + at + key.size(), nullptr);
}

} // namespace

TEST_F(made_traces, a_prediction_knows_what_a_theft_and_a_waking_cost) {
  auto t = independent(2);
  auto end = weft(t, {"predict", "--overhead", "0", "--workers", "1,2", "--json"});
  EXPECT_TRUE(end.exited(0)) << end;
  EXPECT_EQ(number_after(end.output, "\"work_ns\":"), 20'300) << end;
  EXPECT_EQ(number_after(end.output, "{\"workers\":1,\"ns\":"), 2000 + 300 + 20'000) << end;
  // The second worker wakes at the first creation, steals that task, and ends it last; then the first one wakes for the main task.
  EXPECT_EQ(number_after(end.output, "{\"workers\":2,\"ns\":"),
            2000 + 100 + 2000 + 200 + 10'000 + 2000)
      << end;
}

TEST_F(made_traces, a_speedup_is_that_over_one_worker_whatever_is_asked_for) {
  auto t = independent(8);
  const auto both = weft(t, {"predict", "--overhead", "0", "--workers", "1,4", "--json"});
  EXPECT_EQ(number_after(both.output, "\"speedup\":"), 1) << both;
  const double four = number_after(both.output, "\"speedup\":", both.output.find("{\"workers\":4"));
  EXPECT_GT(four, 2) << both;
  EXPECT_LT(four, 4) << both;
  for (const char *workers : {"4", "4,1", "4,2"}) {
    const auto end = weft(t, {"predict", "--overhead", "0", "--workers", workers, "--json"});
    EXPECT_EQ(number_after(end.output, "\"speedup\":"), four) << workers << end;
  }
}

// What a report names first: the planted cause.

namespace {

constexpr std::uint64_t k_us = 1000;
constexpr std::uint64_t k_inout = std::uint64_t{2} << 32;

/// A task of `type` on worker `slot`, created by the main task at `created`, naming the object `address` if that is not 0.
void put_task(made_trace &t, std::uint32_t id, std::uint16_t type, std::uint64_t created,
              std::uint64_t from, std::uint64_t to, unsigned slot, std::uint64_t address = 0) {
  t.put(created, on::create, id, type, 1 | std::uint64_t{address != 0} << 32);
  if (address)
    t.put(created, on::access, id, 0, address, 8 | k_inout);
  t.put(from, on::begin, id, type, 0, 0, slot).put(to, on::end, id, type, 0, 0, slot);
}

/// A worker that is off its processor for half of the run.
made_trace off_its_processor(bool preempted) {
  made_trace t = one_task();
  t.put(10 * k_ms, on::idle, 0, 0, 0, 0, 1);
  t.put(100, on::switched_out, 0, 0, 0, preempted, 1).put(5 * k_ms, on::switched_in, 0, 0, 0, 0, 1);
  return t;
}

TEST_F(made_traces, a_thread_that_sleeps_in_the_kernel_has_not_lost_its_processor) {
  made_trace sleeps = off_its_processor(false), loses = off_its_processor(true);
  const std::string page = m_tree.root() + ".html";
  const auto quiet = weft(sleeps, {"report", "--output", page});
  EXPECT_TRUE(quiet.exited(0) && !quiet.printed("The kernel had taken the processor")) << quiet;
  const auto noisy = weft(loses, {"report", "--output", page});
  EXPECT_TRUE(noisy.exited(0) && noisy.printed("The kernel had taken the processor")) << noisy;
  unlink(page.c_str());
}

TEST_F(made_traces, the_recorded_number_of_workers_is_predicted_for_itself) {
  made_trace t;
  t.about.workers = 6;
  t.put(0, on::root, 1, k_main);
  for (std::uint32_t i = 0; i != 6; ++i)
    t.put(1 + i, on::create, 2 + i, k_one, 1 | 1ull << 32)
        .put(100, on::begin, 2 + i, k_one, 0, 0, i)
        .put(100 + k_ms, on::end, 2 + i, k_one, 0, 0, i);
  t.put(100 + k_ms, on::end, 1, k_main);
  const std::string page = m_tree.root() + ".html";
  const auto end = weft(t, {"report", "--output", page});
  const std::string text = weft::rt::read_file(page).value_or("");
  EXPECT_TRUE(end.exited(0)) << end;
  EXPECT_NE(text.find("6 workers, as recorded (measured: 1.00 ms)<td>1.00 ms<td>+0.0 %"), std::string::npos)
      << text.substr(text.find("What if"), 900);
  EXPECT_NE(text.find("twice the workers<td>1.00 ms<td>+0.0 %"), std::string::npos);
  unlink(page.c_str());
}

TEST_F(made_traces, a_cut_leaves_an_old_trace_until_it_is_whole) {
  made_trace t = one_task(), old = one_task();
  const auto same = weft(t, {"trace", "cut", "--output", m_tree.root()});
  EXPECT_TRUE(same.exited(2) && same.printed("is the trace that is to be cut; give --output another name"))
      << same;
  EXPECT_TRUE(check(t).exited(0)) << "it is still there";
  const std::string before = m_tree.root() + ".old";
  ASSERT_EQ(mkdir(before.c_str(), 0700), 0);
  old.about.program = "old";
  old.write(before);
  const auto fails = test::run({m_weft, "trace", "cut", "--output", before, m_tree.root() + ".none"},
                               {{"WEFT_CONFIG", ""}});
  EXPECT_FALSE(fails.exited(0)) << fails;
  EXPECT_TRUE(test::run({m_weft, "trace", "info", before}, {{"WEFT_CONFIG", ""}}).printed("old"));
  EXPECT_TRUE(weft(t, {"trace", "cut", "--output", before}).exited(0));
  EXPECT_TRUE(test::run({m_weft, "trace", "info", before}, {{"WEFT_CONFIG", ""}}).printed("made"));
  std::filesystem::remove_all(before);
}

} // namespace

TEST_F(made_traces, a_chain_is_named_as_the_cause_of_idleness) {
  made_trace t;
  t.put(0, on::root, 1, k_main).put(1, on::idle, 0, 0, 0, 0, 1);
  for (std::uint32_t i = 0; i != 20; ++i)
    put_task(t, 2 + i, k_one, 1 + i, 100 + i * k_ms, (i + 1) * k_ms, 0, 0x1000);
  t.put(20 * k_ms, on::waited, 1, 0, 30)
      .put(20 * k_ms + 10, on::end, 1, k_main)
      .put(20 * k_ms + 10, on::busy, 0, 0, 0, 0, 1);
  const auto end = weft(t, {"report"});
  EXPECT_TRUE(end.exited(0) && end.output.starts_with("50 % of worker time is idle: ")) << end;
  EXPECT_TRUE(end.printed("no task is ready, behind 'one'.")) << end;
}

TEST_F(made_traces, a_long_last_task_is_named_as_the_cause_of_idleness) {
  made_trace t;
  t.put(0, on::root, 1, k_main);
  for (std::uint32_t i = 0; i != 8; ++i)
    put_task(t, 2 + i, k_one, 1 + i, 100 + (i / 2) * k_ms, (i / 2 + 1) * k_ms, i % 2);
  put_task(t, 20, k_other, 20, 4 * k_ms + 100, 64 * k_ms, 0);
  t.put(4 * k_ms + 10, on::idle, 0, 0, 0, 0, 1)
      .put(64 * k_ms, on::waited, 1, 0, 30)
      .put(64 * k_ms + 10, on::end, 1, k_main)
      .put(64 * k_ms + 10, on::busy, 0, 0, 0, 0, 1);
  const auto end = weft(t, {"report"});
  EXPECT_TRUE(
      end.exited(0) &&
      end.output.starts_with(
          "47 % of worker time is idle: 100 % of it in the tail, after the last task became ready, behind 'other'"))
      << end;
}

TEST_F(made_traces, small_tasks_are_named_as_the_cause_of_overhead) {
  made_trace t;
  t.about.workers = 1;
  t.put(0, on::root, 1, k_main).put(2 * k_us, on::suspend, 1);
  for (std::uint32_t i = 0; i != 2000; ++i)
    put_task(t, 2 + i, k_one, 1 + i, 3 * k_us + i * 500, 3 * k_us + i * 500 + 100, 0);
  t.put(1003 * k_us, on::resume, 1)
      .put(1003 * k_us, on::waited, 1, 0, 2 * k_us)
      .put(1003 * k_us + 10, on::end, 1, k_main);
  const auto end = weft(t, {"report"});
  EXPECT_TRUE(end.exited(0) &&
              end.output.starts_with(
                  "Tasks are small: 100 ns each in the mean, and 400 ns between two, which is "))
      << end;
}

TEST_F(made_traces, a_program_that_computes_itself_is_named_as_the_cause_of_idleness) {
  made_trace t;
  t.put(0, on::root, 1, k_main).put(1, on::idle, 0, 0, 0, 0, 1);
  std::uint64_t now = 0;
  for (std::uint32_t i = 0; i != 10; ++i) {
    now += 3 * k_ms;
    t.put(now + 5 * k_us, on::busy, 0, 0, 0, 0, 1);
    put_task(t, 2 + i, k_other, now, now + 10 * k_us, now + 200 * k_us, 1);
    t.put(now + 201 * k_us, on::idle, 0, 0, 0, 0, 1)
        .put(now + 210 * k_us, on::waited, 1, 0, now + 1);
    now += 210 * k_us;
  }
  t.put(now + k_us, on::end, 1, k_main).put(now + k_us, on::busy, 0, 0, 0, 0, 1);
  const auto end = weft(t, {"report"});
  EXPECT_TRUE(end.exited(0) &&
              end.printed("of it while the program's own code runs and no task does"))
      << end;
}
