// SPDX-License-Identifier: Apache-2.0
// What the files of exact tests share: traces that no program has run, and the command that reads
// them.
#pragma once

#include "support/fake_tree.hpp"
#include "support/made_trace.hpp"
#include "support/process.hpp"

#include <fstream>
#include <gtest/gtest.h>
#include <iterator>
#include <string>
#include <unistd.h>
#include <vector>

namespace test::exact_traces {

using on = weft::rt::trace_event;
using test::made_trace;
using weft::rt::trace_level;

inline constexpr std::uint16_t k_main = 1, k_one = 2, k_other = 3;
inline constexpr std::uint64_t k_in = 0, k_inout = 2, k_concurrent = 6, k_commutative = 7;

/// Two workers, fifteen tasks of two types that name objects and regions in each way, one of them
/// a child, and one that is suspended; times that no two differences share.
inline made_trace many_ways() {
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
inline made_trace switches() {
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
inline made_trace long_chain() {
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

inline std::string text_of(const std::string &path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
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
  [[nodiscard]] const std::string &program() const { return m_weft; }
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

} // namespace test::exact_traces
