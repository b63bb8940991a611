// SPDX-License-Identifier: Apache-2.0
// Traces of ranks side by side: clocks that differ, messages whose ends belong together, and folders that do not.
#include "support/fake_tree.hpp"
#include "support/made_trace.hpp"
#include "support/process.hpp"

#include "trace/structure.hpp"

#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <fstream>
#include <gtest/gtest.h>
#include <iterator>
#include <spawn.h>
#include <string>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

namespace {

using on = weft::rt::trace_event;
using test::made_trace;
using weft::rt::size_of_message;
using weft::rt::trace_level;
using weft::rt::word_of_message;

enum : std::uint16_t { k_put = 1, k_put_notify, k_notification, k_message };

/// A trace of a rank whose own clock is at `realtime` when it begins, and `offset` from the job's.
made_trace of_rank(int rank, std::uint64_t realtime, std::int64_t offset) {
  made_trace made(trace_level::tasks, {"put", "put_notify", "notification", "message"});
  made.about.pid = 70; // of both, on two hosts
  made.about.clock.realtime_ns = realtime;
  made.about.place = {rank,   2,
                      "j0b",  "node" + std::to_string(rank),
                      offset, offset == 0 ? std::uint64_t{0} : std::uint64_t{1500}};
  return made;
}

class rank_traces : public testing::Test {
 protected:
  void SetUp() override {
    m_weft = test::weft_program();
    if (access(m_weft.c_str(), X_OK) != 0)
      GTEST_SKIP() << m_weft << " was not built (WEFT_TOOLS is OFF)";
  }
  test::ending weft(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), m_weft);
    return test::run(arguments, {{"WEFT_CONFIG", ""}});
  }
  test::ending export_both(made_trace &zero, made_trace &one, const std::string &format) {
    zero.write(m_zero.root());
    one.write(m_one.root());
    return weft({"trace", "export", "-f", format, "-o", m_out.root() + "/out", m_zero.root(),
                 m_one.root()});
  }
  static std::string text_in(const std::string &path) {
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  std::string exported() { return text_in(m_out.root() + "/out"); }
  static std::size_t count(const std::string &text, const std::string &part) {
    std::size_t n = 0;
    for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at + 1))
      ++n;
    return n;
  }

  test::fake_tree m_zero, m_one, m_out;
  std::string m_weft;
};

