// SPDX-License-Identifier: Apache-2.0
// What weft trace, predict and diff print of a trace that no program has run, to the last digit: a
// wrong sum, a lost line or an edge too many changes the text. Coroutines have a part of their own,
// with what pages list of them.
#include "unit/tool/exact.hpp"

#include "os/file.hpp"
#include "trace/folder.hpp"
#include "ult/thread_context.hpp"

#include <cstdio>
#include <gtest/gtest.h>
#include <sstream>
#include <string>
#include <vector>

using namespace test::exact_traces;

TEST_F(exact, the_graph_has_these_edges) {
  EXPECT_EQ(exported(many_ways(), "dot"), R"(digraph weft {
  node [shape=box fontname="sans-serif"];
  t0 [label="main 1\n25.5 us"];
  t1 [label="one 2\n7.4 us"];
  t1 -> t16;
  t2 [label="a \"b\" \\ c 3\n3.7 us"];
  t2 -> t4;
  t3 [label="a \"b\" \\ c 4\n13.3 us"];
  t3 -> t4;
  t4 [label="one 5\n17.4 us"];
  t4 -> t5;
  t4 -> t6;
  t5 [label="one 6\n19.1 us"];
  t5 -> t17;
  t6 [label="one 7\n25.7 us"];
  t6 -> t17;
  t7 [label="a \"b\" \\ c 8\n23.1 us"];
  t8 [label="a \"b\" \\ c 9\n6.7 us"];
  t9 [label="one 10\n19.9 us"];
  t9 -> t10;
  t9 -> t11;
  t9 -> t12;
  t10 [label="a \"b\" \\ c 11\n21.6 us"];
  t10 -> t12;
  t10 -> t13;
  t11 [label="a \"b\" \\ c 12\n8.9 us"];
  t12 [label="one 13\n11.1 us"];
  t13 [label="one 14\n7.2 us"];
  t14 [label="a \"b\" \\ c 15\n6.3 us"];
  t15 [label="a \"b\" \\ c 16\n11.7 us"];
  t15 -> t16;
  t1 -> t15 [style=dotted];
  t16 [shape=point];
  t16 -> t2;
  t16 -> t3;
  t17 [shape=point];
  t17 -> t7;
  t17 -> t8;
}
)");
}

TEST_F(exact, a_graph_of_many_tasks_is_one_of_types) {
  const made_trace t = long_chain();
  EXPECT_EQ(exported(t, "dot"), R"(digraph weft {
  node [shape=box fontname="sans-serif"];
  "one" [label="one\n1334 tasks, 0.800 ms"];
  "other" [label="other\n666 tasks, 0.400 ms"];
  "one" -> "one" [label="667"];
  "one" -> "other" [label="666"];
  "other" -> "one" [label="666"];
}
)");
}

