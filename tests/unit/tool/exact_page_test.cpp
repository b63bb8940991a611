// SPDX-License-Identifier: Apache-2.0
// What the page of weft report says of a trace that no program has run, to the last digit.
#include "unit/tool/exact.hpp"

#include <gtest/gtest.h>
#include <sstream>
#include <string>
#include <sys/stat.h>
#include <tuple>
#include <unistd.h>

using namespace test::exact_traces;

namespace {

/// Returns a list with "x*3" for "x,x,x".
std::string without_repetition(const std::string &list) {
  std::istringstream rest(list);
  std::string out, each, last;
  std::size_t times = 0;
  const auto put = [&] {
    if (times)
      out += (out.empty() ? "" : ",") + last + (times > 1 ? "*" + std::to_string(times) : "");
  };
  while (std::getline(rest, each, ',')) {
    if (times && each == last) {
      ++times;
      continue;
    }
    put();
    last = each;
    times = 1;
  }
  put();
  return out;
}

/// Returns the columns of a track, "TIMES*TYPE/TASKS/IDLE/AWAY" for equal ones.
std::string columns_of(const std::string &base64) {
  static const std::string k_digits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string bytes, out;
  for (std::size_t i = 0; i + 4 <= base64.size(); i += 4) {
    unsigned v = 0;
    for (std::size_t k = 0; k < 4; ++k)
      v = v << 6 | static_cast<unsigned>(k_digits.find(base64[i + k]) & 63);
    for (int k = 2; k >= 0; --k)
      bytes += static_cast<char>(v >> 8 * k & 255);
    bytes.resize(bytes.size() - (base64[i + 3] == '=') - (base64[i + 2] == '='));
  }
  for (std::size_t i = 0, next; i + 4 <= bytes.size(); i = next) {
    for (next = i + 4; bytes.compare(next, 4, bytes, i, 4) == 0;)
      next += 4;
    out += (out.empty() ? "" : " ") + std::to_string((next - i) / 4) + "*";
    for (std::size_t k = 0; k < 4; ++k)
      out += (k ? "/" : "") + std::to_string(static_cast<unsigned char>(bytes[i + k]));
  }
  return out;
}

/// Returns the data of a page, short enough to be read: a line for each list.
std::string data_of(const std::string &page) {
  const std::string head = "<script>const D=", tracks = "tracks:[";
  const auto begin = page.find(head) + head.size();
  std::string data = page.substr(begin, page.find("};</script>", begin) + 1 - begin), out;
  const auto first = data.find(tracks) + tracks.size(), last = data.find("],tasks:");
  for (auto at = first; at < last;) {
    const auto from = data.find('"', at) + 1, to = data.find('"', from);
    out += (out.empty() ? "" : ",") + columns_of(data.substr(from, to - from));
    at = to + 1;
  }
  data = without_repetition(data.replace(first, last - first, out));
  for (std::size_t at = 0; (at = data.find("],", at)) != std::string::npos; at += 3)
    data.insert(at + 2, "\n");
  return data + "\n";
}

/// Returns what a page says: a line for each text between two tags.
std::string words_of(const std::string &page) {
  const auto begin = page.find("</head>"), end = page.find("<script>", begin);
  std::string out;
  bool is_text = true;
  for (const char c : page.substr(begin, end - begin)) {
    if (c == '<')
      is_text = false;
    else if (c == '>')
      is_text = true;
    else if (is_text && c != '\n') {
      out += c;
      continue;
    }
    if (!out.empty() && out.back() != '\n')
      out += '\n';
  }
  return out;
}

} // namespace

