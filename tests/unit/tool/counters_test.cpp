// SPDX-License-Identifier: Apache-2.0
// weft list, get, top and run --counters, of a program that runs, was killed, or never used Weft.
#include "observe/layout.hpp"
#include "observe/segment.hpp"
#include "support/case_process.hpp"
#include "support/fake_tree.hpp"
#include "support/listener.hpp"
#include "support/process.hpp"
#include "support/scale.hpp"
#include "support/soon.hpp"
#include "support/text.hpp"

#include <algorithm>
#include <arpa/inet.h>
#include <cctype>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <gtest/gtest.h>

#include <iterator>
#include <netinet/in.h>
#include <optional>
#include <pty.h>
#include <set>
#include <sstream>
#include <string>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <weft/counters.hpp>
#include <weft/weft.hpp>

namespace {

using test::contains;
using test::weft_program;

class counter_tools : public testing::Test {
 protected:
  void SetUp() override {
    if (access(weft_program().c_str(), X_OK) != 0)
      GTEST_SKIP() << weft_program() << " was not built (WEFT_TOOLS is OFF)";
  }
  void TearDown() override {
    if (m_child > 0 && !test::is_child()) {
      stop();
      unlink(weft::rt::segment_path(m_child).c_str());
    }
  }

  static test::ending weft(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), weft_program());
    return test::run(arguments, {{"WEFT_CONFIG", ""}});
  }

  /// A program that has run `tasks` and goes on, one every millisecond or so, until it is killed.
  std::string start(bool goes_on = false, bool has_waiting = false, const char *mode = "direct",
                    int tasks = 100, std::string name = "weft_unit_tool") {
    int ready[2];
    EXPECT_EQ(pipe(ready), 0);
    m_child = fork();
    if (m_child == 0) {
      program_invocation_short_name = name.data();
      setenv("WEFT_WORKERS", "2", 1);
      setenv("WEFT_MANAGE_MODE", mode, 1);
      setenv("WEFT_MANAGE_BACKLOG", "0", 1); // else there is nothing to post
      static weft::counters::counter own("/app/own", "of the test");
      const auto run = [](int n) {
        weft::task_group g;
        for (int i = 0; i < n; ++i)
          g.spawn([] { ++own; });
        g.wait();
      };
      run(tasks);
      if (has_waiting) {
        static int x;
        weft::spawn([] { weft::this_task::block(); }, weft::out(x));
        weft::spawn([] { ++x; }, weft::inout(x));
        while (weft::counters::take().value("/threads/count/instantaneous/waiting") <
               1) // until all has come to rest
          usleep(1000);
      }
      static_cast<void>(weft::counters::take()); // what is published is of now
      if (write(ready[1], "x", 1) != 1)
        _exit(1);
      for (;;) {
        usleep(1000);
        if (goes_on)
          run(1);
      }
    }
    char c = 0;
    EXPECT_EQ(read(ready[0], &c, 1), 1);
    close(ready[0]);
    close(ready[1]);
    return std::to_string(m_child);
  }
  void stop() {
    if (m_stopped)
      return;
    m_stopped = true;
    kill(m_child, SIGKILL);
    waitpid(m_child, nullptr, 0);
  }

  pid_t m_child = -1;
  bool m_stopped = false;
};

} // namespace

TEST_F(counter_tools, get_reads_a_running_and_a_killed_program) {
  const auto pid = start();
  for (const bool killed : {false, true}) {
    if (killed)
      stop();
    auto end = weft({"get", "--json", pid,
                     "/threads/count/cumulative,/app/own,/arithmetics/add@/app/own,/app/own"});
    EXPECT_TRUE(end.exited(0)) << end;
    EXPECT_TRUE(contains(
        end.output,
        "\"/threads/count/cumulative\":100,\"/app/own\":100,\"/arithmetics/add@/app/own,/app/own\":200}}"))
        << end;
    EXPECT_TRUE(contains(end.output, killed ? "\"running\":false" : "\"running\":true")) << end;
    end = weft({"list", "--csv"});
    EXPECT_TRUE(contains(end.output, pid + ",weft_unit_tool," + (killed ? "killed" : "running")))
        << end;
  }
}

/// Writes a segment that asks its reader for as many numbers as any may.
void write_largest_segment(const std::string &path, unsigned pid) {
  using namespace weft::rt;
  segment_header h{};
  std::memcpy(h.magic, k_segment_magic, sizeof h.magic);
  h.version = k_segment_version;
  h.pid = pid;
  h.state = static_cast<std::uint32_t>(segment_state::running);
  h.entry_bytes = sizeof(catalogue_entry);
  h.entry_limit = h.entries = 64;
  h.block_bytes = k_block_head;
  h.block_limit = h.blocks = (1 << 16) - 1;
  h.catalogue_offset = h.process_offset = k_header_bytes;
  h.block_offset = h.catalogue_offset + h.entry_limit * sizeof(catalogue_entry);
  std::string text(h.block_offset + std::size_t{h.block_bytes} * h.block_limit, '\0');
  std::memcpy(text.data(), &h, sizeof h);
  for (std::size_t i = 0; i < h.block_limit; ++i)
    text[h.block_offset + h.block_bytes * i] = static_cast<char>(block_kind::worker);
  std::ofstream(path) << text;
}

