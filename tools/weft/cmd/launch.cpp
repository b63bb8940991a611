// SPDX-License-Identifier: Apache-2.0
// Starts the ranks of a job on one host or several, is where they meet, and ends the job when one is
// lost.
#include "tools/weft/cmd/launch_plan.hpp"
#include "tools/weft/commands.hpp"
#include "tools/weft/support/pmi_manager.hpp"
#include "tools/weft/support/text.hpp"

#include "config/load.hpp"
#include "config/process.hpp"

#ifdef WEFT_NET_ENGINES
#include "weft_net/boot/address.hpp"
#include "weft_net/boot/rendezvous.hpp"
#include "weft_net/boot/report.hpp"
#endif

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <map>
#include <optional>
#include <utility>

#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

namespace weft_tool {

const char k_launch_help[] =
    "usage: weft launch -n N [--hosts A,B:4,...] [--engine E] [--transports T] [--interface I]\n"
    "                   [--remote-shell COMMAND] [--continue] [--set KEY=VALUE]... [--] PROGRAM [ARGUMENTS]\n"
    "\n"
    "Starts N processes of a program that calls weft::net::run_ranks(): the ranks of a job.\n"
    "  -n N                  the number of ranks\n"
    "  --hosts A,B:4         where they run, in this order: on B four of them, on the others as many each as remain; without it, here. A program\n"
    "                        on another host starts in the same folder\n"
    "  --engine E            what carries their operations: the same as --set net.engine=E (`weft info` names the engines); inproc runs the\n"
    "                        program once, with the ranks as tasks of it; shm is ucx within a host; mpi, mpi-openmpi and mpi-mpich connect them by\n"
    "                        that MPI, whose launcher starts them (MPICH's on several hosts alone)\n"
    "  --transports T        what the engine may use: the same as --set net.transports=T\n"
    "  --interface I         the network interface where the ranks meet, and which the engine uses between hosts\n"
    "  --remote-shell C      what starts a command on a host (ssh): called as C HOST COMMAND\n"
    "  --continue            the job goes on without a rank that is lost: the same as --set net.loss=continue\n"
    "  --set KEY=VALUE       any key of `weft config`, for all ranks.\n"
    "Rank 0 has the standard input. The job's key travels to other hosts by the standard input of the remote shell.\n"
    "Exit status: 0 if all ranks ended with 0; else that of the first rank that did not, 128 and the signal's number if one ended it; 1 when the\n"
    "ranks cannot be started or do not meet, 2 for a bad command line, 127 when PROGRAM cannot be run. With an MPI's launcher: that of it, or 1 if a\n"
    "rank is lost.\n";

#ifndef WEFT_NET_ENGINES

int run_launch(const words &) {
  std::fputs("weft: launch: this build has no ranks; build it with WEFT_NET=ON\n", stderr);
  return k_failed;
}

#else

namespace {

/// Returns the variable of a setting's key. Throws weft::error for a key or a value that is wrong.
std::string variable_of(const std::string &key, const std::string &value) {
  weft::rt::settings_override(key, value); // checks both
  std::string name = "WEFT_";
  for (const char c : key)
    name += c == '.' ? '_' : static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return name;
}

} // namespace

std::map<std::string, std::string> variables_of(const plan &asked) {
  std::map<std::string, std::string> made;
  for (const auto &[key, value] : asked.values)
    made[variable_of(key, value)] = value;
  if (!asked.engine.empty())
    made[variable_of("net.engine", asked.engine)] = asked.engine;
  if (!asked.interface.empty() && !asked.hosts.empty())
    made[variable_of("net.interface", asked.interface)] = asked.interface;
  if (asked.goes_on)
    made[variable_of("net.loss", "continue")] = "continue";
  made["WEFT_NET_SIZE"] = std::to_string(asked.ranks);
  return made;
}

std::string address_to_meet(const plan &asked) {
  const bool has_others = !asked.hosts.empty();
  if (!asked.interface.empty()) {
    const std::string found = weft_net::address_of_interface(asked.interface);
    if (found.empty())
      throw weft_net::address_error("there is no interface '" + asked.interface +
                                    "' with an address on this host (--interface); `ip address` "
                                    "lists them");
    if (has_others && weft_net::is_loopback(found))
      throw weft_net::address_error("--interface " + asked.interface +
                                    " has the loopback address " + found +
                                    ", which other hosts cannot reach; name one of a "
                                    "network that all hosts have");
    return found;
  }
  if (!has_others)
    return "127.0.0.1";
  const std::string found = weft_net::outer_address();
  if (found.empty())
    throw weft_net::address_error(
        "this host has loopback addresses alone, which other hosts cannot "
        "reach; give it a network, or leave --hosts out");
  return found;
}

namespace {

using namespace std::chrono_literals;
using clock = std::chrono::steady_clock;

constexpr auto k_to_lose = 500ms; // between the loss of a connection and the end of its process
constexpr int k_most_ranks = 100'000;

std::optional<int> number_of(const std::string &text, int least, int most) {
  int made = 0;
  const char *const last = text.data() + text.size();
  const auto [end, error] = std::from_chars(text.data(), last, made);
  if (error != std::errc() || end != last || made < least || made > most)
    return std::nullopt;
  return made;
}

std::vector<host> hosts_of(const std::string &text, std::string &error) {
  std::vector<host> made;
  for (const std::string &one : split(text, ',')) {
    host h{one, 0};
    if (const auto colon = one.rfind(':'); colon != std::string::npos) {
      const auto slots = number_of(one.substr(colon + 1), 1, k_most_ranks);
      if (!slots)
        error = "'" + one + "' in --hosts: behind the colon is the number of ranks there";
      h = {one.substr(0, colon), slots.value_or(0)};
    }
    if (h.name.empty() || h.name.starts_with("-"))
      error = "--hosts has a name that is none: '" + one + "'";
    made.push_back(h);
  }
  if (made.empty())
    error = "--hosts names no host";
  return made;
}

/// Returns the host of each rank; sets the error if the places are too few.
std::vector<std::string> placed(const plan &asked, std::string &error) {
  int left = asked.ranks, open = 0;
  for (const host &h : asked.hosts) {
    left -= h.slots;
    open += h.slots == 0 ? 1 : 0;
  }
  std::vector<std::string> made;
  for (const host &h : asked.hosts) {
    int here = h.slots;
    if (here == 0) {
      here = std::max((left + open - 1) / open, 0);
      left -= here;
      --open;
    }
    for (; here != 0 && made.size() < static_cast<std::size_t>(asked.ranks); --here)
      made.push_back(h.name);
  }
  if (made.size() < static_cast<std::size_t>(asked.ranks))
    error = "--hosts has places for " + std::to_string(made.size()) + " ranks, and there are " +
            std::to_string(asked.ranks);
  return made;
}

constexpr std::string_view k_launch_options[] = {"-n",           "--hosts",     "--engine",
                                                 "--transports", "--interface", "--remote-shell",
                                                 "--continue",   "--set"};

plan read_plan(const words &arguments) {
  plan p;
  std::size_t at = 0;
  for (; at < arguments.size() && arguments[at].starts_with("-"); ++at) {
    std::string option = arguments[at], value;
    if (option == "--") {
      ++at;
      break;
    }
    if (option == "--continue") {
      p.goes_on = true;
      continue;
    }
    if (const auto equals = option.find('='); option.starts_with("--") && equals != option.npos) {
      value = option.substr(equals + 1);
      option.resize(equals);
    } else if (std::ranges::find(k_launch_options, option) != std::end(k_launch_options)) {
      if (at + 1 == arguments.size()) {
        p.error = option + " needs a value";
        return p;
      }
      value = arguments[++at];
    }
    if (option == "-n") {
      p.ranks = number_of(value, 1, k_most_ranks).value_or(0);
      if (p.ranks == 0)
        p.error = "-n needs a number of ranks, not '" + value + "'";
    } else if (option == "--hosts") {
      p.hosts = hosts_of(value, p.error);
    } else if (option == "--engine") {
      p.engine = value;
    } else if (option == "--transports") {
      p.values.emplace_back("net.transports", value);
    } else if (option == "--interface") {
      p.interface = value;
    } else if (option == "--remote-shell") {
      p.remote_shell = split_words(value);
      if (p.remote_shell.empty())
        p.error = "--remote-shell needs a command";
    } else if (option == "--set") {
      const auto equals = value.find('=');
      if (equals == std::string::npos)
        p.error = "--set needs KEY=VALUE, not '" + value + "'";
      else
        p.values.emplace_back(value.substr(0, equals), value.substr(equals + 1));
    } else {
      p.error = "launch has no option " + option +
                suggestion(option, {std::begin(k_launch_options), std::end(k_launch_options)});
    }
    if (!p.error.empty())
      return p;
  }
  p.program.assign(arguments.begin() + static_cast<std::ptrdiff_t>(at), arguments.end());
  if (p.program.empty())
    p.error = "launch needs a program";
  else if (p.ranks == 0)
    p.error = "launch needs -n N, the number of ranks";
  return p;
}

constexpr const char *k_meeting[] = {"WEFT_NET_ROOT", "WEFT_NET_RANK", "WEFT_NET_KEY"};

/// Returns the variables of this environment that other hosts get. Those that say where and how a rank
/// meets the others are this job's, and its key goes another way.
std::map<std::string, std::string> variables_for_hosts() {
  std::map<std::string, std::string> made;
  for (char **at = environ; *at; ++at) {
    const std::string_view one = *at;
    const auto equals = one.find('=');
    const std::string name(one.substr(0, equals));
    for (const char *const prefix : {"WEFT_", "UCX_", "OMP_"})
      if (name.starts_with(prefix))
        made[name] = one.substr(equals + 1);
    if (name == "LD_LIBRARY_PATH")
      made[name] = one.substr(equals + 1);
  }
  for (const char *const name : k_meeting)
    made.erase(name);
  return made;
}

class launcher final : weft_net::rendezvous::listener {
 public:
  /// `serves_pmi`: the ranks are of MPICH, and find each other by this process.
  launcher(const plan &asked, std::vector<std::string> hosts, bool serves_pmi);
  int run();

