// SPDX-License-Identifier: Apache-2.0
// The folder of a trace belongs to one process at a time, and its files grow by whole packets, also on a full disk.
#include "trace/folder.hpp"

#include "observe/segment.hpp"
#include "os/file.hpp"
#include "support/soon.hpp"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <gtest/gtest.h>
#include <iterator>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <string>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

using namespace weft::rt;

namespace {

namespace fs = std::filesystem;

class trace_folder : public testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/weft-trace-folder-test-XXXXXX";
    ASSERT_NE(mkdtemp(name), nullptr);
    m_folder = name;
  }
  void TearDown() override {
    use_segment_folder("");
    fs::remove_all(m_folder);
  }
  /// Keeps the list of this user's traces out of the test.
  void use_own_list() {
    fs::create_directory(m_folder + "/list");
    use_segment_folder(m_folder + "/list/");
  }
  /// Enters so many other folders into the list that `path`, which is on it, is removed.
  void push_out(const std::string &path) {
    trace_in_progress others;
    for (int i = 0; i < 17 && access(path.c_str(), F_OK) == 0; ++i) {
      const std::string other = m_folder + "/other" + std::to_string(i);
      fs::create_directory(other);
      others.enter(other);
    }
  }
  std::string m_folder;
};

constexpr int k_no_filter = 77;

/// Runs `f` in a child. Returns its exit status, or minus the signal that ended it.
template <class F>
int in_child(F f) {
  const pid_t child = fork();
  if (child == 0) {
    f();
    _exit(testing::Test::HasFailure());
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

/// Makes a system call fail in this process, and all that it starts.
void let_fail(unsigned call, unsigned error) {
  sock_filter program[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, call, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | error),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const sock_fprog filter{std::size(program), program};
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
      prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) != 0)
    _exit(k_no_filter);
}