TEST_F(counter_tools, list_leaves_out_a_program_that_needs_more_memory_than_there_is) {
  if (test::k_sanitized)
    GTEST_SKIP() << "RLIMIT_AS: sanitizers reserve terabytes";
  constexpr unsigned k_nobody = 999'999'999; // no process has that number
  const test::fake_tree tree;
  const std::string folder = tree.root() + "/weft";
  ASSERT_EQ(mkdir(folder.c_str(), 0700), 0);
  write_largest_segment(folder + "/weft." + std::to_string(k_nobody), k_nobody);
  const auto list = [&tree](const char *limit) {
    return test::run({"/bin/sh", "-c", std::string("ulimit -v ") + limit + " && exec " + weft_program() + " list"},
                     {{"WEFT_CONFIG", ""}, {"XDG_RUNTIME_DIR", tree.root()}});
  };
  const auto whole = list("unlimited"), little = list("65536");
  EXPECT_TRUE(whole.exited(0) && whole.printed("999999999")) << whole;
  EXPECT_TRUE(little.exited(0) && !little.printed("999999999")) << little;
}

TEST_F(counter_tools, get_repeats_and_subtracts) {
  const auto pid = start();
  const auto end = weft({"get", "--every", "20ms", "--times", "3", "--delta", "--csv", pid,
                         "/threads/count/cumulative,/threads{worker#*}/idle-rate"});
  EXPECT_TRUE(end.exited(0)) << end;
  EXPECT_EQ(std::count(end.output.begin(), end.output.end(), '\n'), 4) << end;
  EXPECT_TRUE( // and the same of spares, should the watcher have added any
      contains(
          end.output,
          "seconds,\"/threads/count/cumulative\",\"/threads{worker#0}/idle-rate [%]\",\"/threads{worker#1}/idle-rate [%]\""))
      << end;
  EXPECT_EQ(std::strtod(end.output.c_str() +
                            end.output.find(',', end.output.rfind('\n', end.output.size() - 2)) + 1,
                        nullptr),
            0)
      << "not what it had run before: " << end;
}

/// The next line of numbers that a tool prints: its second column; -1 at the end.
double next_delta(std::FILE *from) {
  char line[400];
  if (!std::fgets(line, sizeof line, from))
    return -1;
  const char *const comma = std::strchr(line, ',');
  return comma ? std::strtod(comma + 1, nullptr) : -1;
}

TEST_F(counter_tools, statistics_of_get_begin_with_the_time_since_the_start) {
  const std::string pid = start();
  const auto end = weft({"get", pid, "/statistics{/threads/count/cumulative}/max"});
  EXPECT_TRUE(end.exited(0)) << end;
  const auto at = end.output.find("/max");
  ASSERT_NE(at, std::string::npos) << end;
  EXPECT_GE(std::strtod(end.output.c_str() + at + 4, nullptr), 100) << end;
}

TEST_F(counter_tools, get_does_not_make_up_for_missed_intervals) {
  constexpr int k_lines = 20;
  constexpr double k_every = 0.05, k_pause = 1;
  const std::string pid = start();
  int lines[2];
  ASSERT_EQ(pipe(lines), 0);
  const pid_t child = fork();
  if (child == 0) {
    dup2(lines[1], 1);
    execl(weft_program().c_str(), "weft", "get", "--csv", "--every", "50ms", "--times", "20",
          pid.c_str(), "/threads/count/cumulative", nullptr);
    _exit(127);
  }
  close(lines[1]);
  std::FILE *const in = fdopen(lines[0], "r");
  char line[300];
  ASSERT_NE(std::fgets(line, sizeof line, in), nullptr) << "the names";
  ASSERT_NE(std::fgets(line, sizeof line, in), nullptr);
  const double first = std::strtod(line, nullptr);
  kill(child, SIGSTOP);
  int status = 0;
  waitpid(child, &status, WUNTRACED);
  if (WIFSTOPPED(status)) { // else this test was as slow as the command
    usleep(static_cast<useconds_t>(k_pause * 1e6));
    kill(child, SIGCONT);
  }
  double last = first;
  int read = 1;
  for (; std::fgets(line, sizeof line, in); ++read)
    last = std::strtod(line, nullptr);
  std::fclose(in);
  EXPECT_EQ(read, k_lines);
  if (!WIFSTOPPED(status))
    GTEST_SKIP() << "the command ended before it was stopped";
  waitpid(child, nullptr, 0);
  // Two lines may come with the pause: the one that was due, and the first of the new intervals.
  EXPECT_GE(last - first, k_pause + (k_lines - 4) * k_every);
}

