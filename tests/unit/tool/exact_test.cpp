// SPDX-License-Identifier: Apache-2.0
// What weft trace, predict, report and diff print of a trace that no program has run, to the last
// digit: a wrong sum, a lost line or an edge too many changes the text.
#include "support/fake_tree.hpp"
#include "support/made_trace.hpp"
#include "support/process.hpp"

#include "os/file.hpp"
#include "trace/folder.hpp"
#include "ult/thread_context.hpp"

#include <cstdio>
#include <fstream>
#include <gtest/gtest.h>
#include <iterator>
#include <sstream>
#include <string>
#include <sys/stat.h>
#include <tuple>
#include <unistd.h>
#include <vector>

namespace {

using on = weft::rt::trace_event;
using test::made_trace;
using weft::rt::trace_level;

constexpr std::uint16_t k_main = 1, k_one = 2, k_other = 3;
constexpr std::uint64_t k_in = 0, k_inout = 2, k_concurrent = 6, k_commutative = 7;

/// Two workers, fifteen tasks of two types that name objects and regions in each way, one of them
/// a child, and one that is suspended; times that no two differences share.
made_trace many_ways() {
  made_trace t(trace_level::graph, {"main", "one", "a \"b\" \\ c"});
  t.put(500, on::root, 1, k_main);
  const auto task = [&t](std::uint32_t id, std::uint16_t type, std::uint64_t at, std::uint64_t mode,
                         std::uint64_t address, std::uint64_t bytes, bool by_bytes = false) {
    const std::uint64_t parent = id == 16 ? 2 : 1;
    t.put(at, on::create, id, type, parent | 1ull << 32)
        .put(at, on::access, id, 0, address,
             bytes | mode << 32 | (by_bytes ? weft::rt::k_by_bytes : 0));
  };
  task(2, k_one, 1'000, k_inout, 0x1000, 8);
  task(3, k_other, 2'100, k_in, 0x1000, 8);
  task(4, k_other, 3'300, k_in, 0x1000, 8);
  task(5, k_one, 4'600, k_inout, 0x1000, 8);
  task(6, k_one, 6'000, k_concurrent, 0x1000, 8);
  task(7, k_one, 7'500, k_concurrent, 0x1000, 8);
  task(8, k_other, 9'100, k_commutative, 0x1000, 8);
  task(9, k_other, 10'800, k_commutative, 0x1000, 8);
  task(10, k_one, 12'600, k_inout, 0x2000, 0x100, true);
  task(11, k_other, 14'500, k_in, 0x2080, 0x100, true);
  task(12, k_other, 16'500, k_in, 0x20c0, 0x40, true);
  task(13, k_one, 18'600, k_commutative, 0x2000, 0x90, true);
  task(14, k_one, 20'800, k_inout, 0x2100, 0x10, true);
  task(15, k_other, 23'100, k_in, 0x3000, 1, true);
  t.put(24'000, on::waited, 1, 0, 24'000).put(24'100, on::suspend, 1, 0, 1, 2);
  const auto body = [&t](std::uint32_t id, std::uint16_t type, std::uint64_t from, std::uint64_t to,
                         unsigned slot) {
    t.put(from, on::begin, id, type, 0, 0, slot).put(to, on::end, id, type, 0, 0, slot);
  };
  // Worker 0.
  t.put(25'000, on::begin, 2, k_one);
  task(16, k_other, 26'300, k_inout, 0x1000, 8);
  t.put(27'700, on::suspend, 2, 0, 1, 2);
  body(16, k_other, 28'200, 39'900, 0);
  t.put(41'000, on::resume, 2).put(45'700, on::end, 2, k_one);
  body(4, k_other, 46'900, 60'200, 0);
  body(5, k_one, 61'600, 79'000, 0);
  body(6, k_one, 80'500, 99'600, 0);
  body(8, k_other, 133'000, 156'100, 0);
  t.put(100'000, on::idle, 0).put(131'000, on::busy, 0);
  t.put(157'000, on::resume, 1).put(158'900, on::end, 1, k_main);
  t.put(140'000, on::switched_out, 0, 0, 3, 1).put(144'400, on::switched_in, 0, 0, 2);
  // Worker 1.
  t.put(600, on::idle, 0, 0, 0, 0, 1).put(29'000, on::busy, 0, 0, 0, 0, 1);
  body(10, k_one, 30'100, 50'000, 1);
  body(11, k_other, 50'900, 72'500, 1);
  t.put(73'600, on::begin, 12, k_other, 0, 0, 1);
  body(15, k_other, 75'000, 81'300, 1); // on the frame of the other
  t.put(88'800, on::end, 12, k_other, 0, 0, 1);
  body(3, k_other, 90'000, 93'700, 1);
  body(7, k_one, 95'100, 120'800, 1);
  body(9, k_other, 122'000, 128'700, 1);
  body(13, k_one, 129'900, 141'000, 1);
  t.put(141'500, on::ready, 14, 0, 13, 0, 1);
  body(14, k_one, 142'800, 150'000, 1);
  t.put(150'300, on::idle, 0, 0, 0, 0, 1).put(158'950, on::switched_out, 0, 0, 4, 0, 1);
  return t;
}

/// What level switch records: begins, of which each ends the body before unless it is on its frame.
made_trace switches() {
  made_trace t(trace_level::switches, {"main", "one", "other"});
  t.put(1'000, on::begin, 7, k_one).put(3'000, on::begin, 8, k_other); // 7 has ended
  t.put(4'500, on::begin, 9, k_one, 8).put(6'000, on::end, 9, k_one); // on the frame of 8
  t.put(7'250, on::begin, 10, k_other); // 8 has ended
  t.put(8'000, on::suspend, 10, 0, 1, 2).put(8'100, on::begin, 11, k_one);
  t.put(9'900, on::resume, 10).put(11'100, on::idle, 0); // 11 has ended, then 10
  t.put(12'000, on::busy, 0).put(12'300, on::begin, 12, k_one);
  t.put(5'000, on::resume, 44, 0, 0, 0, 1).put(5'700, on::begin, 13, k_other, 0, 0, 1);
  t.put(9'000, on::begin, 14, k_one, 13, 0, 1).put(9'400, on::end, 14, k_one, 0, 0, 1);
  t.put(9'600, on::idle, 0, 0, 0, 0, 1); // 13 has ended
  t.put(13'700, on::idle, 0);
  return t;
}

/// 2000 tasks of two types that all write one object.
made_trace long_chain() {
  made_trace t(trace_level::graph, {"main", "one", "other"});
  t.put(0, on::root, 1, k_main);
  for (std::uint32_t i = 0; i != 2000; ++i) {
    const std::uint16_t type = i % 3 == 2 ? k_other : k_one;
    t.put(1 + i, on::create, 2 + i, type, 1 | 1ull << 32)
        .put(1 + i, on::access, 2 + i, 0, 0x1000, 8 | k_inout << 32)
        .put(5'000 + 1'000 * i, on::begin, 2 + i, type)
        .put(5'600 + 1'000 * i, on::end, 2 + i, type);
  }
  return t;
}

std::string text_of(const std::string &path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

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

class exact : public testing::Test {
 protected:
  void SetUp() override {
    const auto program = test::program_path(), tests = program.substr(0, program.rfind('/'));
    m_weft = tests.substr(0, tests.rfind('/')) + "/bin/weft";
    if (access(m_weft.c_str(), X_OK) != 0)
      GTEST_SKIP() << m_weft << " was not built (WEFT_TOOLS is OFF)";
  }
  std::string weft(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), m_weft);
    const auto end = test::run(arguments, {{"WEFT_CONFIG", ""}});
    EXPECT_TRUE(end.exited(0)) << end;
    return end.output;
  }
  std::string weft(made_trace t, std::vector<std::string> arguments) {
    t.write(m_tree.root());
    arguments.push_back(m_tree.root());
    return weft(arguments);
  }
  /// Where results go.
  [[nodiscard]] std::string out(const std::string &name) const { return m_out.root() + "/" + name; }
  std::string exported(const made_trace &t, const std::string &format) {
    return weft(t, {"trace", "export", "--format", format});
  }

  test::fake_tree m_tree, m_out;
  std::string m_weft;
};

} // namespace

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
{"ph":"X","pid":1,"tid":1,"ts":150.300,"dur":8.650,"cat":"idle","name":"idle"},
{"ph":"X","pid":1,"tid":1,"ts":158.950,"dur":0.000,"cat":"kernel","name":"off cpu"}
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
1:2:1:1:2:158950:158950:2
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
      R"({"measured_ns":158400,"workers":2,"work_ns":174700,"span_ns":72800,"burdened_span_ns":74600,"predicted":[{"workers":2,"ns":97700,"speedup":1.8547},{"workers":5,"ns":87400,"speedup":2.0732}]}
)");
}

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
Wheel or + and -: zoom. Drag or arrow keys: move. Double click or 0: all. Click, or ] and [: choose a task and see what it waited for and what waited for it. The height of a colour is the share of the time in tasks, its hue the type that had most of it; grey is idleness, red from above the time off the processor. The charts below show the same time.
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
edges:[[1,3],
[2,3],
[3,4],
[3,5],
[8,9],
[8,10],
[8,11],
[9,11],
[9,12]],
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
Wheel or + and -: zoom. Drag or arrow keys: move. Double click or 0: all. Click, or ] and [: choose a task and see what it waited for and what waited for it. The height of a colour is the share of the time in tasks, its hue the type that had most of it; grey is idleness, red from above the time off the processor. The charts below show the same time.
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
      R"({"measured_ns":3117000,"workers":2,"work_ns":3427000,"span_ns":3117000,"burdened_span_ns":3117000,"predicted":[{"workers":2,"ns":3131200,"speedup":1.0967}]}
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

TEST_F(exact, a_report_lies_beside_its_trace) {
  const std::string folder = out("trace");
  ASSERT_EQ(mkdir(folder.c_str(), 0777), 0);
  many_ways().write(folder);
  EXPECT_NE(weft({"report", folder + "//"}).find("the report is in " + folder + ".html\n"),
            std::string::npos);
  EXPECT_EQ(access((folder + ".html").c_str(), R_OK), 0);
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