TEST_F(exact, a_page_says_this) {
  EXPECT_EQ(weft(many_ways(), {"report", "-o", out("page.html")}),
            R"(21 % of worker time is idle: 51 % of it no task is ready, behind 'one'.
Tasks are small: 13.5 us each in the mean, and 1.3 us between two, which is 6 % of worker time; give each more to do.
The graph allows a speedup of 2.4: 228.6 us of work on a critical path of 95.0 us.
If 'a "b" \ c' took half as long, the critical path would be 25 % shorter.
)"
            "the report is in " +
                out("page.html") + "\n");
  const std::string page = text_of(out("page.html"));
  EXPECT_EQ(words_of(page), R"(made
2 workers, 15 tasks, 76 records
date
1970-01-01 00:00:00 UTC
21 % of worker time is idle: 51 % of it no task is ready, behind 'one'.
Tasks are small: 13.5 us each in the mean, and 1.3 us between two, which is 6 % of worker time; give each more to do.
The graph allows a speedup of 2.4: 228.6 us of work on a critical path of 95.0 us.
If 'a &quot;b&quot; \ c' took half as long, the critical path would be 25 % shorter.
158.4 us
from first to last record
64 %
of worker time in tasks
21 %
idle
13.5 us
mean task
6
tasks that another worker took
0
records discarded
1.4 %
kernel noise: off the processor
228.6 us
work: all bodies
95.0 us
span: the critical path
102.7 us
burdened span: with overheads
2.4
parallelism: work / span
Timeline
all types
 critical path
Wheel or + and -: zoom. Drag or arrow keys: move. Double click or 0: all. Click, or ] and [: choose a task and see what it waited for and what waited for it. The height of a colour is the share of the time in tasks, its hue the type that had most of it; grey is idleness, red from above the time off the processor.
The charts below show the same time.
Tasks over time
Task types
type
spawned at
tasks
time
share
mean
longest
on the critical path
path if twice as fast
one
-
7
107.8 us
53.1 %
15.4 us
25.7 us
44.4 us
23 % shorter
a &quot;b&quot; \ c
-
8
95.3 us
46.9 %
11.9 us
23.1 us
48.1 us
25 % shorter
Of the critical path of 95.0 us, 2.5 us are the program's own code: what it does before, between and after the creation of tasks.
Grain
Speedup
What if
the same graph
time
against the prediction for this run
2 workers, as recorded (measured: 158.4 us)
140.4 us
+0.0 %
no overhead between tasks
130.1 us
-7.3 %
'one' twice as fast
105.6 us
-24.8 %
'a &quot;b&quot; \ c' twice as fast
114.5 us
-18.4 %
twice the workers
113.5 us
-19.1 %
256 workers
113.5 us
-19.1 %
the critical path alone
95.0 us
-32.3 %
the critical path with the overhead of each task on it
102.7 us
-26.8 %
)");
  EXPECT_EQ(data_of(page), R"({ns:158450,columns:65536,gap:1290.0,types:["one","a \"b\" \\ c"],