TEST_F(counter_tools, get_tells_what_was_counted_since_the_line_before) {
  int ready[2], go[2];
  ASSERT_EQ(pipe(ready) | pipe(go), 0);
  m_child = fork();
  if (m_child == 0) {
    setenv("WEFT_WORKERS", "2", 1);
    static weft::counters::counter own("/app/own", "of the test");
    close(go[1]);
    for (char n = 100;;) {
      weft::task_group g;
      for (int i = 0; i < n; ++i)
        g.spawn([] { ++own; });
      g.wait();
      static_cast<void>(weft::counters::take()); // what is published is of now
      if (write(ready[1], "x", 1) != 1 || read(go[0], &n, 1) != 1)
        _exit(0);
    }
  }
  char c = 0;
  ASSERT_EQ(read(ready[0], &c, 1), 1);
  std::FILE *const rows = popen(
      (weft_program() + " get --every 20ms --delta --csv " + std::to_string(m_child) + " /app/own")
          .c_str(),
      "r");
  ASSERT_NE(rows, nullptr);
  char head[400];
  ASSERT_NE(std::fgets(head, sizeof head, rows), nullptr);
  EXPECT_TRUE(contains(head, "/app/own")) << head;
  EXPECT_EQ(next_delta(rows), 0) << "not what it had run before";
  for (const char n : {7, 3}) {
    ASSERT_EQ(write(go[1], &n, 1), 1);
    ASSERT_EQ(read(ready[0], &c, 1), 1);
    double sum = 0;
    for (double d = 0; sum < n && d >= 0; sum += d)
      d = next_delta(rows);
    EXPECT_EQ(sum, n);
    EXPECT_EQ(next_delta(rows), 0);
  }
  stop();
  while (next_delta(rows) >= 0) {
  }
  EXPECT_EQ(pclose(rows), 0) << "it ends with the program";
  for (const int file : {ready[0], ready[1], go[0], go[1]})
    close(file);
}

/// How many columns each line of numbers has.
std::set<std::ptrdiff_t> widths_of_lines(const std::string &text) {
  std::set<std::ptrdiff_t> columns;
  std::istringstream all(text);
  for (std::string line; std::getline(all, line);)
    if (line.starts_with("seconds,") || std::isdigit(static_cast<unsigned char>(line[0])))
      columns.insert(std::count(line.begin(), line.end(), ','));
  return columns;
}

TEST_F(counter_tools, get_keeps_the_columns_of_csv_when_a_thread_comes) {
  int ready[2], go[2];
  ASSERT_EQ(pipe(ready) | pipe(go), 0);
  m_child = fork();
  if (m_child == 0) {
    setenv("WEFT_WORKERS", "2", 1);
    weft::start();
    char c = 'x';
    if (write(ready[1], &c, 1) != 1 || read(go[0], &c, 1) != 1)
      _exit(1);
    std::thread([&] {
      weft::spawn([] {});
      weft::taskwait();
      if (write(ready[1], &c, 1) != 1)
        _exit(1);
      pause();
    }).join();
  }
  char c = 0;
  ASSERT_EQ(read(ready[0], &c, 1), 1);
  const std::string all = testing::TempDir() + "weft_columns_" + std::to_string(getpid());
  const pid_t getter = fork();
  if (getter == 0) {
    if (!std::freopen(all.c_str(), "w", stdout) || dup2(1, 2) < 0)
      _exit(1);
    execl(weft_program().c_str(), "weft", "get", "--csv", "--every", "5ms",
          std::to_string(m_child).c_str(),
          "/threads{worker#*}/count/executed,/threads/count/executed", nullptr);
    _exit(1);
  }
  std::string text;
  const auto lines = [&] {
    std::ifstream in(all);
    text.assign(std::istreambuf_iterator<char>(in), {});
    return std::count(text.begin(), text.end(), '\n');
  };
  EXPECT_TRUE(test::soon([&] { return lines() >= 2; }));
  ASSERT_EQ(write(go[1], &c, 1), 1);
  ASSERT_EQ(read(ready[0], &c, 1), 1);
  const auto before = lines();
  EXPECT_TRUE(test::soon([&] { return lines() >= before + 3; }));
  stop();
  waitpid(getter, nullptr, 0);
  static_cast<void>(lines());
  EXPECT_EQ(widths_of_lines(text).size(), 1u) << text;
  const std::string number = "'/threads{worker#2}/count/executed' came after the first line";
  EXPECT_TRUE(contains(text, "weft: " + number)) << text;
  EXPECT_EQ(text.find(number), text.rfind(number)) << text;
  unlink(all.c_str());
  for (const int file : {ready[0], ready[1], go[0], go[1]})
    close(file);
}

