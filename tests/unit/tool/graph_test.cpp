// SPDX-License-Identifier: Apache-2.0
// What the graph of a trace knows of bodies that run in parts, again and again, or as the branch of a
// join; and what follows for its replay and for the cause of idleness.
#include "unit/tool/exact.hpp"

#include "trace/structure.hpp"
#include "ult/thread_context.hpp"

#include <cstdlib>
#include <gtest/gtest.h>
#include <string>
#include <vector>

using namespace test::exact_traces;

namespace {

using weft::rt::waits_for;

constexpr std::uint64_t k_join = weft::rt::k_branch_of_join;

class graphs : public exact {
 protected:
  /// Returns what `weft predict` says, without costs of tasks.
  std::string predicted(const made_trace &t, const std::string &workers = "1,2") {
    return weft(t, {"predict", "--overhead", "0", "--workers", workers, "--json"});
  }
  std::string printed(const made_trace &t) { return weft(t, {"predict", "--overhead", "0"}); }
  std::string reported(const made_trace &t) {
    return weft(t, {"report", "--output", out("page.html")});
  }
  [[nodiscard]] std::string page() const { return text_of(out("page.html")); }
};

double number_after(const std::string &text, const std::string &key) {
  const auto at = text.find(key);
  return at == std::string::npos ? -1 : std::strtod(text.c_str() + at + key.size(), nullptr);
}

double span_of(const std::string &said) { return number_after(said, "\"span_ns\":"); }

std::uint64_t chain_of(waits_for why) {
  return weft::rt::word_of_left({0, static_cast<std::uint8_t>(why), k_other, k_other});
}

/// Main creates task 7, a coroutine that creates task 8 and awaits it, or something else, between two
/// parts of 10 us and 5 us. Task 8 takes 20 us.
made_trace coroutine_of_two_parts(waits_for why, std::uint64_t object) {
  made_trace t;
  t.put(0, on::root, 1, k_main).put(100, on::create, 7, k_one, 1).put(200, on::suspend, 1);
  t.put(1'000, on::begin, 7, k_one)
      .put(2'000, on::create, 8, k_other, 7)
      .put(11'000, on::left, 7, k_other, chain_of(why), object)
      .put(11'000, on::end, 7, k_one, weft::rt::k_again);
  t.put(12'000, on::begin, 8, k_other).put(32'000, on::end, 8, k_other);
  t.put(33'000, on::begin, 7, k_one).put(38'000, on::end, 7, k_one);
  return t.put(39'000, on::resume, 1).put(39'000, on::waited, 1, 0, 200).put(39'300, on::end, 1, k_main);
}

/// Main creates taskiter 5, which records task 6, which writes an object, and task 7, which reads it, and
/// runs them three times. With a condition, task 9 comes behind them, and task 8 names nothing.
made_trace three_rounds(bool has_condition = false) {
  made_trace t(trace_level::graph, {"main", "one", "other", "loop"});
  constexpr std::uint16_t k_loop = 4;
  constexpr std::uint64_t k_rounds = weft::rt::k_created_for_rounds;
  t.put(0, on::root, 1, k_main).put(100, on::create, 5, k_loop, 1).put(200, on::suspend, 1);
  t.put(1'000, on::begin, 5, k_loop);
  t.put(1'100, on::create, 6, k_one, 5 | 1ull << 32 | k_rounds)
      .put(1'100, on::access, 6, 0, 0x1000, 8 | k_inout << 32);
  t.put(1'200, on::create, 7, k_other, 5 | 1ull << 32 | k_rounds)
      .put(1'200, on::access, 7, 0, 0x1000, 8 | k_in << 32);
  if (has_condition)
    t.put(1'210, on::create, 8, k_other, 5 | k_rounds)
        .put(1'220, on::create, 9, k_loop, 5 | k_rounds)
        .put(1'220, on::access, 9, 0, 0, k_inout << 32);
  t.put(1'300, on::end, 5, k_loop);
  std::uint64_t at = 2'000;
  const auto run = [&](std::uint32_t task, std::uint16_t type, std::uint64_t ns) {
    t.put(at, on::begin, task, type).put(at + ns, on::end, task, type, weft::rt::k_round);
    at += ns + 50;
  };
  for (int round = 0; round != 3; ++round) {
    run(6, k_one, 1'000);
    run(7, k_other, 500);
    if (has_condition) {
      run(8, k_other, 2'000);
      run(9, k_loop, 30);
    }
  }
  return t.put(at, on::resume, 1).put(at, on::waited, 1, 0, 200).put(at + 300, on::end, 1, k_main);
}

/// Main computes 5 us and waits for the branch that a thief began after 1 us, which takes 10 us.
made_trace stolen_branch() {
  made_trace t(trace_level::graph, {"main", "one", "other", "join branch"});
  t.put(0, on::root, 1, k_main);
  t.put(1'000, on::begin, 9, 4, 0, weft::rt::flags_of_branch(1), 1)
      .put(11'000, on::end, 9, 0, weft::rt::k_branch, 0, 1);
  return t.put(5'000, on::suspend, 1, 0, static_cast<std::uint64_t>(waits_for::branch), 0x7f0010)
      .put(12'000, on::resume, 1)
      .put(12'000, on::waited, 1, 0, 5'000, k_join)
      .put(13'000, on::end, 1, k_main);
}

} // namespace

TEST_F(graphs, a_coroutine_goes_on_when_what_it_awaits_has_ended) {
  const auto said = predicted(coroutine_of_two_parts(waits_for::end_of_task, 8));
  EXPECT_EQ(number_after(said, "\"work_ns\":"), 200 + 10'000 + 20'000 + 5'000 + 300) << said;
  EXPECT_EQ(span_of(said), 100 + 1'000 + 20'000 + 5'000 + 300) << said;
  EXPECT_EQ(span_of(predicted(coroutine_of_two_parts(waits_for::children, 0))),
            100 + 1'000 + 20'000 + 5'000 + 300);
  // One worker has run the task by then.
  EXPECT_EQ(number_after(predicted(coroutine_of_two_parts(waits_for::end_of_task, 8)),
                         "{\"workers\":1,\"ns\":"),
            2'000 + 200 + 10'000 + 20'000 + 5'000 + 300);
}

TEST_F(graphs, a_coroutine_that_waits_for_something_else_runs_all_its_parts) {
  for (const auto why : {waits_for::mutex, waits_for::nothing, waits_for::end_of_task}) {
    const auto said = predicted(coroutine_of_two_parts(why, 0)); // 0: of a promise
    EXPECT_EQ(number_after(said, "\"work_ns\":"), 35'500) << said;
    EXPECT_EQ(span_of(said), 100 + 1'000 + 20'000 + 300) << "beside task 8: " << said;
    EXPECT_EQ(number_after(said, "{\"workers\":1,\"ns\":"), 37'500) << said;
  }
}

TEST_F(graphs, a_body_that_runs_again_runs_all_its_parts) {
  made_trace t;
  t.put(0, on::root, 1, k_main).put(100, on::create, 7, k_one, 1).put(200, on::suspend, 1);
  for (std::uint64_t i = 0; i != 3; ++i)
    t.put(1'000 + 2'000 * i, on::begin, 7, k_one)
        .put(2'000 + 2'000 * i, on::end, 7, k_one, i == 2 ? 0 : std::uint64_t{weft::rt::k_again});
  t.put(9'000, on::resume, 1).put(9'000, on::waited, 1, 0, 200).put(9'300, on::end, 1, k_main);
  EXPECT_EQ(span_of(predicted(t)), 100 + 3'000 + 300);
}

TEST_F(graphs, a_coroutine_that_never_goes_on_has_run_its_parts) {
  made_trace t;
  t.put(0, on::root, 1, k_main).put(100, on::create, 7, k_one, 1);
  t.put(1'000, on::begin, 7, k_one, 0, 0, 1)
      .put(50'000, on::left, 7, k_other, chain_of(waits_for::mutex), 0x10, 1)
      .put(50'000, on::end, 7, k_one, weft::rt::k_again, 0, 1);
  t.put(5'500, on::end, 1, k_main);
  EXPECT_EQ(span_of(predicted(t)), 100 + 49'000);
  t.put(60'000, on::begin, 9, k_other).put(160'000, on::suspend, 9);
  EXPECT_EQ(span_of(predicted(t)), 100'000) << "a suspended task has run, too";
}

TEST_F(graphs, what_a_trace_orders_both_ways_ends_all_the_same) {
  // Task 8 reads what coroutine 7 has written and released; then 7 awaits 8.
  made_trace t;
  t.put(0, on::root, 1, k_main);
  t.put(100, on::create, 7, k_one, 1 | 1ull << 32).put(100, on::access, 7, 0, 0x1000, 8 | k_inout << 32);
  t.put(200, on::create, 8, k_other, 1 | 1ull << 32).put(200, on::access, 8, 0, 0x1000, 8 | k_in << 32);
  t.put(300, on::suspend, 1);
  t.put(1'000, on::begin, 7, k_one)
      .put(2'000, on::left, 7, k_other, chain_of(waits_for::end_of_task), 8)
      .put(2'000, on::end, 7, k_one, weft::rt::k_again);
  t.put(3'000, on::begin, 8, k_other).put(4'000, on::end, 8, k_other);
  t.put(5'000, on::begin, 7, k_one).put(6'000, on::end, 7, k_one);
  t.put(7'000, on::resume, 1).put(7'000, on::waited, 1, 0, 300).put(7'300, on::end, 1, k_main);
  EXPECT_EQ(span_of(predicted(t)), 100 + 3'000 + 300);
}

TEST_F(graphs, each_round_of_a_taskiter_is_a_task) {
  const auto said = predicted(three_rounds());
  EXPECT_EQ(number_after(said, "\"work_ns\":"), 200 + 300 + 4'500 + 300) << said;
  EXPECT_EQ(span_of(said), 100 + 300 + 4'500 + 300) << said;
  EXPECT_EQ(exported(three_rounds(), "dot"), R"(digraph weft {
  node [shape=box fontname="sans-serif"];
  t0 [label="main 1\n0.5 us"];
  t1 [label="loop 5\n0.3 us"];
  t2 [label="one 6\n1.0 us"];
  t2 -> t3;
  t2 -> t4;
  t1 -> t2 [style=dotted];
  t3 [label="other 7\n0.5 us"];
  t3 -> t4;
  t3 -> t5;
  t1 -> t3 [style=dotted];
  t4 [label="one 6\n1.0 us"];
  t4 -> t5;
  t4 -> t6;
  t1 -> t4 [style=dotted];
  t5 [label="other 7\n0.5 us"];
  t5 -> t6;
  t5 -> t7;
  t1 -> t5 [style=dotted];
  t6 [label="one 6\n1.0 us"];
  t6 -> t7;
  t1 -> t6 [style=dotted];
  t7 [label="other 7\n0.5 us"];
  t1 -> t7 [style=dotted];
}
)");
}

TEST_F(graphs, rounds_overlap_unless_a_condition_comes_between) {
  const auto rounds = [](bool has_condition) {
    made_trace t;
    t.put(0, on::root, 1, k_main).put(0, on::create, 5, k_one, 1).put(5, on::suspend, 1);
    t.put(10, on::begin, 5, k_one);
    for (std::uint32_t task = 6; task != 8; ++task)
      t.put(20, on::create, task, k_other, 5 | weft::rt::k_created_for_rounds);
    if (has_condition)
      t.put(25, on::create, 8, k_one, 5 | weft::rt::k_created_for_rounds)
          .put(25, on::access, 8, 0, 0, k_inout << 32);
    t.put(30, on::end, 5, k_one);
    for (std::uint64_t i = 0; i != 4; ++i) {
      const std::uint64_t at = 1'000 * (i + 1);
      t.put(at, on::begin, 6, k_other)
          .put(at + (i % 2 ? 100 : 900), on::end, 6, k_other, weft::rt::k_round);
      t.put(at, on::begin, 7, k_other, 0, 0, 1)
          .put(at + (i % 2 ? 900 : 100), on::end, 7, k_other, weft::rt::k_round, 0, 1);
      if (has_condition)
        t.put(at + 950, on::begin, 8, k_one).put(at + 957, on::end, 8, k_one, weft::rt::k_round);
    }
    return t.put(6'000, on::resume, 1).put(6'000, on::waited, 1, 0, 5).put(6'300, on::end, 1, k_main);
  };
  EXPECT_EQ(span_of(predicted(rounds(false))), 20 + 2'000 + 300);
  EXPECT_EQ(span_of(predicted(rounds(true))), 20 + 4 * 907 + 300);
}

TEST_F(graphs, a_condition_comes_between_the_rounds_of_a_taskiter) {
  const auto said = predicted(three_rounds(true));
  EXPECT_EQ(number_after(said, "\"work_ns\":"), 800 + 3 * 3'530) << said;
  EXPECT_EQ(span_of(said), 100 + 300 + 3 * 2'030 + 300) << said;
}

TEST_F(graphs, a_round_ends_with_what_was_spawned_in_it) {
  made_trace t;
  t.put(0, on::root, 1, k_main).put(100, on::create, 5, k_one, 1).put(200, on::suspend, 1);
  t.put(1'000, on::begin, 5, k_one)
      .put(1'100, on::create, 6, k_other, 5 | weft::rt::k_created_for_rounds)
      .put(1'300, on::end, 5, k_one);
  for (std::uint32_t i = 0; i != 2; ++i) {
    const std::uint64_t at = 2'000 + 10'000 * i;
    t.put(at, on::begin, 6, k_other).put(at + 100, on::create, 20 + i, k_one, 6);
    t.put(at + 500, on::end, 6, k_other, weft::rt::k_round);
    t.put(at + 1'000, on::begin, 20 + i, k_one).put(at + 5'000, on::end, 20 + i, k_one);
  }
  t.put(19'000, on::resume, 1).put(19'000, on::waited, 1, 0, 200).put(19'300, on::end, 1, k_main);
  EXPECT_EQ(span_of(predicted(t)), 100 + 300 + 2 * (100 + 4'000) + 300);
}

TEST_F(graphs, a_branch_that_was_taken_begins_where_its_join_is) {
  const auto said = predicted(stolen_branch());
  EXPECT_EQ(number_after(said, "\"work_ns\":"), 5'000 + 10'000 + 1'000) << said;
  EXPECT_EQ(span_of(said), 1'000 + 10'000 + 1'000) << said;
  EXPECT_EQ(number_after(said, "{\"workers\":1,\"ns\":"), 2'000 + 16'000) << said;
  EXPECT_EQ(exported(stolen_branch(), "dot").find("t1 -> "), std::string::npos);
}

TEST_F(graphs, a_join_waits_for_its_branch_and_not_for_the_tasks_beside_it) {
  auto t = stolen_branch();
  t.put(500, on::create, 30, k_one, 1).put(20'000, on::begin, 30, k_one).put(90'000, on::end, 30, k_one);
  const auto said = predicted(t);
  EXPECT_EQ(span_of(said), 500 + 70'000) << said;
}

TEST_F(graphs, a_branch_of_a_trace_that_names_no_joiner_begins_at_once) {
  made_trace t(trace_level::graph, {"main", "one", "other", "join branch"});
  t.put(0, on::root, 1, k_main).put(5'000, on::waited, 1, 0, 5'000, k_join);
  t.put(1'000, on::begin, 9, 4, 0, weft::rt::k_branch, 1).put(11'000, on::end, 9, 0, weft::rt::k_branch, 0, 1);
  t.put(12'000, on::end, 1, k_main);
  EXPECT_EQ(span_of(predicted(t)), 12'000);
}

TEST_F(graphs, a_join_begins_with_its_own_branch_wherever_its_task_has_gone) {
  // The joiner stands still when the branch is taken, and goes on at the other worker.
  made_trace t(trace_level::graph, {"main", "one", "other", "join branch"});
  t.put(0, on::root, 1, k_main).put(100, on::create, 2, k_one, 1).put(200, on::suspend, 1);
  t.put(1'000, on::begin, 2, k_one).put(4'000, on::suspend, 2);
  t.put(5'000, on::begin, 9, 4, 0, weft::rt::flags_of_branch(2))
      .put(6'000, on::end, 9, 0, weft::rt::k_branch);
  t.put(7'000, on::resume, 2, 0, 0, 0, 1).put(9'000, on::waited, 2, 0, 9'000, k_join, 1);
  t.put(10'000, on::begin, 10, 4, 0, weft::rt::flags_of_branch(2))
      .put(50'000, on::end, 10, 0, weft::rt::k_branch);
  t.put(51'000, on::waited, 2, 0, 51'000, k_join, 1).put(52'000, on::end, 2, k_one, 0, 0, 1);
  t.put(60'000, on::resume, 1).put(60'000, on::waited, 1, 0, 200).put(60'300, on::end, 1, k_main);
  EXPECT_EQ(span_of(predicted(t)), 100 + 3'000 + 2'000 + 1'000 + 41'000 + 1'000 + 300);
  EXPECT_NE(exported(t, "dot").find("  t1 -> t2 [style=dotted];\n"), std::string::npos);
  EXPECT_NE(exported(t, "dot").find("  t1 -> t3 [style=dotted];\n"), std::string::npos);
}

TEST_F(graphs, the_time_until_a_thief_came_is_no_time_until_an_idle_worker_woke) {
  made_trace t(trace_level::graph, {"main", "one", "other", "join branch"});
  t.put(0, on::root, 1, k_main);
  for (std::uint32_t i = 0; i != 40; ++i)
    t.put(100'000 * i + 10, on::idle, 0, 0, 0, 0, 1)
        .put(100'000 * i + 90'000, on::begin, 100 + i, 4, 0, weft::rt::flags_of_branch(1), 1)
        .put(100'000 * i + 91'000, on::end, 100 + i, 0, weft::rt::k_branch, 0, 1)
        .put(100'000 * i + 95'000, on::waited, 1, 0, 100'000 * i + 95'000, k_join);
  t.put(4'000'000, on::end, 1, k_main);
  // The second worker wakes 2 us after each branch, takes 200 ns for the theft, and is over before the join.
  EXPECT_EQ(number_after(predicted(t, "2"), "{\"workers\":2,\"ns\":"), 2'000 + 4'000'000);
}

TEST_F(graphs, a_task_that_stands_still_for_the_end_of_another_one_goes_on_behind_it) {
  const auto span = [this](waits_for reason, std::uint64_t object) {
    made_trace t;
    t.put(0, on::root, 1, k_main)
        .put(100, on::create, 2, k_one, 1)
        .put(200, on::create, 3, k_other, 1)
        .put(300, on::suspend, 1)
        .put(1'000, on::begin, 2, k_one, 0, 0, 1)
        .put(1'000, on::begin, 3, k_other, 0, 0, 2)
        .put(2'000, on::suspend, 2, 0, static_cast<std::uint64_t>(reason), object, 1)
        .put(6'000, on::end, 3, k_other, 0, 0, 2)
        .put(6'000, on::resume, 2, 0, 0, 0, 1)
        .put(9'000, on::end, 2, k_one, 0, 0, 1)
        .put(9'000, on::resume, 1)
        .put(9'000, on::waited, 1, 0, 300)
        .put(9'100, on::end, 1, k_main);
    return span_of(predicted(t));
  };
  constexpr double k_beside = 200 + 5'000 + 100;
  EXPECT_EQ(span(waits_for::end_of_task, 3), k_beside + 3'000);
  EXPECT_EQ(span(waits_for::start_of_task, 3), k_beside);
  EXPECT_EQ(span(waits_for::end_of_task, 0), k_beside) << "of a promise";
  EXPECT_EQ(span(waits_for::end_of_task, std::uint64_t{1} << 32 | 3), k_beside) << "an address, as older traces have";
}

TEST_F(graphs, a_reader_goes_on_beside_the_reading_children_of_a_writer) {
  // Task 2 writes and leaves the children 6, which writes if there is one, and 5, which reads; 3 reads
  // for 10 us behind 2, and 4 writes for 1 us behind all of them.
  const auto span = [this](bool has_writer, std::uint64_t reads_ns) {
    made_trace t;
    const auto create = [&](std::uint64_t at, std::uint32_t task, std::uint64_t parent,
                            std::uint64_t how, unsigned slot) {
      t.put(at, on::create, task, k_one, parent, 0, slot)
          .put(at, on::access, task, 0, 0x1000, 8 | how << 32, slot);
    };
    const auto run = [&](std::uint64_t at, std::uint32_t task, std::uint64_t ns, unsigned slot) {
      t.put(at, on::begin, task, k_one, 0, 0, slot)
          .put(at + ns, on::end, task, k_one, 0, 0, slot);
    };
    t.put(0, on::root, 1, k_main);
    create(100, 2, 1, k_inout, 0);
    create(200, 3, 1, k_in, 0);
    create(300, 4, 1, k_inout, 0);
    t.put(400, on::suspend, 1).put(1'000, on::begin, 2, k_one, 0, 0, 1);
    if (has_writer)
      create(1'200, 6, 2, k_inout, 1);
    create(1'500, 5, 2, k_in, 1);
    t.put(2'000, on::end, 2, k_one, 0, 0, 1);
    if (has_writer)
      run(2'100, 6, 3'000, 1);
    run(6'000, 5, reads_ns, 1);
    run(6'000, 3, 10'000, 2);
    run(30'000, 4, 1'000, 1);
    t.put(40'000, on::resume, 1)
        .put(40'000, on::waited, 1, 0, 400)
        .put(40'100, on::end, 1, k_main);
    return span_of(predicted(t));
  };
  EXPECT_EQ(span(false, 12'000), 100 + 500 + 12'000 + 1'000 + 100) << "the writer waits for both";
  EXPECT_EQ(span(false, 1'000), 100 + 1'000 + 10'000 + 1'000 + 100);
  EXPECT_EQ(span(true, 1'000), 100 + 200 + 3'000 + 10'000 + 1'000 + 100) << "nor beside a writer";
}

TEST_F(graphs, tasks_nest_deeper_than_a_small_stack_in_an_access) {
  // Each of a row of tasks writes an object and creates the next one; the last task, of main, waits for all.
  constexpr std::uint32_t k_depth = 20'000, k_last = k_depth + 2;
  made_trace t;
  const auto create = [&t](std::uint64_t at, std::uint32_t task, std::uint64_t parent) {
    t.put(at, on::create, task, k_one, parent).put(at, on::access, task, 0, 0x1000, 8 | k_inout << 32);
  };
  t.put(0, on::root, 1, k_main);
  create(100, 2, 1);
  create(200, k_last, 1);
  t.put(300, on::suspend, 1);
  for (std::uint32_t i = 2; i != k_last; ++i) {
    t.put(1'000 * i, on::begin, i, k_one);
    if (i + 1 != k_last)
      create(1'000 * i + 100, i + 1, i);
    t.put(1'000 * i + 500, on::end, i, k_one);
  }
  const std::uint64_t after = 1'000 * k_last;
  t.put(after, on::begin, k_last, k_one).put(after + 500, on::end, k_last, k_one);
  t.put(after + 600, on::resume, 1).put(after + 600, on::waited, 1, 0, 300).put(after + 700, on::end, 1, k_main);
  const test::fake_tree tree;
  t.write(tree.root());
  const auto end = test::run({"/bin/sh", "-c", "ulimit -s 512 && exec \"$0\" \"$@\"", program(),
                              "predict", "--overhead", "0", "--workers", "1,2", "--json", tree.root()},
                             {{"WEFT_CONFIG", ""}});
  EXPECT_TRUE(end.exited(0)) << end;
  // Each task creates the next one 100 ns after its begin, and ends with the longest row.
  EXPECT_EQ(span_of(end.output), 100 + 100.0 * (k_depth - 1) + 500 + 500 + 100);
}

TEST_F(graphs, a_task_that_is_below_itself_ends_no_command) {
  made_trace t;
  t.put(0, on::root, 1, k_main);
  t.put(100, on::create, 2, k_one, 1).put(100, on::access, 2, 0, 0x1000, 8 | k_inout << 32);
  t.put(200, on::create, 3, k_one, 1).put(200, on::access, 3, 0, 0x1000, 8 | k_inout << 32);
  t.put(300, on::create, 2, k_one, 2).put(300, on::access, 2, 0, 0x1000, 8 | k_inout << 32);
  t.put(1'000, on::begin, 2, k_one).put(2'000, on::end, 2, k_one);
  t.put(3'000, on::begin, 3, k_one).put(4'000, on::end, 3, k_one).put(5'000, on::end, 1, k_main);
  EXPECT_TRUE(weft(t, {"trace", "export", "-f", "dot"}).ends_with("}\n"));
}

TEST_F(graphs, tasks_that_have_not_ended_are_counted) {
  made_trace t;
  t.put(0, on::root, 1, k_main)
      .put(100, on::create, 7, k_one, 1)
      .put(200, on::create, 8, k_one, 1)
      .put(300, on::create, 9, k_one, 1)
      .put(400, on::create, 10, k_one, 1)
      .put(500, on::abandon, 10)
      .put(1'000, on::begin, 7, k_one)
      .put(2'000, on::end, 7, k_one)
      .put(3'000, on::begin, 8, k_one, 0, 0, 1)
      .put(4'000, on::end, 1, k_main);
  EXPECT_NE(reported(t).find("\n2 tasks of the trace had not ended.\n"), std::string::npos);
  EXPECT_NE(page().find("<li>2 tasks of the trace had not ended.</li>"), std::string::npos);
  EXPECT_NE(printed(t).find("note: 2 tasks of the trace had not ended; what they had not yet done is not predicted\n"),
            std::string::npos);
  EXPECT_NE(predicted(t).find("\"unfinished\":2,\"not_run\":0,"), std::string::npos);
  t.about.discarded = 3; // which may be those of their ends
  EXPECT_EQ(printed(t).find("had not ended"), std::string::npos);
  EXPECT_NE(predicted(t).find("\"unfinished\":0,\"not_run\":0,"), std::string::npos);
  t.about.discarded = 0;
  t.put(5'000, on::end, 8, k_one, 0, 0, 1);
  EXPECT_NE(reported(t).find("\n1 task of the trace had not ended.\n"), std::string::npos);
  t.put(6'000, on::begin, 9, k_one).put(7'000, on::end, 9, k_one);
  EXPECT_EQ(reported(t).find("had not ended"), std::string::npos);
  EXPECT_EQ(printed(t).find("note:"), std::string::npos);
}

TEST_F(graphs, tasks_that_the_replay_cannot_run_are_counted) {
  // Tasks 8 and 9 are the children of a task that is in no record.
  made_trace t;
  t.put(0, on::root, 1, k_main).put(100, on::end, 1, k_main);
  for (std::uint32_t task = 8; task != 10; ++task)
    t.put(200, on::create, task, k_one, 30)
        .put(100 * task, on::begin, task, k_one)
        .put(100 * task + 50, on::end, task, k_one);
  EXPECT_NE(predicted(t).find("\"unfinished\":0,\"not_run\":2,"), std::string::npos) << predicted(t);
  EXPECT_NE(printed(t).find("note: 2 tasks are left out, because they wait for what the trace does not show\n"),
            std::string::npos)
      << printed(t);
  EXPECT_NE(reported(t).find("\nCritical path and predictions leave out 2 tasks, which wait for what the trace does not show.\n"),
            std::string::npos)
      << reported(t);
}

TEST_F(graphs, a_long_task_that_creates_short_ones_is_what_idle_workers_wait_for) {
  made_trace t;
  t.put(0, on::root, 1, k_main).put(10, on::create, 2, k_other, 1).put(20, on::suspend, 1);
  t.put(1'000, on::begin, 2, k_other);
  for (std::uint32_t i = 0; i != 200; ++i) { // each takes 1 us, 100 us after the last one
    const std::uint64_t at = 100'000 * (i + 1);
    t.put(at - 1'000, on::create, 10 + i, k_one, 2)
        .put(at, on::begin, 10 + i, k_one, 0, 0, 1)
        .put(at + 1'000, on::end, 10 + i, k_one, 0, 0, 1)
        .put(at + 1'000, on::idle, 0, 0, 0, 0, 1)
        .put(at + 99'000, on::busy, 0, 0, 0, 0, 1);
  }
  t.put(20'200'000, on::end, 2, k_other);
  t.put(20'300'000, on::resume, 1).put(20'300'000, on::waited, 1, 0, 20).put(20'300'010, on::end, 1, k_main);
  const std::string said = reported(t);
  EXPECT_TRUE(said.starts_with("48 % of worker time is idle: ")) << said;
  EXPECT_NE(said.find(" % of it no task is ready, behind 'other'.\n"), std::string::npos) << said;
}

TEST_F(graphs, idle_workers_wait_for_what_runs_before_what_stands_still) {
  // Task 3 ends first, but stands still while task 2 runs; at the end nothing runs but task 4, which waits.
  const auto report_of = [this](std::uint64_t ns) {
    made_trace t(trace_level::graph, {"main", "one", "other", "third"});
    t.put(0, on::root, 1, k_main).put(20, on::suspend, 1);
    t.put(10, on::create, 2, k_one, 1).put(10, on::create, 3, k_other, 1).put(10, on::create, 4, 4, 1);
    t.put(1'000, on::begin, 3, k_other, 0, 0, 1).put(1'500, on::suspend, 3, 0, 0, 0, 1);
    t.put(1'600, on::begin, 4, 4, 0, 0, 1).put(1'700, on::suspend, 4, 0, 0, 0, 1);
    t.put(2'000, on::begin, 2, k_one).put(2'100, on::idle, 0, 0, 0, 0, 1);
    t.put(90'000, on::busy, 0, 0, 0, 0, 1);
    t.put(90'000, on::resume, 3, 0, 0, 0, 1).put(91'000, on::end, 3, k_other, 0, 0, 1);
    t.put(100'000, on::end, 2, k_one).put(100'000, on::idle, 0);
    t.put(100'000, on::idle, 0, 0, 0, 0, 1).put(100'000 + ns, on::busy, 0, 0, 0, 0, 1);
    t.put(100'000 + ns, on::busy, 0);
    t.put(100'000 + ns, on::resume, 4, 0, 0, 0, 1).put(101'000 + ns, on::end, 4, 4, 0, 0, 1);
    return reported(t);
  };
  EXPECT_NE(report_of(10'000).find("behind 'one'"), std::string::npos) << report_of(10'000);
  EXPECT_NE(report_of(80'000).find("behind 'third'"), std::string::npos) << report_of(80'000);
}

TEST_F(graphs, what_runs_to_the_end_of_the_trace_is_what_idle_workers_wait_for) {
  made_trace t;
  t.put(0, on::root, 1, k_main).put(10, on::create, 2, k_other, 1).put(20, on::suspend, 1);
  t.put(100, on::begin, 2, k_other).put(200, on::idle, 0, 0, 0, 0, 1);
  t.put(50'000, on::create, 3, k_one, 2).put(90'000, on::busy, 0, 0, 0, 0, 1);
  t.put(90'000, on::begin, 3, k_one, 0, 0, 1).put(91'000, on::end, 3, k_one, 0, 0, 1);
  const std::string said = reported(t);
  EXPECT_NE(said.find("no task is ready, behind 'other'"), std::string::npos) << said;
}

TEST_F(graphs, what_a_spare_runs_is_no_time_of_the_workers) {
  made_trace t;
  t.about.workers = 1;
  t.put(0, on::root, 1, k_main).put(0, on::create, 2, k_one, 1).put(0, on::create, 3, k_one, 1);
  t.put(0, on::suspend, 1);
  for (std::uint32_t i = 0; i != 2; ++i) // the worker blocks in task 2, and the spare runs task 3
    t.put(1 + 9 * i, on::begin, 2 + i, k_one, 0, 0, i).put(100'000, on::end, 2 + i, k_one, 0, 0, i);
  const std::string said = reported(t);
  EXPECT_NE(said.find("Workers were busy: 100 % of their time was spent in tasks.\n"), std::string::npos)
      << said;
  EXPECT_NE(page().find("<b>100 %</b><span>of worker time in tasks</span>"), std::string::npos);
  EXPECT_NE(page().find("<b>100.0 us</b><span>mean task</span>"), std::string::npos)
      << "all tasks have run";
}

TEST_F(graphs, what_a_thread_of_a_layer_runs_is_time_of_the_idle_worker) {
  made_trace t;
  t.about.workers = 1;
  t.put(0, on::root, 1, k_main).put(1, on::suspend, 1).put(0, on::idle, 0);
  t.put(1, on::create, 2, k_one, 1)
      .put(20'000, on::begin, 2, k_one, 0, weft::rt::k_external, 1)
      .put(80'000, on::end, 2, k_one, 0, 0, 1);
  t.put(100'000, on::busy, 0);
  const std::string said = reported(t);
  EXPECT_NE(page().find("<b>60 %</b><span>of worker time in tasks</span>"), std::string::npos) << said;
  EXPECT_NE(page().find("<b>40 %</b><span>idle</span>"), std::string::npos) << said;
}

TEST_F(graphs, a_picture_of_types_counts_the_orders_of_many_to_many) {
  made_trace t(trace_level::graph, {"main", "one", "other", "third"});
  t.put(0, on::root, 1, k_main);
  std::uint32_t task = 2;
  const auto put = [&](std::uint16_t type, std::uint64_t mode) {
    t.put(task, on::create, task, type, 1 | 1ull << 32)
        .put(task, on::access, task, 0, 0x1000, 8 | mode << 32)
        .put(10'000 + 10 * task, on::begin, task, type)
        .put(10'005 + 10 * task, on::end, task, type);
    ++task;
  };
  for (int i = 0; i != 2'000; ++i)
    put(4, k_inout);
  for (int i = 0; i != 3; ++i)
    put(i == 0 ? k_one : k_other, k_in);
  for (int i = 0; i != 4; ++i)
    put(i == 0 ? k_one : k_other, k_concurrent);
  const std::string dot = exported(t, "dot");
  EXPECT_NE(dot.find(R"(  "one" -> "one" [label="1"];
  "one" -> "other" [label="3"];
  "other" -> "one" [label="2"];
  "other" -> "other" [label="6"];
  "third" -> "one" [label="1"];
  "third" -> "other" [label="2"];
  "third" -> "third" [label="1999"];
)"),
            std::string::npos)
      << dot;
}

namespace {

/// Main creates tasks 2 and 3, which take 10 us and 20 us, and task 4 behind both, by a result with number 9.
made_trace behind_several() {
  made_trace t;
  t.put(0, on::root, 1, k_main)
      .put(100, on::create, 2, k_one, 1)
      .put(200, on::create, 3, k_one, 1)
      .put(300, on::after, 9, 0, 2, weft::rt::k_is_result)
      .put(300, on::after, 9, 0, 3, weft::rt::k_is_result)
      .put(400, on::create, 4, k_other, 1)
      .put(400, on::after, 4, 0, 9, weft::rt::k_awaits_result)
      .put(500, on::suspend, 1);
  t.put(1'000, on::begin, 2, k_one).put(11'000, on::end, 2, k_one);
  t.put(12'000, on::begin, 3, k_one).put(32'000, on::end, 3, k_one);
  t.put(33'000, on::begin, 4, k_other).put(38'000, on::end, 4, k_other);
  return t.put(39'000, on::resume, 1).put(39'000, on::waited, 1, 0, 500).put(39'300, on::end, 1, k_main);
}

/// Task 2 gives promise 9 its result between two parts of 10 us and 20 us; task 3 waits for it.
made_trace behind_a_promise() {
  made_trace t;
  t.put(0, on::root, 1, k_main)
      .put(100, on::create, 2, k_one, 1)
      .put(200, on::create, 3, k_other, 1)
      .put(200, on::after, 3, 0, 9, weft::rt::k_awaits_result)
      .put(500, on::suspend, 1);
  t.put(1'000, on::begin, 2, k_one)
      .put(11'000, on::given, 9, 0, 2)
      .put(31'000, on::end, 2, k_one);
  t.put(33'000, on::begin, 3, k_other).put(83'000, on::end, 3, k_other);
  return t.put(84'000, on::resume, 1).put(84'000, on::waited, 1, 0, 500).put(84'300, on::end, 1, k_main);
}

} // namespace

TEST_F(graphs, a_task_behind_several_futures_begins_when_the_last_one_has_ended) {
  const auto said = predicted(behind_several());
  EXPECT_EQ(number_after(said, "\"work_ns\":"), 500 + 10'000 + 20'000 + 5'000 + 300) << said;
  EXPECT_EQ(span_of(said), 200 + 20'000 + 5'000 + 300) << said;
  EXPECT_EQ(number_after(said, "\"unfinished\":"), 0) << said;
  const auto dot = exported(behind_several(), "dot");
  EXPECT_NE(dot.find("  t3 [shape=point];\n  t3 -> t4;\n"), std::string::npos) << dot;
  EXPECT_NE(dot.find("  t1 -> t3;\n"), std::string::npos) << dot;
}

TEST_F(graphs, a_task_behind_a_promise_begins_where_a_body_gives_it_its_result) {
  const auto said = predicted(behind_a_promise());
  EXPECT_EQ(span_of(said), 100 + 10'000 + 50'000 + 300) << said;
  EXPECT_EQ(number_after(said, "{\"workers\":1,\"ns\":"), 2'000 + 500 + 30'000 + 50'000 + 300) << said;
  EXPECT_EQ(number_after(said, "\"unfinished\":"), 0) << said;
}

TEST_F(graphs, a_promise_that_no_body_gives_its_result_holds_no_task) {
  made_trace t;
  t.put(0, on::root, 1, k_main)
      .put(100, on::create, 3, k_other, 1)
      .put(100, on::after, 3, 0, 9, weft::rt::k_awaits_result)
      .put(500, on::suspend, 1);
  t.put(1'000, on::begin, 3, k_other).put(51'000, on::end, 3, k_other);
  t.put(84'000, on::resume, 1).put(84'000, on::waited, 1, 0, 500).put(84'300, on::end, 1, k_main);
  const auto said = predicted(t);
  EXPECT_EQ(span_of(said), 100 + 50'000 + 300) << said;
  EXPECT_EQ(number_after(said, "\"unfinished\":"), 0) << said;
}

TEST_F(graphs, a_task_that_ends_with_another_one_lets_none_go_on_before) {
  made_trace t;
  t.put(0, on::root, 1, k_main)
      .put(100, on::create, 2, k_one, 1)
      .put(200, on::create, 3, k_other, 1)
      .put(200, on::after, 3, 0, 2, 0)
      .put(500, on::suspend, 1);
  t.put(1'000, on::begin, 2, k_one)
      .put(2'000, on::create, 4, k_one, 2)
      .put(2'000, on::after, 2, 0, 4, weft::rt::k_ends_after)
      .put(3'000, on::end, 2, k_one);
  t.put(4'000, on::begin, 4, k_one).put(34'000, on::end, 4, k_one);
  t.put(35'000, on::begin, 3, k_other).put(85'000, on::end, 3, k_other);
  t.put(86'000, on::resume, 1).put(86'000, on::waited, 1, 0, 500).put(86'300, on::end, 1, k_main);
  const auto said = predicted(t);
  EXPECT_EQ(span_of(said), 100 + 1'000 + 30'000 + 50'000 + 300) << said;
}

TEST_F(graphs, what_a_trace_says_of_results_in_a_circle_ends_all_the_same) {
  auto t = behind_several();
  t.put(600, on::after, 9, 0, 8, weft::rt::k_is_result | weft::rt::k_awaits_result)
      .put(600, on::after, 8, 0, 9, weft::rt::k_is_result | weft::rt::k_awaits_result)
      .put(700, on::given, 3, 0, 3)
      .put(700, on::given, 9, 0, 9)
      .put(700, on::after, 0, 0, 0, 7);
  EXPECT_GE(span_of(predicted(t)), 0);
  reported(t);
  EXPECT_NE(page().find("</html>"), std::string::npos);
}

TEST_F(graphs, a_page_counts_the_continuation_among_the_tasks_of_the_critical_path) {
  reported(behind_several());
  EXPECT_NE(page().find("edges:[[0,2],[1,2]]"), std::string::npos) << page();
}
