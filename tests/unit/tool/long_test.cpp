// SPDX-License-Identifier: Apache-2.0
// Commands that take long: of large traces, interrupted, telling how far they are.
#include "os/file.hpp"
#include "support/babeltrace.hpp"
#include "support/case_process.hpp"
#include "support/text.hpp"
#include "trace/folder.hpp"
#include "trace/record.hpp"

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <map>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

namespace {

using test::contains;

std::string beside(const char *name) {
  const auto program = test::program_path();
  const auto tests = program.substr(0, program.rfind('/'));
  return tests.substr(0, tests.rfind('/')) + "/bin/" + name;
}
bool exists(const std::string &path) { return access(path.c_str(), F_OK) == 0; }
std::string first_line(const std::string &path) {
  std::string line;
  std::getline(std::ifstream(path), line);
  return line;
}

class long_commands : public testing::Test {
 protected:
  void SetUp() override {
    for (const char *program : {"weft", "weft-make-trace"})
      if (!exists(beside(program)))
        GTEST_SKIP() << beside(program) << " was not built";
    char name[] = "/tmp/weft-long-test-XXXXXX";
    m_folder = std::string(mkdtemp(name));
  }
  void TearDown() override {
    if (!m_folder.empty()) {
      EXPECT_EQ(std::system(("rm -rf '" + m_folder + "'").c_str()), 0);
    }
  }
  static test::ending weft(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), beside("weft"));
    return test::run(arguments, {{"WEFT_CONFIG", ""}});
  }
  std::string make(const char *tasks, const char *workers) const {
    const std::string trace = m_folder + "/trace";
    const auto end =
        test::run({beside("weft-make-trace"), "--tasks", tasks, "--workers", workers, trace}, {});
    EXPECT_TRUE(end.exited(0)) << end;
    if (std::strtoul(workers, nullptr, 10) < 1000) // babeltrace2 does not end with 3000 streams
      test::expect_babeltrace_reads(trace);
    return trace;
  }
  /// Names in the folder that begin so.
  std::vector<std::string> named(const std::string &begin) const {
    std::vector<std::string> found;
    for (const auto &entry : std::filesystem::directory_iterator(m_folder))
      if (const std::string name = entry.path().filename(); name.starts_with(begin))
        found.push_back(name);
    return found;
  }
  std::string m_folder;
};

} // namespace

TEST_F(long_commands, a_trace_that_was_made_is_sound_and_its_report_stays_small) {
  const auto trace = make("100000", "64");
  auto end = weft({"trace", "check", trace});
  EXPECT_TRUE(end.exited(0)) << end;
  EXPECT_TRUE(
      contains(end.output, "100000 tasks created = 100000 executed + 0 live, as the counters say"))
      << end;
  end = weft({"report", "--output", m_folder + "/page.html", trace});
  EXPECT_TRUE(end.exited(0)) << end;
  struct stat about{};
  ASSERT_EQ(stat((m_folder + "/page.html").c_str(), &about), 0);
  EXPECT_LT(about.st_size, 5 << 20);
  EXPECT_GT(about.st_size, 2 << 20) << "64 tracks of as many columns as the largest trace has";
}

TEST_F(long_commands, the_report_of_thousands_of_workers_stays_small) {
  EXPECT_TRUE(
      weft({"report", "--output", m_folder + "/page.html", make("40000", "3000")}).exited(0));
  struct stat about{};
  ASSERT_EQ(stat((m_folder + "/page.html").c_str(), &about), 0);
  EXPECT_LT(about.st_size, 5 << 20);
}

TEST_F(long_commands, tell_how_far_they_are_when_asked) {
  const auto trace = make("20000", "4");
  EXPECT_TRUE(contains(weft({"trace", "check", "--progress", trace}).output,
                       "weft: checking the trace: 0 %"));
  EXPECT_FALSE(contains(weft({"trace", "check", trace}).output, "checking the trace"));
  const auto report = weft({"report", "--progress", "--output", m_folder + "/page.html", trace});
  for (const char *phase :
       {"weft: adding up: ", "weft: reading the graph: ", "weft: looking for the critical path: ",
        "weft: replaying on 256 workers: "})
    EXPECT_TRUE(contains(report.output, phase)) << phase << report;
  EXPECT_TRUE(contains(weft({"predict", "--progress", "--workers", "3", trace}).output,
                       "weft: replaying on 3 workers: "));
  EXPECT_TRUE(contains(
      weft({"trace", "export", "--progress", "-f", "csv", "-o", m_folder + "/x.csv", trace}).output,
      "weft: writing CSV: "));
}