TEST_F(counter_tools, a_file_that_is_cut_while_it_is_read_ends_no_command_by_a_signal) {
  start();
  const std::string path = weft::rt::segment_path(m_child),
                    out = testing::TempDir() + "weft_cut_" + std::to_string(m_child);
  const pid_t watcher = fork();
  if (watcher == 0) {
    if (!std::freopen(out.c_str(), "w", stdout) || dup2(1, 2) < 0)
      _exit(1);
    execl(weft_program().c_str(), "weft", "top", "--every", "10ms", std::to_string(m_child).c_str(),
          nullptr);
    _exit(1);
  }
  std::string text;
  EXPECT_TRUE(test::soon([&] {
    std::ifstream in(out);
    return contains(text.assign(std::istreambuf_iterator<char>(in), {}), "per second");
  }));
  kill(m_child, SIGSTOP); // its own words would be gone
  EXPECT_EQ(truncate(path.c_str(), 4096), 0);
  int status = 0;
  waitpid(watcher, &status, 0);
  EXPECT_TRUE(WIFEXITED(status)) << "signal " << WTERMSIG(status);
  unlink(out.c_str());
}

TEST_F(counter_tools, a_file_that_says_it_is_another_programs_is_not_listed) {
  const auto pid = start();
  stop();
  const std::string path = weft::rt::segment_path(m_child),
                    copy = path.substr(0, path.rfind('.')) + ".2147480001";
  std::ofstream(copy, std::ios::binary) << std::ifstream(path, std::ios::binary).rdbuf();
  const auto all = weft({"list", "--csv"});
  unlink(copy.c_str());
  const auto first = all.output.find("\n" + pid + ",");
  EXPECT_NE(first, std::string::npos) << all;
  EXPECT_EQ(all.output.find("\n" + pid + ",", first + 1), std::string::npos) << all;
}

TEST_F(counter_tools, what_cannot_be_written_ends_the_command) {
  if (access("/dev/full", W_OK) != 0)
    GTEST_SKIP() << "there is no /dev/full";
  const std::string pid = start();
  for (const std::string &command : {"get --every 5ms " + pid + " '*'", "get " + pid + " '*'",
                                    "top --every 5ms " + pid, "list " + pid, std::string("list")}) {
    const auto end = test::run_as_it_is(
        {"/bin/sh", "-c", weft_program() + " " + command + " >/dev/full"}, {{"WEFT_CONFIG", ""}});
    EXPECT_TRUE(end.exited(1)) << command << ": " << end;
    EXPECT_TRUE(contains(end.output, "weft: cannot write the output: No space left on device"))
        << end;
  }
}

TEST_F(counter_tools, names_of_programs_cannot_change_the_screen) {
  const auto pid = start(false, false, "direct", 100, "a\033[2J\nb");
  stop();
  const std::string left = weft::rt::segment_path(m_child) + ".waits";
  std::ofstream(left) << "weft waits 1\t0\nnote\tn\033ote\nnode\t0\twa\033its\nnode\t0\tother\n"
                         "edge\t0\t1\t1\tfor\033this\nplace\t0\tat\033\nstate\t1\tru\033ns\n"
                         "stack\t0\tf\033()\ndecision\td\033\n";
  const auto waits = weft({"dump", pid}), why = weft({"why", pid, "wa\\x1bits"}),
             unknown = weft({"why", pid, "wa\\x1bit"});
  unlink(left.c_str());
  for (const char *part : {"n\\x1bote", "wa\\x1bits", "for\\x1bthis", "at\\x1b", "ru\\x1bns",
                           "f\\x1b()", "d\\x1b"})
    EXPECT_TRUE(contains(waits.output, part)) << part << " is missing in " << waits;
  EXPECT_TRUE(why.exited(0)) << why;
  EXPECT_TRUE(contains(unknown.output, "did you mean 'wa\\x1bits'?")) << unknown;
  const auto csv = weft({"list", "--csv"}), json = weft({"list", "--json"}), text = weft({"list"}),
             get = weft({"get", pid, "/app/own"}), top = weft({"top", "--once", pid}),
             dump = weft({"dump", pid});
  EXPECT_TRUE(contains(csv.output, pid + ",a\\x1b[2J\\x0ab,killed,")) << csv;
  EXPECT_TRUE(contains(json.output, "\"program\":\"a\\u001b[2J\\u000ab\",")) << json;
  EXPECT_TRUE(contains(text.output, pid + "  a\\x1b[2J\\x0ab ")) << text;
  EXPECT_TRUE(get.output.starts_with("# a\\x1b[2J\\x0ab (pid ")) << get;
  EXPECT_TRUE(top.output.starts_with("a\\x1b[2J\\x0ab (pid ")) << top;
  EXPECT_TRUE(dump.output.starts_with("a\\x1b[2J\\x0ab (pid ")) << dump;
  for (const auto *end : {&csv, &json, &text, &get, &top, &dump, &waits, &why, &unknown})
    EXPECT_FALSE(contains(end->output, "\033")) << *end;
}