names:["worker 0","worker 1"],
tracks:[10133*255/0/0/0 1*0/161/0/0 1116*0/255/0/0 1*0/27/0/0 205*255/0/0/0 1*1/23/0/0 4839*1/255/0/0 1*1/28/0/0 454*255/0/0/0 1*0/236/0/0 1943*0/255/0/0 1*0/7/0/0 495*255/0/0/0 1*1/164/0/0 5500*1/255/0/0 1*1/83/0/0 578*255/0/0/0 1*0/159/0/0 7196*0/255/0/0 1*0/34/0/0 619*255/0/0/0 1*0/116/0/0 7899*0/255/0/0 1*0/111/0/0 164*255/0/0/0 1*255/0/31/0 12821*255/0/255/0 1*255/0/176/0 826*255/0/0/0 1*1/25/0/0 2895*1/255/0/0 1*1/255/0/217 1819*1/255/0/255 1*1/255/0/5 4838*1/255/0/0 1*1/56/0/0 1178*255/0/0/0,41*255/0/0/0 1*255/0/163/0 11745*255/0/255/0 1*255/0/203/0 454*255/0/0/0 1*0/61/0/0 8230*0/255/0/0 1*0/137/0/0 371*255/0/0/0 1*1/55/0/0 8933*1/255/0/0 1*1/176/0/0 454*255/0/0/0 1*1/87/0/0 6286*1/255/0/0 1*1/123/0/0 495*255/0/0/0 1*1/48/0/0 1530*1/255/0/0 1*1/40/0/0 578*255/0/0/0 1*0/203/0/0 10628*0/255/0/0 1*0/229/0/0 496*255/0/0/0 1*1/197/0/0 2770*1/255/0/0 1*1/100/0/0 495*255/0/0/0 1*0/71/0/0 4590*0/255/0/0 1*0/193/0/0 744*255/0/0/0 1*0/191/0/0 2977*0/255/0/0 1*0/56/0/0 123*255/0/0/0 1*255/0/178/0 3577*255/0/255/0],
tasks:[0,0,24500,20700,1*3,89500,3700,-1,0,1,46400,13300,3,0*2,61100,17400,4,0*2,80000,19100,-1,1,0,94600,25700,5,0,1,132500,23100,6,1*2,121500,6700,-1,1,0,29600,19900,-1,1*2,50400,21600,-1,1*2,73100,15200,-1,1,0,129400,11100,-1,1,0,142300,7200,-1,1*2,74500,6300,-1,0,1,27700,11700,2],
edges:[[0,1],
[0,2],
[1,3],
[2,3],
[3,4],
[3,5],
[4,6],
[4,7],
[5,6],
[5,7],
[8,9],
[8,10],
[8,11],
[9,11],
[9,12],
[14,1],
[14,2]],
grains:[0,0*10,1,0,4,2*2,5,1,0*29,0],
live:[0,1*3,2*3,3*3,4*3,5*4,6*4,7*5,8*4,9*5,10*5,11*5,12*6,13*6,14*8,15*34,14*15,13*10,12*26,11*31,10*17,9*5,8*19,7*13,6*15,5*53,4*20,3*31,2*23,1*15,0*7,0],
ready:[0,1*29,2*27,3*4,2*4,3*4,2*5,1*40,3*3,2*7,4*3,3*54,4*3,3*4,2*10,4*3,3*24,2*13,1*65,3*3,2*20,1*8,0*21,1*4,0*40,0],
running:[0,0*60,0.150836,1*6,0.665194,0.0725781,1*4,1.27611,2*24,1.46355,1*2,1.75955,2*11,1.1054,1*2,1.86526,2*6,1.96056,1*2,1.76743,2*22,1.71,1*3,1.75576,2*26,1.76081,1*2,1.46229,2*13,1.16977,1*2,1.04355,2*20,1.90944,1*2,1.06122,2*9,1.27927,1*2,1.18649,2*11,1.17356,1*52,0.692016,0*2,0.278637,1*16,0.635216,0*2,0.335437,1*7,1.50962,2*19,1.68602,1*4,1.76996,2*17,1.40612,1*14,0.805301,0*6,0],
graph:{work:228600,span:95000,predicted:[[1,249950],
[2,140420],
[4,113540],
[8,113540],
[16,113540],
[32,113540],
[64,113540],
[128,113540],
[256,113540]]}}
)");
}

TEST_F(exact, a_long_path_is_added_up) {
  weft(long_chain(), {"report", "-o", out("page.html")});
  const std::string said = words_of(text_of(out("page.html")));
  EXPECT_NE(said.find("Of the critical path of 1.20 ms, 1 ns are the program's own code"),
            std::string::npos)
      << said;
}

