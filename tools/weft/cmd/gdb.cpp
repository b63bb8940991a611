// SPDX-License-Identifier: Apache-2.0
// weft gdb: gdb with the commands for suspended tasks.
#include "tools/weft/commands.hpp"
#include "tools/weft/support/programs.hpp"

#include "base/error.hpp"

#include <weft/error.hpp>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <sys/mman.h>
#include <unistd.h>

namespace weft_tool {

extern const char k_gdb_script[]; // tools/gdb/weft.py

const char k_gdb_help[] =
    "usage: weft gdb [--batch] PID\n"
    "       weft gdb [--batch] PROGRAM CORE\n"
    "       weft gdb --script\n"
    "\n"
    "Starts gdb with commands for tasks that are suspended: `weft tasks` lists them, `weft bt [N]` shows where they are.\n"
    "  --batch   prints the backtraces of all and ends\n"
    "  --script  prints the commands, for `source` in a gdb of your own\n"
    "Exit status: gdb's; 127 when there is no gdb.\n";

namespace {

/// Writes the script to memory that gdb reads: a file would stay when gdb is killed.
int write_script() {
  const int file = memfd_create("weft-gdb", 0); // gdb inherits it
  const std::size_t size = std::strlen(k_gdb_script);
  if (file < 0 || write(file, k_gdb_script, size) != static_cast<ssize_t>(size))
    weft::rt::throw_error(weft::errc::out_of_resources, "no memory for gdb's commands: %s",
                          std::strerror(errno));
  return file;
}

} // namespace

int run_gdb(const words &arguments) {
  words rest = arguments;
  const bool batch = !rest.empty() && rest[0] == "--batch";
  if (batch)
    rest.erase(rest.begin());
  if (rest == words{"--script"})
    return std::fputs(k_gdb_script, stdout), k_ok;
  if (rest.empty() || rest.size() > 2 || rest[0].starts_with("-"))
    return usage_error("gdb needs a PID, or a program and its core file");
  const long pid = rest.size() == 1 ? pid_of(rest[0]) : 0;
  if (pid && kill(static_cast<pid_t>(pid), 0) != 0 && errno == ESRCH)
    weft::rt::throw_error(
        weft::errc::invalid_argument,
        "there is no program with pid %ld; of one that has crashed: weft gdb PROGRAM CORE", pid);
  const int script = write_script();
  words command{"gdb", "-q"};
  if (rest.size() == 1)
    command.insert(command.end(), {"-p", std::to_string(pid)});
  else
    command.insert(command.end(), {rest[0], rest[1]});
  command.insert(command.end(),
                 {"-ex", "python exec(compile(open('/proc/self/fd/" + std::to_string(script) +
                             "').read(), 'weft.py', 'exec'))"});
  if (batch) {
    command.insert(command.begin() + 1, {"-batch", "-iex", "set debuginfod enabled off"});
    command.insert(command.end(), {"-ex", "weft bt"});
  }
  std::vector<char *> argv;
  for (std::string &w : command)
    argv.push_back(w.data());
  argv.push_back(nullptr);
  execvp(argv[0], argv.data());
  std::fprintf(stderr, "weft: cannot run gdb: %s\n", std::strerror(errno));
  return k_no_program;
}

} // namespace weft_tool