/// What a program writes on a terminal. When it has shown a page it gets what is typed, or the signal.
std::optional<std::string> on_a_terminal(const std::vector<std::string> &words,
                                         const std::string &variable, const std::string &typed = "",
                                         int signal = 0, int *status = nullptr) {
  int terminal = -1;
  const pid_t child = forkpty(&terminal, nullptr, nullptr, nullptr);
  if (child < 0)
    return std::nullopt;
  if (child == 0) {
    setenv("TERM", "xterm", 1);
    unsetenv("NO_COLOR");
    if (!variable.empty())
      putenv(strdup(variable.c_str()));
    std::vector<char *> arguments;
    for (const auto &word : words)
      arguments.push_back(const_cast<char *>(word.c_str()));
    arguments.push_back(nullptr);
    execv(arguments[0], arguments.data());
    _exit(127);
  }
  std::string text;
  char piece[4096];
  bool has_shown = false;
  for (ssize_t n = 0; (n = read(terminal, piece, sizeof piece)) > 0;) {
    text.append(piece, static_cast<std::size_t>(n));
    if (has_shown || !contains(text, "per second"))
      continue;
    has_shown = true;
    EXPECT_EQ(write(terminal, typed.data(), typed.size()), std::ssize(typed));
    if (signal != 0)
      kill(child, signal);
  }
  close(terminal);
  waitpid(child, status, 0);
  return text;
}

TEST_F(counter_tools, top_is_coloured_on_terminals_that_show_it) {
  const auto pid = start();
  auto words = test::command(weft_program());
  words.insert(words.end(), {"top", "--once", "--every", "20ms", pid});
  if (words[0] != weft_program())
    GTEST_SKIP() << "the emulator's terminal is another one";
  const auto shown = on_a_terminal(words, "");
  if (!shown)
    GTEST_SKIP() << "no terminal can be had here";
  const std::string &text = *shown;
  EXPECT_TRUE(contains(text, "\033[1mweft_unit_tool (pid " + pid + ")")) << text;
  EXPECT_TRUE(contains(text, "[\033[0m\033[") && contains(text, "\033[2m")) << "bars" << text;
  EXPECT_FALSE(contains(*on_a_terminal(words, "NO_COLOR=1"), "\033[1m"));
  EXPECT_FALSE(contains(*on_a_terminal(words, "TERM=dumb"), "\033[1m"));
  EXPECT_TRUE(contains(text, "\033[1m  id  kind")) << text;
  const auto end = weft({"top", "--once", "--every", "20ms", pid});
  EXPECT_FALSE(contains(end.output, "\033")) << "a pipe shows none";
}

TEST_F(counter_tools, top_gives_the_terminal_back_however_it_ends) {
  const auto pid = start();
  auto words = test::command(weft_program());
  words.insert(words.end(), {"top", "--every", "20ms", pid});
  if (words[0] != weft_program())
    GTEST_SKIP() << "the emulator's terminal is another one";
  for (const char *key : {"q", "\003", "\033"}) {
    int status = -1;
    const auto shown = on_a_terminal(words, "", key, 0, &status);
    if (!shown)
      GTEST_SKIP() << "no terminal can be had here";
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << *key << status;
    EXPECT_TRUE(shown->ends_with("\033[?25h\033[?1049l")) << *key << *shown;
  }
  for (const int signal : {SIGTERM, SIGHUP, SIGINT}) {
    int status = -1;
    const auto shown = on_a_terminal(words, "", "", signal, &status);
    EXPECT_TRUE(shown->ends_with("\033[?25h\033[?1049l")) << signal << *shown;
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 128 + signal) << signal << ": " << status;
  }
}

