// SPDX-License-Identifier: Apache-2.0
// weft gdb shows where suspended tasks stand, in a program that runs and in a core file.
#include "support/case_process.hpp"

#include <csignal>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>
#include <weft/mutex.hpp>
#include <weft/weft.hpp>

namespace {

std::string weft_program() {
  const auto program = test::program_path();
  const auto tests = program.substr(0, program.rfind('/'));
  return tests.substr(0, tests.rfind('/')) + "/bin/weft";
}

} // namespace

[[gnu::noinline]] void waits_deep_inside(weft::mutex &m) {
  m.lock();
  asm volatile("" ::: "memory"); // no tail call
}

TEST(gdb_tool, backtraces_of_suspended_tasks_are_shown_live_and_from_a_core) {
  if (access(weft_program().c_str(), X_OK) != 0 || std::system("command -v gdb >/dev/null 2>&1") != 0)
    GTEST_SKIP() << "gdb or the command weft is not there";
  const pid_t child = fork();
  if (child == 0) {
    setenv("WEFT_WORKERS", "1", 1); // the task runs on the main thread's stack, while that waits
    setenv("WEFT_WATCH_HANG", "off", 1);
    weft::mutex m;
    m.lock();
    weft::spawn([&m] { waits_deep_inside(m); }, weft::label("stuck"));
    weft::taskwait();
    _exit(0);
  }
  usleep(500'000);
  const std::string pid = std::to_string(child), core = "/tmp/weft-core-test." + pid;
  const auto gdb = [](std::vector<std::string> arguments) { return test::run(arguments, {}); };
  auto end = gdb({weft_program(), "gdb", "--batch", pid});
  if (end.said("ptrace") || end.said("Operation not permitted")) {
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
    GTEST_SKIP() << "gdb may not attach here";
  }
  if (end.said("libweft has no debug information")) { // -g1 has none of variables
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
    GTEST_SKIP() << "the library was built without debug information";
  }
  EXPECT_TRUE(end.said("'stuck' waits for a lock")) << end;
  EXPECT_TRUE(end.said("waits_deep_inside")) << end;
  gdb({"gdb", "-q", "-batch", "-p", pid, "-ex", "gcore " + core});
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  if (access(core.c_str(), R_OK) != 0)
    GTEST_SKIP() << "gdb wrote no core file";
  end = gdb({weft_program(), "gdb", "--batch", test::program_path(), core});
  unlink(core.c_str());
  // gdb's own gcore leaves out mappings with guards, and task stacks stand in those; the main thread's stack is there.
  EXPECT_TRUE(end.said("'stuck' waits for a lock")) << end;
  EXPECT_TRUE(end.said("waits_deep_inside")) << end;
}
