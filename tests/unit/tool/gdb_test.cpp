// SPDX-License-Identifier: Apache-2.0
// weft gdb shows where suspended tasks are, in a program that runs and in a core file.
#include "support/case_process.hpp"
#include "support/process.hpp"
#include "support/scale.hpp"

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include <weft/mutex.hpp>
#include <weft/weft.hpp>

namespace {

using test::weft_program;

} // namespace

[[gnu::noinline]] void waits_deep_inside(weft::mutex &m) {
  m.lock();
  asm volatile("" ::: "memory"); // no tail call
}

[[gnu::noinline]] void waits_on_its_own_stack(weft::mutex &m) {
  m.lock();
  asm volatile("" ::: "memory");
}

namespace {

/// A process in which two tasks are suspended: one on the main thread's stack, while that waits, and the next on a stack of the pool. Its core file, if
/// it gets one, appears in `folder`.
pid_t start_stuck_program(const std::string &folder) {
  int ready[2];
  EXPECT_EQ(pipe(ready), 0);
  const pid_t child = fork();
  if (child == 0) {
#ifndef WEFT_TEST_SANITIZED // whose shadow would be in it
    const rlimit all{RLIM_INFINITY, RLIM_INFINITY};
    setrlimit(RLIMIT_CORE, &all);
#endif
    if (chdir(folder.c_str()) != 0)
      _exit(1);
    setenv("WEFT_WORKERS", "1", 1);
    setenv("WEFT_WATCH_HANG", "off", 1);
    static weft::mutex m;
    m.lock();
    weft::spawn([] { waits_deep_inside(m); }, weft::label("stuck"));
    weft::spawn(
        [ready] {
          weft::spawn([ready] { static_cast<void>(write(ready[1], "x", 1)); }, weft::label("tells"),
                      weft::priority(-1));
          waits_on_its_own_stack(m);
        },
        weft::label("stuck, too"));
    weft::taskwait();
    _exit(0);
  }
  char c = 0;
  EXPECT_EQ(read(ready[0], &c, 1), 1);
  usleep(100'000); // its worker goes to sleep
  close(ready[0]);
  close(ready[1]);
  return child;
}

struct room_for_a_core {
  std::string folder;
  room_for_a_core() {
    char name[] = "/tmp/weft-core-test-XXXXXX";
    folder = mkdtemp(name) ? name : "/nowhere";
  }
  ~room_for_a_core() { std::filesystem::remove_all(folder); }
  room_for_a_core(const room_for_a_core &) = delete;
  room_for_a_core &operator=(const room_for_a_core &) = delete;
};

void expect_both(const test::ending &end) {
  EXPECT_TRUE(end.printed("'stuck' waits for a lock")) << end;
  EXPECT_TRUE(end.printed("waits_deep_inside")) << end;
  EXPECT_TRUE(end.printed("'stuck, too' waits for a lock")) << end;
  EXPECT_TRUE(end.printed("waits_on_its_own_stack")) << end;
  for (const char *task : {"'stuck' waits for a lock\n", "'stuck, too' waits for a lock\n"}) {
    const auto at = end.output.find(task) + std::string(task).size();
    const std::string first = end.output.substr(at, end.output.find('\n', at) - at);
    EXPECT_EQ(first.find("weft::v0::rt::"), std::string::npos)
        << "the first frame is the runtime's: " << first;
  }
}

} // namespace

TEST(gdb_tool, backtraces_of_suspended_tasks_are_shown_live_and_from_a_core) {
  if (access(weft_program().c_str(), X_OK) != 0 ||
      std::system("command -v gdb >/dev/null 2>&1") != 0)
    GTEST_SKIP() << "gdb or the command weft is not there";
  const room_for_a_core room;
  const pid_t child = start_stuck_program(room.folder);
  const std::string pid = std::to_string(child);
  const auto gdb = [](std::vector<std::string> arguments) { return test::run(arguments, {}); };
  auto end = gdb({weft_program(), "gdb", "--batch", pid});
  if (end.printed("ptrace") || end.printed("Operation not permitted")) {
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
    GTEST_SKIP() << "gdb may not attach here";
  }
  if (end.printed("libweft has no debug information")) { // -g1 has none of variables
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
    GTEST_SKIP() << "the library was built without debug information";
  }
  expect_both(end);
  kill(child, SIGABRT);
  waitpid(child, nullptr, 0);
  std::string core;
  for (const auto &file : std::filesystem::directory_iterator(room.folder))
    core = file.path();
  if (core.empty())
    GTEST_SKIP()
        << "the kernel gives core files to somebody else (kernel.core_pattern), or none of a program with a sanitizer";
  expect_both(gdb({weft_program(), "gdb", "--batch", test::program_path(), core}));
}
