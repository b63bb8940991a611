// SPDX-License-Identifier: Apache-2.0
// Programs that are killed leave their counters for readers, but not without end; and a start costs the same however many have left some.
#include "diagnose/last_dump.hpp"
#include "observe/layout.hpp"
#include "observe/reading.hpp"
#include "observe/segment.hpp"
#include "observe/store.hpp"
#include "os/file.hpp"
#include "support/case_process.hpp"

#include <weft/weft.hpp>

#include <csignal>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <map>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace weft::rt;

namespace {

namespace fs = std::filesystem;

/// A folder of segments for this process and its children.
class own_folder {
 public:
  own_folder() {
    std::string name = "/dev/shm/weft-leftovers-test-XXXXXX";
    if (mkdtemp(name.data()))
      m_path = name + "/";
    use_segment_folder(m_path);
  }
  own_folder(const own_folder &) = delete;
  own_folder &operator=(const own_folder &) = delete;
  ~own_folder() { fs::remove_all(m_path); }
  [[nodiscard]] const std::string &path() const { return m_path; }
  /// Numbers that name files of counters.
  [[nodiscard]] std::size_t segments() const {
    std::size_t n = 0;
    for (const auto &file : fs::directory_iterator(m_path))
      n += parse_unsigned(file.path().filename().string().substr(5)).has_value();
    return n;
  }