TEST_F(counter_tools, top_shortens_large_numbers_and_its_json_is_whole) {
  const auto pid = start(false, false, "direct", 23'456);
  stop(); // what it shows then is of all that has run
  const auto end = weft({"top", "--once", pid});
  EXPECT_TRUE(contains(end.output, " 23.5k ")) << end;
  const std::string json = weft({"top", "--once", "--json", pid}).output;
  EXPECT_TRUE(contains(json, "\"/threadqueue/length\":0},{\"id\":1,\"kind\":\"worker\"")) << json;
  int open = 0;
  for (const char c : json) {
    open += (c == '{' || c == '[') - (c == '}' || c == ']');
    EXPECT_GE(open, 0) << json;
  }
  EXPECT_EQ(open, 0) << json;
}

TEST_F(counter_tools, list_quotes_names_where_the_format_needs_it) {
  const auto pid = start(false, false, "direct", 100, "a,\"b\"");
  stop();
  const auto csv = weft({"list", "--csv"}), json = weft({"list", "--json"}), text = weft({"list"});
  EXPECT_TRUE(contains(csv.output, pid + ",\"a,\"\"b\"\"\",killed,")) << csv;
  EXPECT_TRUE(contains(json.output, "\"pid\":" + pid + ",\"program\":\"a,\\\"b\\\"\",")) << json;
  EXPECT_TRUE(contains(text.output, pid + "  a,\"b\" ")) << text;
}

TEST_F(counter_tools, list_explains_the_counters_of_a_program) {
  const auto pid = start();
  const auto end = weft({"list", pid});
  EXPECT_TRUE(end.exited(0)) << end;
  for (const char *line : {"/threads/idle-rate", "(Eq. 1)", "/app/own", "of the test",
                           "not counted: set counters.hardware=true"})
    EXPECT_TRUE(contains(end.output, line)) << line << " is missing in " << end;
  EXPECT_EQ(weft({"list", pid, "/app/*"}).output.find("/threads"), std::string::npos);
}

TEST_F(counter_tools, top_tells_why_workers_idle) {
  auto pid = start();
  test::ending end;
  const auto look_for = [&](const std::string &reason) { // a worker that gets no processor is not idle yet
    for (int i = 0; i != 100 && !contains(end.output, reason); ++i)
      end = weft({"top", "--once", "--every", "100ms", pid});
    EXPECT_TRUE(contains(end.output, reason)) << end;
  };
  look_for("idle    no task has begun in this time, and none is in the graph; `weft dump " + pid);
  EXPECT_TRUE(contains(weft({"top", "--once", "--json", "--every", "100ms", pid}).output,
                       "\"idle_reason\":\"stands-still\""));
  stop();
  unlink(weft::rt::segment_path(m_child).c_str());
  m_stopped = false;
  pid = start(false, true, "distributed");
  look_for("idle    no task is ready: 1 wait for data or for others; `weft dump " + pid);
  EXPECT_TRUE(contains(end.output, "manage  0 messages sent, ")) << end;
}

TEST_F(counter_tools, top_shows_task_types) {
  int ready[2];
  ASSERT_EQ(pipe(ready), 0);
  m_child = fork();
  if (m_child == 0) {
    setenv("WEFT_WORKERS", "2", 1);
    setenv("WEFT_COUNTERS_TIME", "exact", 1); // each task is a sample
    for (bool first = true;; first = false) {
      weft::task_group g;
      for (int i = 0; i < 30; ++i)
        g.spawn([] {}, weft::label("tiny"));
      for (int i = 0; i < 10; ++i)
        g.spawn([] { usleep(300); }, weft::label("a \"large\" one"));
      g.wait();
      if (first && write(ready[1], "x", 1) != 1)
        _exit(1);
    }
  }
  char c = 0;
  ASSERT_EQ(read(ready[0], &c, 1), 1);
  close(ready[0]);
  close(ready[1]);
  const std::string pid = std::to_string(m_child);
  stop(); // what it shows then is of all that has run
  auto end = weft({"top", "--once", "--json", pid});
  const auto large = end.output.find("\"types\":[{\"name\":\"a \\\"large\\\" one\",\"tasks\":"),
             tiny = end.output.find("{\"name\":\"tiny\"");
  ASSERT_NE(large, std::string::npos) << "first, for it takes most of the time: " << end;
  ASSERT_NE(tiny, std::string::npos) << end;
  const auto number = [&end](std::size_t from, const char *key) {
    return std::strtod(end.output.c_str() + end.output.find(key, from) + std::strlen(key), nullptr);
  };
  EXPECT_GT(number(large, "\"mean_ns\":"), 300'000) << end;
  EXPECT_GT(number(large, "\"share\":"), 0.5) << end;
  EXPECT_GT(number(tiny, "\"tasks\":"), number(large, "\"tasks\":")) << end;
  end = weft({"top", "--once", pid});
  EXPECT_TRUE(contains(end.output, "task types ") && contains(end.output, "  tiny  ") &&
              contains(end.output, "  a \"large\" one  "))
      << end;
}

TEST_F(counter_tools, top_shows_an_interval) {
  const auto pid = start(true);
  auto end = weft({"top", "--once", "--every", "100ms", pid});
  EXPECT_TRUE(end.exited(0)) << end;
  for (const char *part :
       {"weft_unit_tool (pid ", "per second", "% tasks [", "   0  worker  ", "   1  worker  "})
    EXPECT_TRUE(contains(end.output, part)) << part << " is missing in " << end;
  end = weft({"top", "--once", "--json", "--every", "100ms", pid});
  EXPECT_TRUE(end.exited(0)) << end;
  for (const char *part :
       {"\"pid\":", "\"values\":{\"/", "\"/threads/count/cumulative\":", "\"types\":[",
        "\"idle_reason\":\"", "\"grains\":[",
        "\"workers\":[{\"id\":0,\"kind\":\"worker\",\"state\":\"", "{\"id\":1,", "]}\n"})
    EXPECT_TRUE(contains(end.output, part)) << part << " is missing in " << end;
  stop();
  end = weft({"top", "--once", pid});
  EXPECT_TRUE(end.exited(0)) << end;
  EXPECT_TRUE(contains(end.output, "KILLED")) << end;
}

TEST_F(counter_tools, tell_that_a_program_has_ended_or_crashed_while_they_watched_it) {
  for (const bool crashes : {false, true}) {
    int ready[2], go[2];
    ASSERT_EQ(pipe(ready) | pipe(go), 0);
    m_child = fork();
    if (m_child == 0) {
      const auto run = [] {
        weft::task_group g;
        g.spawn([] {});
        g.wait();
      };
      run();
      char c = 0;
      if (write(ready[1], "x", 1) != 1 || read(go[0], &c, 1) != 1)
        _exit(1);
      crashes ? static_cast<void>(raise(SIGKILL)) : std::exit(0);
    }
    char c = 0;
    ASSERT_EQ(read(ready[0], &c, 1), 1);
    const pid_t watcher = fork();
    if (watcher == 0) {
      const std::string out = testing::TempDir() + "weft_watched_" + std::to_string(m_child);
      if (!std::freopen(out.c_str(), "w", stdout))
        _exit(1);
      execl(weft_program().c_str(), "weft", "top", "--every", "50ms",
            std::to_string(m_child).c_str(), nullptr);
      _exit(1);
    }
    const std::string out = testing::TempDir() + "weft_watched_" + std::to_string(m_child);
    std::string text;
    const auto read_all = [&] {
      std::ifstream in(out);
      return text.assign(std::istreambuf_iterator<char>(in), {}), text;
    };
    for (int i = 0; i < 1000 && !contains(read_all(), "weft_unit_tool (pid "); ++i)
      usleep(20'000);
    EXPECT_EQ(write(go[1], "x", 1), 1);
    int status = 0;
    waitpid(m_child, &status, 0);
    waitpid(watcher, &status, 0);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
    EXPECT_TRUE(contains(read_all(), crashes ? "KILLED" : "ENDED")) << text;
    unlink(out.c_str());
    unlink(weft::rt::segment_path(m_child).c_str());
    const auto end = weft({"get", std::to_string(m_child), "*"});
    EXPECT_TRUE(end.exited(1) && contains(end.output, "there is no program with pid")) << end;
    EXPECT_TRUE(contains(weft({"gdb", "--batch", std::to_string(m_child)}).output,
                         "there is no program with pid"));
    m_child = -1;
    for (const int file : {ready[0], ready[1], go[0], go[1]})
      close(file);
  }
}

TEST_F(counter_tools, say_clearly_why_there_is_nothing_to_read) {
  const std::string mine = std::to_string(getpid());
  for (const char *command : {"get", "list", "top"}) {
    std::vector<std::string> words{command, mine};
    if (command == std::string("get"))
      words.emplace_back("/threads/*");
    auto end = weft(words);
    EXPECT_TRUE(end.exited(1)) << end;
    EXPECT_TRUE(contains(end.output, "shows no counters: it does not use Weft")) << end;
    words[1] = "2147483600";
    end = weft(words);
    EXPECT_TRUE(end.exited(1)) << end;
    EXPECT_TRUE(contains(end.output, "there is no program with pid 2147483600")) << end;
    words[1] = "x";
    EXPECT_TRUE(weft(words).exited(1));
  }
  const auto pid = start();
  const auto end = weft({"get", pid, "/threads/count/cumulatve"});
  EXPECT_TRUE(end.exited(1)) << end;
  EXPECT_TRUE(contains(end.output, "did you mean '/threads/count/cumulative'")) << end;
  EXPECT_TRUE(weft({"get", pid}).exited(2));
  EXPECT_TRUE(weft({"get", "--every", "soon", pid, "*"}).exited(2));
  EXPECT_TRUE(weft({"top", "--always"}).exited(2));
}

TEST_F(counter_tools, run_prints_counters_at_intervals_and_at_the_end) {
  const auto sample = test::in_process({}, [] { // what is run below
    if (!std::getenv("WEFT_COUNTERS_PRINT"))
      return;
    const test::listener printed;
    for (int i = 0; i < 20; ++i) {
      weft::task_group g;
      for (int k = 0; k < 10; ++k)
        g.spawn([] {});
      g.wait();
    }
    if (std::getenv("WEFT_COUNTERS_INTERVAL")) { // the head, and some intervals, however late they come
      EXPECT_TRUE(test::soon([&] {
        const std::string text = printed.heard();
        return std::count(text.begin(), text.end(), '\n') >= 4;
      }));
    }
  });
  EXPECT_TRUE(sample.exited(0)) << sample;
  const std::vector<std::string> program{
      test::program_path(),
      "--gtest_filter=counter_tools.run_prints_counters_at_intervals_and_at_the_end"};
  std::vector<std::string> words{
      weft_program(),        "run",  "--counters",   "/threads/count/cumulative,/threads/idle-rate",
      "--interval",          "10ms", "--exact-time", "--set",
      "counters.format=csv", "--"};
  words.insert(words.end(), program.begin(), program.end());
  auto end = test::run(words, {{"TEST_CHILD", "1"}, {"WEFT_CONFIG", ""}});
  EXPECT_TRUE(end.exited(0)) << end;
  EXPECT_TRUE(
      contains(end.output, "seconds,\"/threads/count/cumulative\",\"/threads/idle-rate [%]\"\n"))
      << end;
  EXPECT_TRUE(contains(end.output, ",200,")) << "the last line has all of them: " << end;
  int lines = 0;
  std::istringstream all(end.output);
  for (std::string line; std::getline(all, line);)
    lines += std::isdigit(static_cast<unsigned char>(line[0])) ? 1 : 0;
  EXPECT_GE(lines, 4) << "those and the last one: " << end;
  EXPECT_TRUE(weft({"run", "--interval", "1s", "--", "true"}).exited(2));
  words = {weft_program(), "run", "--set", "counters.print=threads", "--"};
  words.insert(words.end(), program.begin(), program.end());
  end = test::run(words, {{"TEST_CHILD", "1"}, {"WEFT_CONFIG", ""}});
  EXPECT_TRUE(contains(end.output, "counters.print: 'threads' is no name of a counter")) << end;
}

TEST_F(counter_tools, a_reference_of_one_worker_gives_wait_time_and_speedup) {
  const auto sample = test::in_process({}, [] {
    if (!std::getenv("WEFT_COUNTERS_REFERENCE"))
      return;
    weft::task_group g;
    for (int k = 0; k < 10; ++k)
      g.spawn([] { usleep(2000); });
    g.wait();
  });
  EXPECT_TRUE(sample.exited(0)) << sample;
  const std::string file = testing::TempDir() + "weft_reference_" + std::to_string(getpid());
  const std::vector<std::string> program{
      test::program_path(),
      "--gtest_filter=counter_tools.a_reference_of_one_worker_gives_wait_time_and_speedup"};
  const auto run = [&](const char *workers) {
    return test::run(program,
                     {{"TEST_CHILD", "1"},
                      {"WEFT_CONFIG", ""},
                      {"WEFT_WORKERS", workers},
                      {"WEFT_COUNTERS_REFERENCE", file},
                      {"WEFT_COUNTERS_PRINT", "/runtime/speedup,/threads/time/average-wait"},
                      {"WEFT_COUNTERS_FORMAT", "json"}});
  };
  auto end = run("2");
  EXPECT_TRUE(contains(end.output, "a run with workers=1 writes it")) << end;
  EXPECT_TRUE(
      contains(end.output, "{\"/runtime/speedup\":null,\"/threads/time/average-wait\":null}"))
      << end;
  end = run("1");
  EXPECT_TRUE(end.exited(0)) << end;
  end = run("2");
  const auto place = end.output.find("\"/runtime/speedup\":");
  ASSERT_NE(place, std::string::npos) << end;
  EXPECT_GT(std::strtod(end.output.c_str() + place + 19, nullptr), 0) << end;
  EXPECT_FALSE(contains(end.output, "null")) << end;
  unlink(file.c_str());
}

TEST(counter_endpoint, serves_open_metrics_on_loopback_when_a_port_is_set) {
  const auto end = test::in_process({}, [] {
    const int probe = socket(AF_INET, SOCK_STREAM, 0); // it stays open, so that no other process gets the port
    const int yes = 1;
    setsockopt(probe, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    sockaddr_in at{};
    at.sin_family = AF_INET;
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof at;
    ASSERT_EQ(bind(probe, reinterpret_cast<sockaddr *>(&at), sizeof at), 0);
    ASSERT_EQ(getsockname(probe, reinterpret_cast<sockaddr *>(&at), &size), 0);
    weft::configure("counters.port", std::to_string(ntohs(at.sin_port)).c_str());
    weft::task_group g;
    for (int k = 0; k < 10; ++k)
      g.spawn([] {});
    g.wait();
    const auto ask = [&](const std::string &request) {
      const int s = socket(AF_INET, SOCK_STREAM, 0);
      std::string answer;
      if (connect(s, reinterpret_cast<sockaddr *>(&at), sizeof at) == 0 &&
          write(s, request.data(), request.size()) == static_cast<ssize_t>(request.size())) {
        char piece[4096];
        for (ssize_t n = 0; (n = read(s, piece, sizeof piece)) > 0;)
          answer.append(piece, static_cast<std::size_t>(n));
      }
      close(s);
      return answer;
    };
    const std::string metrics = ask("GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n");
    EXPECT_TRUE(metrics.starts_with(
        "HTTP/1.1 200 OK\r\nContent-Type: application/openmetrics-text; version=1.0.0"))
        << metrics;
    EXPECT_TRUE(contains(metrics, "\nweft_threads_count_cumulative_total 10\n")) << metrics;
    EXPECT_TRUE(metrics.ends_with("# EOF\n"));
    EXPECT_TRUE(contains(ask("GET /metrics?workers HTTP/1.1\r\n\r\n"),
                         "weft_threads_count_executed_total{worker=\"0\"}"));
    EXPECT_TRUE(ask("GET /secret HTTP/1.1\r\n\r\n").starts_with("HTTP/1.1 404"));
    EXPECT_TRUE(ask("POST /metrics HTTP/1.1\r\n\r\n").starts_with("HTTP/1.1 405"));
    weft::shutdown();
    EXPECT_EQ(ask("GET /metrics HTTP/1.1\r\n\r\n"), "") << "it ends with Weft";
    close(probe);
  });
  EXPECT_TRUE(end.exited(0)) << end;
}