TEST_F(long_commands, that_are_interrupted_leave_no_half_file) {
  const auto trace = make("1000", "2");
  const std::string out = m_folder + "/x";
  ASSERT_EQ(mkfifo((out + ".pcf").c_str(), 0600),
            0); // the second of three files: no process reads it, so the command waits
  const pid_t child = fork();
  if (child == 0) {
    std::signal(SIGINT, SIG_DFL); // a shell behind '&' ignores it
    std::FILE *const said = std::freopen((m_folder + "/said").c_str(), "w", stderr);
    execl(beside("weft").c_str(), "weft", "trace", "export", "-f", "paraver", "-o", out.c_str(),
          trace.c_str(), nullptr);
    _exit(said ? 1 : 2);
  }
  for (int i = 0; i < 3000 && named("x.prv.").empty(); ++i)
    usleep(10'000);
  EXPECT_EQ(named("x.prv.").size(), 1u);
  usleep(50'000);
  int status = 0;
  for (int i = 0; i < 3000 && waitpid(child, &status, WNOHANG) == 0;
       ++i) { // again, if it was not yet at the pipe
    kill(child, SIGINT);
    usleep(10'000);
  }
  EXPECT_TRUE((WIFEXITED(status) && WEXITSTATUS(status) == 128 + SIGINT) ||
              (WIFSIGNALED(status) && WTERMSIG(status) == SIGINT))
      << status;
  if (WIFEXITED(status)) {
    EXPECT_EQ(first_line(m_folder + "/said"), "weft: interrupted; nothing was written");
    EXPECT_TRUE(named("x.prv.").empty());
  }
  EXPECT_FALSE(exists(out + ".prv"));
}

TEST_F(long_commands, what_cannot_be_written_leaves_what_was_there) {
  const auto trace = make("1000", "2");
  const std::string page = m_folder + "/" + std::string(250, 'p'); // no longer name fits beside it
  std::ofstream(page) << "old";
  const auto end = weft({"report", "--output", page, trace});
  EXPECT_TRUE(end.exited(1)) << end;
  EXPECT_TRUE(contains(end.output, "cannot be written")) << end;
  EXPECT_EQ(first_line(page), "old");
}

TEST_F(long_commands, end_whatever_a_ring_says) {
  const auto trace = make("1000", "2");
  std::string about = weft::rt::read_file(trace + "/.weft").value_or("");
  const auto state = about.find("\nstate exact\n");
  ASSERT_NE(state, std::string::npos) << about;
  // Only the rings of a program that has not ended its trace are read.
  std::ofstream(trace + "/.weft") << about.replace(state, 13, "\nstate running\n");
  const auto sound = weft({"trace", "info", trace});
  std::string ring(weft::rt::k_ring_head + weft::rt::k_packet_bytes, '\0');
  weft::rt::ring_header head{};
  std::memcpy(head.magic, weft::rt::k_ring_magic, sizeof head.magic);
  head.version = weft::rt::k_ring_version;
  head.packets = 1;
  head.head = UINT64_MAX;
  std::memcpy(ring.data(), &head, sizeof head);
  std::ofstream(weft::rt::ring_path(trace, 0), std::ios::binary) << ring;
  const auto end = test::run({beside("weft"), "trace", "info", trace}, {{"WEFT_CONFIG", ""}},
                             std::chrono::seconds(20));
  EXPECT_TRUE(end.exited(0)) << end;
  EXPECT_EQ(end.output, sound.output);
}

TEST_F(long_commands, write_beside_what_the_user_has_there) {
  const auto trace = make("1000", "2");
  const std::string out = m_folder + "/x";
  std::ofstream(out + ".part") << "mine";
  umask(027);
  const auto end = weft({"trace", "export", "-f", "csv", "-o", out, trace});
  umask(022);
  EXPECT_TRUE(end.exited(0)) << end;
  EXPECT_EQ(first_line(out + ".part"), "mine");
  EXPECT_EQ(named("x").size(), 2u) << "what was begun has the name of the whole";
  struct stat about{};
  ASSERT_EQ(stat(out.c_str(), &about), 0);
  EXPECT_GT(about.st_size, 0);
  EXPECT_EQ(about.st_mode & 0777, 0640u) << "as any new file";
}

TEST_F(long_commands, cut_beside_what_the_user_has_there) {
  const auto trace = make("1000", "2");
  const std::string out = m_folder + "/x";
  ASSERT_TRUE(weft({"trace", "cut", "-o", out + ".part", trace}).exited(0));
  for (int i = 0; i < 2; ++i) { // the second takes the place of the first
    const auto end = weft({"trace", "cut", "-o", out, trace});
    EXPECT_TRUE(end.exited(0)) << end;
  }
  EXPECT_TRUE(weft({"trace", "check", out}).exited(0));
  EXPECT_TRUE(weft({"trace", "check", out + ".part"}).exited(0)) << "a trace of the user's";
  EXPECT_EQ(named("x").size(), 2u);
}

TEST_F(long_commands, that_cut_to_one_name_at_a_time_leave_one_whole_trace) {
  const auto trace = make("20000", "4");
  const std::string out = m_folder + "/x";
  std::vector<pid_t> children;
  for (int i = 0; i < 6; ++i)
    if (children.push_back(fork()); children.back() == 0) {
      execl(beside("weft").c_str(), "weft", "trace", "cut", "-o", out.c_str(), trace.c_str(),
            nullptr);
      _exit(127);
    }
  int written = 0;
  for (const pid_t child : children) {
    int status = -1;
    waitpid(child, &status, 0);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) <= 1) << "1: refused beside another";
    written += status == 0;
  }
  EXPECT_GE(written, 1);
  const auto end = weft({"trace", "check", out});
  EXPECT_TRUE(end.exited(0)) << end;
  EXPECT_TRUE(contains(end.output, "20000 tasks created = 20000 executed")) << end;
  EXPECT_EQ(named("x").size(), 1u);
}

TEST_F(long_commands, paraver_gets_records_in_order_however_many_there_are) {
  const auto trace = make("360000", "4"); // more than are sorted at once
  EXPECT_TRUE(weft({"trace", "export", "-f", "paraver", "-o", m_folder + "/x", trace}).exited(0));
  std::FILE *const in = std::fopen((m_folder + "/x.prv").c_str(), "r");
  ASSERT_NE(in, nullptr);
  char line[300];
  EXPECT_NE(std::fgets(line, sizeof line, in), nullptr);
  std::map<unsigned, unsigned long long> ends;
  unsigned long long last = 0, running = 0;
  while (std::fgets(line, sizeof line, in)) {
    unsigned kind = 0, thread = 0, state = 0;
    unsigned long long at = 0, end = 0;
    ASSERT_EQ(std::sscanf(line, "%u:%u:1:1:%*u:%llu:%llu:%u", &kind, &thread, &at, &end, &state), 5)
        << line;
    ASSERT_GE(at, last) << line;
    last = at;
    if (kind != 1)
      continue;
    ASSERT_GE(at, ends[thread]) << "two states of a thread at once: " << line;
    ends[thread] = end;
    running += state == 1 ? end - at : 0;
  }
  std::fclose(in);
  EXPECT_TRUE(
      weft({"trace", "export", "-f", "chrome", "-o", m_folder + "/x.json", trace}).exited(0));
  std::ifstream json(m_folder + "/x.json");
  double us = 0;
  for (std::string text; std::getline(json, text);)
    if (contains(text, "\"cat\":\"task\""))
      us += std::strtod(text.c_str() + text.find("\"dur\":") + 6, nullptr);
  EXPECT_NEAR(static_cast<double>(running), 1000 * us, 1000) << "nothing was lost where it was cut";
}