TEST_F(exact, a_page_without_a_graph_says_this) {
  weft(switches(), {"report", "-o", out("page.html")});
  const std::string page = text_of(out("page.html"));
  EXPECT_EQ(words_of(page), R"(made
2 workers, 9 tasks, 17 records
date
1970-01-01 00:00:00 UTC
20 % of worker time is idle.
What the kernel took from bodies is not recorded: while another program had the processor, a body seems to run. With trace.kernel=true the page shows it.
12.7 us
from first to last record
63 %
of worker time in tasks
20 %
idle
1.8 us
mean task
-
steals: not recorded
0
records discarded
-
kernel noise: not recorded
Without critical path and predictions: these take a trace of level graph (weft run --trace=graph).
Timeline
all types
Wheel or + and -: zoom. Drag or arrow keys: move. Double click or 0: all. Click, or ] and [: choose a task and see what it waited for and what waited for it. The height of a colour is the share of the time in tasks, its hue the type that had most of it; grey is idleness, red from above the time off the processor.
The charts below show the same time.
Tasks over time
Task types
type
spawned at
tasks
time
share
mean
longest
other
-
3
8.2 us
51.2 %
2.7 us
3.5 us
one
-
5
7.1 us
44.4 %
1.4 us
2.0 us
task
-
1
700 ns
4.4 %
700 ns
700 ns
Grain
)");
  EXPECT_EQ(data_of(page), R"({ns:12700,columns:65536,gap:0.0,types:["other","one","task"],
names:["worker 0","worker 1"],
tracks:[10321*1/255/0/0 7740*0/255/0/0 7741*1/255/0/0 10320*0/255/0/0 1*0/52/0/0 515*2/0/0/0 1*1/195/0/0 9288*1/255/0/0 6192*0/255/0/0 1*0/46/209/0 4643*2/0/255/0 1*2/0/118/0 1547*2/0/0/0 1*1/112/0/0 7224*1/255/0/0,20641*2/0/0/0 1*2/189/0/0 3611*2/255/0/0 17030*0/255/0/0 2064*1/255/0/0 1031*0/255/0/0 1*0/181/74/0 21157*2/0/255/0],
tasks:[],
edges:[],
grains:[0,0*4,1*2,0,1,4,1*2,0*35,0],
live:[],
ready:[],
running:[1,1*124,1.01575,2*94,1.47244,1*2,1.37795,2*46,1.86614,1*47,0.110236,0*36,0.0944882,1*43,1]}
)");
}