TEST_F(exact, slices_are_these) {
  EXPECT_EQ(exported(many_ways(), "chrome"),
            R"({"displayTimeUnit":"ns","otherData":{"discarded":0},"traceEvents":[
{"ph":"M","pid":1,"name":"process_name","args":{"name":"made"}},
{"ph":"M","pid":1,"tid":0,"name":"thread_name","args":{"name":"worker 0"}},
{"ph":"M","pid":1,"tid":1,"name":"thread_name","args":{"name":"worker 1"}},
{"ph":"X","pid":1,"tid":0,"ts":0.500,"dur":23.600,"cat":"task","name":"main","args":{"task":1}},
{"ph":"X","pid":1,"tid":0,"ts":25.000,"dur":2.700,"cat":"task","name":"one","args":{"task":2}},
{"ph":"X","pid":1,"tid":1,"ts":0.600,"dur":28.400,"cat":"idle","name":"idle"},
{"ph":"X","pid":1,"tid":0,"ts":28.200,"dur":11.700,"cat":"task","name":"a \"b\" \\ c","args":{"task":16}},
{"ph":"X","pid":1,"tid":0,"ts":41.000,"dur":4.700,"cat":"task","name":"one","args":{"task":2}},
{"ph":"X","pid":1,"tid":1,"ts":30.100,"dur":19.900,"cat":"task","name":"one","args":{"task":10}},
{"ph":"X","pid":1,"tid":0,"ts":46.900,"dur":13.300,"cat":"task","name":"a \"b\" \\ c","args":{"task":4}},
{"ph":"X","pid":1,"tid":1,"ts":50.900,"dur":21.600,"cat":"task","name":"a \"b\" \\ c","args":{"task":11}},
{"ph":"X","pid":1,"tid":1,"ts":73.600,"dur":1.400,"cat":"task","name":"a \"b\" \\ c","args":{"task":12}},
{"ph":"X","pid":1,"tid":0,"ts":61.600,"dur":17.400,"cat":"task","name":"one","args":{"task":5}},
{"ph":"X","pid":1,"tid":1,"ts":75.000,"dur":6.300,"cat":"task","name":"a \"b\" \\ c","args":{"task":15}},
{"ph":"X","pid":1,"tid":1,"ts":81.300,"dur":7.500,"cat":"task","name":"a \"b\" \\ c","args":{"task":12}},
{"ph":"X","pid":1,"tid":1,"ts":90.000,"dur":3.700,"cat":"task","name":"a \"b\" \\ c","args":{"task":3}},
{"ph":"X","pid":1,"tid":0,"ts":80.500,"dur":19.100,"cat":"task","name":"one","args":{"task":6}},
{"ph":"X","pid":1,"tid":1,"ts":95.100,"dur":25.700,"cat":"task","name":"one","args":{"task":7}},
{"ph":"X","pid":1,"tid":1,"ts":122.000,"dur":6.700,"cat":"task","name":"a \"b\" \\ c","args":{"task":9}},
{"ph":"X","pid":1,"tid":0,"ts":100.000,"dur":31.000,"cat":"idle","name":"idle"},
{"ph":"X","pid":1,"tid":1,"ts":129.900,"dur":11.100,"cat":"task","name":"one","args":{"task":13}},
{"ph":"X","pid":1,"tid":0,"ts":140.000,"dur":4.400,"cat":"kernel","name":"off cpu"},
{"ph":"X","pid":1,"tid":1,"ts":142.800,"dur":7.200,"cat":"task","name":"one","args":{"task":14}},
{"ph":"X","pid":1,"tid":0,"ts":133.000,"dur":23.100,"cat":"task","name":"a \"b\" \\ c","args":{"task":8}},
{"ph":"X","pid":1,"tid":0,"ts":157.000,"dur":1.900,"cat":"task","name":"main","args":{"task":1}},
{"ph":"X","pid":1,"tid":1,"ts":150.300,"dur":8.650,"cat":"idle","name":"idle"}
]}
)");
  EXPECT_EQ(exported(switches(), "chrome"),
            R"({"displayTimeUnit":"ns","otherData":{"discarded":0},"traceEvents":[
{"ph":"M","pid":1,"name":"process_name","args":{"name":"made"}},
{"ph":"M","pid":1,"tid":0,"name":"thread_name","args":{"name":"worker 0"}},
{"ph":"M","pid":1,"tid":1,"name":"thread_name","args":{"name":"worker 1"}},
{"ph":"X","pid":1,"tid":0,"ts":1.000,"dur":2.000,"cat":"task","name":"one","args":{"task":7}},
{"ph":"X","pid":1,"tid":0,"ts":3.000,"dur":1.500,"cat":"task","name":"other","args":{"task":8}},
{"ph":"X","pid":1,"tid":1,"ts":5.000,"dur":0.700,"cat":"task","name":"task","args":{"task":44}},
{"ph":"X","pid":1,"tid":0,"ts":4.500,"dur":1.500,"cat":"task","name":"one","args":{"task":9}},
{"ph":"X","pid":1,"tid":0,"ts":6.000,"dur":1.250,"cat":"task","name":"other","args":{"task":8}},
{"ph":"X","pid":1,"tid":0,"ts":7.250,"dur":0.750,"cat":"task","name":"other","args":{"task":10}},
{"ph":"X","pid":1,"tid":1,"ts":5.700,"dur":3.300,"cat":"task","name":"other","args":{"task":13}},
{"ph":"X","pid":1,"tid":1,"ts":9.000,"dur":0.400,"cat":"task","name":"one","args":{"task":14}},
{"ph":"X","pid":1,"tid":1,"ts":9.400,"dur":0.200,"cat":"task","name":"other","args":{"task":13}},
{"ph":"X","pid":1,"tid":0,"ts":8.100,"dur":1.800,"cat":"task","name":"one","args":{"task":11}},
{"ph":"X","pid":1,"tid":0,"ts":9.900,"dur":1.200,"cat":"task","name":"other","args":{"task":10}},
{"ph":"X","pid":1,"tid":0,"ts":11.100,"dur":0.900,"cat":"idle","name":"idle"},
{"ph":"X","pid":1,"tid":0,"ts":12.300,"dur":1.400,"cat":"task","name":"one","args":{"task":12}},
{"ph":"X","pid":1,"tid":0,"ts":13.700,"dur":0.000,"cat":"idle","name":"idle"},
{"ph":"X","pid":1,"tid":1,"ts":9.600,"dur":4.100,"cat":"idle","name":"idle"}
]}
)");
}