 private:
  struct process {
    pid_t pid = -1;
    std::string host; // "" here
    bool is_over = false;
    bool is_absent = false; // ended well, did not join
    std::string why_lost; // its connection
    clock::time_point lost_at;
    int code = 0; // 0: it has not failed
    unsigned turn = 0; // the place in the order in which ranks were lost; 0: it is not
  };

  void start(int rank);
  [[noreturn]] void become_rank(int rank, int input) const;
  [[nodiscard]] std::string remote_command(int rank) const;
  void reap();
  void ended(int rank, int status);
  void end_of(int rank, const std::string &why, int code);
  void look_at_absent();
  [[nodiscard]] std::string name_of(int rank) const;
  void fail(process &one, int code);
  [[nodiscard]] int code() const;
  void look_at_time();
  void tell_all(int signal) const;

  void all_joined(const std::vector<weft_net::member_info> &) override {}
  void lost(int rank, const std::string &why) override;
  void left(int) override {}
  void refused(const std::string &why) override {
    std::fprintf(stderr, "weft launch: a connection was refused: %s\n", why.c_str());
  }
  void stalled(int first, const std::vector<std::string> &reports) override {
    std::fputs(weft_net::stall_report(first, reports).c_str(), stderr);
  }

  const plan &m_plan;
  const weft_net::job_key m_key = weft_net::random_key();
  std::string m_address;
  weft_net::rendezvous m_meeting;
  std::optional<pmi_manager> m_pmi; // of MPICH's ranks
  std::vector<process> m_processes;
  std::map<std::string, std::string> m_variables;
  std::size_t m_left;
  unsigned m_lost = 0; // ranks, so far
  int m_signal = 0; // that came before any rank failed
  bool m_ends = false, m_was_asked = false;
  clock::time_point m_end;
};

launcher::launcher(const plan &asked, std::vector<std::string> hosts, bool serves_pmi)
    : m_plan(asked), m_address(address_to_meet(asked)),
      m_meeting(m_address, 0, asked.ranks, m_key, *this),
      m_processes(static_cast<std::size_t>(asked.ranks)),
      m_left(static_cast<std::size_t>(asked.ranks)) {
  for (std::size_t r = 0; r < hosts.size(); ++r)
    m_processes[r].host = hosts[r];
  m_variables = variables_of(asked);
  m_variables["WEFT_NET_ROOT"] = m_address + ":" + std::to_string(m_meeting.port());
  if (serves_pmi) {
    m_pmi.emplace(asked.ranks);
    m_variables["WEFT_NET_ENGINE"] = k_mpich;
  }
}

std::string launcher::name_of(int rank) const {
  const process &one = m_processes[static_cast<std::size_t>(rank)];
  return "rank " + std::to_string(rank) + " (" +
         (one.host.empty() ? "pid " + std::to_string(one.pid) : "on " + one.host) + ")";
}

/// Returns what a shell on another host runs. The key is its first line of input.
std::string launcher::remote_command(int rank) const {
  char folder[4096];
  std::string made = "IFS= read -r WEFT_NET_KEY && export WEFT_NET_KEY";
  if (getcwd(folder, sizeof folder))
    made += " && cd " + shell_quoted(folder);
  auto all = variables_for_hosts();
  all.insert(m_variables.begin(), m_variables.end());
  for (const auto &[name, value] : m_variables)
    all[name] = value;
  all["WEFT_NET_RANK"] = std::to_string(rank);
  for (const auto &[name, value] : all)
    made += " && export " + name + "=" + shell_quoted(value);
  made += " && exec";
  for (const std::string &word : m_plan.program)
    made += " " + shell_quoted(word);
  return rank == 0 ? made : made + " </dev/null";
}

/// Is the child of a fork: it may not return.
void launcher::become_rank(int rank, int input) const {
  const process &one = m_processes[static_cast<std::size_t>(rank)];
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  std::signal(SIGPIPE, SIG_DFL);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  words all = m_plan.program;
  if (one.host.empty()) {
    for (const auto &[name, value] : m_variables)
      setenv(name.c_str(), value.c_str(), 1);
    setenv("WEFT_NET_RANK", std::to_string(rank).c_str(), 1);
    setenv("WEFT_NET_KEY", text_of(m_key).c_str(), 1);
    if (m_pmi)
      m_pmi->become(rank);
    if (rank != 0)
      dup2(open("/dev/null", O_RDONLY | O_CLOEXEC), STDIN_FILENO);
  } else {
    all = m_plan.remote_shell;
    all.push_back(one.host);
    all.push_back(remote_command(rank));
    dup2(input, STDIN_FILENO);
  }
  std::vector<char *> arguments;
  for (std::string &word : all)
    arguments.push_back(word.data());
  arguments.push_back(nullptr);
  execvp(arguments[0], arguments.data());
  std::fprintf(stderr, "weft launch: cannot run %s: %s\n", all[0].c_str(), std::strerror(errno));
  _exit(k_no_program);
}

void launcher::start(int rank) {
  process &one = m_processes[static_cast<std::size_t>(rank)];
  int input[2] = {-1, -1};
  if (!one.host.empty() && pipe2(input, O_CLOEXEC) != 0)
    throw std::runtime_error(std::string("launch: cannot make a pipe: ") + std::strerror(errno));
  one.pid = fork();
  if (one.pid == 0)
    become_rank(rank, input[0]);
  if (one.pid < 0)
    throw std::runtime_error(std::string("launch: cannot start a process: ") +
                             std::strerror(errno));
  if (m_pmi)
    m_pmi->started(rank);
  if (input[0] < 0)
    return;
  close(input[0]);
  const std::string line = text_of(m_key) + "\n";
  static_cast<void>(!write(input[1], line.data(), line.size()));
  close(input[1]);
}

void launcher::tell_all(int signal) const {
  for (const process &one : m_processes)
    if (!one.is_over && one.pid > 0)
      kill(one.pid, signal);
}

/// Notes a failure, and ends the job after a while.
void launcher::fail(process &one, int code) {
  if (one.turn == 0)
    one.turn = ++m_lost;
  if (one.code == 0)
    one.code = code;
  if (m_plan.goes_on || m_ends)
    return;
  m_ends = true;
  m_end = clock::now() + k_grace;
}

/// Returns the exit code of the job: that of the rank that was lost first. A rank loses its connection before its process
/// has ended, so others that end because of the loss may be over earlier.
int launcher::code() const {
  if (m_signal != 0)
    return 128 + m_signal;
  const process *first = nullptr;
  for (const process &one : m_processes)
    if (one.code != 0 && (!first || one.turn < first->turn))
      first = &one;
  return first ? first->code : 0;
}

void launcher::lost(int rank, const std::string &why) {
  process &one = m_processes[static_cast<std::size_t>(rank)];
  one.why_lost = why;
  one.lost_at = clock::now(); // most often its end says more
  if (one.turn == 0)
    one.turn = ++m_lost;
}

void launcher::ended(int rank, int status) {
  process &one = m_processes[static_cast<std::size_t>(rank)];
  one.is_over = true;
  --m_left;
  if (m_pmi)
    m_pmi->ended(rank);
  m_meeting.step(0); // its last word may not have been read
  const bool has_joined = m_meeting.has_joined(rank);
  if (WIFSIGNALED(status)) {
    const int signal = WTERMSIG(status);
    end_of(rank, "signal " + std::to_string(signal) + " (" + strsignal(signal) + ") has ended it",
           128 + signal);
  } else if (const int code = WEXITSTATUS(status); code != 0) {
    std::string why = "it has ended with exit code " + std::to_string(code);
    if (!one.host.empty() && code == 255 && !has_joined)
      why += ", which is that of the remote shell (" + m_plan.remote_shell[0] + " " + one.host +
             "): look whether the host is right, and whether the command works by hand";
    end_of(rank, why, code);
  } else if (!has_joined) {
    one.is_absent = true;
  } else if (!m_meeting.has_left(rank)) {
    end_of(rank, "it has ended with exit code 0 before run_ranks() was over", k_failed);
  }
}

/// Says that a rank is lost whose process has ended, and why, and tells the others.
void launcher::end_of(int rank, const std::string &why, int code) {
  if (!m_was_asked) {
    const std::string line = "weft launch: " + name_of(rank) + " is lost: " + why + "\n";
    std::fputs(line.c_str(), stderr);
  }
  m_meeting.lose(rank, why);
  fail(m_processes[static_cast<std::size_t>(rank)], code);
}

/// Ranks of a program may all end without run_ranks(). Where one has called it, whenever that is, those
/// that have not are lost.
void launcher::look_at_absent() {
  if (m_meeting.joined() == 0)
    return;
  for (int rank = 0; rank < m_plan.ranks; ++rank)
    if (std::exchange(m_processes[static_cast<std::size_t>(rank)].is_absent, false))
      end_of(
          rank,
          "it has ended with exit code 0 and never called run_ranks(), in which others wait for it",
          k_failed);
}

void launcher::reap() {
  for (int rank = 0; rank < m_plan.ranks; ++rank) {
    process &one = m_processes[static_cast<std::size_t>(rank)];
    int status = 0;
    if (!one.is_over && waitpid(one.pid, &status, WNOHANG) == one.pid)
      ended(rank, status);
  }
}

void launcher::look_at_time() {
  const auto now = clock::now();
  for (int rank = 0; rank < m_plan.ranks; ++rank) {
    process &one = m_processes[static_cast<std::size_t>(rank)];
    if (one.why_lost.empty() || one.is_over || now - one.lost_at < k_to_lose)
      continue;
    std::fprintf(stderr, "weft launch: %s is lost: %s\n", name_of(rank).c_str(),
                 one.why_lost.c_str());
    one.why_lost.clear();
    fail(one, k_failed);
  }
  if (!m_ends || now < m_end || m_left == 0)
    return;
  if (!m_was_asked) {
    m_was_asked = true;
    m_end = now + k_to_end;
    std::fprintf(stderr, "weft launch: the other ranks end (--continue would let them go on)\n");
    tell_all(SIGTERM);
  } else {
    m_end = now + k_to_end;
    tell_all(SIGKILL);
  }
}

int launcher::run() {
  std::signal(SIGPIPE, SIG_IGN); // a remote shell may end before it has read the key
  sigset_t ours;
  sigemptyset(&ours);
  for (const int signal : {SIGCHLD, SIGINT, SIGTERM, SIGHUP})
    sigaddset(&ours, signal);
  sigprocmask(SIG_BLOCK, &ours, nullptr);
  const int signals = signalfd(-1, &ours, SFD_CLOEXEC | SFD_NONBLOCK);
  for (int rank = 0; rank < m_plan.ranks; ++rank)
    start(rank);
  if (m_pmi)
    m_pmi->watch_too(signals);
  while (m_left != 0) {
    m_meeting.step(100, m_pmi ? m_pmi->descriptor() : signals);
    if (m_pmi)
      m_pmi->step();
    signalfd_siginfo got{};
    while (read(signals, &got, sizeof got) == static_cast<ssize_t>(sizeof got))
      if (got.ssi_signo != SIGCHLD) {
        if (m_signal == 0 && code() == 0)
          m_signal = static_cast<int>(got.ssi_signo);
        m_was_asked = m_ends = true;
        m_end = clock::now() + k_grace;
        tell_all(static_cast<int>(got.ssi_signo));
      }
    reap();
    look_at_absent();
    look_at_time();
  }
  close(signals);
  return code();
}

/// Becomes the program, whose ranks are tasks of it.
int run_in_one_process(const plan &asked) {
  for (const auto &[key, value] : asked.values)
    setenv(variable_of(key, value).c_str(), value.c_str(), 1);
  setenv("WEFT_NET_SIZE", std::to_string(asked.ranks).c_str(), 1);
  for (const char *const name : k_meeting)
    unsetenv(name);
  std::vector<char *> arguments;
  words all = asked.program;
  for (std::string &word : all)
    arguments.push_back(word.data());
  arguments.push_back(nullptr);
  execvp(arguments[0], arguments.data());
  std::fprintf(stderr, "weft launch: cannot run %s: %s\n", all[0].c_str(), std::strerror(errno));
  return k_no_program;
}

} // namespace

int run_launch(const words &arguments) {
  plan p = read_plan(arguments);
  if (!p.error.empty())
    return usage_error(p.error);
  std::vector<std::string> hosts;
  if (!p.hosts.empty())
    hosts = placed(p, p.error);
  if (!p.error.empty())
    return usage_error(p.error);
  try {
    if (p.engine == "inproc" && hosts.empty())
      return run_in_one_process(p);
    if (p.engine == "inproc")
      return usage_error(
          "the ranks of the engine inproc are tasks of one process; leave --hosts out");
    if (p.engine == "shm" && !hosts.empty())
      return usage_error("the engine shm reaches ranks of one host; leave --hosts out, or take ucx");
    const bool is_mpi = is_of_mpi(p), serves_pmi = is_mpi && hosts.empty() && is_of_mpich(p);
    return is_mpi && !serves_pmi ? launch_by_mpi(p, std::move(hosts))
                                 : launcher(p, std::move(hosts), serves_pmi).run();
  } catch (const std::exception &e) {
    std::fprintf(stderr, "weft launch: %s\n", e.what());
    return k_failed;
  }
}

#endif

} // namespace weft_tool