void limit_sizes(rlim_t bytes) {
  rlimit limit{};
  getrlimit(RLIMIT_FSIZE, &limit);
  limit.rlim_cur = bytes;
  EXPECT_EQ(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

/// Writes the description of a trace that process `pid` has not ended.
void describe_unended(const std::string &folder, long pid, std::uint64_t began = 1) {
  trace_description d;
  d.pid = pid;
  d.clock.realtime_ns = began;
  fs::create_directory(folder);
  ASSERT_TRUE(replace_file(description_path(folder), own_description(d)));
}

std::string begin(trace_in_progress &trace, const std::string &pattern) {
  std::string folder;
  const std::string why = trace.begin(pattern, folder);
  return why.empty() ? folder : "refused: " + why;
}

std::string text_of_trace(long pid, decltype(trace_description::state) state) {
  trace_description d;
  d.pid = pid;
  d.state = state;
  return own_description(d);
}

/// Is a description whose readers wait until it is given to them: its file is a pipe.
class served_description {
 public:
  explicit served_description(const std::string &folder) : m_path(description_path(folder)) {
    fs::create_directory(folder);
    EXPECT_EQ(mkfifo(m_path.c_str(), 0600), 0);
  }
  /// Waits for a reader, calls `meanwhile`, and gives it the text. The next reader waits anew.
  template <class F>
  void serve(const std::string &text, F meanwhile) {
    int file = -1;
    if (!test::soon([&] {
          file = open(m_path.c_str(), O_WRONLY | O_CLOEXEC | O_NONBLOCK);
          return file >= 0;
        })) {
      ADD_FAILURE() << "no process reads the description";
      return;
    }
    const std::string next = m_path + ".next";
    EXPECT_EQ(mkfifo(next.c_str(), 0600), 0);
    EXPECT_EQ(rename(next.c_str(), m_path.c_str()), 0);
    meanwhile();
    EXPECT_EQ(write(file, text.data(), text.size()), static_cast<ssize_t>(text.size()));
    close(file);
  }

 private:
  std::string m_path;
};

/// Ends this process where no process serves it.
void wait_not_for_ever() { alarm(60); }

constexpr long k_no_process = 999'999'999; // no process has that number

const std::string k_packet(64 << 10, 'p');

} // namespace

TEST_F(trace_folder, is_refused_where_a_link_leads_nowhere) {
  fs::create_symlink("nowhere", m_folder + "/link");
  for (const char *end : {"", "/", "//"}) {
    trace_in_progress trace;
    std::string folder;
    EXPECT_NE(trace.begin(m_folder + "/link" + end, folder), "") << end;
    EXPECT_NE(make_trace_folder(m_folder + "/link" + end), "") << end;
  }
}

TEST_F(trace_folder, is_of_one_process_though_another_one_has_its_number) {
  const std::string path = m_folder + "/t", number = m_folder + "/t." + std::to_string(getpid());
  int up[2], go[2];
  ASSERT_EQ(pipe(up) + pipe(go), 0);
  const pid_t other = fork();
  if (other == 0) { // a process of another container: its number there is that of this process
    trace_in_progress one, two;
    EXPECT_EQ(begin(one, path), path);
    EXPECT_EQ(begin(two, number), number);
    describe_unended(path, getppid());
    describe_unended(number, getppid());
    char byte = 0;
    _exit(testing::Test::HasFailure() || write(up[1], "u", 1) != 1 || read(go[0], &byte, 1) != 1);
  }
  char byte = 0;
  ASSERT_EQ(read(up[0], &byte, 1), 1);
  trace_in_progress mine;
  const std::string writes = "process " + std::to_string(getpid()) +
                             " writes its trace there; put %p into the name";
  EXPECT_EQ(begin(mine, path), "refused: " + writes);
  EXPECT_EQ(why_no_trace_folder(path), writes);
  EXPECT_EQ(make_trace_folder(path), writes);
  EXPECT_EQ(begin(mine, m_folder + "/t.%p"), number + "-2");
  EXPECT_EQ(access(description_path(path).c_str(), F_OK), 0);
  EXPECT_EQ(access(description_path(number).c_str(), F_OK), 0);
  ASSERT_EQ(write(go[1], "g", 1), 1);
  int status = 0;
  waitpid(other, &status, 0);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(why_no_trace_folder(path), "") << "its lock has ended with it";
  trace_in_progress next;
  EXPECT_EQ(begin(next, path), path);
  EXPECT_NE(access(description_path(path).c_str(), F_OK), 0) << "it is emptied";
  for (const int end : {up[0], up[1], go[0], go[1]})
    close(end);
}

TEST_F(trace_folder, of_a_number_stays_unless_its_trace_is_whole) {
  const std::string pattern = m_folder + "/t.%p",
                    number = m_folder + "/t." + std::to_string(getpid());
  describe_unended(number, getpid()); // by what this process was before an exec
  {
    trace_in_progress mine;
    EXPECT_EQ(begin(mine, pattern), number + "-2");
    EXPECT_EQ(access(lock_path(number + "-2").c_str(), F_OK), 0);
  }
  EXPECT_NE(access(lock_path(number + "-2").c_str(), F_OK), 0) << "a start that failed leaves none";
  describe_unended(number + "-2", 1);
  trace_description whole;
  whole.state = trace_description::exact;
  whole.pid = 1;
  fs::create_directory(number + "-3");
  ASSERT_TRUE(replace_file(description_path(number + "-3"), own_description(whole)));
  trace_in_progress mine;
  EXPECT_EQ(begin(mine, pattern), number + "-3");
  mine.end();
  EXPECT_NE(access(lock_path(number + "-3").c_str(), F_OK), 0);
  EXPECT_EQ(begin(mine, number), number) << "a name without %p is what the user wants";
}

TEST_F(trace_folder, the_newest_of_a_number_is_found) {
  const std::string name = m_folder + "/t";
  EXPECT_EQ(newest_trace(name), name);
  describe_unended(name, 7, 50);
  EXPECT_EQ(newest_trace(name), name);
  describe_unended(name + "-2", 7, 70);
  describe_unended(name + "-3", 7, 60);
  describe_unended(name + "-5", 7, 90); // none of the row
  EXPECT_EQ(newest_trace(name), name + "-2");
  describe_unended(name, 7, 80);
  EXPECT_EQ(newest_trace(name), name);
}

TEST_F(trace_folder, without_locks_the_number_tells_who_writes) {
  const std::string path = m_folder + "/t";
  describe_unended(path, getpid());
  ASSERT_TRUE(replace_file(lock_path(path), ""));
  const auto child = [&](const std::string &expected) {
    return in_child([&] {
      let_fail(SYS_fcntl, ENOLCK);
      trace_in_progress mine;
      EXPECT_EQ(begin(mine, path), expected);
    });
  };
  const int status = child("refused: process " + std::to_string(getpid()) +
                           " writes its trace there; put %p into the name");
  if (status == k_no_filter)
    GTEST_SKIP() << "no system call can be made to fail here (seccomp)";
  EXPECT_EQ(status, 0);
  describe_unended(path, 999'999'999);
  EXPECT_EQ(child(path), 0) << "no such process";
  trace_description whole;
  whole.state = trace_description::ended;
  whole.pid = getpid();
  ASSERT_TRUE(replace_file(description_path(path), own_description(whole)));
  EXPECT_EQ(child(path), 0) << "it has ended its trace";
}

TEST_F(trace_folder, has_one_owner_at_each_moment) {
  constexpr int k_processes = 3, k_traces = 400;
  auto *const owners = static_cast<std::atomic<int> *>(
      mmap(nullptr, sizeof(std::atomic<int>), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
           0));
  ASSERT_NE(static_cast<void *>(owners), MAP_FAILED);
  std::vector<pid_t> children;
  for (int i = 0; i < k_processes; ++i) {
    children.push_back(fork());
    if (children.back() != 0)
      continue;
    for (int n = 0; n < k_traces;) {
      trace_in_progress mine;
      std::string folder;
      if (!mine.begin(m_folder + "/t", folder).empty())
        continue;
      ++n;
      EXPECT_EQ(owners->fetch_add(1), 0);
      EXPECT_TRUE(replace_file(types_path(folder), "types"));
      owners->fetch_sub(1);
      mine.end();
    }
    _exit(testing::Test::HasFailure());
  }
  for (const pid_t child : children) {
    int status = 0;
    waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
  }
  munmap(owners, sizeof *owners);
}

/// Returns what happens in the folder while `f` runs: "+NAME" is made, "-NAME" is removed.
template <class F>
std::vector<std::string> changes_in(const std::string &folder, F f) {
  const int watch = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
  EXPECT_GE(inotify_add_watch(watch, folder.c_str(), IN_CREATE | IN_DELETE), 0);
  f();
  alignas(inotify_event) char text[32 << 10];
  const ssize_t bytes = read(watch, text, sizeof text);
  close(watch);
  std::vector<std::string> seen;
  for (ssize_t at = 0; at < bytes;) {
    const auto &event = *reinterpret_cast<const inotify_event *>(text + at);
    if (event.mask & (IN_CREATE | IN_DELETE))
      seen.push_back((event.mask & IN_CREATE ? "+" : "-") + std::string(event.name));
    at += static_cast<ssize_t>(sizeof event + event.len);
  }
  return seen;
}

constexpr int k_streams = 20;
void make_unended(const std::string &folder) {
  describe_unended(folder, k_no_process);
  for (int i = 0; i < k_streams; ++i)
    ASSERT_TRUE(replace_file(stream_path(folder, i), "stream"));
}

TEST_F(trace_folder, is_emptied_under_its_lock_which_goes_last) {
  const std::string path = m_folder + "/t";
  const auto expect_locked = [](const std::vector<std::string> &seen, const char *how) {
    ASSERT_EQ(seen.size(), 1 + k_streams + 2u) << how;
    EXPECT_EQ(seen.front(), "+.lock") << how;
    EXPECT_EQ(seen.back(), "-.lock") << how;
  };
  make_unended(path);
  expect_locked(changes_in(path, [&] { EXPECT_EQ(make_trace_folder(path), ""); }), "made anew");
  EXPECT_TRUE(fs::is_empty(path));
  make_unended(path);
  use_own_list();
  trace_in_progress().enter(path);
  expect_locked(changes_in(path, [&] { push_out(path); }), "removed");
  EXPECT_FALSE(fs::exists(path));
}

TEST_F(trace_folder, is_not_removed_where_a_look_under_the_lock_finds_another_trace_or_a_file) {
  const std::string path = m_folder + "/t", mine = path + "/mine";
  const std::string unended = text_of_trace(k_no_process, trace_description::running);
  const auto nothing = [] {};
  use_own_list();
  for (const bool is_ended : {true, false}) {
    served_description served(path);
    trace_in_progress().enter(path);
    const pid_t child = fork();
    if (child == 0) {
      wait_not_for_ever();
      push_out(path);
      _exit(testing::Test::HasFailure());
    }
    served.serve(unended, nothing); // to see whether its program lives
    served.serve(unended, nothing); // before the lock
    served.serve(unended, nothing); // whether it lives
    served.serve(is_ended ? text_of_trace(k_no_process, trace_description::ended) : unended, [&] {
      const int lock = open(lock_path(path).c_str(), O_RDWR | O_CLOEXEC);
      EXPECT_TRUE(is_locked(lock));
      close(lock);
      if (!is_ended) {
        EXPECT_TRUE(replace_file(mine, "mine"));
      }
    });
    int status = 0;
    waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
    EXPECT_EQ(access(description_path(path).c_str(), F_OK), 0);
    EXPECT_EQ(access(mine.c_str(), F_OK) == 0, !is_ended);
    EXPECT_NE(access(lock_path(path).c_str(), F_OK), 0) << "it stays without a lock";
    fs::remove_all(path);
  }
}

TEST_F(trace_folder, is_refused_where_a_file_of_others_comes_before_the_lock) {
  int up[2];
  ASSERT_EQ(pipe(up), 0);
  const pid_t child = fork();
  const std::string path = m_folder + "/t." + std::to_string(child ? child : getpid());
  if (child == 0) {
    wait_not_for_ever();
    char byte = 0;
    trace_in_progress trace;
    EXPECT_EQ(read(up[0], &byte, 1), 1);
    EXPECT_EQ(begin(trace, m_folder + "/t.%p"), "refused: it holds files that are no trace");
    _exit(testing::Test::HasFailure());
  }
  served_description served(path);
  ASSERT_EQ(write(up[1], "u", 1), 1);
  const std::string ended = text_of_trace(k_no_process, trace_description::ended);
  served.serve(ended, [] {}); // to see whether its program lives
  served.serve(ended, [&] { EXPECT_TRUE(replace_file(path + "/mine", "mine")); }); // with the lock
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(access((path + "/mine").c_str(), F_OK), 0);
  close(up[0]);
  close(up[1]);
}

TEST_F(trace_folder, of_a_number_is_left_to_its_program_whenever_that_is_seen) {
  const std::string number = m_folder + "/t.";
  const auto live = text_of_trace(getpid(), trace_description::running),
             dead = text_of_trace(k_no_process, trace_description::running);
  for (int looks = 0; looks < 6; ++looks) { // that find the program dead, as one of another host
    int up[2];
    ASSERT_EQ(pipe(up), 0);
    const pid_t child = fork();
    if (child == 0) {
      wait_not_for_ever();
      char byte = 0;
      EXPECT_EQ(read(up[0], &byte, 1), 1);
      let_fail(SYS_fcntl, ENOLCK);
      trace_in_progress mine;
      EXPECT_EQ(begin(mine, number + "%p"), number + std::to_string(getpid()) + "-2");
      _exit(testing::Test::HasFailure());
    }
    const pid_t server = fork();
    if (server == 0) {
      served_description served(number + std::to_string(child));
      if (!replace_file(lock_path(number + std::to_string(child)), "") ||
          write(up[1], "u", 1) != 1)
        _exit(1);
      for (int i = 0;; ++i)
        served.serve(i < looks ? dead : live, [] {});
    }
    int status = 0;
    waitpid(child, &status, 0);
    kill(server, SIGKILL);
    waitpid(server, nullptr, 0);
    close(up[0]);
    close(up[1]);
    if (WIFEXITED(status) && WEXITSTATUS(status) == k_no_filter)
      GTEST_SKIP() << "no system call can be made to fail here (seccomp)";
    EXPECT_EQ(status, 0) << looks;
  }
}

TEST_F(trace_folder, of_a_program_with_an_older_library_is_known_by_its_types_or_its_number) {
  const std::string path = m_folder + "/t";
  describe_unended(path, k_no_process);
  int up[2], go[2];
  ASSERT_EQ(pipe(up) + pipe(go), 0);
  const pid_t other = fork();
  if (other == 0) {
    const int types = open_new(types_path(path), O_RDWR);
    char byte = 0;
    _exit(!lock_for_life(types) || write(up[1], "u", 1) != 1 || read(go[0], &byte, 1) != 1);
  }
  char byte = 0;
  ASSERT_EQ(read(up[0], &byte, 1), 1);
  trace_in_progress mine;
  EXPECT_EQ(begin(mine, path), "refused: process " + std::to_string(k_no_process) +
                                   " writes its trace there; put %p into the name");
  describe_unended(path, other);
  ASSERT_EQ(write(go[1], "g", 1), 1);
  int status = 0;
  waitpid(other, &status, 0);
  EXPECT_EQ(status, 0);
  describe_unended(path, getppid()); // has its number by chance
  EXPECT_EQ(why_no_trace_folder(path), "") << "its lock has ended with it";
  fs::remove(types_path(path));
  EXPECT_EQ(begin(mine, path), "refused: process " + std::to_string(getppid()) +
                                   " writes its trace there; put %p into the name");
  for (const int end : {up[0], up[1], go[0], go[1]})
    close(end);
}

TEST_F(trace_folder, files_have_whole_packets_and_take_them_again_when_there_is_room) {
  EXPECT_EQ(in_child([this] {
              const std::string path = m_folder + "/w0000";
              packet_file file;
              ASSERT_TRUE(file.create(path));
              limit_sizes(100 << 10); // like a full disk: the first part of a write is done
              EXPECT_TRUE(file.append(k_packet.data(), k_packet.size()));
              for (int i = 0; i < 2; ++i) {
                EXPECT_FALSE(file.append(k_packet.data(), k_packet.size()));
                EXPECT_EQ(errno, EFBIG);
                EXPECT_EQ(fs::file_size(path), k_packet.size());
              }
              limit_sizes(RLIM_INFINITY);
              EXPECT_TRUE(file.append("end", 3));
              EXPECT_EQ(read_file(path), k_packet + "end");
              sigset_t pending;
              sigpending(&pending);
              EXPECT_FALSE(sigismember(&pending, SIGXFSZ));
            }),
            0)
      << "-25: the signal of a file that is too large has ended it";
}

TEST_F(trace_folder, a_part_that_cannot_be_cut_off_is_overwritten) {
  const int status = in_child([this] {
    const std::string path = m_folder + "/w0000";
    let_fail(SYS_ftruncate, EIO);
    packet_file file;
    ASSERT_TRUE(file.create(path));
    limit_sizes(100 << 10);
    EXPECT_TRUE(file.append(k_packet.data(), k_packet.size()));
    EXPECT_FALSE(file.append(k_packet.data(), k_packet.size()));
    EXPECT_EQ(errno, EFBIG) << "not that of the cut";
    limit_sizes(RLIM_INFINITY);
    const std::string next(k_packet.size(), 'n');
    EXPECT_TRUE(file.append(next.data(), next.size()));
    EXPECT_EQ(read_file(path), k_packet + next);
  });
  if (status == k_no_filter)
    GTEST_SKIP() << "no system call can be made to fail here (seccomp)";
  EXPECT_EQ(status, 0);
}

TEST_F(trace_folder, a_signal_that_the_program_holds_back_is_its_own) {
  EXPECT_EQ(in_child([this] {
              sigset_t size, seen;
              sigemptyset(&size);
              sigaddset(&size, SIGXFSZ);
              pthread_sigmask(SIG_BLOCK, &size, nullptr);
              limit_sizes(100 << 10);
              raise(SIGXFSZ);
              EXPECT_EQ(map_new_file(m_folder + "/ring", 200 << 10), nullptr);
              EXPECT_EQ(errno, EFBIG);
              sigpending(&seen);
              EXPECT_TRUE(sigismember(&seen, SIGXFSZ));
              pthread_sigmask(SIG_BLOCK, nullptr, &seen);
              EXPECT_TRUE(sigismember(&seen, SIGXFSZ));
            }),
            0);
}

TEST_F(trace_folder, a_text_that_has_no_room_leaves_the_old_one_and_nothing_else) {
  const std::string path = m_folder + "/metadata";
  ASSERT_TRUE(replace_file(path, "old"));
  EXPECT_EQ(in_child([&] {
              limit_sizes(1 << 10);
              EXPECT_FALSE(replace_file(path, std::string(2 << 10, 'n')));
              EXPECT_EQ(errno, EFBIG);
            }),
            0);
  EXPECT_EQ(read_file(path), "old");
  EXPECT_EQ(std::distance(fs::directory_iterator(m_folder), fs::directory_iterator()), 1);
}