TEST_F(exact, paraver_gets_three_files) {
  EXPECT_EQ(weft(many_ways(), {"trace", "export", "-f", "paraver", "-o", out("made.prv")}), "");
  EXPECT_EQ(text_of(out("made.prv")), R"(#Paraver (01/01/2000 at 00:00):158950_ns:1(2):1:1(2:1)
1:1:1:1:1:500:24100:1
2:1:1:1:1:500:6400000:1:6400001:1
1:2:1:1:2:600:29000:0
2:1:1:1:1:24100:6400000:0:6400001:0
1:1:1:1:1:25000:27700:1
2:1:1:1:1:25000:6400000:2:6400001:2
2:1:1:1:1:27700:6400000:0:6400001:0
1:1:1:1:1:28200:39900:1
2:1:1:1:1:28200:6400000:3:6400001:16
1:2:1:1:2:30100:50000:1
2:2:1:1:2:30100:6400000:2:6400001:10
2:1:1:1:1:39900:6400000:0:6400001:0
1:1:1:1:1:41000:45700:1
2:1:1:1:1:41000:6400000:2:6400001:2
2:1:1:1:1:45700:6400000:0:6400001:0
1:1:1:1:1:46900:60200:1
2:1:1:1:1:46900:6400000:3:6400001:4
2:2:1:1:2:50000:6400000:0:6400001:0
1:2:1:1:2:50900:72500:1
2:2:1:1:2:50900:6400000:3:6400001:11
2:1:1:1:1:60200:6400000:0:6400001:0
1:1:1:1:1:61600:79000:1
2:1:1:1:1:61600:6400000:2:6400001:5
2:2:1:1:2:72500:6400000:0:6400001:0
1:2:1:1:2:73600:75000:1
2:2:1:1:2:73600:6400000:3:6400001:12
2:2:1:1:2:75000:6400000:0:6400001:0
1:2:1:1:2:75000:81300:1
2:2:1:1:2:75000:6400000:3:6400001:15
2:1:1:1:1:79000:6400000:0:6400001:0
1:1:1:1:1:80500:99600:1
2:1:1:1:1:80500:6400000:2:6400001:6
2:2:1:1:2:81300:6400000:0:6400001:0
1:2:1:1:2:81300:88800:1
2:2:1:1:2:81300:6400000:3:6400001:12
2:2:1:1:2:88800:6400000:0:6400001:0
1:2:1:1:2:90000:93700:1
2:2:1:1:2:90000:6400000:3:6400001:3
2:2:1:1:2:93700:6400000:0:6400001:0
1:2:1:1:2:95100:120800:1
2:2:1:1:2:95100:6400000:2:6400001:7
2:1:1:1:1:99600:6400000:0:6400001:0
1:1:1:1:1:100000:131000:0
2:2:1:1:2:120800:6400000:0:6400001:0
1:2:1:1:2:122000:128700:1
2:2:1:1:2:122000:6400000:3:6400001:9
2:2:1:1:2:128700:6400000:0:6400001:0
1:2:1:1:2:129900:141000:1
2:2:1:1:2:129900:6400000:2:6400001:13
1:1:1:1:1:133000:156100:1
2:1:1:1:1:133000:6400000:3:6400001:8
1:1:1:1:1:140000:144400:2
2:2:1:1:2:141000:6400000:0:6400001:0
1:2:1:1:2:142800:150000:1
2:2:1:1:2:142800:6400000:2:6400001:14
2:2:1:1:2:150000:6400000:0:6400001:0
1:2:1:1:2:150300:158950:0
2:1:1:1:1:156100:6400000:0:6400001:0
1:1:1:1:1:157000:158900:1
2:1:1:1:1:157000:6400000:1:6400001:1
2:1:1:1:1:158900:6400000:0:6400001:0
)");
  EXPECT_EQ(text_of(out("made.pcf")), R"(DEFAULT_OPTIONS

LEVEL               THREAD
UNITS               NANOSEC

STATES
0    Idle
1    Running
2    Taken off the CPU

STATES_COLOR
0    {117,195,255}
1    {0,0,255}
2    {255,0,174}

EVENT_TYPE
0    6400000    Task type
VALUES
0      none
1      main
2      one
3      a "b" \ c

EVENT_TYPE
0    6400001    Task number
)");
  EXPECT_EQ(text_of(out("made.row")), R"(LEVEL CPU SIZE 2
worker 0
worker 1

LEVEL THREAD SIZE 2
worker 0
worker 1
)");
}