TEST_F(exact, a_page_lists_values_that_no_others_beat) {
  made_trace t(weft::rt::trace_level::switches,
               {"main", "one",
                "heat: not beaten in all costs: tile=8 (time 1.00x, /a/b 2.00x); tile=9 (time 2.00x, /a/b 1.00x)",
                "heat: keeps tile=8",
                "heat: not beaten in all costs: tile=7 n=2 (time 0.90x, /a/b <3x); tile=6 (time 0.80x; and 3 more",
                "fan: not beaten in all costs: n=1 (time 1.00x)"});
  t.put(1'000, on::begin, 7, 2).put(9'000, on::end, 7).put(2'000, on::decided, 0, 4, 1'000);
  weft(t, {"report", "-o", out("page.html")});
  EXPECT_EQ(text_of(out("page.html")).find("<h2>Several objectives"), std::string::npos);
  t.put(3'000, on::decided, 0, 3, 0).put(4'000, on::decided, 0, 6, 0).put(5'000, on::decided, 0, 5, 0);
  weft(t, {"report", "-o", out("page.html")});
  const std::string page = text_of(out("page.html"));
  EXPECT_NE(page.find("<th>costs</tr><tr><td>fan<td>n=1<td>time 1.00x</tr>"
                      "<tr><td>heat<td>tile=7 n=2<td>time 0.90x, /a/b &lt;3x</tr>"
                      "<tr><td>heat<td>tile=6<td>time 0.80x</tr>"
                      "<tr><td>heat<td>and 3 more<td></tr></table>"),
            std::string::npos)
      << "the last of each session: " << page;
}

TEST_F(exact, a_page_lists_what_tuning_has_decided) {
  made_trace t(weft::rt::trace_level::switches, {"main", "one", "loop: tile = 64 <8", "loop: end"});
  t.put(1'000, on::begin, 7, 2).put(9'000, on::end, 7);
  weft(t, {"report", "-o", out("page.html")});
  EXPECT_EQ(text_of(out("page.html")).find("<h2>Tuning"), std::string::npos);
  t.put(3'000, on::decided, 0, 3, 925).put(5'000, on::decided, 0, 4, 1'000);
  weft(t, {"report", "-o", out("page.html")});
  const std::string page = text_of(out("page.html"));
  EXPECT_NE(page.find("Tuning has decided 2 times; last, after 4.0 us: loop: end."),
            std::string::npos)
      << page;
  EXPECT_NE(page.find("<tr><td>2.0 us<td>loop: tile = 64 &lt;8<td>92.5 % of the default's</tr>"
                      "<tr><td>4.0 us<td>loop: end<td>100.0 % of the default's</tr>"),
            std::string::npos)
      << page;
  EXPECT_EQ(page.find("The newest 64 of"), std::string::npos);
  t.put(8'000, on::decided, 0, 4, 0, 0, weft::rt::k_decisions_slot); // of a policy, which makes no trials
  weft(t, {"report", "-o", out("page.html")});
  const std::string with_policy = text_of(out("page.html"));
  EXPECT_NE(with_policy.find("<tr><td>7.0 us<td>loop: end<td></tr>"), std::string::npos)
      << with_policy;
  EXPECT_NE(data_of(with_policy).find("names:[\"worker 0\"]"), std::string::npos)
      << "no worker has decided: " << data_of(with_policy);
  for (std::uint64_t at = 0; at != 61; ++at)
    t.put(6'000 + at, on::decided, 0, 4, 1'000);
  weft(t, {"report", "-o", out("page.html")});
  EXPECT_EQ(text_of(out("page.html")).find("The newest 64 of"), std::string::npos);
  t.put(7'000, on::decided, 0, 4, 1'000);
  weft(t, {"report", "-o", out("page.html")});
  const std::string longer = text_of(out("page.html"));
  EXPECT_NE(longer.find("The newest 64 of 65 decisions."), std::string::npos);
  EXPECT_EQ(longer.find("tile = 64"), std::string::npos) << "the oldest is left out";
}

TEST_F(exact, a_page_of_many_tracks_has_fewer_columns) {
  auto t = many_ways();
  for (unsigned slot = 2; slot != 12; ++slot)
    t.put(1'000, on::idle, 0, 0, 0, 0, slot).put(2'000, on::busy, 0, 0, 0, 0, slot);
  t.put(3'000, on::begin, 30, 0, 0, 0, 2).put(4'000, on::end, 30, 0, 0, 0, 2); // of no known type
  t.about.load = "2.50 1.00 0.75";
  t.about.cores = "4";
  weft(t, {"report", "-o", out("page.html")});
  const std::string page = text_of(out("page.html"));
  EXPECT_NE(data_of(page).find(",columns:50000,"), std::string::npos) << data_of(page);
  EXPECT_NE(page.find("The machine was busy when the run began (load 2.50 on 4 cores)"),
            std::string::npos);
  EXPECT_NE(words_of(page).find("\ntask\n-\n1\n1.0 us\n0.5 %\n1.0 us\n1.0 us\n0 ns\n-\n"),
            std::string::npos)
      << words_of(page);
  for (const auto &[load, cores, is_busy] :
       {std::tuple{"1.90", "4", false}, {"0.90", "1", true}, {"9", "0", false}}) {
    t.about.load = load;
    t.about.cores = cores;
    weft(t, {"report", "-o", out("page.html")});
    EXPECT_EQ(text_of(out("page.html")).find("The machine was busy") != std::string::npos, is_busy)
        << load << " on " << cores;
  }
}

TEST_F(exact, a_report_lies_beside_its_trace) {
  const std::string folder = out("trace");
  ASSERT_EQ(mkdir(folder.c_str(), 0777), 0);
  many_ways().write(folder);
  EXPECT_NE(weft({"report", folder + "//"}).find("the report is in " + folder + ".html\n"),
            std::string::npos);
  EXPECT_EQ(access((folder + ".html").c_str(), R_OK), 0);
}