 private:
  std::string m_path;
};

pid_t killed_program() {
  const pid_t child = fork();
  if (child == 0) {
    forget_store_in_child();
    open_store({2, 2, 8, true, false, false});
    put(block_of_slot(0, block_kind::worker).executed, 7);
    raise(SIGKILL);
  }
  waitpid(child, nullptr, 0);
  return child;
}

/// System calls of a child's first thread in `f`, by number; empty where it may not be watched.
template <class F>
std::map<long, int> system_calls(F f) {
  std::map<long, int> counts;
  const pid_t child = fork();
  if (child == 0) {
    if (ptrace(PTRACE_TRACEME, 0, nullptr, nullptr) != 0)
      _exit(3);
    raise(SIGSTOP);
    f();
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  if (!WIFSTOPPED(status))
    return counts;
  ptrace(PTRACE_SETOPTIONS, child, nullptr, PTRACE_O_TRACESYSGOOD | PTRACE_O_EXITKILL);
  int signal = 0;
  while (ptrace(PTRACE_SYSCALL, child, nullptr, signal) == 0 &&
         waitpid(child, &status, 0) == child && WIFSTOPPED(status)) {
    signal = WSTOPSIG(status) == (SIGTRAP | 0x80) ? 0 : WSTOPSIG(status);
    __ptrace_syscall_info info{};
    if (signal == 0 && ptrace(PTRACE_GET_SYSCALL_INFO, child, sizeof info, &info) > 0 &&
        info.op == PTRACE_SYSCALL_INFO_ENTRY)
      ++counts[static_cast<long>(info.entry.nr)];
  }
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
  return counts;
}

/// What looks at files. The rest, threads and memory, differs from run to run.
int calls_on_files(const std::map<long, int> &counts) {
  int sum = 0;
  for (const long call : {SYS_openat, SYS_getdents64, SYS_newfstatat, SYS_unlinkat, SYS_fcntl,
                          SYS_flock, SYS_pwrite64,
#ifdef SYS_open
                          SYS_open, SYS_unlink, SYS_stat, SYS_lstat,
#endif
                          SYS_fstat})
    if (const auto found = counts.find(call); found != counts.end())
      sum += found->second;
  return sum;
}

void start_weft() {
  weft::spawn([] {});
  weft::taskwait();
}

} // namespace

TEST(leftovers, of_a_hundred_killed_programs_are_the_newest_which_are_readable) {
  const auto end = test::in_process({}, [] {
    const own_folder folder;
    std::vector<pid_t> killed;
    for (int i = 0; i < 100; ++i)
      killed.push_back(killed_program());
    EXPECT_EQ(folder.segments(), 65u) << "64, and the last one was itself alive when it looked";
    EXPECT_NE(access(segment_path(killed[34]).c_str(), F_OK), 0);
    EXPECT_EQ(access(segment_path(killed[35]).c_str(), F_OK), 0) << "the oldest go first";
    EXPECT_EQ(
        read_program(killed[99]).total(read_program(killed[99]).find("/threads/count/executed")),
        7);
  });
  EXPECT_TRUE(end.exited(0)) << end;
}

TEST(leftovers, go_with_all_that_lies_beside_them) {
  const auto end = test::in_process({}, [] {
    const own_folder folder;
    const pid_t first = killed_program();
    std::ofstream(dump_path(first)) << "weft waits 1\t0\n";
    std::ofstream(dump_path(first) + ".new") << "half";
    for (int i = 0; i < 65; ++i)
      killed_program();
    std::size_t files = 0;
    for ([[maybe_unused]] const auto &file : fs::directory_iterator(folder.path()))
      ++files;
    EXPECT_EQ(files, 66u) << "65 and the list";
  });
  EXPECT_TRUE(end.exited(0)) << end;
}

TEST(leftovers, of_an_orderly_end_are_none) {
  const auto end = test::in_process({{"WEFT_WORKERS", "1"}}, [] {
    const own_folder folder;
    start_weft();
    EXPECT_EQ(folder.segments(), 1u);
    weft::shutdown();
    EXPECT_EQ(folder.segments(), 0u);
    EXPECT_EQ(read_file(folder.path() + "weft.left").value_or("").find(segment_path(getpid())),
              std::string::npos);
  });
  EXPECT_TRUE(end.exited(0)) << end;
}

TEST(leftovers, ten_thousand_of_them_cost_a_start_not_one_system_call) {
#ifdef WEFT_TEST_EMULATOR
  GTEST_SKIP() << "the emulator traces nothing";
#endif
  const auto end = test::in_process({{"WEFT_WORKERS", "1"}, {"WEFT_WATCH_MAX_SPARES", "0"}}, [] {
    const own_folder folder;
    const auto without = system_calls(start_weft);
    if (without.empty())
      GTEST_SKIP() << "a process may not trace its child here";
    for (int i = 0; i < 70; ++i)
      killed_program();
    const int few = calls_on_files(system_calls(start_weft));
    for (int i = 0; i < 10'000; ++i)
      close(open((folder.path() + "weft." + std::to_string(10'000'000 + i)).c_str(),
                 O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
    const auto many = system_calls(start_weft);
    EXPECT_EQ(calls_on_files(many), few);
    EXPECT_LE(few,
              calls_on_files(system_calls([] {
                use_segment_folder(segment_folder() + "none/"); // private counters: no file at all
                start_weft();
              })) +
                  40);
    EXPECT_GT(many.at(SYS_openat), 0);
    EXPECT_EQ(folder.segments(), 10'065u) << "of which the list does not know";
    const std::string list = folder.path() + "weft.left";
    std::string text = read_file(list).value_or("");
    text.replace(0, text.find('\n'), "swept 0"); // a day later
    std::ofstream(list) << text;
    killed_program();
    EXPECT_LE(folder.segments(), 66u);
  });
  EXPECT_TRUE(end.exited(0)) << end;
}

namespace {

/// One that writes a trace, and is killed in its middle or ends.
void traced_program(const std::string &folder, bool killed) {
  const pid_t child = fork();
  if (child == 0) {
    setenv("WEFT_TRACE_LEVEL", "task", 1);
    setenv("WEFT_TRACE_BUFFER", "256KiB", 1);
    setenv("WEFT_TRACE_DIR", folder.c_str(), 1);
    start_weft();
    if (killed)
      raise(SIGKILL);
    weft::shutdown();
    _exit(0);
  }
  waitpid(child, nullptr, 0);
}

} // namespace

TEST(leftovers, of_traces_are_the_newest_but_whole_traces_stay) {
  const auto end = test::in_process({{"WEFT_WORKERS", "1"}, {"WEFT_WATCH_MAX_SPARES", "0"}}, [] {
    const own_folder folder;
    const auto trace = [&folder](int i) { return folder.path() + "trace" + std::to_string(i); };
    const auto is_there = [&trace](int i) { return access(trace(i).c_str(), F_OK) == 0; };
    traced_program(trace(100), false);
    EXPECT_EQ(read_file(folder.path() + "weft.traces"), "swept 0\n") << "it is the user's";
    traced_program(trace(0), true);
    std::ofstream(trace(0) + "/notes") << "of the user";
    for (int i = 1; i < 20; ++i)
      traced_program(trace(i), true);
    EXPECT_TRUE(is_there(100));
    EXPECT_TRUE(is_there(0)) << "something else lies in it";
    EXPECT_FALSE(is_there(1) || is_there(2));
    for (int i = 3; i < 20; ++i)
      EXPECT_TRUE(is_there(i)) << i << ": sixteen, and the last one was alive when it looked";
    traced_program(trace(3), true); // in the place of an old one
    EXPECT_TRUE(is_there(3) && is_there(4));
  });
  EXPECT_TRUE(end.exited(0)) << end;
}

TEST(leftovers, of_another_user_are_no_folder_for_a_trace) {
  if (geteuid() != 0)
    GTEST_SKIP() << "only root can give a folder to another user";
  const auto end = test::in_process({{"WEFT_WORKERS", "1"}}, [] {
    const own_folder folder;
    const std::string trace = folder.path() + "trace";
    ASSERT_EQ(mkdir(trace.c_str(), 0777), 0);
    ASSERT_EQ(chown(trace.c_str(), 65534, 65534), 0);
    traced_program(trace, false);
    EXPECT_TRUE(fs::is_empty(trace));
  });
  EXPECT_TRUE(end.printed("cannot be used (it is another user's); nothing is traced")) << end;
  EXPECT_TRUE(end.exited(0)) << end;
}

TEST(dump_file, is_never_one_that_was_there_before) {
  const auto end = test::in_process({}, [] {
    const own_folder folder;
    open_store({1, 1, 2, true, false, false});
    const std::string path = dump_path(getpid()), fresh = path + ".new";
    const int before = open(fresh.c_str(), O_RDWR | O_CREAT | O_CLOEXEC,
                            0666); // a file that another user made for this pid
    wait_graph g;
    g.wait(g.add(node_kind::task, &g, "one"), g.add(node_kind::task, &fresh, "two"), "waits for");
    write_dump_file(g, 1);
    struct stat own{}, old{};
    ASSERT_EQ(stat(path.c_str(), &own), 0);
    fstat(before, &old);
    EXPECT_NE(own.st_ino, old.st_ino);
    EXPECT_EQ(old.st_size, 0);
    EXPECT_EQ(own.st_mode & 0777, 0600u);
    const std::string text = read_dump_text(getpid());
    EXPECT_TRUE(text.starts_with("weft waits 1\t1\n")) << text;
    if (geteuid() == 0 && chown(path.c_str(), 65534, 65534) == 0) {
      EXPECT_EQ(read_dump_text(getpid()), "") << "another user has written it";
      EXPECT_EQ(chown(segment_path(getpid()).c_str(), 65534, 65534), 0);
      EXPECT_THROW(static_cast<void>(map_segment(segment_path(getpid()))), weft::error);
    }
    unlink(path.c_str());
    EXPECT_EQ(mkfifo(path.c_str(), 0600), 0);
    EXPECT_EQ(read_dump_text(getpid()), "") << "and nobody waits for a pipe";
  });
  EXPECT_TRUE(end.exited(0)) << end;
}