TEST_F(exact, info_counts_events_and_types) {
  EXPECT_EQ(weft(many_ways(), {"trace", "info"}), R"(program    made (pid 1), 2 workers
level      graph, written as it ran
duration   0.000159 s
records    76, 0 discarded
  begin        15
  end          16
  suspend      2
  resume       2
  idle         3
  busy         2
  root         1
  create       15
  access       15
  ready        1
  waited       1
  switched_out 2
  switched_in  1
type                                          created     executed         live
a "b" \ c                                           8            8            0
one                                                 7            7            0
)");
  EXPECT_EQ(weft(switches(), {"trace", "info"}), R"(program    made (pid 1), 2 workers
level      switch, written as it ran
duration   0.000014 s
records    17, 0 discarded
  begin        8
  end          2
  suspend      1
  resume       2
  idle         3
  busy         1
type                                          created     executed         live
one                                                 0            5            0
other                                               0            3            0
)");
}

TEST_F(exact, predictions_are_these) {
  EXPECT_EQ(weft(many_ways(), {"predict", "--workers", "1,2,3,8"}),
            R"(measured   0.000158 s on 2 workers
work       0.000229 s in 15 tasks, 1290 ns between two
span       0.000095 s, 0.000103 s with overheads; parallelism 2.41
 workers        seconds    speedup
       1       0.000250       1.00
       2       0.000140       1.78
       3       0.000125       2.01
       8       0.000114       2.20
)");
  EXPECT_EQ(
      weft(many_ways(),
           {"predict", "--json", "--scale", "one=0.5", "--overhead", "300", "--workers", "2,5"}),
      R"({"measured_ns":158400,"workers":2,"work_ns":174700,"span_ns":72800,"burdened_span_ns":74600,"unfinished":0,"not_run":0,"predicted":[{"workers":2,"ns":97700,"speedup":1.8547},{"workers":5,"ns":87400,"speedup":2.0732}]}
)");
}

TEST_F(exact, a_difference_is_this) {
  made_trace second = switches();
  test::fake_tree other;
  second.write(other.root());
  many_ways().write(m_tree.root());
  EXPECT_EQ(weft({"diff", m_tree.root(), other.root()}),
            R"(                                                  first         second    change
duration                                       158.4 us        12.7 us    -92.0%
in tasks, all workers                          203.1 us        16.0 us    -92.1%
idle, all workers                               68.0 us         5.0 us    -92.7%
between two tasks                                1.3 us           0 ns   -100.0%

type                                          tasks      tasks         mean         mean      time
a "b" \ c                                         8          0      11.9 us            -      gone
one                                               7          5      15.4 us       1.4 us    -93.4%
other                                             0          3            -       2.7 us       new
task                                              0          1            -       700 ns       new
)");
}

