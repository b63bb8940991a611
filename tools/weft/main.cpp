// SPDX-License-Identifier: Apache-2.0
// weft: runs programs with settings, shows settings and the machine.
#include "tools/weft/commands.hpp"
#include "tools/weft/support/progress.hpp"

#include "base/visible.hpp"
#include "config/value.hpp"

#include <weft/version.hpp>

#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <exception>
#include <sys/mman.h>
#include <unistd.h>

namespace weft_tool {

int usage_error(const std::string &what) {
  std::fprintf(stderr, "weft: %s; see `weft help`\n", what.c_str());
  return k_usage;
}

std::string suggestion(std::string_view word, const std::vector<std::string_view> &candidates) {
  const auto near = weft::rt::nearest(word, candidates);
  return near.empty() ? "" : "; did you mean '" + std::string(near) + "'?";
}

namespace {

int g_why_unwritten = 0; // the error of the first failure

} // namespace

bool flush_output() {
  if (std::fflush(stdout) == 0 && !std::ferror(stdout))
    return true;
  if (g_why_unwritten == 0)
    g_why_unwritten = errno;
  return false;
}

bool asks_for_help(const words &arguments) {
  return arguments.size() == 1 && (arguments[0] == "--help" || arguments[0] == "-h");
}

namespace {

struct command {
  const char *name;
  int (*run)(const words &arguments);
  const char *help;
  const char *summary;
};

int run_help(const words &arguments);

int run_version(const words &) {
  std::puts("weft " WEFT_VERSION_STRING);
  return k_ok;
}

constexpr char k_help_help[] =
    "usage: weft help [COMMAND]\n"
    "       weft help --man [weft-settings]\n"
    "\n"
    "  --man  prints the page weft(1), or weft-settings(5), of the manual, for `man -l`\n";
constexpr char k_version_help[] = "usage: weft --version\n";

constexpr command k_commands[] = {
    {"run", run_run, k_run_help, "run a program with settings"},
    {"launch", run_launch, k_launch_help, "start the ranks of a job, on one host or several"},
    {"top", run_top, k_top_help, "watch a running program"},
    {"list", run_list, k_list_help, "show running programs, or the counters of one"},
    {"get", run_get, k_get_help, "print counters of a running program"},
    {"set", run_set, k_set_help, "change settings of a running program, or show which can change"},
    {"dump", run_dump, k_dump_help, "show which tasks wait, and for what"},
    {"why", run_why, k_why_help, "follow what one task waits for"},
    {"gdb", run_gdb, k_gdb_help, "debug with backtraces of suspended tasks"},
    {"trace", run_trace, k_trace_help,
     "look into a trace, check it, cut it, turn it into other formats"},
    {"report", run_report, k_report_help,
     "write a page about a trace: losses, timeline, critical path"},
    {"diff", run_diff, k_diff_help, "compare two traces"},
    {"predict", run_predict, k_predict_help, "replay a trace on other numbers of workers"},
    {"doctor", run_doctor, k_doctor_help,
     "tell which OpenMP runtimes and TBBs a program loads, and which Weft serves"},
    {"config", run_config, k_config_help, "show every setting, its value and where that came from"},
    {"info", run_info, k_info_help, "show the machine as Weft sees it"},
    {"completion", run_completion, k_completion_help, "print the completion of a shell"},
    {"version", run_version, k_version_help, "print the version"},
    {"help", run_help, k_help_help, "explain a command"},
};

const command *find_command(const std::string &name) {
  for (const auto &c : k_commands)
    if (name == c.name)
      return &c;
  return nullptr;
}

int unknown_command(const std::string &name) {
  std::vector<std::string_view> names;
  for (const auto &c : k_commands)
    names.emplace_back(c.name);
  return usage_error("unknown command '" + name + "'" + suggestion(name, names));
}

int run_help(const words &arguments) {
  if (!arguments.empty() && arguments[0] == "--man" && arguments.size() <= 2)
    return print_manual(arguments.size() == 2 ? arguments[1] : "weft");
  if (arguments.size() > 1)
    return usage_error("help explains one command at a time");
  if (!arguments.empty()) {
    const auto *c = find_command(arguments[0]);
    if (c == nullptr)
      return unknown_command(arguments[0]);
    std::fputs(c->help, stdout);
    return k_ok;
  }
  std::puts("usage: weft COMMAND [ARGUMENTS]\n");
  for (const auto &c : k_commands)
    std::printf("  %-10s %s\n", c.name, c.summary);
  std::puts("\n`weft help COMMAND` says more about one of them.");
  return k_ok;
}

std::string command_of(const std::string &word) {
  if (word == "--version" || word == "-V")
    return "version";
  if (word == "--help" || word == "-h")
    return "help";
  return word;
}

int dispatch(const words &all) {
  if (all.empty())
    return run_help({}), k_usage;
  const auto name = command_of(all[0]);
  const auto *c = find_command(name);
  if (c == nullptr)
    return unknown_command(name);
  const words arguments(all.begin() + 1, all.end());
  if (asks_for_help(arguments)) {
    std::fputs(c->help, stdout);
    return k_ok;
  }
  return c->run(arguments);
}

/// Lets what another program has cut off a file that is mapped here read as zeros, as systemd's
/// journal does: a user's program is not to end a command of root.
void read_zeros(int signal, siginfo_t *fault, void *) {
  static const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
  const auto at = reinterpret_cast<std::uintptr_t>(fault->si_addr) & ~(page - 1);
  if (fault->si_code != BUS_ADRERR ||
      mmap(reinterpret_cast<void *>(at), page, PROT_READ | PROT_WRITE,
           MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == MAP_FAILED)
    std::signal(signal, SIG_DFL); // the fault comes again
}

void stand_cut_files() {
  struct sigaction act{};
  act.sa_sigaction = read_zeros;
  act.sa_flags = SA_SIGINFO;
  sigaction(SIGBUS, &act, nullptr);
}

} // namespace
} // namespace weft_tool

std::vector<weft_tool::command_row> weft_tool::command_rows() {
  std::vector<command_row> rows;
  for (const auto &c : k_commands)
    rows.push_back({c.name, c.help, c.summary});
  return rows;
}

int main(int argc, char **argv) try {
  weft_tool::stand_cut_files();
  const int status = weft_tool::dispatch({argv + (argc > 0 ? 1 : 0), argv + argc});
  if (weft_tool::flush_output())
    return status;
  std::fprintf(stderr, "weft: cannot write the output: %s\n", std::strerror(weft_tool::g_why_unwritten));
  return weft_tool::k_failed;
} catch (const weft_tool::interrupted &i) {
  weft_tool::end_progress();
  std::fputs("weft: interrupted; nothing was written\n", stderr);
  return 128 + i.signal;
} catch (const std::exception &e) {
  weft_tool::end_progress();
  std::fprintf(stderr, "weft: %s\n", weft::rt::visible(e.what()).c_str()); // may name what others chose
  return weft_tool::k_failed;
}