/// Rank 0 sends at 2 us, and rank 1, which began 1 us later, gets it at 4 us of the job.
struct pair_of_ranks {
  made_trace zero = of_rank(0, 1'000'000, 0), one = of_rank(1, 5'000'000, -3'999'000);
  pair_of_ranks() {
    zero.put(2'000, on::send, 0, k_put_notify, word_of_message(0, 1, 7), size_of_message(800, 3))
        .put(9'000, on::landed, 0, k_put_notify, word_of_message(0, 1, 3), 2'500);
    one.put(1'000, on::awaits, 0, k_notification, word_of_message(1, UINT16_MAX, 7), 2)
        .put(8'000, on::arrived, 0, k_notification, word_of_message(1, 0, 7), 3'000);
  }
};

} // namespace

TEST_F(rank_traces, messages_are_linked_over_aligned_clocks) {
  pair_of_ranks both;
  const auto end = export_both(both.zero, both.one, "chrome");
  EXPECT_TRUE(end.exited(0) && end.printed("clocks of different hosts agree to 2 us")) << end;
  const std::string text = exported();
  for (
      const char *part :
      {R"x("pid":0,"name":"process_name","args":{"name":"rank 0 of 2: made (pid 70 on node0)"})x",
       R"x("pid":1,"name":"process_name","args":{"name":"rank 1 of 2: made (pid 70 on node1)"})x",
       R"x("pid":0,"tid":20000,"name":"thread_name","args":{"name":"messages of rank 0"})x",
       R"x("pid":1,"tid":20001,"name":"thread_name","args":{"name":"messages of rank 1"})x",
       R"x("name":"put_notify 7 to rank 1: 800 bytes, 0.500 us","pid":0,"tid":20000,"ts":2.000})x",
       R"x("name":"notification 7 from rank 0","pid":1,"tid":20001,"ts":4.000})x",
       R"x("name":"waits for 2 of notification 7 from any rank","pid":1,"tid":20001,"ts":2.000})x",
       R"x({"ph":"s","cat":"message","name":"message","id":1,"pid":0,"tid":20000,"ts":2.000})x",
       R"x({"ph":"f","bp":"e","cat":"message","name":"message","id":1,"pid":1,"tid":20001,"ts":4.000})x"})
    EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
}

TEST_F(rank_traces, perfetto_gets_tracks_and_flows_of_all_ranks) {
  pair_of_ranks both;
  ASSERT_TRUE(export_both(both.zero, both.one, "perfetto").exited(0));
  const std::string text = exported();
  for (const char *part : {"rank 0 of 2: made (pid 70 on node0)", "messages of rank 1",
                           "put_notify 7 to rank 1: 800 bytes, 0.500 us"})
    EXPECT_EQ(count(text, part), 1U) << part;
  using namespace std::string_literals;
  EXPECT_EQ(count(text, "\xf9\x02\x01\0\0\0\0\0\0\0"s), 1U); // flow_ids: 1
  EXPECT_EQ(count(text, "\x81\x03\x01\0\0\0\0\0\0\0"s), 1U); // terminating_flow_ids: 1
}

TEST_F(rank_traces, only_ends_of_one_message_are_linked) {
  auto zero = of_rank(0, 0, 0), one = of_rank(1, 0, 0);
  zero.put(1'000, on::send, 0, k_put_notify, word_of_message(0, 1, 7), size_of_message(0, 1))
      .put(2'000, on::send, 0, k_put_notify, word_of_message(0, 1, 8), size_of_message(0, 2))
      .put(3'000, on::send, 0, k_put, word_of_message(0, 1, 0), size_of_message(64, 3))
      .put(4'000, on::send, 0, k_message, word_of_message(0, 1, 0), size_of_message(5, 0))
      .put(5'000, on::send, 0, k_put_notify, word_of_message(0, 1, 7), size_of_message(0, 4))
      .put(6'000, on::landed, 0, k_put, word_of_message(0, 1, 3), 5'000);
  one.put(2'500, on::arrived, 0, k_notification, word_of_message(1, 0, 8), 2'500)
      .put(3'500, on::arrived, 0, k_notification, word_of_message(1, 0, 7), 3'500)
      .put(4'500, on::arrived, 0, k_message, word_of_message(1, 0, 0), 4'500)
      .put(5'500, on::arrived, 0, k_notification, word_of_message(1, 0, 9), 5'500);
  ASSERT_TRUE(export_both(zero, one, "chrome").exited(0));
  const std::string text = exported();
  EXPECT_EQ(count(text, R"x({"ph":"s")x"), 3U)
      << text; // the put, and the second 7, have no other end
  EXPECT_EQ(count(text, R"x({"ph":"f")x"), 3U) << text; // nor has 9
  for (const char *part : {R"x("id":1,"pid":0,"tid":20000,"ts":2.000})x",
                           R"x("id":1,"pid":1,"tid":20001,"ts":2.500})x",
                           R"x("id":2,"pid":0,"tid":20000,"ts":1.000})x",
                           R"x("id":2,"pid":1,"tid":20001,"ts":3.500})x",
                           R"x("id":3,"pid":0,"tid":20000,"ts":4.000})x",
                           R"x("id":3,"pid":1,"tid":20001,"ts":4.500})x",
                           R"x("name":"put to rank 1: 64 bytes, 2.000 us")x",
                           R"x("name":"put_notify 7 to rank 1","pid")x",
                           R"x("name":"message to rank 1: 5 bytes","pid")x",
                           R"x("name":"message from rank 0","pid")x"})
    EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
}

TEST_F(rank_traces, a_record_of_a_send_that_came_late_has_the_time_of_its_begin) {
  auto zero = of_rank(0, 0, 0), one = of_rank(1, 0, 0);
  zero.put(5'000, on::send, 0, k_put_notify, word_of_message(0, 1, 7), size_of_message(8, 3))
      .put(5'000, on::began, 0, k_put_notify, word_of_message(0, 1, 3), 1'000)
      .put(5'000, on::began, 0, k_put_notify, word_of_message(0, 1, 4), 500) // of none
      .put(6'000, on::landed, 0, k_put_notify, word_of_message(0, 1, 3), 2'500);
  one.put(2'000, on::arrived, 0, k_notification, word_of_message(1, 0, 7), 2'000);
  ASSERT_TRUE(export_both(zero, one, "chrome").exited(0));
  const std::string text = exported();
  for (
      const char *part :
      {R"x("name":"put_notify 7 to rank 1: 8 bytes, 1.500 us","pid":0,"tid":20000,"ts":1.000})x",
       R"x("id":1,"pid":0,"tid":20000,"ts":1.000})x", R"x("id":1,"pid":1,"tid":20001,"ts":2.000})x"})
    EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
  EXPECT_EQ(text.find(R"x("ts":0.500)x"), std::string::npos) << text;
}

// Contexts that are made in each other have supersteps of the same numbers, with a mark above 24 bits.
TEST_F(rank_traces, supersteps_of_several_contexts_are_told_apart) {
  const std::vector<std::string> names{"lpf_sync"};
  made_trace zero(trace_level::tasks, names), one(trace_level::tasks, names);
  for (auto *const made : {&zero, &one})
    made->about.place = {made == &zero ? 0 : 1, 2, "j0b", "node", 0, 0};
  constexpr std::uint32_t k_outer = 0x12000002, k_inner = 0x34000002;
  zero.put(1'000, on::send, 0, 1, word_of_message(0, 1, k_outer), size_of_message(40, 1))
      .put(2'000, on::send, 0, 1, word_of_message(0, 1, k_inner), size_of_message(48, 2));
  one.put(3'000, on::arrived, 0, 1, word_of_message(1, 0, k_inner), 3'000)
      .put(4'000, on::arrived, 0, 1, word_of_message(1, 0, k_outer), 4'000);
  ASSERT_TRUE(export_both(zero, one, "chrome").exited(0));
  const std::string text = exported();
  for (const char *part :
       {R"x("id":1,"pid":0,"tid":20000,"ts":2.000})x",
        R"x("id":1,"pid":1,"tid":20001,"ts":3.000})x",
        R"x("id":2,"pid":0,"tid":20000,"ts":1.000})x",
        R"x("id":2,"pid":1,"tid":20001,"ts":4.000})x",
        R"x("name":"lpf_sync 2 to rank 1: 40 bytes")x", R"x("name":"lpf_sync 2 from rank 0")x"})
    EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
}

TEST_F(rank_traces, messages_of_lpf_are_linked_by_name_and_superstep) {
  const std::vector<std::string> names{"lpf_put", "lpf_get", "lpf_sync", "talpf_sync"};
  enum : std::uint16_t { put = 1, get, sync, task_sync };
  made_trace zero(trace_level::tasks, names), one(trace_level::tasks, names);
  for (auto *const made : {&zero, &one})
    made->about.place = {made == &zero ? 0 : 1, 2, "j0b", "node", 0, 0};
  zero.put(1'000, on::send, 0, put, word_of_message(0, 1, 3), size_of_message(64, 1))
      .put(1'100, on::send, 0, sync, word_of_message(0, 1, 3), size_of_message(40, 2))
      .put(1'200, on::send, 0, get, word_of_message(0, 1, 3), size_of_message(8, 3))
      .put(1'300, on::awaits, 0, sync, word_of_message(0, UINT16_MAX, 3), 1)
      .put(1'400, on::awaits, 0, task_sync, word_of_message(0, UINT16_MAX, 4), 0)
      .put(1'500, on::send, 0, put, word_of_message(0, 1, 4), size_of_message(64, 4));
  one.put(2'000, on::arrived, 0, sync, word_of_message(1, 0, 3), 2'000)
      .put(2'100, on::arrived, 0, put, word_of_message(1, 0, 3), 2'100)
      .put(2'200, on::arrived, 0, put, word_of_message(1, 0, 5), 2'200); // of a superstep without a send
  ASSERT_TRUE(export_both(zero, one, "chrome").exited(0));
  const std::string text = exported();
  EXPECT_EQ(count(text, R"x({"ph":"s")x"), 2U) << text;
  EXPECT_EQ(count(text, R"x({"ph":"f")x"), 2U) << text;
  for (const char *part : {R"x("id":1,"pid":0,"tid":20000,"ts":1.100})x",
                           R"x("id":1,"pid":1,"tid":20001,"ts":2.000})x",
                           R"x("id":2,"pid":0,"tid":20000,"ts":1.000})x",
                           R"x("id":2,"pid":1,"tid":20001,"ts":2.100})x",
                           R"x("name":"lpf_put 3 to rank 1: 64 bytes")x",
                           R"x("name":"waits for 1 of lpf_sync 3 from any rank")x",
                           R"x("name":"waits for talpf_sync 4 from any rank")x"})
    EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
}

TEST_F(rank_traces, ranks_of_one_process_are_told_apart) {
  made_trace both(trace_level::tasks, {"put", "put_notify", "notification", "message"});
  both.put(1'000, on::send, 4, k_put_notify, word_of_message(0, 1, 7), size_of_message(0, 1))
      .put(2'000, on::arrived, 0, k_notification, word_of_message(1, 0, 7), 2'000);
  both.write(m_zero.root());
  const auto end = weft({"trace", "export", "-f", "chrome", m_zero.root()});
  EXPECT_TRUE(end.exited(0) &&
              end.printed(R"x("pid":1,"name":"process_name","args":{"name":"made"})x") &&
              end.printed(R"x("id":1,"pid":1,"tid":20000,"ts":1.000})x") &&
              end.printed(R"x("id":1,"pid":1,"tid":20001,"ts":2.000})x"))
      << end;
  EXPECT_TRUE(weft({"trace", "check", m_zero.root()}).exited(0));
}

TEST_F(rank_traces, what_does_not_belong_together_is_refused) {
  pair_of_ranks both;
  both.one.about.place.job = "other";
  auto end = export_both(both.zero, both.one, "chrome");
  EXPECT_TRUE(end.exited(1) && end.printed("are traces of different jobs; give those of one"))
      << end;
  both.one.about.place.job = "j0b";
  both.one.about.place.rank = 0;
  end = export_both(both.zero, both.one, "chrome");
  EXPECT_TRUE(end.exited(1) && end.printed("are both of rank 0; give one of them")) << end;
  both.one.about.place = {};
  end = export_both(both.zero, both.one, "chrome");
  EXPECT_TRUE(end.exited(1) && end.printed("is the trace of no rank of a job; give it alone"))
      << end;
  end = export_both(both.zero, both.one, "csv");
  EXPECT_TRUE(end.exited(2) && end.printed("trace export --format csv takes one trace")) << end;
}

TEST_F(rank_traces, what_may_be_wrong_is_said) {
  pair_of_ranks both;
  both.one.discarded = 5;
  auto end = export_both(both.zero, both.one, "chrome");
  EXPECT_TRUE(end.printed("rank 1 has discarded records: messages may be linked wrongly")) << end;
  end = weft({"trace", "info", m_one.root()});
  EXPECT_TRUE(end.printed(
      "rank       1 of 2 on node1, job j0b; clock +3999.000 us from the job's, within 1.500 us\n"))
      << end;
}

TEST_F(rank_traces, a_report_of_all_ranks_tells_who_computes_and_who_sends) {
  auto zero = of_rank(0, 0, 0), one = of_rank(1, 0, 0);
  const std::uint16_t type = 1; // of the tasks: any
  zero.put(1'000, on::begin, 0, type, 1)
      .put(1'500, on::send, 0, k_put_notify, word_of_message(0, 1, 7), size_of_message(800, 1))
      .put(2'000, on::send, 0, k_put_notify, word_of_message(0, 1, 7), size_of_message(200, 2))
      .put(2'100, on::send, 0, k_put, word_of_message(0, 1, 0), size_of_message(2'000'000, 3))
      .put(7'000, on::end, 0, type, 1);
  one.put(1'000, on::begin, 0, type, 1)
      .put(2'000, on::end, 0, type, 1)
      .put(3'500, on::arrived, 0, k_notification, word_of_message(1, 0, 7), 3'500)
      .put(9'000, on::arrived, 0, k_notification, word_of_message(1, 0, 7), 9'000)
      .put(9'500, on::send, 0, k_message, word_of_message(1, 0, 0), size_of_message(5, 0));
  zero.write(m_zero.root());
  one.write(m_one.root());
  const std::string page = m_out.root() + "/job.html";
  const auto end = weft({"report", "-o", page, m_one.root() + "/", m_zero.root()});
  for (const char *part :
       {"The work is uneven: rank 0 has 6.0 us in tasks, 1.71 times the mean, and rank 1 has 1.0 us.\n",
        "Messages: 4 operations with 2.0 MB; most from rank 0 to rank 1, 2.0 MB.\n"})
    EXPECT_TRUE(end.printed(part)) << part << end;
  EXPECT_TRUE(end.exited(0) && end.printed("the report is in " + page + ", and that of each rank"))
      << end;
  const std::string all = text_in(page);
  for (const char *part :
       {"<title>2 ranks - Weft</title>", "<td>0<td>1<td>3<td>2.0 MB<td>7.0 us<td>7.0 us</tr>",
        "<td>1<td>0<td>1<td>5 B<td>-<td>-</tr>", "The work is uneven"})
    EXPECT_NE(all.find(part), std::string::npos) << part << "\n" << all;
  EXPECT_LT(all.find("rank 0 of 2: made"), all.find("rank 1 of 2: made"));
  const std::string name = m_zero.root().substr(m_zero.root().rfind('/') + 1);
  EXPECT_NE(all.find("<a href=\"../" + name + ".html\">rank 0 of 2: made (pid 70 on node0)</a>"),
            std::string::npos)
      << all;
  EXPECT_NE(text_in(m_zero.root() + ".html").find("<title>made - Weft</title>"), std::string::npos);
  EXPECT_NE(text_in(m_one.root() + ".html").find("<title>made - Weft</title>"), std::string::npos);
  EXPECT_NE(text_in(m_zero.root() + ".html").find("<td>0<td>1<td>3<td>2.0 MB<td>7.0 us"),
            std::string::npos);
  const std::string other = text_in(m_one.root() + ".html");
  EXPECT_NE(other.find("<td>1<td>0<td>1<td>5 B<td>-<td>-</tr>"), std::string::npos);
  EXPECT_EQ(other.find("2.0 MB"), std::string::npos) << "which rank 0 has sent";
  unlink((m_zero.root() + ".html").c_str());
  unlink((m_one.root() + ".html").c_str());
}

TEST_F(rank_traces, a_report_of_one_rank_lists_its_messages) {
  pair_of_ranks both;
  both.zero.write(m_zero.root());
  const std::string page = m_out.root() + "/one.html";
  const auto end = weft({"report", "-o", page, m_zero.root()});
  EXPECT_TRUE(end.exited(0) &&
              end.printed("Messages: 1 operation with 800 B; most from rank 0 to rank 1, 800 B."))
      << end;
  EXPECT_NE(text_in(page).find("<td>0<td>1<td>1<td>800 B<td>-<td>-</tr>"), std::string::npos);
}

TEST_F(rank_traces, reports_of_traces_without_messages_have_no_table) {
  made_trace made(trace_level::tasks, {"work"});
  made.put(1'000, on::begin, 0, 1, 1).put(2'000, on::end, 0, 1, 1);
  made.write(m_zero.root());
  const std::string page = m_out.root() + "/one.html";
  const auto end = weft({"report", "-o", page, m_zero.root()});
  EXPECT_TRUE(end.exited(0) && !end.printed("Messages")) << end;
  EXPECT_EQ(text_in(page).find("<h2>Messages"), std::string::npos);
}

TEST_F(rank_traces, reports_refuse_what_does_not_belong_together) {
  pair_of_ranks both;
  both.one.about.place.job = "other";
  both.zero.write(m_zero.root());
  both.one.write(m_one.root());
  auto end = weft({"report", m_zero.root(), m_one.root()});
  EXPECT_TRUE(end.exited(1) && end.printed("are traces of different jobs; give those of one"))
      << end;
  both.one.about.place.job = "j0b";
  both.one.write(m_one.root());
  end = weft({"report", "-o", m_one.root() + ".html", m_zero.root(), m_one.root()});
  EXPECT_TRUE(end.exited(2) && end.printed("is the page of one rank; give --output another name"))
      << end;
  unlink((m_zero.root() + ".html").c_str());
}

TEST_F(rank_traces, even_work_is_said_and_the_page_has_the_common_name) {
  for (const int rank : {0, 1}) {
    auto made = of_rank(rank, 0, 0);
    made.put(1'000, on::begin, 0, k_put, 1).put(3'000, on::end, 0, k_put, 1);
    const std::string folder = m_out.root() + "/heat." + std::to_string(30 + rank);
    ASSERT_EQ(mkdir(folder.c_str(), 0700), 0);
    made.write(folder);
  }
  const auto end = weft({"report", m_out.root() + "/heat.30", m_out.root() + "/heat.31"});
  EXPECT_TRUE(end.exited(0) &&
              end.printed("The work is even: each rank has 2.0 us to 2.0 us in tasks.\n"
                          "Workers idle for "))
      << end;
  EXPECT_FALSE(end.printed("Messages")) << end;
  EXPECT_NE(text_in(m_out.root() + "/heat.ranks.html").find("<a href=\"heat.31.html\">rank 1 of 2"),
            std::string::npos);
}

namespace {

/// Runs a program without its output, and returns how much memory it has had at most, in kB; -1 when it has failed.
long memory_of(const std::vector<std::string> &command) {
  std::vector<char *> words;
  for (const std::string &word : command)
    words.push_back(const_cast<char *>(word.c_str()));
  words.push_back(nullptr);
  posix_spawn_file_actions_t quiet;
  posix_spawn_file_actions_init(&quiet);
  posix_spawn_file_actions_addopen(&quiet, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  // AddressSanitizer keeps 256 MB of freed memory.
  const char *const given = std::getenv("ASAN_OPTIONS");
  std::string little = std::string("ASAN_OPTIONS=") + (given ? given : "") + ":quarantine_size_mb=1";
  std::vector<char *> settings{little.data()};
  for (char **one = environ; *one; ++one)
    if (std::strncmp(*one, "ASAN_OPTIONS=", 13) != 0)
      settings.push_back(*one);
  settings.push_back(nullptr);
  pid_t child = 0;
  const int failed = posix_spawn(&child, words[0], &quiet, nullptr, words.data(), settings.data());
  posix_spawn_file_actions_destroy(&quiet);
  int status = 0;
  rusage used{};
  if (failed != 0 || wait4(child, &status, 0, &used) != child || status != 0)
    return -1;
  return used.ru_maxrss;
}

} // namespace

// A timeline of ten workers has 600,000 cells, 9.6 MB: of all ranks there are no more.
TEST_F(rank_traces, a_report_of_many_ranks_keeps_no_tables_of_each) {
  constexpr int k_ranks = 14;
  std::vector<std::string> command{m_weft, "report"};
  std::vector<long> used;
  for (int rank = 0; rank != k_ranks; ++rank) {
    auto made = of_rank(rank, 0, 0);
    made.about.place.size = k_ranks;
    for (unsigned slot = 0; slot != 10; ++slot)
      made.put(1'000 + slot, on::begin, slot + 1, k_put, 1, 0, slot)
          .put(3'000 + slot, on::end, slot + 1, k_put, 1, 0, slot);
    const std::string folder = m_out.root() + "/heat." + std::to_string(30 + rank);
    ASSERT_EQ(mkdir(folder.c_str(), 0700), 0);
    made.write(folder);
    command.push_back(folder);
    if (rank == 1 || rank + 1 == k_ranks)
      used.push_back(memory_of(command));
  }
  ASSERT_GT(used[0], 0);
  ASSERT_GT(used[1], 0);
  EXPECT_LT(used[1] - used[0], 50'000) << "kB more for twelve ranks more";
  const std::string page = text_in(m_out.root() + "/heat.ranks.html");
  EXPECT_NE(page.find("\"13: "), std::string::npos) << "a track of the last rank";
}

namespace {

enum : std::uint16_t { k_stencil = 1, k_answer, k_sent, k_come };

/// A rank whose tasks are of level graph.
made_trace of_rank_with_graph(int rank) {
  made_trace made(trace_level::graph, {"stencil", "other", "put_notify", "notification"});
  made.about.workers = 1;
  made.about.place = {rank, 2, "j0b", "node", 0, 0};
  return made;
}

/// Returns the text of a page without its tags, a row of a table per line.
std::string rows_of(const std::string &page) {
  std::string text;
  for (std::size_t at = page.find("<h2>Critical path"); at < page.size(); ++at) {
    if (page[at] != '<') {
      text += page[at];
      continue;
    }
    const std::size_t end = page.find('>', at);
    const std::string tag = page.substr(at + 1, end - at - 1);
    text += tag == "td" || tag == "th" ? "|" : tag == "tr" ? "\n" : "";
    at = end;
  }
  return text;
}

class job_paths : public rank_traces {
 protected:
  test::ending report(made_trace &zero, made_trace &one) {
    zero.write(m_zero.root());
    one.write(m_one.root());
    const std::string page = m_out.root() + "/job.html";
    const auto end = weft({"report", "-o", page, m_zero.root(), m_one.root()});
    m_page = text_in(page);
    unlink((m_zero.root() + ".html").c_str());
    unlink((m_one.root() + ".html").c_str());
    return end;
  }
  void expect_rows(const std::vector<std::string> &rows) {
    const std::string text = rows_of(m_page);
    for (const std::string &row : rows)
      EXPECT_NE(text.find("\n" + row), std::string::npos) << row << "\nin\n" << text;
  }
  std::string m_page;
};

} // namespace

// Rank 0 computes to 3 us and sends; rank 1 waits from 2 us on, gets it at 5 us, goes on at 6 us and ends at
// 10 us. Rank 0 has a longer task of its own, but ends sooner.
TEST_F(job_paths, lead_from_a_suspended_task_to_the_sender) {
  auto zero = of_rank_with_graph(0), one = of_rank_with_graph(1);
  zero.put(1'000, on::begin, 7, k_stencil)
      .put(3'000, on::send, 7, k_sent, word_of_message(0, 1, 9), size_of_message(8, 1))
      .put(8'500, on::end, 7, k_stencil);
  one.put(1'200, on::begin, 5, k_answer)
      .put(1'900, on::awaits, 5, k_come, word_of_message(1, UINT16_MAX, 9), 1)
      .put(2'000, on::suspend, 5, 0, 12, 0)
      .put(5'500, on::arrived, 0, k_come, word_of_message(1, 0, 9), 5'000)
      .put(6'000, on::resume, 5)
      .put(10'000, on::end, 5, k_answer);
  const auto end = report(zero, one);
  EXPECT_TRUE(
      end.exited(0) &&
      end.printed("The critical path takes 9.0 us: 67 % of it is computing, 22 % waiting for 1 message, and 11 % the runtime.\n"
                  "Most of the critical path is 'other' at rank 1: 44 %.\n"))
      << end;
  expect_rows({"|0|2.0 us|22.2 %|22.2 %|0.0 %|0.0 %", "|1|7.0 us|77.8 %|44.4 %|22.2 %|11.1 %",
               "|'other' at rank 1|1|4.0 us|44.4 %", "|'stencil' at rank 0|1|2.0 us|22.2 %",
               "|messages from rank 0 to rank 1|1|2.0 us|22.2 %",
               "|the runtime at rank 1|1|1.0 us|11.1 %"});
  // The timeline: both tracks over the job's time, and the bodies of the path in their order.
  for (const char *part :
       {"names:[\"0: worker 0\",\"1: worker 0\"]", "tasks:[0,0,0,2000,0,1,1,5000,4000,1]",
        "edges:[[0,1]]", "<canvas id=time", "id=path checked", "data-drawn"})
    if (std::string(part) == "data-drawn")
      EXPECT_NE(m_page.find("dataset.drawn"), std::string::npos);
    else
      EXPECT_NE(m_page.find(part), std::string::npos) << part << "\n" << m_page;
}

// What a worker does in the meantime holds the path, even though the message came earlier.
TEST_F(job_paths, stay_at_a_rank_whose_worker_is_busy_when_the_message_comes) {
  auto zero = of_rank_with_graph(0), one = of_rank_with_graph(1);
  zero.put(1'000, on::begin, 7, k_stencil)
      .put(3'000, on::send, 7, k_sent, word_of_message(0, 1, 9), size_of_message(8, 1))
      .put(3'500, on::end, 7, k_stencil);
  one.put(1'000, on::begin, 5, k_answer)
      .put(1'900, on::awaits, 5, k_come, word_of_message(1, 0, 9), 1)
      .put(2'000, on::suspend, 5, 0, 12, 0)
      .put(2'000, on::begin, 6, k_stencil)
      .put(5'000, on::arrived, 0, k_come, word_of_message(1, 0, 9), 5'000)
      .put(8'000, on::end, 6, k_stencil)
      .put(8'500, on::resume, 5)
      .put(10'000, on::end, 5, k_answer);
  const auto end = report(zero, one);
  EXPECT_TRUE(end.printed("The critical path takes 9.0 us: 94 % of it is computing, 0 % waiting for 0 messages, and 6 % the runtime.\n"
                          "Most of the critical path is 'stencil' at rank 1: 67 %.\n"))
      << end;
  expect_rows({"|0|0 ns|0.0 %|0.0 %|0.0 %|0.0 %", "|'other' at rank 1|2|2.5 us|27.8 %"});
}

// A task that is tied to notifications ends its body at 2 us; its successor is ready when the second of them,
// not one of another number, has come. The creator has waited for its children meanwhile.
TEST_F(job_paths, follow_tied_tasks_successors_and_waits_for_children) {
  auto zero = of_rank_with_graph(0), one = of_rank_with_graph(1);
  zero.put(1'000, on::begin, 7, k_stencil)
      .put(1'500, on::send, 7, k_sent, word_of_message(0, 1, 9), size_of_message(8, 1))
      .put(4'000, on::send, 7, k_sent, word_of_message(0, 1, 9), size_of_message(8, 2))
      .put(4'100, on::send, 7, k_sent, word_of_message(0, 1, 8), size_of_message(8, 3))
      .put(4'500, on::end, 7, k_stencil);
  one.put(1'000, on::begin, 5, k_answer)
      .put(1'200, on::create, 6, k_answer, 5)
      .put(1'200, on::access, 6, k_answer, 64, std::uint64_t{2} << 32 | 8)
      .put(1'300, on::create, 8, k_stencil, 5)
      .put(1'300, on::access, 8, k_stencil, 64, std::uint64_t{2} << 32 | 8)
      .put(1'500, on::begin, 6, k_answer, 5)
      .put(1'900, on::awaits, 6, k_come, word_of_message(1, UINT16_MAX, 9), 2)
      .put(2'000, on::end, 6, k_answer)
      .put(2'500, on::arrived, 0, k_come, word_of_message(1, 0, 9), 2'500)
      .put(6'000, on::arrived, 0, k_come, word_of_message(1, 0, 9), 6'000)
      .put(6'400, on::arrived, 0, k_come, word_of_message(1, 0, 8), 6'400)
      .put(6'500, on::begin, 8, k_stencil, 5)
      .put(8'500, on::end, 8, k_stencil)
      .put(8'600, on::waited, 5, 0, 1'400)
      .put(9'000, on::end, 5, k_answer);
  const auto end = report(zero, one);
  // 3 us of rank 0, 2 on the way, 0.5 until it begins, 2 of it, 0.1 until its parent goes on, 0.4 of that.
  EXPECT_TRUE(end.printed("The critical path takes 8.0 us: 68 % of it is computing, 25 % waiting for 1 message, and 8 % the runtime.\n"
                          "Most of the critical path is 'stencil' at rank 0: 38 %.\n"))
      << end;
  expect_rows({"|'stencil' at rank 0|1|3.0 us|37.5 %", "|'stencil' at rank 1|1|2.0 us|25.0 %",
               "|messages from rank 0 to rank 1|1|2.0 us|25.0 %",
               "|the runtime at rank 1|2|600 ns|7.5 %", "|'other' at rank 1|1|400 ns|5.0 %"});
}

// An operation of its own that a task waits for is a message, too, to the rank that it was for; a thread of LPF
// stands still until all of a superstep has come.
TEST_F(job_paths, know_operations_that_end_and_threads_of_lpf) {
  made_trace zero(trace_level::graph, {"main", "put", "lpf_sync"});
  made_trace one(trace_level::graph, {"main", "put", "lpf_sync"});
  for (auto *const made : {&zero, &one})
    made->about.place = {made == &zero ? 0 : 1, 2, "j0b", "node", 0, 0};
  zero.put(0, on::root, 1, 1)
      .put(3'000, on::send, 1, 3, word_of_message(0, 1, 3), size_of_message(40, 2))
      .put(3'200, on::end, 1, 1);
  one.put(1'000, on::root, 1, 1)
      .put(2'000, on::awaits, 1, 3, word_of_message(1, UINT16_MAX, 3), 1)
      .put(4'200, on::arrived, 1, 3, word_of_message(1, 0, 3), 4'000)
      .put(6'000, on::send, 1, 2, word_of_message(1, 0, 0), size_of_message(64, 5))
      .put(6'000, on::suspend, 1, 0, 3, 0)
      .put(7'500, on::landed, 1, 2, word_of_message(1, 0, 5), 7'000)
      .put(7'500, on::resume, 1)
      .put(8'000, on::end, 1, 1);
  const auto end = report(zero, one);
  EXPECT_TRUE(end.printed("The critical path takes 8.0 us: 69 % of it is computing, 25 % waiting for 2 messages, and 6 % the runtime.\n"))
      << end;
  expect_rows({"|'main' at rank 0|1|3.0 us|37.5 %", "|'main' at rank 1|2|2.5 us|31.2 %",
               "|messages from rank 0 to rank 1|2|2.0 us|25.0 %",
               "|the runtime at rank 1|1|500 ns|6.2 %"});
}

TEST_F(job_paths, take_traces_that_hold_the_graph_whole) {
  auto zero = of_rank_with_graph(0), one = of_rank_with_graph(1);
  for (auto *const made : {&zero, &one})
    made->put(1'000, on::begin, 1, k_stencil).put(2'000, on::end, 1, k_stencil);
  one.about.level = trace_level::tasks;
  auto end = report(zero, one);
  EXPECT_TRUE(end.exited(0) && !end.printed("The critical path takes") &&
              end.printed("note: no critical path: the trace of rank 1 does not hold the graph of tasks; write the traces with trace.level=graph\n"))
      << end;
  EXPECT_NE(m_page.find("names:[\"0: worker 0\",\"1: worker 0\"]"), std::string::npos);
  EXPECT_EQ(m_page.find("id=path"), std::string::npos);
  one.about.level = trace_level::graph;
  one.discarded = 3;
  end = report(zero, one);
  EXPECT_TRUE(end.exited(0) && end.printed("note: no critical path: rank 1 has discarded records; a larger trace.buffer keeps more of them\n"))
      << end;
}

TEST_F(job_paths, count_the_idle_time_of_workers_alone) {
  auto zero = of_rank_with_graph(0), one = of_rank_with_graph(1);
  for (auto *const made : {&zero, &one}) {
    made->put(0, on::begin, 1, k_stencil).put(6'000, on::end, 1, k_stencil);
    made->put(6'000, on::idle, 0).put(8'000, on::busy, 0).put(8'000, on::begin, 2, k_stencil);
    made->put(10'000, on::end, 2, k_stencil);
    for (const unsigned spare : {1U, 2U})
      made->put(0, on::idle, 0, 0, 0, 0, spare).put(10'000, on::busy, 0, 0, 0, 0, spare);
  }
  const auto end = report(zero, one);
  EXPECT_TRUE(end.printed("Workers idle for 20 % of their time at rank 0, and for 20 % at rank 0.\n"))
      << end;
}

// A task that begins on its creator's worker at the tick of its creation was not let go on by itself.
TEST_F(job_paths, go_on_at_the_creator_of_a_task_that_begins_at_once) {
  auto zero = of_rank_with_graph(0), one = of_rank_with_graph(1);
  zero.put(1'000, on::begin, 7, k_stencil).put(1'500, on::end, 7, k_stencil);
  one.put(1'000, on::begin, 5, k_answer)
      .put(2'000, on::create, 6, k_stencil, 5)
      .put(2'000, on::end, 5, k_answer)
      .put(2'000, on::begin, 6, k_stencil, 5)
      .put(9'000, on::end, 6, k_stencil);
  const auto end = report(zero, one);
  EXPECT_TRUE(end.printed(
      "The critical path takes 8.0 us: 100 % of it is computing, 0 % waiting for 0 messages, and 0 % the runtime.\n"))
      << end;
  expect_rows({"|'stencil' at rank 1|1|7.0 us|87.5 %", "|'other' at rank 1|1|1.0 us|12.5 %"});
}

// A branch that a thief takes has no record of a creation: the path goes on at the task that joins it, which
// runs then, or stands still.
TEST_F(job_paths, go_from_a_stolen_branch_to_the_task_that_joins_it) {
  for (const bool stands_still : {false, true}) {
    auto zero = of_rank_with_graph(0), one = of_rank_with_graph(1);
    zero.put(1'000, on::begin, 7, k_stencil).put(1'500, on::end, 7, k_stencil);
    one.put(1'000, on::begin, 5, k_answer);
    if (stands_still)
      one.put(1'500, on::suspend, 5, 0, 12, 0).put(2'500, on::resume, 5);
    one.put(2'000, on::begin, 9, k_stencil, 0, weft::rt::flags_of_branch(5), 1)
        .put(8'000, on::end, 9, 0, weft::rt::k_branch, 0, 1)
        .put(8'100, on::waited, 5, 0, 3'000, weft::rt::k_branch_of_join)
        .put(9'000, on::end, 5, k_answer);
    const auto end = report(zero, one);
    EXPECT_TRUE(end.printed(
        stands_still
            ? "The critical path takes 8.0 us: 92 % of it is computing, 0 % waiting for 0 messages, and 8 % the runtime.\n"
            : "The critical path takes 8.0 us: 99 % of it is computing, 0 % waiting for 0 messages, and 1 % the runtime.\n"))
        << end;
    expect_rows({"|'stencil' at rank 1|1|6.0 us|75.0 %",
                 stands_still ? "|'other' at rank 1|2|1.4 us|17.5 %" : "|'other' at rank 1|2|1.9 us|23.8 %"});
  }
}

// A thread of LPF stands still from 1 us to 9 us; what else it waited for meanwhile lies in that.
TEST_F(job_paths, find_the_longer_of_two_pauses_that_lie_in_each_other) {
  made_trace zero(trace_level::graph, {"main", "lpf_sync"});
  made_trace one(trace_level::graph, {"main", "lpf_sync"});
  for (auto *const made : {&zero, &one})
    made->about.place = {made == &zero ? 0 : 1, 2, "j0b", "node", 0, 0};
  zero.put(1'000, on::root, 1, 1)
      .put(8'500, on::send, 1, 2, word_of_message(0, 1, 3), size_of_message(40, 2))
      .put(8'600, on::end, 1, 1);
  one.put(500, on::root, 1, 1)
      .put(1'000, on::awaits, 1, 2, word_of_message(1, UINT16_MAX, 3), 1)
      .put(3'000, on::waited, 1, 0, 2'000)
      .put(4'000, on::suspend, 1, 0, 3, 0)
      .put(5'000, on::resume, 1)
      .put(9'000, on::arrived, 1, 2, word_of_message(1, 0, 3), 9'000)
      .put(9'700, on::waited, 1, 0, 9'500)
      .put(10'000, on::end, 1, 1);
  const auto end = report(zero, one);
  // 0.3 and 0.5 us of rank 1, with a pause between them, 0.5 on the way, 7.5 us of rank 0.
  EXPECT_TRUE(end.printed(
      "The critical path takes 9.0 us: 92 % of it is computing, 6 % waiting for 1 message, and 2 % the runtime.\n"))
      << end;
  expect_rows({"|'main' at rank 0|1|7.5 us|83.3 %", "|'main' at rank 1|2|800 ns|8.9 %"});
}

// Of a message from a rank without a trace of its send, the path does not know where it came from.
TEST_F(job_paths, stay_at_a_rank_when_the_sender_is_not_known) {
  auto zero = of_rank_with_graph(0), one = of_rank_with_graph(1);
  zero.put(1'000, on::begin, 7, k_stencil).put(1'500, on::end, 7, k_stencil);
  one.put(1'000, on::begin, 5, k_answer)
      .put(1'900, on::awaits, 5, k_come, word_of_message(1, 0, 9), 1)
      .put(2'000, on::suspend, 5, 0, 12, 0)
      .put(2'000, on::begin, 6, k_stencil)
      .put(4'000, on::end, 6, k_stencil)
      .put(5'000, on::arrived, 0, k_come, word_of_message(1, 0, 9), 5'000)
      .put(6'000, on::resume, 5)
      .put(9'000, on::end, 5, k_answer);
  const auto end = report(zero, one);
  EXPECT_TRUE(end.printed(
      "The critical path takes 8.0 us: 75 % of it is computing, 0 % waiting for 0 messages, and 25 % the runtime.\n"))
      << end;
  expect_rows({"|'other' at rank 1|2|4.0 us|50.0 %", "|'stencil' at rank 1|1|2.0 us|25.0 %"});
}

// Clocks that are wrong by their doubt: two messages that were sent and came at one time, each behind the other.
TEST_F(job_paths, end_where_two_messages_are_behind_each_other) {
  auto zero = of_rank_with_graph(0), one = of_rank_with_graph(1);
  for (auto *const made : {&zero, &one}) {
    const int own = made == &zero ? 0 : 1, other = 1 - own;
    made->put(1'000, on::begin, 5, k_answer)
        .put(1'900, on::awaits, 5, k_come, word_of_message(own, other, 9), 1)
        .put(2'000, on::suspend, 5, 0, 12, 0)
        .put(3'000, on::arrived, 0, k_come, word_of_message(own, other, 9), 3'000)
        .put(3'000, on::resume, 5)
        .put(3'000, on::send, 5, k_sent, word_of_message(own, other, 9), size_of_message(8, 1))
        .put(own == 0 ? 4'000 : 5'000, on::end, 5, k_answer);
  }
  const auto end = report(zero, one);
  EXPECT_TRUE(end.printed(
      "The critical path takes 2.0 us: 100 % of it is computing, 0 % waiting for 0 messages, and 0 % the runtime.\n"))
      << end;
}
