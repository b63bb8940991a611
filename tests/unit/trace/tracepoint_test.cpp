// SPDX-License-Identifier: Apache-2.0
// What tracefs says of sched_switch, and what Weft reports where it may not read tracefs.
#include "support/fake_tree.hpp"
#include "trace/record.hpp"
#include "trace/tracepoint.hpp"

#include <cstring>
#include <gtest/gtest.h>
#include <string>

namespace {

using namespace weft::rt;

constexpr char k_format[] = "name: sched_switch\nID: 316\nformat:\n"
                            "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
                            "\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"
                            "\tfield:char prev_comm[16];\toffset:8;\tsize:16;\tsigned:0;\n"
                            "\tfield:pid_t prev_pid;\toffset:24;\tsize:4;\tsigned:1;\n"
                            "\tfield:int prev_prio;\toffset:28;\tsize:4;\tsigned:1;\n"
                            "\tfield:long prev_state;\toffset:32;\tsize:8;\tsigned:1;\n"
                            "\tfield:char next_comm[16];\toffset:40;\tsize:16;\tsigned:0;\n"
                            "\tfield:pid_t next_pid;\toffset:56;\tsize:4;\tsigned:1;\n"
                            "\tfield:int next_prio;\toffset:60;\tsize:4;\tsigned:1;\n";

void put(test::fake_tree &tree, const std::string &mount, const char *format) {
  tree.put(mount + "/events/sched/sched_switch/id", "316\n");
  tree.put(mount + "/events/sched/sched_switch/format", format);
}

TEST(tracepoint, is_read_as_tracefs_describes_it) {
  for (const char *mount : {"/sys/kernel/tracing", "/sys/kernel/debug/tracing"}) {
    test::fake_tree tree;
    put(tree, mount, k_format);
    std::string why;
    const auto t = find_switch_tracepoint(tree.root(), why);
    ASSERT_TRUE(t) << why;
    EXPECT_EQ(t->id, 316u);
    char record[64] = {};
    const std::int32_t next = 4711;
    const std::int64_t state = 2;
    std::memcpy(record + 56, &next, sizeof next);
    std::memcpy(record + 32, &state, sizeof state);
    const auto facts = read_switch(*t, record, sizeof record);
    ASSERT_TRUE(facts);
    EXPECT_EQ(facts->next_pid, 4711u);
    EXPECT_EQ(facts->state, 2u);
    EXPECT_FALSE(read_switch(*t, record, 59)) << "cut off";
  }
}

TEST(tracepoint, that_cannot_be_read_is_absent_with_the_reason) {
  test::fake_tree tree;
  std::string why;
  EXPECT_FALSE(find_switch_tracepoint(tree.root(), why));
  EXPECT_NE(why.find("sched_switch/id: No such file"), std::string::npos) << why;
  put(tree, "/sys/kernel/tracing", "field:int something_else;\toffset:8;\tsize:4;\n");
  EXPECT_FALSE(find_switch_tracepoint(tree.root(), why));
  EXPECT_NE(why.find("is not understood"), std::string::npos) << why;
}

TEST(tracepoint, its_records_are_of_the_kernel) {
  EXPECT_TRUE(is_of_kernel(trace_event::replaced) && is_of_kernel(trace_event::switched_in));
  EXPECT_FALSE(is_of_kernel(trace_event::begin));
}

} // namespace