TEST_F(exact, a_prediction_uses_the_waking_that_the_trace_shows) {
  made_trace t(trace_level::graph, {"main", "one", "other"});
  t.put(0, on::root, 1, k_main);
  constexpr std::uint32_t k_tasks = 31; // enough for a median
  for (std::uint32_t i = 0; i != k_tasks; ++i) {
    const std::uint64_t now = 100'000 * (i + 1ull);
    t.put(now, on::create, 2 + i, k_one, 1)
        .put(now - 50'000, on::idle, 0, 0, 0, 0, 1)
        .put(now + 7'000, on::busy, 0, 0, 0, 0, 1)
        .put(now + 7'000, on::begin, 2 + i, k_one, 0, 0, 1)
        .put(now + 17'000, on::end, 2 + i, k_one, 0, 0, 1);
  }
  constexpr std::uint64_t k_last = 100'000 * k_tasks + 17'000;
  t.put(k_last, on::waited, 1, 0, k_last).put(k_last, on::end, 1, k_main);
  // The first worker wakes for the main task, the second one 7 us after the creation of the last
  // task, which it steals, and the first one again, for the end of the wait.
  static_assert(7'000 + 100'000 * k_tasks + 7'000 + 200 + 10'000 + 7'000 == 3'131'200);
  EXPECT_EQ(
      weft(t, {"predict", "--json", "--overhead", "0", "--workers", "2"}),
      R"({"measured_ns":3117000,"workers":2,"work_ns":3427000,"span_ns":3117000,"burdened_span_ns":3117000,"unfinished":0,"not_run":0,"predicted":[{"workers":2,"ns":3131200,"speedup":1.0967}]}
)");
}

TEST_F(exact, records_of_many_workers_come_in_the_order_of_time) {
  made_trace t(trace_level::graph, {"main", "one", "other"});
  std::uint64_t chance = 1;
  constexpr unsigned k_records = 600;
  for (unsigned i = 0; i != k_records; ++i) {
    chance = chance * 6364136223846793005u + 1442695040888963407u;
    // The streams end at different times: the later, the fewer have records.
    t.put(1'000 + 10 * i, on::wake, 0, 0, 0, 0,
          static_cast<unsigned>((chance >> 33) % (9 - i / 75)));
  }
  std::istringstream lines(exported(t, "csv"));
  std::string line;
  std::getline(lines, line);
  EXPECT_EQ(line, "ns,worker,event,task,type,a,b");
  unsigned n = 0;
  for (; std::getline(lines, line); ++n)
    EXPECT_EQ(line.substr(0, line.find(',')), std::to_string(1'000 + 10 * n));
  EXPECT_EQ(n, k_records);
}

TEST_F(exact, progress_begins_each_phase_with_0_percent) {
  const std::string said = weft(many_ways(), {"predict", "--progress", "--workers", "3"});
  for (const char *phase : {"reading the graph", "linking tasks", "looking for the critical path",
                            "replaying on 3 workers"})
    EXPECT_NE(said.find(std::string("weft: ") + phase + ": 0 %\n"), std::string::npos) << said;
}

TEST_F(exact, seeds_need_no_standard_input) {
  const auto end = test::run({"/bin/sh", "-c", "exec '" + m_weft + "' run --seeds 2 -- true <&-"},
                             {{"WEFT_CONFIG", ""}});
  EXPECT_TRUE(end.exited(0) && end.printed("seeds 1 to 2 gave the same output and exit code"))
      << end;
}

TEST_F(exact, a_trace_of_another_version_is_none) {
  many_ways().write(m_tree.root());
  const std::string path = weft::rt::description_path(m_tree.root());
  const std::string text = text_of(path);
  ASSERT_EQ(text.rfind("weft trace 1\n", 0), 0u);
  ASSERT_TRUE(weft::rt::replace_file(path, "weft trace 2\n" + text.substr(13)));
  const auto end = test::run({m_weft, "trace", "info", m_tree.root()}, {{"WEFT_CONFIG", ""}});
  EXPECT_TRUE(end.exited(1) && end.printed("holds no trace of Weft")) << end;
}

namespace {

constexpr std::uint16_t k_serve = 4, k_read = 5;

/// Returns the first word of `left`.
std::uint64_t chain_of(std::uint8_t callers, weft::rt::waits_for why, std::uint16_t first,
                       std::uint16_t awaited = 0) {
  return weft::rt::word_of_left({callers, static_cast<std::uint8_t>(why), first, awaited});
}
using weft::rt::waits_for;

/// Task 7 is a coroutine, serve(), which awaits read() at first, and waits itself then; task 8 is none.
made_trace coroutine_that_waits_twice() {
  made_trace t(trace_level::graph, {"main", "one", "other", "app::serve", "read<int>"});
  t.put(1'000, on::create, 7, k_one).put(1'100, on::create, 8, k_other);
  t.put(2'000, on::begin, 7, k_one)
      .put(3'500, on::left, 7, k_read, chain_of(1, waits_for::lock, k_serve), 0x7f60)
      .put(3'600, on::end, 7, k_one, weft::rt::k_again);
  t.put(5'000, on::begin, 7, k_one, 0, 0, 1)
      .put(6'000, on::left, 7, k_serve, chain_of(0, waits_for::end_of_task, k_serve, k_other), 8, 1)
      .put(6'100, on::end, 7, k_one, weft::rt::k_again, 0, 1);
  t.put(9'000, on::begin, 7, k_one).put(9'900, on::end, 7, k_one);
  t.put(10'000, on::begin, 8, k_other).put(11'000, on::end, 8, k_other);
  return t;
}

/// Returns the lines with a word.
std::string lines_with(const std::string &word, const std::string &all) {
  std::istringstream from(all);
  std::string out;
  for (std::string line; std::getline(from, line);)
    if (line.find(word) != std::string::npos)
      out += line + "\n";
  return out;
}

} // namespace

TEST_F(exact, runs_of_a_coroutine_show_where_it_went_on_and_where_it_waits) {
  const made_trace t = coroutine_that_waits_twice();
  EXPECT_EQ(lines_with("\"X\"", exported(t, "chrome")),
            R"~({"ph":"X","pid":1,"tid":0,"ts":2.000,"dur":1.600,"cat":"task","name":"one","args":{"task":7}},
{"ph":"X","pid":1,"tid":0,"ts":2.000,"dur":1.600,"cat":"coroutine","name":"app::serve -> read<int> (mutex 0x7f60)"},
{"ph":"X","pid":1,"tid":1,"ts":5.000,"dur":1.100,"cat":"task","name":"one","args":{"task":7}},
{"ph":"X","pid":1,"tid":1,"ts":5.000,"dur":1.100,"cat":"coroutine","name":"read<int> -> app::serve (end of other 8)"},
{"ph":"X","pid":1,"tid":0,"ts":9.000,"dur":0.900,"cat":"task","name":"one","args":{"task":7}},
{"ph":"X","pid":1,"tid":0,"ts":9.000,"dur":0.900,"cat":"coroutine","name":"app::serve"},
{"ph":"X","pid":1,"tid":0,"ts":10.000,"dur":1.000,"cat":"task","name":"other","args":{"task":8}}
)~");
  EXPECT_NE(exported(t, "csv").find("3500,0,left,7,read<int>,263681,32608\n"), std::string::npos);
  weft(t, {"trace", "export", "-f", "perfetto", "-o", out("made.pftrace")});
  EXPECT_NE(text_of(out("made.pftrace")).find("app::serve -> read<int> (mutex 0x7f60)"),
            std::string::npos);
  const std::string said = weft(t, {"trace", "check"});
  EXPECT_NE(said.find("sound: 12 records; 2 tasks created = 2 executed + 0 live"), std::string::npos)
      << said;
}

TEST_F(exact, a_page_lists_the_coroutines_that_have_waited) {
  weft(coroutine_that_waits_twice(), {"report", "-o", out("page.html")});
  const std::string page = text_of(out("page.html"));
  EXPECT_NE(page.find("<tr><th>coroutine<th>waits<th>for<th>waited<th>longest<th>ran</tr>"
                      "<tr><td>app::serve<td>1<td>end of other (1)<td>3.0 us<td>3.0 us<td>2.5 us</tr>"
                      "<tr><td>read&lt;int&gt;<td>1<td>mutex (1)<td>1.5 us<td>1.5 us<td>1.1 us</tr></table>"),
            std::string::npos)
      << page;
  EXPECT_NE(page.find("2 tasks, 12 records"), std::string::npos) << "a run is no task";
  weft(many_ways(), {"report", "-o", out("page.html")});
  EXPECT_EQ(text_of(out("page.html")).find("<h2>Coroutines"), std::string::npos);
}

TEST_F(exact, at_level_switch_a_run_shows_where_its_coroutine_went_on_and_waits) {
  made_trace t(trace_level::switches, {"main", "one", "other", "app::serve", "read<int>"});
  t.put(1'000, on::begin, 7, k_one)
      .put(2'000, on::left, 7, k_read, chain_of(1, waits_for::event, k_serve), 0x10);
  t.put(2'500, on::begin, 8, k_other)
      .put(4'000, on::left, 8, k_read, chain_of(0, waits_for::end_of_task, k_read, k_one), 0);
  t.put(4'500, on::begin, 7, k_one).put(5'000, on::idle, 0).put(6'000, on::busy, 0);
  t.put(6'000, on::begin, 7, k_one).put(6'500, on::idle, 0).put(7'000, on::busy, 0); // a new task
  EXPECT_EQ(lines_with("\"X\"", exported(t, "chrome")),
            R"~({"ph":"X","pid":1,"tid":0,"ts":1.000,"dur":1.500,"cat":"task","name":"one","args":{"task":7}},
{"ph":"X","pid":1,"tid":0,"ts":1.000,"dur":1.500,"cat":"coroutine","name":"app::serve -> read<int> (event 0x10)"},
{"ph":"X","pid":1,"tid":0,"ts":2.500,"dur":2.000,"cat":"task","name":"other","args":{"task":8}},
{"ph":"X","pid":1,"tid":0,"ts":2.500,"dur":2.000,"cat":"coroutine","name":"read<int> (end of one)"},
{"ph":"X","pid":1,"tid":0,"ts":4.500,"dur":0.500,"cat":"task","name":"one","args":{"task":7}},
{"ph":"X","pid":1,"tid":0,"ts":4.500,"dur":0.500,"cat":"coroutine","name":"read<int>"},
{"ph":"X","pid":1,"tid":0,"ts":5.000,"dur":1.000,"cat":"idle","name":"idle"},
{"ph":"X","pid":1,"tid":0,"ts":6.000,"dur":0.500,"cat":"task","name":"one","args":{"task":7}},
{"ph":"X","pid":1,"tid":0,"ts":6.500,"dur":0.500,"cat":"idle","name":"idle"}
)~");
  weft(t, {"report", "-o", out("page.html")});
  const std::string page = text_of(out("page.html"));
  EXPECT_NE(page.find("<tr><td>read&lt;int&gt;<td>2<td>end of one (1), event (1)"
                      "<td>2.5 us<td>2.5 us<td>2.5 us</tr>"
                      "<tr><td>app::serve<td>0<td><td>0 ns<td>0 ns<td>1.5 us</tr></table>"),
            std::string::npos)
      << page;
}

TEST_F(exact, what_a_coroutine_waits_for_is_said_in_a_word_each) {
  const std::pair<waits_for, const char *> all[] = {
      {waits_for::children, "(children)"},        {waits_for::group, "(group 0x10)"},
      {waits_for::mutex, "(mutex 0x10)"},         {waits_for::semaphore, "(semaphore 0x10)"},
      {waits_for::latch, "(latch 0x10)"},         {waits_for::barrier, "(barrier 0x10)"},
      {waits_for::channel, "(channel 0x10)"},     {waits_for::notification, "(condition variable 0x10)"},
      {waits_for::call_once, "(call_once 0x10)"}, {waits_for::nothing, "read<int>\""}};
  made_trace t(trace_level::graph, {"main", "one", "other", "app::serve", "read<int>"});
  std::uint64_t at = 1'000;
  t.put(at, on::create, 7, k_one);
  for (const auto &[why, shown] : all) {
    at += 1'000;
    t.put(at, on::begin, 7, k_one)
        .put(at + 300, on::left, 7, k_read, chain_of(0, why, k_read), 0x10)
        .put(at + 400, on::end, 7, k_one, weft::rt::k_again);
  }
  const std::string chrome = lines_with("coroutine", exported(t, "chrome"));
  for (const auto &[why, shown] : all)
    EXPECT_NE(chrome.find(shown), std::string::npos) << shown << "\n" << chrome;
  weft(t, {"report", "-o", out("page.html")});
  EXPECT_NE(text_of(out("page.html")).find("barrier (1), call_once (1), channel (1), children (1), ...<td>"),
            std::string::npos)
      << "the most frequent four";
}

TEST_F(exact, a_message_gives_its_task_no_other_name) {
  made_trace t(trace_level::graph, {"main", "one", "put"});
  t.put(1'000, on::create, 7, k_one).put(2'000, on::begin, 7, k_one);
  t.put(2'500, on::send, 7, 3).put(3'000, on::end, 7, k_one);
  EXPECT_EQ(lines_with("\"task\"", exported(t, "chrome")),
            "{\"ph\":\"X\",\"pid\":1,\"tid\":0,\"ts\":2.000,\"dur\":1.000,\"cat\":\"task\","
            "\"name\":\"one\",\"args\":{\"task\":7}},\n");
}

TEST_F(exact, coroutines_of_a_program_that_did_not_end_have_the_names_that_it_has_described) {
  made_trace t = coroutine_that_waits_twice();
  t.about.state = weft::rt::trace_description::running;
  t.write(m_tree.root());
  std::vector<weft::rt::trace_type> table(weft::rt::k_trace_types);
  const auto add = [&](std::size_t number, const char *name, weft::rt::named_by named) {
    table[number].key = number;
    table[number].ready = 1;
    table[number].named = named;
    std::snprintf(table[number].name, sizeof table[number].name, "%s", name);
  };
  add(k_one, "newer", weft::rt::named_by::label);
  add(k_serve, "coroutine 0x1234", weft::rt::named_by::coroutine);
  add(k_read, "coroutine 0x5678", weft::rt::named_by::coroutine);
  add(6, "coroutine 0x9abc", weft::rt::named_by::coroutine); // later than the description
  EXPECT_TRUE(weft::rt::replace_file(
      weft::rt::types_path(m_tree.root()),
      std::string(reinterpret_cast<const char *>(table.data()), sizeof table[0] * table.size())));
  const std::string csv = weft({"trace", "export", "-f", "csv", m_tree.root()});
  EXPECT_NE(csv.find(",left,7,read<int>,"), std::string::npos) << csv;
  EXPECT_NE(csv.find(",begin,7,newer,"), std::string::npos) << csv;
}

TEST_F(exact, perfetto_gets_all_names) {
  weft(many_ways(), {"trace", "export", "-f", "perfetto", "-o", out("made.pftrace")});
  // Of the interned data, field 3: a name of an annotation, number 1.
  EXPECT_NE(text_of(out("made.pftrace")).find(std::string("\x1a\x08\x08\x01\x12\x04task", 10)),
            std::string::npos);
  for (const char *name : {"\x12\x04idle", "\x12\x07off cpu", "\x12\x03one"})
    EXPECT_NE(text_of(out("made.pftrace")).find(name), std::string::npos) << name;
}

TEST_F(exact, rounds_are_counted_apart) {
  made_trace t(trace_level::graph, {"main", "one", "other"});
  t.put(1'000, on::create, 7, k_one, weft::rt::k_created_for_rounds);
  for (std::uint64_t i = 0; i != 3; ++i)
    t.put(2'000 + 1'000 * i, on::begin, 7, k_one, 0, weft::rt::k_round)
        .put(2'500 + 1'000 * i, on::end, 7, k_one, weft::rt::k_round);
  t.counted(weft::rt::counted_value::rounds, 3);
  const std::string said = weft(t, {"trace", "check"});
  EXPECT_NE(
      said.find("sound: 8 records; 0 tasks created = 0 executed + 0 live, as the counters say"),
      std::string::npos)
      << said;
}
